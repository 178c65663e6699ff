//! Reference vectors, naive twins, contracts and invariants, in one program: linking many takes time and disk.

#![allow(
    clippy::disallowed_methods,
    reason = "tests compare with the standard library"
)]

mod common;
mod explain;
mod label_tree;
mod link;
mod logistic;
mod missing;
mod one_vs_rest;
mod ridge;
mod stopping;
mod two_stage;
mod units;
