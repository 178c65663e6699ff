//! What a metric scores where some outputs are labels and others numbers.

use crate::align::dense_columns;
use crate::decision::by_threshold;
use crate::{Model, ModelError, Schema};
use ndarray::{ArrayBase, ArrayView2};
use rpo_core::{MatrixView, Predictor};
use rpo_data::{ClassColumn, Dataset, Task};
use rpo_metrics::{Evaluation, EvaluationOptions, LabelSets, Metric, MissingTruth, PredictionForm, Score};
use std::ops::Range;

/// The outputs that are labels, in increasing order, and the groups of those that exclude each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputKinds {
    n_outputs: usize,
    labels: Vec<usize>,
    groups: Vec<Range<usize>>,
}

impl OutputKinds {
    /// The kinds that a data set declares.
    pub(crate) fn of(data: &Dataset) -> Self {
        Self::declared_by(&Schema::from(data))
    }

    /// The kinds that the data of a model declare, whatever the model makes of them.
    pub(crate) fn declared_by(schema: &Schema) -> Self {
        let n_outputs = schema.output_names.iter().len();
        let labels = match schema.task {
            Task::MultiLabel => (0..n_outputs).collect(),
            Task::Regression => schema.declared_labels(),
        };
        Self {
            n_outputs,
            labels,
            groups: schema.class_columns.iter().map(ClassColumn::outputs).collect(),
        }
    }

    /// The kinds that a model predicts.
    pub(crate) fn of_model(model: &Model) -> Self {
        Self {
            n_outputs: model.n_outputs(),
            labels: model.labels(),
            groups: model.groups(),
        }
    }

    /// The outputs that metrics of numbers score: those that are not labels, or all if every output is one.
    pub(crate) fn numbers(&self) -> Vec<usize> {
        let is_number = |j: &usize| !self.is_mixed() || self.labels.binary_search(j).is_err();
        (0..self.n_outputs).filter(is_number).collect()
    }

    /// The outputs that are labels, in increasing order.
    pub(crate) fn labels(&self) -> &[usize] {
        &self.labels
    }

    /// The labels outside of groups, in increasing order.
    pub(crate) fn single_labels(&self) -> Vec<usize> {
        let is_single = |label: &usize| !self.groups.iter().any(|group| group.contains(label));
        self.labels.iter().copied().filter(is_single).collect()
    }

    pub(crate) fn have_labels(&self) -> bool {
        !self.labels.is_empty()
    }

    /// Returns true if some outputs are labels and others are not.
    pub(crate) fn is_mixed(&self) -> bool {
        (1..self.n_outputs).contains(&self.labels.len())
    }

    /// Scores predictions (n x d) by the outputs that the metric is for; missing outputs are left out. Labels are decided
    /// by a score of 0.5, those of a group by the largest. With several `levels`, outputs are quantiles of numbers.
    ///
    /// # Errors
    /// A metric that does not suit the outputs.
    pub(crate) fn score(
        &self,
        metric: Metric,
        truth: MatrixView<'_>,
        predictions: ArrayView2<'_, f32>,
        levels: &[f64],
    ) -> Result<f64, ModelError> {
        let decided = match metric.needs() {
            PredictionForm::LabelSets if !self.groups.is_empty() => {
                Some(by_threshold(predictions, &self.labels, &self.groups, |_| 0.5)?)
            }
            _ => None,
        };
        let decided = decided.as_ref().map(MatrixView::from);
        let inputs = MetricInputs {
            levels,
            ..MetricInputs::default()
        };
        Ok(self.scores(&[metric], truth, predictions, decided, &inputs)?[0])
    }

