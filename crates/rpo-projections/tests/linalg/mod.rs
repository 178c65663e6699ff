//! Tests of the private factorizations and the methods built on them: naive twins, reference vectors and results of
//! other libraries.

#[path = "../suite/common/data.rs"]
mod common;
mod embedding;
mod errors;
mod fixtures;
mod nalgebra;
mod pca;
mod ridge;

use rpo_projections::least_squares::{Design, Rows};

/// A design of features without weights.
fn unweighted<R: Rows>(rows: &R, intercept: bool) -> Design<'_, R> {
    Design {
        rows,
        intercept,
        factors: None,
    }
}
