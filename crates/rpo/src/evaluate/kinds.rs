//! What a metric scores where some outputs are labels and others numbers.

use crate::align::dense_columns;
use crate::decision::by_threshold;
use crate::{Model, ModelError};
use ndarray::ArrayView2;
use rpo_core::{MatrixView, Predictor};
use rpo_data::{ClassColumn, Dataset, Task};
use rpo_metrics::{Evaluation, EvaluationOptions, LabelSets, Metric, MissingTruth, Needs, Score};
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
        let classes = || data.class_columns().iter().map(ClassColumn::outputs);
        let mut labels: Vec<usize> = match data.task() {
            Task::MultiLabel => (0..data.n_outputs()).collect(),
            Task::Regression => classes()
                .flatten()
                .chain(data.labels_beside_numbers().iter().copied())
                .collect(),
        };
        labels.sort_unstable();
        Self {
            n_outputs: data.n_outputs(),
            labels,
            groups: classes().collect(),
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
    pub(super) fn numbers(&self) -> Vec<usize> {
        let is_number = |j: &usize| !self.is_mixed() || self.labels.binary_search(j).is_err();
        (0..self.n_outputs).filter(is_number).collect()
    }

    /// Returns true if some outputs are labels and others are not.
    fn is_mixed(&self) -> bool {
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
        let needs = metric.needs();
        let decided = match needs {
            Needs::LabelSets if !self.groups.is_empty() => {
                Some(by_threshold(predictions, &self.labels, &self.groups, |_| 0.5)?)
            }
            _ => None,
        };
        let decided = decided.as_ref().map(MatrixView::from);
        if !self.is_mixed() {
            return scored(metric, truth, predictions, decided, levels);
        }
        let outputs = match needs {
            Needs::Regression | Needs::Intervals => self.numbers(),
            _ => self.labels.clone(),
        };
        let truth = dense_columns(truth, &outputs);
        let predictions = dense_columns(predictions.into(), &outputs);
        let decided = decided.map(|decided| dense_columns(decided, &outputs));
        let decided = decided.as_ref().map(MatrixView::from);
        scored(metric, (&truth).into(), predictions.view(), decided, levels)
    }
}

/// The value of a metric for these outputs; `decided` are the predicted labels, if not those of a score of 0.5.
fn scored(
    metric: Metric,
    truth: MatrixView<'_>,
    predictions: ArrayView2<'_, f32>,
    decided: Option<MatrixView<'_>>,
    levels: &[f64],
) -> Result<f64, ModelError> {
    let sets = decided.map(|decided| LabelSets::new(decided, MissingTruth::Refuse));
    let sets = sets.transpose()?;
    let options = EvaluationOptions {
        missing: MissingTruth::Skip,
        quantile_levels: levels,
        label_sets: sets.as_ref(),
        ..EvaluationOptions::default()
    };
    Ok(metric.evaluate(&Evaluation::new(truth.reborrow(), predictions.view(), options))?)
}
