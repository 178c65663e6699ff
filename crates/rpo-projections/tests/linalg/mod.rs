//! Naive twins, reference vectors and other libraries' results for the private factorizations and for what is learned by
//! them.

#[path = "../suite/common/data.rs"]
mod common;
mod embedding;
mod errors;
mod fixtures;
mod nalgebra;
mod pca;
mod ridge;

use rpo_projections::least_squares::{Design, Rows};

/// Features without weights.
fn unweighted<R: Rows>(rows: &R, intercept: bool) -> Design<'_, R> {
    Design {
        rows,
        intercept,
        factors: None,
    }
}
