//! Losses for data sets with both labels and numbers.

use rpo_core::{CheckParams, MatrixView};
use rpo_data::{Dataset, Task};
use rpo_ensemble::boosting::{BoostingParams, LossKind};

/// Sets the logistic loss for outputs that are labels and the square loss for the others, if no loss is set, both kinds
/// occur, and the other parameters suit both (some assume one unit of second derivatives).
pub(super) fn with_losses_of(params: &BoostingParams, data: &Dataset) -> BoostingParams {
    if params.loss.is_some() || params.output_losses.is_some() || data.task() == Task::MultiLabel {
        return params.clone();
    }
    let labels = are_labels(data.outputs().view());
    if labels.contains(&true) && labels.contains(&false) {
        let loss = |is_label: bool| {
            if is_label {
                LossKind::Logistic
            } else {
                LossKind::Square
            }
        };
        let own = BoostingParams {
            output_losses: Some(labels.into_iter().map(loss).collect::<Vec<_>>().into()),
            ..params.clone()
        };
        if own.check().is_ok() {
            return own;
        }
    }
    params.clone()
}

/// For each output, true if its observed values are 0 and 1 and both occur.
fn are_labels(outputs: MatrixView<'_>) -> Vec<bool> {
    let (mut n_ones, mut n_missing) = (vec![0; outputs.n_cols()], vec![0; outputs.n_cols()]);
    let mut is_number = vec![false; outputs.n_cols()];
    for row in 0..outputs.n_rows() {
        outputs.for_each_in_row(row, |output, value| {
            let j = output as usize;
            match value {
                1.0 => n_ones[j] += 1,
                0.0 => {}
                _ if value.is_nan() => n_missing[j] += 1,
                _ => is_number[j] = true,
            }
        });
    }
    let has_both = |j: usize| n_ones[j] > 0 && n_ones[j] + n_missing[j] < outputs.n_rows();
    (0..outputs.n_cols())
        .map(|j| !is_number[j] && has_both(j))
        .collect()
}
