//! Decides which labels to predict from scores.

mod rules;
mod thresholds;
mod values;

pub(crate) use rules::by_threshold;
pub use thresholds::ThresholdSource;
pub(crate) use thresholds::{check_out_of_bag, nothing_to_find, thresholds_of_labels};
pub use values::TargetValue;

use crate::{MethodError, Model, ModelError};
use ndarray::ArrayView2;
use rpo_core::{CsrMatrix, Mismatch, Predictor};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// How labels are predicted from scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Predicts a label if its score reaches the model's threshold for it, or 0.5. Of each group of mutually exclusive
    /// labels, such as the classes of a column ([`Model::groups`]), the label is predicted whose score exceeds its
    /// threshold most: the most probable one unless the model has thresholds, the first of equal ones.
    #[default]
    Threshold,
    /// For each label, predicts the set of samples whose expected F1 is largest, given the label's frequency in
    /// training ([`f1_decisions`](rpo_linear::f1_decisions)). Of each group of mutually exclusive labels one is predicted:
    /// among those that would be, or among all if none would be, the most probable one, the first of equal ones. Scores
    /// must be probabilities. The prediction for a sample depends on the other samples, so all must be decided at once.
    #[serde(rename = "f1")]
    ExpectedF1,
}

impl FromStr for Decision {
    type Err = MethodError;

    fn from_str(name: &str) -> Result<Self, MethodError> {
        match name {
            "threshold" => Ok(Self::Threshold),
            "f1" => Ok(Self::ExpectedF1),
            _ => Err(MethodError::Value {
                name: "decide".to_owned(),
                given: name.to_owned(),
                expected: "one of threshold, f1".to_owned(),
            }),
        }
    }
}

impl Decision {
    /// Returns true if the decision for a sample depends on the samples that are predicted together with it.
    pub fn is_joint(self) -> bool {
        match self {
            Self::Threshold => false,
            Self::ExpectedF1 => true,
        }
    }

    pub(crate) fn labels(self, scores: ArrayView2<'_, f32>, model: &Model) -> Result<CsrMatrix, ModelError> {
        model.check_labels()?;
        let labels = model.labels();
        Mismatch::check("columns of the scores", model.n_outputs(), scores.ncols())?;
        if scores.nrows() == 0 {
            return Ok(CsrMatrix::zero(scores.dim()));
        }
        match self {
            Self::Threshold => {
                let threshold = |label: usize| model.thresholds().map_or(0.5, |found| found[label]);
                by_threshold(scores, &labels, &model.groups(), threshold)
            }
            Self::ExpectedF1 => rules::by_f1(scores, model, &labels),
        }
    }
}
