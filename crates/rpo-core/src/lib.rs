#![doc = include_str!("../README.md")]

mod index_set;
mod matrix;
mod ranges;
mod seed;
mod top;

pub use index_set::IndexSet;
pub use matrix::{CsrMatrix, CsrView, Matrix, MatrixError, MatrixView, check_dense, csr_row};
pub use ranges::{OutOfRange, check_count, check_not_negative, check_positive, check_share, is_share};
pub use seed::{Seed, StreamRng};
pub use top::{csr_of_rows, keep_top, top_of};
