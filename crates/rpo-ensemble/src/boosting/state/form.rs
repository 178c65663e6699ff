//! Choice of the form of the training scores.

use super::State;
use super::factored::FactoredResiduals;
use super::odds::OddsState;
use super::outputs::{Outputs, check_memory};
use super::padded_rows::PaddedRows;
use super::scores::ScoreState;
use crate::boosting::choices::{Algorithm, LineSearch, StepScope, TrainingForm};
use crate::boosting::loss::{LossKind, Objective};
use crate::boosting::resolved::Resolved;
use crate::error::EnsembleError;
use crate::projection::OutputProjection;
use rpo_core::MatrixView;

/// Largest number of cells n x d that are kept in `f64`; more are kept in `f32`.
const WIDE: usize = 1 << 17;

/// Returns the training state in the given form, or in the cheapest one.
pub(in crate::boosting) fn choose<'a>(
    params: &Resolved,
    objective: &'a Objective,
    outputs: &'a Outputs<'a>,
    initial: &[f64],
) -> Result<State<'a>, EnsembleError> {
    let (n, d) = (outputs.n_rows(), outputs.n_outputs());
    let complete = outputs.is_complete();
    let is_sparse = matches!(outputs.y, MatrixView::Sparse(_));
    let wide = n.saturating_mul(d) <= WIDE;
    let exact_leaves = params.step_scope == StepScope::Leaf && params.line_search == LineSearch::Exact;
    let form = match params.training_form {
        TrainingForm::Auto if params.algorithm == Algorithm::SingleTarget => TrainingForm::Scores,
        TrainingForm::Auto if params.loss.is(LossKind::Square) && complete && is_sparse => {
            if factored_cost(params, outputs) < scores_cost(params, outputs) {
                TrainingForm::Factored
            } else {
                TrainingForm::Scores
            }
        }
        TrainingForm::Auto if params.loss.is(LossKind::Logistic) && complete && d > 1 && !exact_leaves => {
            TrainingForm::Odds
        }
        TrainingForm::Auto => TrainingForm::Scores,
        form => form,
    };
    let refuse = |form, needs| Err(EnsembleError::Form { form, needs });
    // With gbmort, trees grow on the residuals and second derivatives of all outputs; those that grow ahead, while others
    // are computed.
    let residual = match (params.algorithm, params.ahead()) {
        (Algorithm::Gbmort, 0) => target_bytes(params, outputs),
        (Algorithm::Gbmort, _) => 2 * target_bytes(params, outputs),
        _ => 0,
    };
    let check = |columns, bytes: usize| check_memory(params.memory_limit, n, columns, bytes + residual);
    match form {
        TrainingForm::Factored if !(is_sparse && complete) => refuse(
            "factored",
            "sparse outputs without weights per cell or missing values",
        ),
        TrainingForm::Odds if !complete => {
            refuse("odds", "outputs without weights per cell or missing values")
        }
        TrainingForm::Factored => {
            check(d, 0)?;
            let residuals = FactoredResiduals::new(outputs, initial.to_vec(), params.penalties.quadratic);
            Ok(State::Factored(residuals))
        }
        TrainingForm::Odds => {
            check(PaddedRows::width_of(d), size_of::<f32>())?;
            let odds = OddsState::new(params, objective, outputs, initial);
            Ok(State::Odds(Box::new(odds)))
        }
        _ if wide => {
            check(d, size_of::<f64>())?;
            Ok(State::Wide(ScoreState::new(params, objective, outputs, initial)))
        }
        _ => {
            check(d, size_of::<f32>())?;
            Ok(State::Narrow(ScoreState::new(
                params, objective, outputs, initial,
            )))
        }
    }
}

/// Returns the size of the target of a tree for each sample and component: a residual, and a second derivative if there are
/// several.
pub(in crate::boosting) fn target_bytes(params: &Resolved, outputs: &Outputs<'_>) -> usize {
    let is_single = match params.second_order {
        Some(splits) => splits.is_constant_for(outputs),
        None => outputs.is_complete(),
    };
    match (params.algorithm, is_single) {
        (Algorithm::GbrtRpo, _) => 2 * size_of::<f32>() + size_of::<f64>(),
        (_, true) => size_of::<f32>(),
        (_, false) => 2 * size_of::<f32>(),
    }
}

/// Estimates the memory accesses of an average step on scores: three passes.
fn scores_cost(params: &Resolved, outputs: &Outputs<'_>) -> f64 {
    let cells = outputs.n_rows() as f64 * outputs.n_outputs() as f64;
    let fits = cells * size_of::<f32>() as f64 <= params.memory_limit as f64;
    if fits { 3.0 * cells } else { f64::INFINITY }
}

/// Estimates the memory accesses of an average step on factored residuals by the costs at the head of `factored.rs`,
/// when half of the steps have been made.
fn factored_cost(params: &Resolved, outputs: &Outputs<'_>) -> f64 {
    /// Number of products of leaves in the time of a memory access.
    const PRODUCTS: f64 = 16.0;
    let (n, d) = (outputs.n_rows() as f64, outputs.n_outputs() as f64);
    let (steps, q) = (
        0.5 * params.iterations as f64,
        n_components(params, outputs) as f64,
    );
    let per_step = if params.algorithm == Algorithm::GbrtRpo {
        2.0 * (n + d)
    } else {
        let by_depth = |depth: u32| f64::from(1_u32 << depth.min(30));
        let leaves = [
            params.grow.max_leaves.map(|leaves| leaves as f64),
            params.grow.max_depth.map(by_depth),
        ];
        let leaves = leaves.into_iter().flatten().fold(n, f64::min);
        n * (1.0 + q) + (leaves * leaves / PRODUCTS + q * leaves) * d
    };
    (1.0 + q) * outputs.y.n_stored() as f64 + steps * per_step
}

fn n_components(params: &Resolved, outputs: &Outputs<'_>) -> usize {
    let d = outputs.n_outputs();
    let resolve = |p: &OutputProjection| p.components.resolve(d).unwrap_or(d);
    params.projection.as_ref().map_or(d, resolve)
}
