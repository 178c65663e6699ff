//! Sources of a model's decision thresholds.

use crate::{Model, ModelError};
use rpo_core::Predictor;
use rpo_data::Dataset;
use rpo_ensemble::EnsembleError;
use rpo_ensemble::thresholds::{ThresholdRule, find};

/// The source of a model's decision thresholds ([`Model::with_thresholds`]). A vector converts to
/// [`ThresholdSource::Given`].
#[derive(Debug, Clone, PartialEq)]
pub enum ThresholdSource<'a> {
    /// The score from which each label is predicted; `None` means 0.5.
    Given(Option<Vec<f64>>),
    /// Found by a rule on the out-of-bag predictions for the training set, which is passed again, with the samples in the
    /// same order; columns are found by name. Data with groups are refused.
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
                find(rule, scores.view(), y.view())
            }
            ThresholdSource::Withheld(rule, withheld) => {
                self.check_labels()?;
                let x = self.schema().align_features(withheld)?;
                let y = self.schema().align_outputs(withheld)?;
                find(rule, self.predict(x.view())?.view(), y.view())
            }
        };
        Ok(Some(found?))
    }
}
