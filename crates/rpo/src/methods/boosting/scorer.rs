//! Scores of steps on withheld samples.

use crate::Model;
use crate::align::repeated_columns;
use ndarray::ArrayView2;
use rpo_core::Matrix;
use rpo_data::Dataset;
use rpo_ensemble::boosting::{BoostingParams, LossKind};
use rpo_metrics::{Evaluation, EvaluationOptions, Metric, MissingTruth, Score};
use std::borrow::Cow;

/// Scores predictions for withheld samples; larger is better.
pub(super) struct Scorer<'a> {
    metric: Metric,
    levels: Vec<f64>,
    /// The outputs, each as often as it has levels.
    truth: Cow<'a, Matrix>,
}

impl<'a> Scorer<'a> {
    /// By a metric; without one by that of the task, or for quantiles by their loss, as metrics are of means and ranks.
    pub(super) fn new(samples: &'a Dataset, metric: Option<Metric>, params: &BoostingParams) -> Self {
        let levels = params.quantile.as_deref().unwrap_or_default().to_vec();
        let metric = match metric {
            Some(metric) => metric,
            None if params.loss == Some(LossKind::Quantile) => Metric::Pinball,
            None => Model::default_metric(samples.task()),
        };
        let truth = match levels.len() {
            0 | 1 => Cow::Borrowed(samples.outputs()),
            times => Cow::Owned(repeated_columns(samples.outputs().view(), times)),
        };
        Self {
            metric,
            levels,
            truth,
        }
    }

    /// NaN, which never counts as better, where the metric is undefined or not for such outputs.
    pub(super) fn score(&self, predictions: ArrayView2<'_, f32>) -> f64 {
        let options = EvaluationOptions {
            quantile_levels: &self.levels,
            missing: MissingTruth::Skip,
            ..EvaluationOptions::default()
        };
        let truth = self.truth.view();
        let evaluation = Evaluation::new(truth, predictions.view(), options);
        let sign = if self.metric.higher_is_better() { 1.0 } else { -1.0 };
        let value = self.metric.evaluate(&evaluation);
        value.map_or(f64::NAN, |value| sign * value)
    }
}
