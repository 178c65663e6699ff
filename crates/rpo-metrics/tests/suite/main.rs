//! Reference vectors, naive twins and invariants.

#![allow(
    clippy::disallowed_methods,
    reason = "tests compare with the standard library"
)]

mod metric_vectors;
mod missing;
mod naive;
mod parallel;
mod probabilities;
mod properties;
mod vectors;
