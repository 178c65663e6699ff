//! The losses of a set that has labels and numbers.

use rpo_core::{CheckParams, MatrixView};
use rpo_data::{Dataset, Task};
use rpo_ensemble::boosting::{BoostingParams, LossKind};

/// The parameters with the logistic loss for the outputs that are labels and the square loss for the others, where none is
/// set, there are both, and the other parameters are for both: some are of one unit of second derivatives.
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

/// Returns true for each output whose observed values are 0 and 1, both of them.
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
