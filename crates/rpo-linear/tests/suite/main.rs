//! Reference vectors, naive twins, contracts and invariants, in one program: linking many takes time and disk.

mod common;
mod link;
mod two_stage;
