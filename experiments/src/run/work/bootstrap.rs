//! Intervals around the metrics of one model, by resampling the test samples.

use crate::describe::measures;
use ndarray::Axis;
use rpo::Model;
use rpo::core::{MatrixView, Seed};
use rpo::data::{Dataset, Task};
use rpo::metrics::{Evaluation, LabelSets, Metric, Scores};
use rpo_stats::Bootstrap;

/// Share of the resamples within an interval, as in the embedding paper.
const LEVEL: f64 = 0.9;

/// For each metric the bounds of its percentile interval, by the names of [`measures::low`] and [`measures::high`].
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
        let evaluation =
            Evaluation::new(truth.view(), Scores::Dense(scores.view())).train_means(&train_means);
        let Some(decided) = &decided else {
            return Ok(metric.evaluate(&evaluation)?);
        };
        let decided = MatrixView::Sparse(decided.view()).select_rows(rows);
        let sets = LabelSets::new(decided.view())?;
        Ok(metric.evaluate(&evaluation.label_sets(&sets))?)
    };
    let mut found = Vec::with_capacity(2 * metrics.len());
    for metric in metrics {
        let all: Vec<usize> = (0..test.n_samples()).collect();
        value(metric, &all)?;
        // What can be had of all samples can be had of a resample, unless it is undefined there.
        let draw = Bootstrap::draw(all.len(), resamples, Seed::new(seed), |rows| {
            value(metric, rows).unwrap_or(f64::NAN)
        })?;
        let (low, high) = draw.interval(LEVEL)?;
        let name = metric.to_string();
        found.extend([(measures::low(&name), low), (measures::high(&name), high)]);
    }
    Ok(found)
}
