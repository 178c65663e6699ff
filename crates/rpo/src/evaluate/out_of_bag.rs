//! Scores of out-of-bag predictions.

use super::{MetricInputs, OutputKinds};
use crate::{Model, ModelError};
use ndarray::Axis;
use rpo_core::MatrixView;
use rpo_data::Dataset;
use rpo_ensemble::EnsembleError;
use rpo_metrics::{Metric, Propensity};

/// The score of out-of-bag predictions ([`Model::oob_score`]).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct OobScore {
    /// The value of the metric; NaN if it is undefined.
    pub value: f64,
    /// Number of samples with an out-of-bag prediction.
    pub n_scored: usize,
    /// Number of training samples.
    pub n_samples: usize,
}

impl Model {
    /// Scores the predictions of each training sample by the trees that did not see it. `training` is the training set,
    /// passed again with the samples in the same order; columns are found by name. A sample that every tree saw does not
    /// count. Of a model of labels and numbers, metrics of labels score its labels, and others its numbers. Labels are
    /// those that the model decides on, by its thresholds if it has some: these were found on the same predictions.
    ///
    /// # Errors
    /// [`EnsembleError::NoBootstrap`] if the model has no out-of-bag predictions, other samples than those of the
    /// training, predictions larger than 4 GiB, and a metric that does not suit the outputs.
    pub fn oob_score(&self, training: &Dataset, metric: Metric) -> Result<OobScore, ModelError> {
        self.check_metrics(&[metric])?;
        let training = self.training_samples(training);
        let x = self.schema().align_features(&training)?;
        let y = self.schema().align_outputs(&training)?;
        let found = self.oob_predictions(x.view())?;
        let (scores, counts) = found.ok_or(EnsembleError::NoBootstrap)?;
        let rows: Vec<usize> = (0..counts.len()).filter(|&i| counts[i] > 0).collect();
        let mut value = f64::NAN;
        if !rows.is_empty() {
            let truth = MatrixView::from(&*y).select_rows(&rows);
            let scores = scores.select(Axis(0), &rows);
            let means = self.training().output_means();
            let inverse = self.inverse_propensities_for(&[metric], Propensity::default())?;
            let inputs = MetricInputs {
                train_means: Some(&means),
                levels: self.quantile_levels(),
                inverse_propensities: inverse.as_deref(),
                ..MetricInputs::default()
            };
            let kinds = OutputKinds::of_model(self);
            value = self.score(&[metric], truth.view(), scores.view(), &kinds, inputs)?[0];
        }
        Ok(OobScore {
            value,
            n_scored: rows.len(),
            n_samples: counts.len(),
        })
    }
}
