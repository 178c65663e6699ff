//! Checks of data and options before a fit.

use super::choices::Algorithm;
use super::model::Boosted;
use super::options::{BoostingOptions, Validation};
use super::resolved::Resolved;
use crate::error::EnsembleError;
use crate::error::mismatch;
use crate::inference::mean::check_features;
use crate::inputs::{check_shapes, check_weights};
use ndarray::ArrayView2;
use rpo_core::{MatrixError, MatrixView, Predictor, check_count};

pub(super) fn check(
    params: &Resolved,
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    options: &BoostingOptions<'_>,
) -> Result<(), EnsembleError> {
    check_shapes(x, y)?;
    if !options.missing_outputs {
        y.check_finite().map_err(EnsembleError::Outputs)?;
    }
    check_targets(params, y)?;
    options
        .weights
        .map_or(Ok(()), |weights| check_weights(weights, x.n_rows()))?;
    options
        .cell_weights
        .map_or(Ok(()), |weights| check_cells(weights, y))?;
    options.validation.map_or(Ok(()), |v| check_validation(&v, x))?;
    options
        .start
        .map_or(Ok(()), |start| check_start(start, params, x, y))
}

/// Targets are NaN, or finite and accepted by the loss; so are the zeros that are not stored.
fn check_targets(params: &Resolved, y: MatrixView<'_>) -> Result<(), EnsembleError> {
    let loss = params.loss.loss();
    for row in 0..y.n_rows() {
        let mut bad = None;
        let (mut n_stored, mut first_gap) = (0, 0);
        y.for_each_in_row(row, |column, value| {
            n_stored += 1;
            first_gap += u32::from(column == first_gap);
            let column = column as usize;
            if value.is_nan() || bad.is_some() {
                return;
            }
            if value.is_infinite() {
                bad = Some(EnsembleError::Outputs(MatrixError::NonFinite {
                    row,
                    column,
                    value,
                }));
            } else if let Some(expected) = loss.refuses(f64::from(value)) {
                bad = Some(EnsembleError::Target {
                    row,
                    output: column,
                    value,
                    expected,
                });
            }
        });
        bad.map_or(Ok(()), Err)?;
        if n_stored < y.n_cols()
            && let Some(expected) = loss.refuses(0.0)
        {
            return Err(EnsembleError::Target {
                row,
                output: first_gap as usize,
                value: 0.0,
                expected,
            });
        }
    }
    Ok(())
}

fn check_cells(weights: ArrayView2<'_, f32>, y: MatrixView<'_>) -> Result<(), EnsembleError> {
    if weights.nrows() != y.n_rows() {
        return mismatch("samples of the cell weights", y.n_rows(), weights.nrows());
    }
    if weights.ncols() != y.n_cols() {
        return mismatch("outputs of the cell weights", y.n_cols(), weights.ncols());
    }
    let bad = weights
        .indexed_iter()
        .find(|(_, w)| !(w.is_finite() && **w >= 0.0));
    bad.map_or(Ok(()), |((row, output), &value)| {
        Err(EnsembleError::CellWeight { row, output, value })
    })
}

fn check_validation(validation: &Validation<'_>, x: MatrixView<'_>) -> Result<(), EnsembleError> {
    check_features(validation.x, x.n_cols())?;
    check_count("the number of validation samples", validation.x.n_rows())?;
    check_count("every", validation.every)?;
    Ok(check_count("patience", validation.patience)?)
}

fn check_start(
    start: &Boosted,
    params: &Resolved,
    x: MatrixView<'_>,
    y: MatrixView<'_>,
) -> Result<(), EnsembleError> {
    let per_step = match params.algorithm {
        Algorithm::SingleTarget => y.n_cols(),
        _ => 1,
    };
    for (what, expected, given) in [
        (
            "features of the model to continue",
            x.n_cols(),
            start.n_features(),
        ),
        ("outputs of the model to continue", y.n_cols(), start.n_outputs()),
        (
            "training samples of the model to continue",
            x.n_rows(),
            start.n_train(),
        ),
        (
            "trees per step of the model to continue",
            per_step,
            start.trees_per_step(),
        ),
    ] {
        if expected != given {
            return mismatch(what, expected, given);
        }
    }
    if start.inverse_link() != params.loss.loss().inverse_link() {
        return Err(EnsembleError::Merge(
            "the model to continue was fitted with a loss of another inverse link",
        ));
    }
    Ok(())
}
