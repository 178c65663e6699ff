//! Targets on which the trees of a forest grow.

mod rounding;

pub(super) use rounding::have_extremes;

use super::choices::CriterionKind;
use super::params::ForestParams;
use crate::error::EnsembleError;
use crate::missing;
use crate::projection::{OutputProjection, ProjectionScope};
use ndarray::{Array2, ArrayView2, ArrayViewMut1, Axis};
use rounding::Rounding;
use rpo_core::{CsrMatrix, CsrView, DEFAULT_MEMORY_LIMIT, Matrix, MatrixView, ParameterError, Seed};
use rpo_projections::ProjectionInput;
use rpo_tree::criterion::LabelRows;
use std::sync::Arc;

/// The targets of a forest. Dense numbers far from zero are centred, and all targets are in the unit of
/// `scale_outputs`. Except for labels, targets are [rounded](Rounding) so that their sums are exact if the given weights
/// are whole numbers and not huge, and no target is so extreme that the others would lose their digits.
pub(super) enum Targets {
    /// One output, NaN where it is missing.
    Single(Vec<f32>),
    /// Several outputs; labels also as they are counted.
    Outputs(Matrix, Option<Arc<LabelRows>>),
    /// Labels, for the entropy criterion.
    Labels(CsrMatrix),
    /// Outputs that are projected for each tree.
    Projected(OutputProjection, Matrix, Rounding),
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
    /// Several labels, for the variance.
    Counted(CsrView<'a>, &'a Arc<LabelRows>),
    /// Labels, for the entropy criterion.
    Labels(CsrView<'a>),
    /// A projection of the outputs.
    Projected(ArrayView2<'a, f32>),
}

const CONTIGUOUS: &str = "targets are contiguous in row order";

impl Targets {
    /// Prepares the targets. `weights` are those of the samples; `has_missing` is true if outputs are missing.
    pub(super) fn new(
        params: &ForestParams,
        projection: Option<OutputProjection>,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        weights: Option<&[f32]>,
        has_missing: bool,
    ) -> Result<Self, EnsembleError> {
        let rounding = Rounding::new(y.n_rows(), weights);
        if y.n_cols() == 1 && projection.is_none() {
            let mut target = Array2::zeros((y.n_rows(), 1));
            for (row, target) in target.iter_mut().enumerate() {
                y.copy_row(row, std::slice::from_mut(target));
            }
            let is_label = |v: &f32| *v == 0.0 || *v == 1.0 || v.is_nan();
            if !target.iter().all(is_label) {
                centre(target.column_mut(0), weights);
            }
            clear_unweighted_rows(&mut target, weights);
            rounding.round_dense(&mut target, weights);
            return Ok(Self::Single(target.into_raw_vec_and_offset().0));
        }
        let entropy = params.criterion == CriterionKind::Entropy;
        let mut targets = match y {
            MatrixView::Dense(y) if !entropy => {
                let mut centred = y.as_standard_layout().into_owned();
                let columns = centred.axis_iter_mut(Axis(1));
                columns.for_each(|column| centre(column, weights));
                Matrix::Dense(centred)
            }
            y => y.to_owned(),
        };
        if !entropy && let Some(factors) = params.scale_outputs.factors(y, weights) {
            scale(&mut targets, &factors);
        }
        if !entropy {
            clear_unweighted(&mut targets, weights);
        }
        if let Some(projection) = projection {
            if has_missing {
                let means = missing::observed_means(targets.view(), weights);
                missing::fill(&mut targets, &means);
            }
            return Ok(match projection.scope {
                ProjectionScope::Shared => {
                    let data = input(&x, &targets, weights);
                    Self::Shared(project(params, &projection, data, rounding, 0)?)
                }
                ProjectionScope::Tree => Self::Projected(projection, targets, rounding),
            });
        }
        match (entropy, has_missing) {
            (false, _) => {
                rounding.round(&mut targets, weights);
                let counted = match &targets {
                    Matrix::Sparse(y) if !has_missing => LabelRows::new(y.view()).map(Arc::new),
                    _ => None,
                };
                Ok(Self::Outputs(targets, counted))
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
        if let Self::Outputs(y @ Matrix::Sparse(_), counted) = self {
            let dense = y.view().to_dense(DEFAULT_MEMORY_LIMIT);
            *y = Matrix::Dense(dense.map_err(EnsembleError::DenseOutputs)?);
            *counted = None;
        }
        Ok(())
    }

    /// Returns the targets of the tree with the given index; `projected` receives its projection, if any. `weights` are
    /// those of the samples.
    pub(super) fn of_tree<'a>(
        &'a self,
        params: &ForestParams,
        (x, weights): (MatrixView<'_>, Option<&[f32]>),
        index: usize,
        projected: &'a mut Array2<f32>,
    ) -> Result<TreeTargets<'a>, EnsembleError> {
        Ok(match self {
            Self::Single(target) => TreeTargets::Single(target),
            Self::Outputs(Matrix::Sparse(y), Some(counted)) => TreeTargets::Counted(y.view(), counted),
            Self::Outputs(y, _) => TreeTargets::Outputs(y.view()),
            Self::Labels(y) => TreeTargets::Labels(y.view()),
            Self::Shared(shared) => TreeTargets::Projected(shared.view()),
            Self::Projected(projection, outputs, rounding) => {
                let data = input(&x, outputs, weights);
                *projected = project(params, projection, data, *rounding, index)?;
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
            Self::Labels(y) | Self::Counted(y, _) => MatrixView::Sparse(y.view()),
            Self::Projected(y) => MatrixView::Dense(y.view()),
        }
    }
}

/// Returns the largest weight.
pub(super) fn largest(weights: &[f32]) -> f32 {
    weights.iter().fold(0.0, |largest, &weight| largest.max(weight))
}

/// Returns the samples to which projections are fitted.
fn input<'a>(x: &'a MatrixView<'_>, targets: &'a Matrix, weights: Option<&'a [f32]>) -> ProjectionInput<'a> {
    ProjectionInput {
        features: Some(x.reborrow()),
        outputs: targets.view(),
        weights,
    }
}

/// Draws the projection of a tree, applies it and rounds the result. The shared projection is that of tree 0.
fn project(
    params: &ForestParams,
    projection: &OutputProjection,
    data: ProjectionInput<'_>,
    rounding: Rounding,
    index: usize,
) -> Result<Array2<f32>, EnsembleError> {
    let seed = Seed::new(params.seed).purpose("projection").child(index as u64);
    let map = projection.fit(data, seed, DEFAULT_MEMORY_LIMIT)?;
    let mut projected = map.apply(data.outputs)?;
    rounding.round_dense(&mut projected, data.weights);
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

/// Sets the targets of samples of weight 0 to 0, so that none of them is an extreme beside which others lose their digits.
fn clear_unweighted(targets: &mut Matrix, weights: Option<&[f32]>) {
    match targets {
        Matrix::Dense(y) => clear_unweighted_rows(y, weights),
        Matrix::Sparse(y) => {
            for row in unweighted(weights) {
                let range = y.indptr().outer_inds_sz(row);
                y.data_mut()[range].fill(0.0);
            }
        }
    }
}

fn clear_unweighted_rows(targets: &mut Array2<f32>, weights: Option<&[f32]>) {
    unweighted(weights).for_each(|row| targets.row_mut(row).fill(0.0));
}

/// Returns the samples of weight 0.
fn unweighted(weights: Option<&[f32]>) -> impl Iterator<Item = usize> {
    let weights = weights.unwrap_or_default().iter().enumerate();
    weights.filter(|(_, weight)| **weight == 0.0).map(|(row, _)| row)
}

/// Subtracts its mean from a column whose values are far from zero.
///
/// Split gains do not depend on the mean, and sums of uncentred targets would lose the digits in which the targets
/// differ. If the mean is not several times the standard deviation, nothing would be lost, and the targets stay
/// unchanged because subtracting rounds values that are not near the mean. Sparse targets keep their zeros and are not
/// centred. Missing values stay missing. They and samples of weight 0 do not contribute to the mean.
fn centre(mut column: ArrayViewMut1<'_, f32>, weights: Option<&[f32]>) {
    let counts = |row: usize| weights.is_none_or(|weights| weights[row] > 0.0);
    let known = || {
        let values = column.iter().enumerate();
        values
            .filter(|(row, v)| !v.is_nan() && counts(*row))
            .map(|(_, &v)| f64::from(v))
    };
    let n = known().count() as f64;
    let mean = known().sum::<f64>() / n;
    let variance = known().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    if mean * mean > 16.0 * variance {
        column.mapv_inplace(|v| (f64::from(v) - mean) as f32);
    }
}
