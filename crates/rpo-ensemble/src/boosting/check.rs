//! Checks of data and options before a fit.

use super::choices::Algorithm;
use super::loss::{Block, Loss, Objective, OutputLoss};
use super::model::Boosted;
use super::options::{BoostingOptions, Validation};
use super::resolved::Resolved;
use super::state::{Outputs, check_memory};
use crate::error::EnsembleError;
use crate::inference::mean::check_features;
use crate::inputs::{check_shapes, check_weights};
use ndarray::ArrayView2;
use rpo_core::{Domain, MatrixError, MatrixView, Mismatch, Predictor, TooFew};

/// Checks the data and options of a fit, and returns the objective of all outputs, which include all levels of each
/// target.
pub(super) fn check(
    params: &Resolved,
    x: MatrixView<'_>,
    y: MatrixView<'_>,
    options: &BoostingOptions<'_>,
) -> Result<Objective, EnsembleError> {
    check_shapes(x, y)?;
    if !options.missing_outputs {
        y.check_values(f32::is_finite).map_err(EnsembleError::Outputs)?;
    }
    let n_levels = params.loss.n_levels();
    let n_outputs = y.n_cols().saturating_mul(n_levels);
    if n_levels > 1 {
        check_memory(params.memory_limit, y.n_rows(), n_outputs, size_of::<f32>())?;
    }
    let objective = params.loss.objective(n_outputs)?;
    check_targets(&objective, n_levels, y)?;
    options
        .weights
        .map_or(Ok(()), |weights| check_weights(weights, x.n_rows()))?;
    options
        .cell_weights
        .map_or(Ok(()), |weights| check_cells(weights, y))?;
    check_groups(&objective, y, options.cell_weights)?;
    options.validation.map_or(Ok(()), |v| check_validation(&v, x))?;
    options
        .start
        .map_or(Ok(()), |start| check_start(start, params, &objective, x))?;
    Ok(objective)
}

/// Checks that targets are NaN, or finite and accepted by the loss. This includes zeros that are not stored.
fn check_targets(objective: &Objective, n_levels: usize, y: MatrixView<'_>) -> Result<(), EnsembleError> {
    let refuses = |column: usize, value: f32| objective.of(column * n_levels).refuses(f64::from(value));
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
            } else if let Some(expected) = refuses(column, value) {
                bad = Some(EnsembleError::Target {
                    sample: row,
                    output: column,
                    value,
                    expected,
                });
            }
        });
        bad.map_or(Ok(()), Err)?;
        // Only custom losses refuse 0, and a custom loss is that of all outputs.
        if n_stored < y.n_cols()
            && let Some(expected) = refuses(first_gap as usize, 0.0)
        {
            return Err(EnsembleError::Target {
                sample: row,
                output: first_gap as usize,
                value: 0.0,
                expected,
            });
        }
    }
    Ok(())
}

/// Checks that a custom loss is finite for every observed target of positive weight at the initial score of its output.
/// `rows` are the samples of the outputs, if they are not all.
pub(super) fn check_loss(
    loss: &dyn Loss,
    outputs: &Outputs<'_>,
    initial: &[f64],
    rows: Option<&[usize]>,
) -> Result<(), EnsembleError> {
    let (mut y, mut weights) = (vec![0.0; outputs.n_rows()], vec![0.0; outputs.n_rows()]);
    for (output, &score) in initial.iter().enumerate() {
        outputs.copy_column(output, &mut y, &mut weights);
        let observed = y.iter().zip(&weights).enumerate();
        for (row, (&target, _)) in observed.filter(|(_, (_, weight))| **weight > 0.0) {
            let curvature = loss.curvature(target, score).unwrap_or(0.0);
            for (what, value, least) in [
                ("value", loss.value(target, score), f64::NEG_INFINITY),
                (
                    "negative gradient",
                    loss.residual(target, score),
                    f64::NEG_INFINITY,
                ),
                ("second derivative", curvature, 0.0),
            ] {
                if !value.is_finite() || value < least {
                    return Err(EnsembleError::Loss {
                        what,
                        sample: rows.map_or(row, |rows| rows[row]),
                        output,
                        target,
                        score,
                        value,
                    });
                }
            }
        }
    }
    Ok(())
}

/// Checks that every sample has exactly one output of each group, or that all outputs of the group are missing, and
/// that the outputs of a group have equal weights.
fn check_groups(
    objective: &Objective,
    y: MatrixView<'_>,
    cells: Option<ArrayView2<'_, f32>>,
) -> Result<(), EnsembleError> {
    let blocks = objective.blocks().iter();
    let is_group = |block: &&Block| matches!(block.loss, OutputLoss::Softmax);
    let groups: Vec<_> = blocks
        .filter(is_group)
        .map(|block| block.outputs.clone())
        .collect();
    if groups.is_empty() {
        return Ok(());
    }
    let mut values = vec![0.0; y.n_cols()];
    for row in 0..y.n_rows() {
        y.copy_row(row, &mut values);
        for group in &groups {
            let members = &values[group.clone()];
            let is_one =
                members.iter().filter(|v| **v == 1.0).count() == 1 && members.iter().all(|v| !v.is_nan());
            if !is_one && !members.iter().all(|v| v.is_nan()) {
                let (first, last) = (group.start, group.end - 1);
                return Err(EnsembleError::Group {
                    sample: row,
                    first,
                    last,
                });
            }
            if let Some(cells) = &cells {
                let weight = cells[[row, group.start]];
                if let Some(output) = group.clone().find(|&j| cells[[row, j]] != weight) {
                    let value = cells[[row, output]];
                    return Err(EnsembleError::CellWeight {
                        sample: row,
                        output,
                        value,
                    });
                }
            }
        }
    }
    Ok(())
}

fn check_cells(weights: ArrayView2<'_, f32>, y: MatrixView<'_>) -> Result<(), EnsembleError> {
    Mismatch::check("samples of the cell weights", y.n_rows(), weights.nrows())?;
    Mismatch::check("outputs of the cell weights", y.n_cols(), weights.ncols())?;
    let bad = weights
        .indexed_iter()
        .find(|(_, w)| !(w.is_finite() && **w >= 0.0));
    bad.map_or(Ok(()), |((sample, output), &value)| {
        Err(EnsembleError::CellWeight {
            sample,
            output,
            value,
        })
    })
}

fn check_validation(validation: &Validation<'_>, x: MatrixView<'_>) -> Result<(), EnsembleError> {
    check_features(validation.x, x.n_cols())?;
    TooFew::check("validation samples", 1, validation.x.n_rows())?;
    Domain::Count.check("every", validation.every)?;
    Ok(Domain::Count.check("patience", validation.patience)?)
}

fn check_start(
    start: &Boosted,
    params: &Resolved,
    objective: &Objective,
    x: MatrixView<'_>,
) -> Result<(), EnsembleError> {
    let n_outputs = objective.n_outputs();
    let per_step = match params.algorithm {
        Algorithm::SingleTarget => n_outputs,
        _ => 1,
    };
    for (what, expected, given) in [
        (
            "features of the model to continue",
            x.n_cols(),
            start.n_features(),
        ),
        ("outputs of the model to continue", n_outputs, start.n_outputs()),
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
        Mismatch::check(what, expected, given)?;
    }
    if start.links() != objective.links() {
        return Err(EnsembleError::Continue(
            "the model was fitted with a loss that has a different inverse link",
        ));
    }
    Ok(())
}
