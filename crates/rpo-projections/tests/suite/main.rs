//! Reference vectors, naive twins, contracts and invariants, in one program: linking many takes time and disk.

mod common;
mod embedding;
mod errors;
mod fixtures;
mod fourier;
mod moments;
mod naive;
mod nalgebra;
mod pca;
mod props;
mod ridge;
mod value_stability;