    /// Scores predictions (n x d) by several metrics, each by the outputs that it is for; missing outputs are left out.
    /// `decided` are the predicted labels (n x d), if not those of a score of 0.5.
    ///
    /// # Errors
    /// A metric that does not suit the outputs.
    pub(super) fn scores<S: Score>(
        &self,
        metrics: &[S],
        truth: MatrixView<'_>,
        predictions: ArrayView2<'_, f32>,
        decided: Option<MatrixView<'_>>,
        inputs: &MetricInputs<'_>,
    ) -> Result<Vec<f64>, ModelError> {
        if !self.is_mixed() {
            return scored(metrics.iter(), truth, predictions, decided, inputs);
        }
        let part = |of_numbers: bool| -> Result<std::vec::IntoIter<f64>, ModelError> {
            let metrics = metrics
                .iter()
                .filter(|metric| is_of_numbers(*metric) == of_numbers);
            if metrics.clone().next().is_none() {
                return Ok(Vec::new().into_iter());
            }
            let outputs = match of_numbers {
                true => self.numbers(),
                false => self.labels.clone(),
            };
            let truth = dense_columns(truth.reborrow(), &outputs);
            let predictions = dense_columns(predictions.into(), &outputs);
            let decided = decided.as_ref().filter(|_| !of_numbers);
            let decided = decided.map(|decided| dense_columns(decided.reborrow(), &outputs));
            let decided = decided.as_ref().map(MatrixView::from);
            let means = inputs.train_means;
            let means = means.map(|means| outputs.iter().map(|&j| means[j]).collect::<Vec<f64>>());
            let inputs = MetricInputs {
                train_means: means.as_deref(),
                levels: inputs.levels,
                inverse_propensities: inputs.inverse_propensities,
                intervals: inputs.intervals.as_ref().map(ArrayBase::view),
            };
            let values = scored(metrics, (&truth).into(), predictions.view(), decided, &inputs)?;
            Ok(values.into_iter())
        };
        let (mut of_numbers, mut of_labels) = (part(true)?, part(false)?);
        let values = metrics.iter().map(|metric| match is_of_numbers(metric) {
            true => of_numbers.next(),
            false => of_labels.next(),
        });
        Ok(values.map(|value| value.expect("one per metric")).collect())
    }
}

/// Returns true for a metric of numbers, not of labels.
pub(crate) fn is_of_numbers(metric: &impl Score) -> bool {
    matches!(
        metric.needs(),
        PredictionForm::Regression | PredictionForm::Intervals
    )
}

/// What metrics may need beside true and predicted values.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct MetricInputs<'a> {
    /// The mean of each output in training.
    pub(super) train_means: Option<&'a [f64]>,
    /// The levels of quantiles that outputs are, if any.
    pub(super) levels: &'a [f64],
    pub(super) inverse_propensities: Option<&'a [f64]>,
    /// The bounds of the outputs that are numbers.
    pub(super) intervals: Option<ArrayView2<'a, f32>>,
}

impl MetricInputs<'_> {
    /// The options of an evaluation that leaves missing outputs out.
    pub(super) fn options(&self) -> EvaluationOptions<'_> {
        EvaluationOptions {
            missing: MissingTruth::Skip,
            train_means: self.train_means,
            quantile_levels: self.levels,
            inverse_propensities: self.inverse_propensities,
            intervals: self.intervals.as_ref().map(ArrayBase::view),
            ..EvaluationOptions::default()
        }
    }
}

/// The values of metrics for these outputs.
fn scored<'m, S: Score + 'm>(
    metrics: impl Iterator<Item = &'m S>,
    truth: MatrixView<'_>,
    predictions: ArrayView2<'_, f32>,
    decided: Option<MatrixView<'_>>,
    inputs: &MetricInputs<'_>,
) -> Result<Vec<f64>, ModelError> {
    let sets = decided.map(|decided| LabelSets::new(decided, MissingTruth::Refuse));
    let sets = sets.transpose()?;
    let options = EvaluationOptions {
        label_sets: sets.as_ref(),
        ..inputs.options()
    };
    let evaluation = Evaluation::new(truth.reborrow(), predictions.view(), options);
    Ok(evaluation.evaluate(&metrics.collect::<Vec<_>>())?)
}
