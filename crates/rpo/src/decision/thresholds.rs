//! Sources of a model's decision thresholds.

use crate::align::dense_columns;
use crate::{Model, ModelError};
use ndarray::{ArrayView2, Axis};
use rpo_core::{MatrixView, ParameterError, Predictor};
use rpo_data::{ClassColumn, Dataset};
use rpo_ensemble::EnsembleError;
use rpo_ensemble::thresholds::{ThresholdRule, find};

/// The source of a model's decision thresholds ([`Model::with_thresholds`]). A vector converts to
/// [`ThresholdSource::Given`].
#[derive(Debug, Clone, PartialEq)]
pub enum ThresholdSource<'a> {
    /// The score from which each output is predicted that is a label, one for every output; `None` means 0.5.
    Given(Option<Vec<f64>>),
    /// Found by a rule on the out-of-bag predictions for the training set, which is passed again, with the samples in the
    /// same order; columns are found by name. Data with groups are refused. Rules find thresholds of labels that are not
    /// classes of a column, of which the one of the largest score is predicted, with thresholds of 0.5.
    OutOfBag(ThresholdRule, &'a Dataset),
    /// Found by a rule on the predictions for samples that the model was not fitted to; columns are found by name.
    Withheld(ThresholdRule, &'a Dataset),
}

impl From<Option<Vec<f64>>> for ThresholdSource<'_> {
    fn from(thresholds: Option<Vec<f64>>) -> Self {
        Self::Given(thresholds)
    }
}

impl From<Vec<f64>> for ThresholdSource<'_> {
    fn from(thresholds: Vec<f64>) -> Self {
        Self::Given(Some(thresholds))
    }
}

/// Refuses out-of-bag predictions as those of new groups: trees that did not see a sample saw others of its group.
pub(crate) fn check_out_of_bag(training: &Dataset) -> Result<(), ModelError> {
    training
        .groups()
        .map_or(Ok(()), |_| Err(ModelError::GroupsOutOfBag))
}

impl Model {
    pub(crate) fn thresholds_from(
        &self,
        source: ThresholdSource<'_>,
    ) -> Result<Option<Vec<f64>>, ModelError> {
        let found = match source {
            ThresholdSource::Given(None) => return Ok(None),
            ThresholdSource::Given(thresholds) => {
                self.check_labels()?;
                return Ok(thresholds);
            }
            ThresholdSource::OutOfBag(rule, training) => {
                self.check_labels()?;
                check_out_of_bag(training)?;
                let training = self.training_samples(training);
                let x = self.schema().align_features(&training)?;
                let y = self.schema().align_outputs(&training)?;
                let found = self.oob_predictions(x.view())?;
                let (scores, _) = found.ok_or(EnsembleError::NoBootstrap)?;
                self.thresholds_by(rule, scores.view(), y.view())
            }
            ThresholdSource::Withheld(rule, withheld) => {
                self.check_labels()?;
                let x = self.schema().align_features(withheld)?;
                let y = self.schema().align_outputs(withheld)?;
                self.thresholds_by(rule, self.predict(x.view())?.view(), y.view())
            }
        };
        Ok(Some(found?))
    }

    fn thresholds_by(
        &self,
        rule: ThresholdRule,
        scores: ArrayView2<'_, f32>,
        truth: MatrixView<'_>,
    ) -> Result<Vec<f64>, ModelError> {
        let mut labels = self.labels();
        labels.retain(|label| !ClassColumn::have_output(&self.schema().class_columns, *label));
        if labels.is_empty() {
            return Err(nothing_to_find(rule).into());
        }
        thresholds_of_labels(&labels, scores, truth, |scores, truth| {
            Ok(find(rule, scores, truth)?)
        })
    }
}

/// The refusal of a rule where the only labels are classes of columns.
pub(crate) fn nothing_to_find(rule: ThresholdRule) -> ParameterError {
    let reason = "is for labels; of the classes of a column the one of the largest score is predicted";
    ParameterError::conflict("thresholds", rule, reason)
}

/// The threshold of an output that is no label, which is compared with nothing, and of a class, which is compared with
/// other classes.
const UNUSED: f64 = 0.5;

/// The threshold of each output, where `find` finds those of the given labels, from the scores and the truth of these
/// outputs alone.
pub(crate) fn thresholds_of_labels(
    labels: &[usize],
    scores: ArrayView2<'_, f32>,
    truth: MatrixView<'_>,
    find: impl FnOnce(ArrayView2<'_, f32>, MatrixView<'_>) -> Result<Vec<f64>, ModelError>,
) -> Result<Vec<f64>, ModelError> {
    if labels.len() == scores.ncols() {
        return find(scores, truth);
    }
    let (of_labels, truth) = (scores.select(Axis(1), labels), dense_columns(truth, labels));
    let found = find(of_labels.view(), (&truth).into())?;
    let mut thresholds = vec![UNUSED; scores.ncols()];
    let pairs = labels.iter().zip(found);
    pairs.for_each(|(&label, threshold)| thresholds[label] = threshold);
    Ok(thresholds)
}
