#![doc = include_str!("../README.md")]

mod index_set;
mod matrix;
mod ranges;
mod seed;
mod top;

/// The dense arrays of every function, in the version that their types are of.
pub use ndarray;
/// The sparse matrices, likewise.
pub use sprs;

pub use index_set::IndexSet;
pub use matrix::{CsrMatrix, CsrView, Matrix, MatrixError, MatrixView, check_dense, csr_row};
pub use ranges::{OutOfRange, check_count, check_not_negative, check_positive, check_share, is_share};
pub use seed::{Seed, StreamRng};
pub use top::{csr_of_rows, keep_top, top_of};
