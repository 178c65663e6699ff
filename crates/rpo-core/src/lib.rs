#![doc = include_str!("../README.md")]

mod matrix;
mod seed;
mod top;

pub use matrix::{CsrMatrix, CsrView, Matrix, MatrixError, MatrixView, check_dense, csr_row};
pub use seed::{Seed, StreamRng};
pub use top::{csr_of_rows, keep_top, top_of};
