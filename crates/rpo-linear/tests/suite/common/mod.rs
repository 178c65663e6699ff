//! Functions that several test files share.

use ndarray::Array2;
use rand::Rng;
use rpo_core::{CsrMatrix, MatrixView, Seed};

/// Random features: numbers in (-1, 1), of which a fraction `density` is stored.
pub(crate) fn features(n: usize, p: usize, density: f64, seed: u64) -> Array2<f32> {
    let mut rng = Seed::new(seed).purpose("test features").stream();
    Array2::from_shape_simple_fn((n, p), || {
        if rng.gen_bool(density) {
            rng.gen_range(-1.0..1.0)
        } else {
            0.0
        }
    })
}

/// Labels that depend on the features: a sample has label j if its projection on a random direction exceeds a
/// threshold. No sample has the first label, every sample has the last.
pub(crate) fn labels(x: &Array2<f32>, d: usize, seed: u64) -> Array2<f32> {
    let directions = features(x.ncols(), d, 1.0, seed);
    let activations = x.dot(&directions);
    Array2::from_shape_fn((x.nrows(), d), |(i, j)| match j {
        0 => 0.0,
        _ if j + 1 == d => 1.0,
        _ => f32::from(u8::from(activations[[i, j]] > 0.3 * (j % 3) as f32)),
    })
}

/// Random classes, one per row.
pub(crate) fn classes(x: &Array2<f32>, d: usize, seed: u64) -> Array2<f32> {
    let activations = x.dot(&features(x.ncols(), d, 1.0, seed));
    let mut y = Array2::zeros((x.nrows(), d));
    for (mut y, a) in y.rows_mut().into_iter().zip(activations.rows()) {
        let best = (0..d).fold(0, |best, j| if a[j] > a[best] { j } else { best });
        y[best] = 1.0;
    }
    y
}

pub(crate) fn csr(a: &Array2<f32>) -> CsrMatrix {
    MatrixView::from(a).to_csr()
}

/// Runs a function on `n` threads.
pub(crate) fn on_threads<T: Send>(n: usize, f: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new()
        .num_threads(n)
        .build()
        .unwrap()
        .install(f)
}
