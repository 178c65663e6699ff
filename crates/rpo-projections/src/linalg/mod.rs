//! Dense factorisations of small matrices and randomized ones of large operators, in `f64`.
//!
//! Large operators (sparse matrices, covariances) are only ever multiplied with thin blocks
//! ([`LinearOperator`]); what is factorised is as small as the number of components. Singular vectors are made
//! reproducible by a sign convention: the entry of largest magnitude of each right singular vector is positive.

mod eigen;
mod fwht;
mod operator;
mod qr;
mod range;
mod svd;

pub use eigen::{SymmetricEigen, symmetric_eigen};
pub use fwht::{fwht, fwht_orthonormal};
pub use operator::{Covariance, LinearOperator, Rows};
pub use range::{orthonormal_basis, range_finder, standard_normal};
pub(crate) use svd::fix_row_signs;
pub use svd::{TruncatedSvd, randomized_svd, truncated_svd};
