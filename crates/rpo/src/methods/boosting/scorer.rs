//! Scores of steps on withheld samples.

use crate::Model;
use ndarray::ArrayView2;
use rpo_data::Dataset;
use rpo_ensemble::boosting::{BoostingParams, LossKind};
use rpo_metrics::{Evaluation, Metric, Score, Scores};

/// Scores predictions for withheld samples; larger is better.
pub(super) struct Scorer<'a> {
    samples: &'a Dataset,
    measure: Measure,
}

enum Measure {
    Metric(Metric),
    /// The quantile loss of each level of every output, turned round.
    Quantiles(Vec<f64>),
}

impl<'a> Scorer<'a> {
    /// By a metric; without one by that of the task, or for quantiles by their loss, as metrics are of means and ranks.
    pub(super) fn new(samples: &'a Dataset, metric: Option<Metric>, params: &BoostingParams) -> Self {
        let levels = params.quantile.as_deref().unwrap_or(&[0.5]);
        let measure = match metric {
            None if params.loss == Some(LossKind::Quantile) => Measure::Quantiles(levels.to_vec()),
            None => Measure::Metric(Model::default_metric(samples.task())),
            Some(metric) => Measure::Metric(metric),
        };
        Self { samples, measure }
    }

    /// NaN, which never counts as better, where the metric is undefined or not for such outputs.
    pub(super) fn score(&self, predictions: ArrayView2<'_, f32>) -> f64 {
        match &self.measure {
            Measure::Metric(metric) => {
                let outputs = self.samples.outputs().view();
                let evaluation = Evaluation::new(outputs, Scores::Dense(predictions.view()));
                let sign = if metric.higher_is_better() { 1.0 } else { -1.0 };
                metric
                    .evaluate(&evaluation)
                    .map_or(f64::NAN, |value| sign * value)
            }
            Measure::Quantiles(levels) => -self.quantile_loss(levels, predictions),
        }
    }

    /// Σ max(τ (y − f), (τ − 1) (y − f)) over what is observed.
    fn quantile_loss(&self, levels: &[f64], predictions: ArrayView2<'_, f32>) -> f64 {
        let outputs = self.samples.outputs().view();
        let (mut y, mut sum) = (vec![0.0; outputs.n_cols()], 0.0);
        for (row, predictions) in predictions.rows().into_iter().enumerate() {
            outputs.copy_row(row, &mut y);
            for (j, &f) in predictions.iter().enumerate() {
                let (level, y) = (levels[j % levels.len()], y[j / levels.len()]);
                if !y.is_nan() {
                    let distance = f64::from(y) - f64::from(f);
                    sum += (level * distance).max((level - 1.0) * distance);
                }
            }
        }
        sum
    }
}
