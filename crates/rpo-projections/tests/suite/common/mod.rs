//! Families and matrices that several test files use.

mod data;

use ndarray::Array2;
use rand::{Rng, RngCore};
use rpo_projections::{
    Gaussian, Hadamard, Hashing, Identity, LinearMap, Rademacher, RandomProjection, Subsample,
};

pub(crate) use data::{csr, outputs, sparse};

/// The random families by name, without the identity.
pub(crate) fn random_families() -> Vec<(&'static str, Box<dyn RandomProjection>)> {
    vec![
        ("gaussian", Box::new(Gaussian)),
        ("rademacher", Box::new(Rademacher::default())),
        ("achlioptas", Box::new(Rademacher { s: Some(3.0) })),
        ("rademacher:40", Box::new(Rademacher { s: Some(40.0) })),
        ("rademacher:90", Box::new(Rademacher { s: Some(90.0) })),
        ("sparse", Box::new(Rademacher { s: None })),
        ("hadamard", Box::new(Hadamard)),
        (
            "subsample",
            Box::new(Subsample {
                with_replacement: false,
            }),
        ),
        (
            "subsample-replace",
            Box::new(Subsample {
                with_replacement: true,
            }),
        ),
        ("hashing", Box::new(Hashing)),
    ]
}

/// Like [`random_families`], but with the identity.
pub(crate) fn all_families() -> Vec<(&'static str, Box<dyn RandomProjection>)> {
    let mut families = random_families();
    families.push(("identity", Box::new(Identity)));
    families
}

/// Returns true if a family has maps of this size.
pub(crate) fn allows(name: &str, d: usize, m: usize) -> bool {
    match name {
        "identity" => m == d,
        "subsample" => m <= d,
        _ => true,
    }
}

/// Returns Φ (m x d), by projecting the rows of the identity.
pub(crate) fn dense_matrix(map: &dyn LinearMap) -> Array2<f32> {
    let identity = csr(Array2::eye(map.n_outputs()).view());
    map.apply(sparse(&identity)).unwrap().reversed_axes()
}

pub(crate) fn vector(d: usize, rng: &mut impl RngCore) -> Vec<f64> {
    (0..d).map(|_| f64::from(rng.gen_range(-1.0_f32..1.0))).collect()
}

/// Returns the mean and standard error of a sample.
pub(crate) fn mean_and_error(sample: &[f64]) -> (f64, f64) {
    let n = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / n;
    let variance = sample.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}
