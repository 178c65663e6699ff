//! Intervals of the metrics of one model, by resampling the test samples.

use crate::describe::measures;
use ndarray::Axis;
use rpo::Model;
use rpo::Predictor;
use rpo::core::{MatrixView, Seed};
use rpo::data::{Dataset, Task};
use rpo::metrics::{Evaluation, EvaluationOptions, LabelSets, Metric, MissingTruth, Score};
use rpo_stats::{Bootstrap, ConfidenceInterval};

/// Fraction of the resamples within an interval, as in the embedding paper.
const LEVEL: f64 = 0.9;

/// Computes the bounds of the percentile interval of each metric, named by [`measures::low`] and [`measures::high`].
/// Labels are decided once, for all test samples, and resampled with them.
pub(super) fn intervals(
    model: &Model,
    test: &Dataset,
    metrics: &[Metric],
    resamples: usize,
    seed: u64,
) -> anyhow::Result<Vec<(String, f64)>> {
    let scores = model.predict(test.features().view())?;
    let decided = match test.task() {
        Task::MultiLabel => Some(model.decide(scores.view())?),
        Task::Regression => None,
    };
    let train_means = model.training().output_means();
    let value = |metric: &Metric, rows: &[usize]| -> anyhow::Result<f64> {
        let truth = test.outputs().view().select_rows(rows);
        let scores = scores.select(Axis(0), rows);
        let decided = decided
            .as_ref()
            .map(|sets| MatrixView::Sparse(sets.view()).select_rows(rows));
        let sets = decided
            .as_ref()
            .map(|sets| LabelSets::new(sets.view(), MissingTruth::Refuse));
        let sets = sets.transpose()?;
        let options = EvaluationOptions {
            train_means: Some(&train_means),
            label_sets: sets.as_ref(),
            ..EvaluationOptions::default()
        };
        let evaluation = Evaluation::new(truth.view(), scores.view(), options);
        Ok(metric.evaluate(&evaluation)?)
    };
    let mut found = Vec::with_capacity(2 * metrics.len());
    for metric in metrics {
        let all: Vec<usize> = (0..test.n_samples()).collect();
        value(metric, &all)?;
        // A metric that can be computed on all samples can be computed on a resample, unless it is undefined there.
        let draw = Bootstrap::draw(all.len(), resamples, Seed::new(seed), |rows| {
            value(metric, rows).unwrap_or(f64::NAN)
        })?;
        let (low, high) = draw.interval(LEVEL)?;
        let name = metric.to_string();
        found.extend([(measures::low(&name), low), (measures::high(&name), high)]);
    }
    Ok(found)
}
