//! Losses for data sets with several kinds of outputs: labels, classes and numbers.

use rpo_core::CheckParams;
use rpo_data::{Dataset, Task};
use rpo_ensemble::List;
use rpo_ensemble::boosting::{Algorithm, BoostingParams, LossKind};

/// Sets the loss of each output if several kinds occur and the other parameters suit all of them (some assume one unit
/// of second derivatives): logistic for labels, softmax for the classes of a column, which is the logistic loss of
/// several classes, and square for numbers. No loss may be set, other than the logistic one of labels.
pub(super) fn with_losses_of(params: &BoostingParams, data: &Dataset) -> BoostingParams {
    let is_free = match data.task() {
        Task::MultiLabel => matches!(params.loss, None | Some(LossKind::Logistic)),
        Task::Regression => params.loss.is_none(),
    };
    if !is_free || params.output_losses.is_some() || params.groups.is_some() {
        return params.clone();
    }
    let is_label = match data.task() {
        Task::MultiLabel => vec![true; data.n_outputs()],
        Task::Regression => data.outputs().view().binary_columns(),
    };
    let kinds = is_label.iter().map(|is_label| match is_label {
        true => LossKind::Logistic,
        false => LossKind::Square,
    });
    let separate: Vec<LossKind> = kinds.collect();
    // Each class is boosted against the others where targets are boosted alone, and where outputs have own weights.
    let columns = match params.algorithm {
        Algorithm::SingleTarget => &[],
        _ if data.has_cell_weights() => &[],
        _ => data.class_columns(),
    };
    let mut joint = separate.clone();
    for column in columns {
        joint[column.outputs()].fill(LossKind::Softmax);
    }
    for losses in [joint, separate] {
        if losses
            .iter()
            .all(|loss| *loss == losses[0] && *loss != LossKind::Softmax)
        {
            break;
        }
        let groups = losses.contains(&LossKind::Softmax);
        let groups = groups.then(|| {
            columns
                .iter()
                .map(|column| column.classes.len())
                .collect::<Vec<_>>()
        });
        let own = BoostingParams {
            loss: None,
            output_losses: Some(List::from(losses)),
            groups: groups.map(List::from),
            ..params.clone()
        };
        if own.check().is_ok() {
            return own;
        }
    }
    params.clone()
}

/// The levels of the predicted quantiles; empty for other losses.
pub(super) fn quantile_levels(params: &BoostingParams) -> &[f64] {
    match params.loss {
        Some(LossKind::Quantile) => params.quantile.as_deref().unwrap_or(&[0.5]),
        _ => &[],
    }
}
