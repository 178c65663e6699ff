//! Generated inputs of the benchmarks, which are the same in every run, and the names of benchmarks.

pub mod measure;
pub mod sets;

use rpo::core::{CsrMatrix, Matrix, Seed};
use rpo::data::Dataset;
use rpo::data::generate::{FeatureStyle, Generator, MultiLabelSet};
use rpo::projections::{Projection, ProjectionKind};

/// The seed of all generated data.
pub const SEED: Seed = Seed::new(1);

/// A multi-label set that resembles texts: sparse features, and about four labels per sample with power-law
/// frequencies.
pub fn texts(n: usize, p: usize, d: usize) -> Dataset {
    generate(&MultiLabelSet {
        cardinality: 4.0,
        ..MultiLabelSet::new(n, p, d)
    })
}

/// A multi-label set that resembles measurements: dense features.
pub fn measurements(n: usize, p: usize, d: usize) -> Dataset {
    generate(&MultiLabelSet {
        features: FeatureStyle::Dense { noise: 1.0 },
        ..MultiLabelSet::new(n, p, d)
    })
}

fn generate(set: &MultiLabelSet) -> Dataset {
    set.generate(SEED).expect("the parameters are in range")
}

/// The outputs of a generated multi-label set, which are sparse.
///
/// # Panics
/// If the outputs are dense.
pub fn labels(data: &Dataset) -> &CsrMatrix {
    match data.outputs() {
        Matrix::Sparse(labels) => labels,
        Matrix::Dense(_) => panic!("generated labels are sparse"),
    }
}

/// Projects the outputs on m Gaussian components (n x m).
///
/// # Panics
/// If m is 0.
pub fn projected(data: &Dataset, m: usize) -> ndarray::Array2<f32> {
    let y = data.outputs().view();
    let map = ProjectionKind::Gaussian
        .fit(y.into(), m, SEED)
        .expect("m is positive");
    map.apply(y).expect("the outputs are finite")
}

/// The name of a benchmark within its layer: `what/n=..,p=..,d=..`, and m if given.
pub fn name(what: &str, data: &Dataset, m: Option<usize>) -> String {
    let (n, p, d) = (data.n_samples(), data.n_features(), data.n_outputs());
    let m = m.map_or_else(String::new, |m| format!(",m={m}"));
    format!("{what}/n={n},p={p},d={d}{m}")
}

/// Compiles and runs the examples of the workspace's README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
