//! Parameters of decisions on labels and of prediction intervals, with what is found during training beside the model.

use super::{MethodError, parameters_of};
use crate::Decision;
use rpo_core::{Domain, ParameterError};
use rpo_ensemble::thresholds::ThresholdRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::LazyLock;

/// Parameters of which labels are predicted, and how far numbers may be from predictions; every method has them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DecisionParams {
    /// Predicts labels from their scores: threshold, each label whose score reaches its threshold; f1, each label for
    /// the set of samples with the largest expected F1, for methods whose scores are probabilities: the labels of a
    /// sample then depend on the samples predicted with it. Exactly one class of a column is predicted: with f1 the
    /// most probable of the classes chosen in this way, or of all if there is none.
    pub decide: Decision,
    /// Finds a decision threshold for each label and keeps it in the model: macro-f, the largest F1 of the label, where
    /// it is predicted at most five times as often as it occurs; label-f, the largest F1 without this bound: a label
    /// that the scores do not separate is then predicted for all samples; micro-f, one threshold for all labels with the
    /// largest micro-F1; rate, the label is predicted as often as it occurs; none, 0.5. With macro-f and rate, labels of less than five of the samples on which thresholds are found share
    /// one threshold, at which they are together predicted as often as they occur.
    ///
    /// Thresholds are found on out-of-bag predictions if the method has them and samples have no groups. Otherwise the
    /// method is fitted twice: first to a subset of the samples, to find the thresholds on the scores of the withheld
    /// ones, and then to all. A default rule is left out where these scores take more than 4 GiB, or all samples are of
    /// one group.
    pub thresholds: Option<ThresholdRule>,
    /// Level of prediction intervals of numbers, such as 0.9: they cover the true value with this probability, for
    /// samples like those of training. Calibrated by the errors of out-of-bag predictions if the method has them and
    /// samples have no groups; otherwise the method is fitted twice: first to a subset of the samples, to find the
    /// errors for the withheld ones, and then to all. At least 2 / (1 - level) - 1 samples have to be withheld, 19 for
    /// 0.9; for methods that predict several quantiles, level / (1 - level), 9 for 0.9. With groups, such as customers,
    /// intervals hold for samples of new groups: every group has the same weight, and as many groups have to be
    /// withheld.
    ///
    /// Intervals have the same width for all samples; with the loss quantile and two levels or more they reach from the
    /// first to the last quantile, moved by the same amount.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub intervals: Option<f64>,
    /// Fraction of the samples that are withheld to find thresholds or intervals; for samples with groups and for methods
    /// without out-of-bag predictions, default 0.2.
    #[schemars(extend("exclusiveMinimum" = 0.0, "exclusiveMaximum" = 1.0))]
    pub calibration_share: Option<f64>,
}

/// The default fraction of withheld samples.
pub(super) const WITHHELD: f64 = 0.2;

impl DecisionParams {
    /// Returns true for the name of one of these parameters.
    pub(crate) fn has(name: &str) -> bool {
        static NAMES: LazyLock<Map<String, Value>> =
            LazyLock::new(|| parameters_of(&DecisionParams::default()));
        NAMES.contains_key(name)
    }

    /// Checks the parameters.
    pub(super) fn check(&self) -> Result<(), MethodError> {
        let conflict = |name, given: &dyn std::fmt::Display, reason| {
            Err(ParameterError::conflict(name, given, reason).into())
        };
        if let Some(level) = self.intervals {
            Domain::Level.check("intervals", level)?;
        }
        let calibrates = self.thresholds.is_some() || self.intervals.is_some();
        match (self.thresholds, self.calibration_share) {
            (_, Some(share)) if !calibrates => {
                conflict("calibration_share", &share, "needs `thresholds` or `intervals`")
            }
            (Some(_), _) if self.decide == Decision::ExpectedF1 => conflict(
                "decide",
                &"f1",
                "decides without thresholds: `thresholds` has no effect",
            ),
            (_, Some(share)) => Ok(Domain::Level.check("calibration_share", share)?),
            _ => Ok(()),
        }
    }
}
