//! Helpers shared by the tests of this crate. Every test file compiles this module and uses a part of it.

use ndarray::{Array2, ArrayViewMut1};
use rand::RngCore;
use rpo_core::{CsrMatrix, Learner, Matrix, MatrixView, Seed};
use rpo_ensemble::{Forest, ForestOptions, ForestParams, ForestPreset, ProjectionChoice, ProjectionScope};
use rpo_projections::{Components, LinearMap, Projection, ProjectionError, ProjectionInput, ProjectionKind};

/// Returns the nonzero entries of a matrix, including missing values, as CSR.
pub(crate) fn csr(a: &Array2<f32>) -> CsrMatrix {
    MatrixView::from(a).to_csr()
}

/// Returns the matrix in both layouts.
pub(crate) fn layouts(a: &Array2<f32>) -> [Matrix; 2] {
    [a.clone().into(), csr(a).into()]
}

/// Generates uniform numbers in [0, 1).
pub(crate) fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut rng = Seed::new(seed).stream();
    move || f64::from(rng.next_u32()) / 2.0_f64.powi(32)
}

/// Features and labels (n x 5, n x 8): a third of the features are zero, labels follow thresholds on features 0 to 3
/// with some noise, feature 4 is uninformative.
pub(crate) fn labelled(seed: u64, n: usize) -> (Array2<f32>, Array2<f32>) {
    let mut uniform = uniform(seed);
    let x = Array2::from_shape_fn((n, 5), |_| {
        if uniform() < 1.0 / 3.0 {
            0.0
        } else {
            (4.0 * uniform() - 2.0) as f32
        }
    });
    let y = Array2::from_shape_fn((n, 8), |(i, j)| {
        let signal = x[[i, j % 4]] > (j / 4) as f32 * 0.5;
        f32::from(u8::from(signal != (uniform() < 0.1)))
    });
    (x, y)
}

/// Like [`labelled`], but with real outputs.
pub(crate) fn regression(seed: u64, n: usize) -> (Array2<f32>, Array2<f32>) {
    let (x, y) = labelled(seed, n);
    let mut uniform = uniform(seed + 1);
    (x, y.mapv(|v| 10.0 + v * 3.0 + uniform() as f32))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "tests build their parameters in place"
)]
pub(crate) fn fit(params: ForestParams, x: &Matrix, y: &Matrix) -> Forest {
    params.fit(x.view(), y.view()).unwrap()
}

/// A named projection of a forest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputProjection {
    kind: ProjectionKind,
    components: Components,
    scope: ProjectionScope,
}

impl OutputProjection {
    pub(crate) fn new(kind: ProjectionKind, components: Components) -> Self {
        Self {
            kind,
            components,
            scope: ProjectionScope::Tree,
        }
    }

    pub(crate) fn shared(self) -> Self {
        Self {
            scope: ProjectionScope::Shared,
            ..self
        }
    }
}

pub(crate) fn gaussian(m: usize) -> Option<OutputProjection> {
    Some(OutputProjection::new(
        ProjectionKind::Gaussian,
        Components::Exact(m),
    ))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "tests build their parameters in place"
)]
pub(crate) fn projected(params: ForestParams, projection: Option<OutputProjection>) -> ForestParams {
    ForestParams {
        projection: projection.map_or(ProjectionChoice::None, |p| p.kind.into()),
        components: projection.map(|p| p.components),
        projection_scope: projection.map(|p| p.scope),
        ..params
    }
}

/// Returns parameters of small forests of every kind: both base learners, without a projection, with one per tree and
/// with a shared one.
pub(crate) fn every_kind() -> Vec<ForestParams> {
    let mut kinds = Vec::new();
    for base in [ForestParams::default, || ForestPreset::ExtraTrees.into()] {
        kinds.push(base());
        kinds.push(projected(base(), gaussian(3)));
        kinds.push(projected(base(), gaussian(3).map(OutputProjection::shared)));
        let sparse = OutputProjection::new(ProjectionKind::Achlioptas, Components::LnOutputs);
        kinds.push(projected(
            ForestParams {
                max_leaves: Some(6),
                ..base()
            },
            Some(sparse),
        ));
    }
    kinds
        .into_iter()
        .map(|params| ForestParams {
            trees: 6,
            seed: 3,
            ..params
        })
        .collect()
}

/// A custom projection by a given matrix Φ (m x d).
#[derive(Debug, Clone)]
pub(crate) struct Given(pub(crate) Array2<f32>);

impl Projection for Given {
    fn fit(&self, _: ProjectionInput<'_>, _: usize, _: Seed) -> Result<Box<dyn LinearMap>, ProjectionError> {
        Ok(Box::new(self.clone()))
    }
}

impl LinearMap for Given {
    fn n_outputs(&self) -> usize {
        self.0.ncols()
    }

    fn n_components(&self) -> usize {
        self.0.nrows()
    }

    fn project(&self, y: MatrixView<'_>, z: &mut [f32]) -> Result<(), ProjectionError> {
        z.fill(0.0);
        for (i, z) in z.chunks_exact_mut(self.0.nrows()).enumerate() {
            let mut row = ArrayViewMut1::from(z);
            y.for_each_in_row(i, |j, v| row.scaled_add(v, &self.0.column(j as usize)));
        }
        Ok(())
    }
}

/// Fits a forest on the projection by a given matrix.
#[expect(
    clippy::needless_pass_by_value,
    reason = "tests build their parameters in place"
)]
pub(crate) fn fit_given(params: ForestParams, phi: Array2<f32>, x: &Matrix, y: &Matrix) -> Forest {
    let components = Some(Components::Exact(phi.nrows()));
    let options = ForestOptions {
        projection: Some(std::sync::Arc::new(Given(phi))),
        ..ForestOptions::default()
    };
    let params = ForestParams { components, ..params };
    params.fit_with(x.view(), y.view(), options).unwrap()
}

/// Runs a function on the given number of threads.
pub(crate) fn on_threads<T: Send>(n: usize, f: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new()
        .num_threads(n)
        .build()
        .unwrap()
        .install(f)
}
