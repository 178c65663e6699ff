//! Targets on which the trees of a forest grow.

use super::choices::CriterionKind;
use super::params::ForestParams;
use crate::error::EnsembleError;
use crate::missing;
use crate::projection::{OutputProjection, ProjectionScope, apply};
use ndarray::{Array1, Array2, ArrayView2, ArrayViewMut1, Axis};
use rpo_core::{CsrMatrix, CsrView, DEFAULT_MEMORY_LIMIT, Matrix, MatrixView, ParameterError, Seed};
use rpo_projections::ProjectionInput;
use rpo_tree::criterion::round_for_exact_sums;

/// The targets of a forest. Dense numbers far from zero are centred, and all targets are in the unit of
/// `scale_outputs`. Except for labels, targets are [rounded](round_for_exact_sums) so that their sums are exact if the
/// given weights are whole numbers and not huge.
pub(super) enum Targets {
    /// One output, NaN where it is missing.
    Single(Vec<f32>),
    /// Several outputs.
    Outputs(Matrix),
    /// Labels, for the entropy criterion.
    Labels(CsrMatrix),
    /// Outputs that are projected for each tree, and an upper bound of the sum of the weights of a bag.
    Projected(OutputProjection, Matrix, f64),
    /// Outputs projected once for all trees.
    Shared(Array2<f32>),
}

/// The targets of one tree.
#[derive(Clone, Copy)]
pub(super) enum TreeTargets<'a> {
    /// One output.
    Single(&'a [f32]),
    /// Several outputs.
    Outputs(MatrixView<'a>),
    /// Labels, for the entropy criterion.
    Labels(CsrView<'a>),
    /// A projection of the outputs.
    Projected(ArrayView2<'a, f32>),
}

const CONTIGUOUS: &str = "targets are contiguous in row order";

impl Targets {
    /// Prepares the targets. `weights` are those of the samples; `is_partial` is true if outputs are missing.
    pub(super) fn new(
        params: &ForestParams,
        projection: Option<OutputProjection>,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        weights: Option<&[f32]>,
        is_partial: bool,
    ) -> Result<Self, EnsembleError> {
        let weight = most_weight(y.n_rows(), weights);
        if y.n_cols() == 1 && projection.is_none() {
            let mut target = Array1::zeros(y.n_rows());
            for (row, target) in target.iter_mut().enumerate() {
                y.copy_row(row, std::slice::from_mut(target));
            }
            let is_label = |v: &f32| *v == 0.0 || *v == 1.0 || v.is_nan();
            if !target.iter().all(is_label) {
                centre(target.view_mut());
            }
            let mut target = target.into_raw_vec_and_offset().0;
            round_for_exact_sums(&mut target, weight);
            return Ok(Self::Single(target));
        }
        let entropy = params.criterion == CriterionKind::Entropy;
        let mut targets = match y {
            MatrixView::Dense(y) if !entropy => {
                let mut centred = y.as_standard_layout().into_owned();
                centred.axis_iter_mut(Axis(1)).for_each(centre);
                Matrix::Dense(centred)
            }
            y => y.to_owned(),
        };
        if !entropy && let Some(factors) = params.scale_outputs.factors(y, weights) {
            scale(&mut targets, &factors);
        }
        if let Some(projection) = projection {
            if is_partial {
                let means = missing::known_means(targets.view(), weights);
                missing::fill(&mut targets, &means);
            }
            return Ok(match projection.scope {
                ProjectionScope::Shared => {
                    Self::Shared(project(params, &projection, x, &targets, weight, 0)?)
                }
                ProjectionScope::Tree => Self::Projected(projection, targets, weight),
            });
        }
        match (entropy, is_partial) {
            (false, _) => {
                match &mut targets {
                    Matrix::Dense(y) => round_for_exact_sums(y.as_slice_mut().expect(CONTIGUOUS), weight),
                    Matrix::Sparse(y) => round_for_exact_sums(y.data_mut(), weight),
                }
                Ok(Self::Outputs(targets))
            }
            (true, false) => Ok(Self::Labels(y.to_csr())),
            (true, true) => {
                let reason = "cannot be combined with missing labels, except in single-target forests";
                Err(ParameterError::conflict("criterion", params.criterion, reason).into())
            }
        }
    }

    /// Makes sparse outputs dense, as histograms need.
    pub(super) fn make_dense(&mut self) -> Result<(), EnsembleError> {
        if let Self::Outputs(y @ Matrix::Sparse(_)) = self {
            let dense = y
                .view()
                .to_dense(DEFAULT_MEMORY_LIMIT)
                .map_err(EnsembleError::Training)?;
            *y = Matrix::Dense(dense);
        }
        Ok(())
    }

    /// Returns the targets of the tree with the given index; `projected` receives its projection, if any.
    pub(super) fn of_tree<'a>(
        &'a self,
        params: &ForestParams,
        x: MatrixView<'_>,
        index: usize,
        projected: &'a mut Array2<f32>,
    ) -> Result<TreeTargets<'a>, EnsembleError> {
        Ok(match self {
            Self::Single(target) => TreeTargets::Single(target),
            Self::Outputs(y) => TreeTargets::Outputs(y.view()),
            Self::Labels(y) => TreeTargets::Labels(y.view()),
            Self::Shared(shared) => TreeTargets::Projected(shared.view()),
            Self::Projected(projection, outputs, weight) => {
                *projected = project(params, projection, x, outputs, *weight, index)?;
                TreeTargets::Projected(projected.view())
            }
        })
    }
}

impl TreeTargets<'_> {
    /// Returns the targets as a matrix.
    pub(super) fn view(&self) -> MatrixView<'_> {
        match self {
            Self::Single(target) => {
                let column = ArrayView2::from_shape((target.len(), 1), target);
                MatrixView::Dense(column.expect("one value per sample"))
            }
            Self::Outputs(y) => y.reborrow(),
            Self::Labels(y) => MatrixView::Sparse(y.view()),
            Self::Projected(y) => MatrixView::Dense(y.view()),
        }
    }
}

