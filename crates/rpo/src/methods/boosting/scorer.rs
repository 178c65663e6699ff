//! Scores boosting steps on withheld samples.

use super::losses::{default_metric_of, given_losses};
use crate::align::repeated_columns;
use crate::evaluate::{OutputKinds, is_of_numbers};
use crate::{ModelError, OutputSummary};
use ndarray::{Array2, ArrayView2};
use rpo_core::{Matrix, ParameterError};
use rpo_data::{Dataset, Task};
use rpo_ensemble::boosting::{BoostingParams, LossKind};
use rpo_metrics::{Metric, Score};
use std::borrow::Cow;

/// Returns true if predictions of labels are probabilities by all losses.
fn predicts_probabilities(params: &BoostingParams) -> bool {
    given_losses(params).next().is_some() && given_losses(params).all(is_of_labels)
}

/// The logarithmic loss of labels if each is predicted with its frequency; `None` if it is not positive, as for labels that
/// all samples have.
fn loss_of_constants(kinds: &OutputKinds, samples: &Dataset) -> Option<f64> {
    let frequencies = OutputSummary::of(samples).means(samples.n_samples());
    let constants = Array2::from_shape_fn((samples.n_samples(), samples.n_outputs()), |(_, output)| {
        frequencies[output] as f32
    });
    let truth = samples.outputs().view();
    let loss = kinds.score(Metric::LogLoss, truth, constants.view(), &[]).ok()?;
    (loss > 0.0).then_some(loss)
}

fn is_of_labels(loss: &LossKind) -> bool {
    matches!(loss, LossKind::Logistic | LossKind::Softmax)
}

/// Scores predictions for withheld samples; larger is better.
pub(super) struct Scorer<'a> {
    metric: Metric,
    /// Set if the metric, R², is that of the numbers among the outputs, and labels are scored too: the logarithmic loss of
    /// the best constants.
    loss_of_constants: Option<f64>,
    kinds: OutputKinds,
    /// True if no output is a label, of the data or by its loss.
    are_numbers: bool,
    levels: Vec<f64>,
    /// The outputs, each repeated once per level.
    truth: Cow<'a, Matrix>,
}

impl<'a> Scorer<'a> {
    /// Creates a scorer for a metric. The default is the loss where its scale is the same for all data: the logarithmic
    /// loss of probabilities of labels, the pinball loss of quantiles, the deviance of counts and amounts, and the
    /// absolute error where there are outliers; otherwise the metric of the task. A ranking is right long before
    /// probabilities are, and best by chance at an early step.
    ///
    /// Where labels stand beside numbers, the default is the mean over all outputs of R² and, for labels, 1 − the
    /// logarithmic loss relative to that of the best constants, which is R² for that loss.
    pub(super) fn new(samples: &'a Dataset, given: Option<Metric>, params: &BoostingParams) -> Self {
        let levels = params.quantile.as_deref().unwrap_or_default().to_vec();
        let metric = match given {
            Some(metric) => metric,
            None if samples.task() == Task::MultiLabel && predicts_probabilities(params) => Metric::LogLoss,
            None => default_metric_of(params, samples.task(), samples.n_outputs()),
        };
        let truth = match levels.len() {
            0 | 1 => Cow::Borrowed(samples.outputs()),
            times => Cow::Owned(repeated_columns(samples.outputs().view(), times)),
        };
        let kinds = OutputKinds::of(samples);
        let is_probable = |label: &usize| {
            let losses = params.output_losses.as_ref();
            losses.is_some_and(|losses| losses.get(*label).is_some_and(is_of_labels))
        };
        let scores_all = given.is_none() && metric == Metric::R2 && kinds.is_mixed();
        let loss_of_constants = match scores_all && kinds.labels().iter().all(is_probable) {
            true => loss_of_constants(&kinds, samples),
            false => None,
        };
        Self {
            metric,
            loss_of_constants,
            are_numbers: !kinds.have_labels() && !given_losses(params).any(is_of_labels),
            kinds,
            levels,
            truth,
        }
    }

    /// Refuses a metric that does not suit the outputs or is undefined for whatever predictions: no step would count as
    /// better than none.
    pub(super) fn check(&self) -> Result<(), ModelError> {
        if self.are_numbers && !is_of_numbers(&self.metric) {
            return Err(ModelError::MetricForLabels {
                metric: self.metric.name(),
            });
        }
        let (n, d) = (self.truth.view().n_rows(), self.truth.view().n_cols());
        // Constants are predictions of every kind.
        if self.value(Array2::from_elem((n, d), 0.5).view())?.is_nan() {
            let reason = "is undefined on the samples withheld to choose the number of steps: withhold more samples, as of \
                a rare label there may be none, or choose another metric";
            return Err(ParameterError::conflict("validation_metric", self.metric, reason).into());
        }
        Ok(())
    }

    fn value(&self, predictions: ArrayView2<'_, f32>) -> Result<f64, ModelError> {
        let truth = self.truth.view();
        let value = self
            .kinds
            .score(self.metric, truth.reborrow(), predictions, &self.levels)?;
        let Some(of_constants) = self.loss_of_constants else {
            return Ok(value);
        };
        let loss = self
            .kinds
            .score(Metric::LogLoss, truth, predictions, &self.levels)?;
        let (d, n_labels) = (predictions.ncols() as f64, self.kinds.labels().len() as f64);
        let of_labels = n_labels * (1.0 - loss / of_constants);
        // A number that is constant in the withheld samples has no R².
        Ok(match value.is_nan() {
            true => of_labels / n_labels,
            false => ((d - n_labels) * value + of_labels) / d,
        })
    }

    /// The score; NaN, which never counts as better, if the metric is undefined.
    pub(super) fn score(&self, predictions: ArrayView2<'_, f32>) -> f64 {
        let sign = if self.metric.higher_is_better() { 1.0 } else { -1.0 };
        self.value(predictions).map_or(f64::NAN, |value| sign * value)
    }
}
