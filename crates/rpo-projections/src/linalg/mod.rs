//! Dense factorisations of small matrices and randomized ones of large operators, in `f64`.
//!
//! Large operators (sparse matrices, covariances) are only ever multiplied with thin blocks
//! ([`LinearOperator`]); what is factorised is as small as the number of components. Singular vectors are made
//! reproducible by a sign convention: the entry of largest magnitude of each right singular vector is positive.
//! Thin products are those of `ndarray`, which takes the kernels that the processor has; hence results are the same
//! bits for any number of threads, on one kind of processor.
//!
//! The dense factorisations are written out here, in three short files, because of what libraries cost or gave (tests hold
//! them beside those of nalgebra on matrices of full rank).
//! The symmetric eigenvalues and singular values of nalgebra 0.33 came with NaN or vectors that are not orthogonal
//! at low rank, the normal case of label covariances. faer 0.24 passes every test of this module and decomposes a
//! covariance of 983 labels in 0.24 s rather than 1.4 s (the default 25 components in 0.21 s rather than 0.32 s),
//! but takes 148 s of processor time to build from nothing without optional features (`std` and `linalg`; 119 s
//! with `linalg` alone), brings 39 crates, some in two versions, and likewise chooses its kernels at run time.

mod cholesky;
mod design;
mod eigen;
mod fwht;
mod gram;
mod operator;
mod panel;
mod qr;
mod range;
mod ridge;
mod svd;
mod thin;

pub use cholesky::Cholesky;
pub use design::Design;
pub use eigen::{SymmetricEigen, symmetric_eigen};
pub use fwht::{fwht, fwht_orthonormal};
pub use gram::gram;
pub use operator::{Covariance, LinearOperator, Rows};
pub use panel::{LANES, Lanes, by_panels, panel_product};
pub use range::{orthonormal_basis, range_finder, standard_normal};
pub use ridge::{Penalty, PenaltyDiagonal, Ridge, RidgeSolver, relative_penalty};
pub(crate) use svd::fix_row_signs;
pub use svd::{TruncatedSvd, randomized_svd, truncated_svd};
pub(crate) use thin::{completed, orthonormal, thin_gram, times};
