//! Reference vectors, naive twins, contracts and invariants, in one program: linking many takes time and disk.

#![allow(
    clippy::disallowed_methods,
    reason = "tests compare with the standard library"
)]

mod common;
mod errors;
mod moments;
mod naive;
mod props;
mod value_stability;
