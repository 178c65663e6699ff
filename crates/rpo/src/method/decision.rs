//! Deciding on labels: thresholds that are found while training.

use super::{Estimator, MethodError};
use crate::Decision;
use rpo_core::{Domain, ParameterError};
use rpo_ensemble::thresholds::ThresholdRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Decisions on labels; every method has these parameters.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DecisionParams {
    /// Decides on labels from their scores: threshold, each label whose score reaches its threshold; f1, for each label
    /// those of the samples predicted for at once whose expected F1 is largest, for methods whose scores are probabilities.
    pub decide: Decision,
    /// Finds a decision threshold for each label and keeps it in the model: macro-f, the threshold with the largest
    /// F-measure of the label; micro-f, one for all labels; rate, the threshold that predicts the label as often as it
    /// occurs; none: labels are predicted from a score of 0.5.
    ///
    /// Thresholds are found on out-of-bag predictions where the method has them. Otherwise the method is fitted twice: to
    /// a part of the samples, whose model's scores for the withheld ones give the thresholds, and then to all.
    pub thresholds: Option<ThresholdRule>,
    /// Fraction of the samples that are withheld to find thresholds, between 0 and 1; for methods without out-of-bag
    /// predictions, where the default is 0.2.
    pub threshold_share: Option<f64>,
}

/// The fraction withheld by default.
pub(super) const WITHHELD: f64 = 0.2;

impl DecisionParams {
    /// Returns true if a parameter is one of these.
    pub(super) fn has(name: &str) -> bool {
        matches!(name, "decide" | "thresholds" | "threshold_share")
    }

    /// Checks the parameters for a method.
    pub(super) fn check(&self, estimator: &dyn Estimator) -> Result<(), MethodError> {
        let conflict = |name, given: &dyn std::fmt::Display, reason| {
            Err(ParameterError::conflict(name, given, reason).into())
        };
        match (self.thresholds, self.threshold_share) {
            (None, Some(share)) => conflict("threshold_share", &share, "needs `thresholds`"),
            (Some(_), _) if self.decide == Decision::ExpectedF1 => conflict(
                "decide",
                &"f1",
                "decides without thresholds: `thresholds` has no effect",
            ),
            (Some(_), Some(share)) if estimator.has_oob() => {
                let reason = "is for methods without out-of-bag predictions";
                conflict("threshold_share", &share, reason)
            }
            (Some(_), Some(share)) => Ok(Domain::Level.check("threshold_share", share)?),
            _ => Ok(()),
        }
    }
}
