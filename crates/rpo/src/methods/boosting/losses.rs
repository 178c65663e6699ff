//! Losses for data sets with several kinds of outputs: labels, classes and numbers.

use crate::default_metric;
use rpo_core::CheckParams;
use rpo_data::{ClassColumn, Dataset, TargetOutputs, Task};
use rpo_ensemble::List;
use rpo_ensemble::boosting::{Algorithm, BoostingParams, LossKind};
use rpo_metrics::{Metric, TweediePower};

/// Sets the loss of each output if several kinds occur and the other parameters suit all of them (some assume one unit
/// of second derivatives): logistic for labels, softmax for the classes of a column, which is the logistic loss of
/// several classes, and for numbers the loss that is given, or square. A loss of labels that is given is that of all
/// outputs. Losses that are given for each target are completed ([`completed`]).
pub(super) fn with_losses_of(params: &BoostingParams, data: &Dataset) -> BoostingParams {
    if let Some(losses) = &params.output_losses {
        return completed(params, losses, data);
    }
    let is_label = match (data.task(), params.loss) {
        _ if params.groups.is_some() => return params.clone(),
        (Task::MultiLabel, None | Some(LossKind::Logistic)) => vec![true; data.n_outputs()],
        (Task::MultiLabel, Some(_)) | (Task::Regression, Some(LossKind::Logistic | LossKind::Softmax)) => {
            return params.clone();
        }
        (Task::Regression, None) => data.outputs().view().binary_columns(),
        (Task::Regression, Some(_)) => (0..data.n_outputs())
            .map(|output| data.is_label(output))
            .collect(),
    };
    let kinds = is_label.iter().map(|is_label| match is_label {
        true => LossKind::Logistic,
        false => params.loss.unwrap_or(LossKind::Square),
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

/// Completes losses that are given for each target, or for each output: that of a column of classes holds for each of its
/// classes, and columns with the softmax loss are its groups, unless groups are given.
fn completed(params: &BoostingParams, given: &[LossKind], data: &Dataset) -> BoostingParams {
    let targets = ClassColumn::targets(data.class_columns(), data.n_outputs());
    let mut losses = given.to_vec();
    if given.len() == targets.len() {
        let of_target = |(loss, target): (&LossKind, &TargetOutputs<'_>)| match target {
            TargetOutputs::One(_) => vec![*loss],
            TargetOutputs::Classes(column) => vec![*loss; column.classes.len()],
        };
        losses = given.iter().zip(&targets).flat_map(of_target).collect();
    }
    let has_softmax = |column: &&ClassColumn| {
        let own = losses.get(column.outputs());
        own.is_some_and(|own| own.iter().all(|loss| *loss == LossKind::Softmax))
    };
    let columns = data.class_columns().iter().filter(has_softmax);
    let sizes: Vec<usize> = columns.map(|column| column.classes.len()).collect();
    let n_softmax = losses.iter().filter(|loss| **loss == LossKind::Softmax).count();
    let mut groups = params.groups.clone();
    if groups.is_none() && n_softmax > 0 && sizes.iter().sum::<usize>() == n_softmax {
        groups = Some(List::from(sizes));
    }
    BoostingParams {
        output_losses: Some(List::from(losses)),
        groups,
        ..params.clone()
    }
}

/// The losses that are given, of all outputs or of each.
pub(super) fn given_losses(params: &BoostingParams) -> impl Iterator<Item = &LossKind> {
    let of_outputs = params.output_losses.iter().flat_map(|losses| losses.iter());
    params.loss.iter().chain(of_outputs)
}

/// The metric by which models are compared: the deviance that they minimize if all outputs are numbers with a
/// logarithmic link, the mean absolute error if the loss is chosen because of outliers, otherwise the [`default_metric`]
/// of the task. Counts and amounts vary most where they are largest, so that R² is that of a few samples, and a model of
/// means that are all too small may have the best; outliers decide on R² alone.
pub(super) fn default_metric_of(params: &BoostingParams, task: Task, n_outputs: usize) -> Metric {
    let all_are = |kind| all_are(params, kind);
    let power = || {
        params
            .tweedie_power
            .map_or(Ok(TweediePower::default()), TweediePower::new)
    };
    match task {
        Task::Regression if all_are(LossKind::Poisson) => return Metric::PoissonDeviance,
        // A power that is refused has no models to compare.
        Task::Regression if all_are(LossKind::Tweedie) => {
            return Metric::TweedieDeviance(power().unwrap_or_default());
        }
        Task::Regression if all_are(LossKind::Absolute) || all_are(LossKind::Huber) => return Metric::Mae,
        Task::Regression | Task::MultiLabel => {}
    }
    default_metric(task, n_outputs, quantile_levels(params))
}

/// The levels of the predicted quantiles; empty unless quantile is the loss of all outputs.
pub(super) fn quantile_levels(params: &BoostingParams) -> &[f64] {
    match all_are(params, LossKind::Quantile) {
        true => params.quantile.as_deref().unwrap_or(&[0.5]),
        false => &[],
    }
}

/// Returns true if a loss is given, and it is that of all outputs.
fn all_are(params: &BoostingParams, kind: LossKind) -> bool {
    given_losses(params).next().is_some() && given_losses(params).all(|own| *own == kind)
}
