//! Reference vectors, naive implementations, contracts and invariants, as unit tests: some are compared with internals.

#![allow(
    clippy::disallowed_methods,
    reason = "tests compare with the standard library"
)]

mod bounded;
mod categories;
mod centroid;
mod common;
mod contracts;
mod copies;
mod few;
mod fixtures;
mod histogram;
mod labels;
mod linfa;
mod missing;
mod naive;
mod parallel;
mod props;
mod refusals;
mod seams;
mod shapley;
mod structured;
mod team;