/// Returns an upper bound of the sum of the weights in the bag of a tree.
fn most_weight(n_samples: usize, weights: Option<&[f32]>) -> f64 {
    n_samples as f64 * f64::from(weights.map_or(1.0, largest))
}

/// Returns the largest weight.
pub(super) fn largest(weights: &[f32]) -> f32 {
    weights.iter().fold(0.0, |largest, &weight| largest.max(weight))
}

/// Draws the projection of a tree, applies it and rounds the result. The shared projection is that of tree 0.
fn project(
    params: &ForestParams,
    projection: &OutputProjection,
    x: MatrixView<'_>,
    targets: &Matrix,
    weight: f64,
    index: usize,
) -> Result<Array2<f32>, EnsembleError> {
    let seed = Seed::new(params.seed).purpose("projection").child(index as u64);
    let data = ProjectionInput {
        features: Some(x.reborrow()),
        outputs: targets.view(),
    };
    let map = projection.fit(data, seed)?;
    let mut projected = apply(map.as_ref(), targets.view())?;
    round_for_exact_sums(projected.as_slice_mut().expect(CONTIGUOUS), weight);
    Ok(projected)
}

/// Multiplies each column by its factor.
fn scale(targets: &mut Matrix, factors: &[f32]) {
    match targets {
        Matrix::Dense(y) => {
            let columns = y.axis_iter_mut(Axis(1)).zip(factors);
            columns.for_each(|(mut column, factor)| column *= *factor);
        }
        Matrix::Sparse(y) => {
            let columns = y.indices().to_vec();
            let entries = y.data_mut().iter_mut().zip(columns);
            entries.for_each(|(v, j)| *v *= factors[j as usize]);
        }
    }
}

/// Subtracts its mean from a column whose values are far from zero.
///
/// Split gains do not depend on the mean, and sums of uncentred targets would lose the digits in which the targets
/// differ. If the mean is not several times the standard deviation, nothing would be lost, and the targets stay
/// unchanged because subtracting rounds values that are not near the mean. Sparse targets keep their zeros and are not
/// centred. Missing values stay missing and do not contribute to the mean.
fn centre(mut column: ArrayViewMut1<'_, f32>) {
    let known = || column.iter().filter(|v| !v.is_nan()).map(|&v| f64::from(v));
    let n = known().count() as f64;
    let mean = known().sum::<f64>() / n;
    let variance = known().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    if mean * mean > 16.0 * variance {
        column.mapv_inplace(|v| (f64::from(v) - mean) as f32);
    }
}
