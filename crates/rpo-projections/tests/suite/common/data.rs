//! Matrices for tests.

use ndarray::{Array2, ArrayView2};
use rand::Rng;
use rpo_core::{CsrMatrix, MatrixView, Seed};

pub(crate) fn csr(a: ArrayView2<'_, f32>) -> CsrMatrix {
    MatrixView::from(a).to_csr()
}

pub(crate) fn sparse(a: &CsrMatrix) -> MatrixView<'_> {
    MatrixView::Sparse(a.view())
}

/// 0/1 or real outputs; `density` is the fraction of nonzero entries.
pub(crate) fn outputs(n: usize, d: usize, density: f64, binary: bool, seed: u64) -> Array2<f32> {
    let mut rng = Seed::new(seed).purpose("test outputs").stream();
    Array2::from_shape_fn((n, d), |_| {
        let value = if binary { 1.0 } else { rng.gen_range(-2.0..2.0) };
        if rng.gen_bool(density) { value } else { 0.0 }
    })
}
