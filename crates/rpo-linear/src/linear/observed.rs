//! Outputs with missing values, each fitted to the samples that have it.

use std::collections::BTreeMap;

use ndarray::{Array1, Array2};
use rpo_core::{DEFAULT_MEMORY_LIMIT, Matrix, MatrixView, Mismatch, Observers, TooFew};

use super::LinearModel;
use crate::options::check_matrix;
use crate::{LinearError, RegressionOptions};

/// Fits each output to the samples that have it, if missing ones are allowed. Outputs that the same samples lack are
/// fitted together by `fit`, which gets complete ones.
///
/// # Errors
/// Those of `fit`; an output without any sample; weights above the memory limit.
pub(super) fn fit_observed(
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    options: RegressionOptions<'_>,
    fit: impl Fn(MatrixView<'_>, MatrixView<'_>, RegressionOptions<'_>) -> Result<LinearModel, LinearError>,
) -> Result<LinearModel, LinearError> {
    if !options.missing_outputs || !y.reborrow().has_missing() {
        return fit(x, y, options);
    }
    Mismatch::check("samples of the outputs", x.n_rows(), y.n_rows())?;
    if let Some(weights) = options.weights {
        Mismatch::check("weights of the samples", x.n_rows(), weights.len())?;
    }
    let limit = options.memory_limit.unwrap_or(DEFAULT_MEMORY_LIMIT);
    let (p, d) = (x.n_cols(), y.n_cols());
    check_matrix::<f32>("the weights of all outputs", p, d, limit)?;
    let (mut weights, mut offset) = (Array2::zeros((p, d)), Array1::zeros(d));
    let mut first: Option<LinearModel> = None;
    for (missing, outputs) in alike(y) {
        let rows = observed(x.n_rows(), &missing);
        TooFew::check("samples with an output", 1, rows.len())?;
        let of_rows = |weights: &[f32]| rows.iter().map(|&row| weights[row]).collect::<Vec<f32>>();
        let sample_weights = options.weights.map(of_rows);
        let some = RegressionOptions {
            weights: sample_weights.as_deref(),
            observers: Observers {
                on_step: None,
                ..options.observers
            },
            ..options
        };
        let (x, y) = (x.select_rows(&rows), selected(y, &rows, &outputs));
        let model = fit(x.view(), MatrixView::from(&y), some)?;
        for (column, &output) in outputs.iter().enumerate() {
            offset[output] = model.offset[column];
        }
        for feature in 0..p {
            model.weights.view().for_each_in_row(feature, |column, weight| {
                weights[[feature, outputs[column as usize]]] = weight;
            });
        }
        first = Some(match first {
            None => model,
            Some(first) => LinearModel {
                residual: [first.residual, model.residual]
                    .into_iter()
                    .flatten()
                    .reduce(f32::max),
                penalty: first.penalty.filter(|penalty| model.penalty == Some(*penalty)),
                ..first
            },
        });
    }
    options.observers.step();
    let first = first.expect("an output is missing somewhere, so that there is one");
    Ok(LinearModel {
        weights: Matrix::Dense(weights),
        offset,
        n_train: x.n_rows(),
        ..first
    })
}

/// The outputs by the samples that lack them.
fn alike(y: MatrixView<'_>) -> BTreeMap<Vec<usize>, Vec<usize>> {
    let mut missing = vec![Vec::new(); y.n_cols()];
    for row in 0..y.n_rows() {
        y.for_each_in_row(row, |output, v| {
            if v.is_nan() {
                missing[output as usize].push(row);
            }
        });
    }
    let mut alike: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for (output, missing) in missing.into_iter().enumerate() {
        alike.entry(missing).or_default().push(output);
    }
    alike
}

/// The rows but the missing ones, which increase.
fn observed(n_rows: usize, missing: &[usize]) -> Vec<usize> {
    let mut missing = missing.iter().copied().peekable();
    (0..n_rows)
        .filter(|row| missing.next_if_eq(row).is_none())
        .collect()
}

/// Some rows of some columns, which increase.
fn selected(y: MatrixView<'_>, rows: &[usize], columns: &[usize]) -> Array2<f32> {
    let mut selected = Array2::zeros((rows.len(), columns.len()));
    for (&row, mut out) in rows.iter().zip(selected.rows_mut()) {
        y.for_each_in_row(row, |column, v| {
            if let Ok(place) = columns.binary_search(&(column as usize)) {
                out[place] = v;
            }
        });
    }
    selected
}
