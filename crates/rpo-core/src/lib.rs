#![doc = include_str!("../README.md")]

mod matrix;
mod seed;

pub use matrix::{CsrMatrix, CsrView, Matrix, MatrixError, MatrixView, csr_row};
pub use seed::{Seed, StreamRng};
