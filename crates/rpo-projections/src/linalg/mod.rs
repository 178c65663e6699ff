//! Dense factorizations of small matrices and randomized ones of large operators, in `f64`.
//!
//! Large operators (sparse matrices, covariances) are only multiplied with thin blocks ([`LinearOperator`]); the
//! matrices that are factored are as small as the number of components. A sign convention makes singular vectors
//! reproducible: the entry of largest magnitude of each right singular vector is positive. Products of matrices are those
//! of [`rpo_core::product`]; hence results are the same bits for any number of threads and on every processor.
//!
//! The dense factorizations are implemented here because of the costs or results of libraries. Measured with nalgebra
//! 0.35, the newest version, on 3,000 covariances of 0/1 outputs with at most 5 samples and on 3,000 products of that
//! rank: one symmetric eigenproblem with NaN, five with vectors that are not orthogonal to 1e-12 (1e-10 for 300 outputs
//! of 3 samples, ours 4e-16), and 239 singular value decompositions whose product is not the matrix. It needs 4.3 s
//! rather than 2.2 s for the eigenvalues of 983 outputs, 18.3 s rather than 8.4 s for the singular values of 2,048 x
//! 512, and 6.3 s rather than 0.6 s for the Cholesky factor of 2,000 columns. Tests compare both on matrices of full
//! rank. faer 0.24 passes every test of this module and decomposes a covariance of 983 labels in 0.24 s rather than 1.4
//! s (the default 25 components in 0.21 s rather than 0.32 s). However, it takes 148 s of processor time to build from
//! scratch without optional features (`std` and `linalg`; 119 s with `linalg` alone), adds 39 crates, some in two
//! versions, and also chooses its kernels at run time.

mod eigen;
mod fwht;
mod operator;
mod qr;
mod range;
mod svd;
mod thin;

pub(crate) use eigen::symmetric_eigen;
pub(crate) use fwht::fwht;
pub(crate) use operator::{Covariance, LinearOperator};
pub use range::standard_normal;
pub(crate) use range::{orthonormal_basis, range_finder};
#[cfg(test)]
pub(crate) use svd::{Svd, dense_svd};
pub(crate) use svd::{check_finite, fix_row_signs};
pub(crate) use thin::{completed, orthonormal, thin_gram, times};
