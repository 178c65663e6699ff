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
