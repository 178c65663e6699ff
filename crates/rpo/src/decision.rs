//! From scores to labels.

use crate::{MethodError, Model, ModelError};
use ndarray::ArrayView2;
use rpo_core::{CsrMatrix, Mismatch};
use rpo_data::Task;
use rpo_linear::{Prevalence, f1_decisions};
use rpo_metrics::{LabelSets, Thresholds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// How labels are decided from scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// A label is predicted from a score on: the model's threshold for it, or 0.5.
    #[default]
    Threshold,
    /// For each label the samples whose expected F1 is largest, with the label's frequency in training
    /// ([`f1_decisions`]). Scores must be probabilities. What is predicted for a sample depends on the others it
    /// comes with, so that all must be decided on at once.
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
    pub(crate) fn labels(self, scores: ArrayView2<'_, f32>, model: &Model) -> Result<CsrMatrix, ModelError> {
        let Some(counts) = model.training().label_counts() else {
            return Err(ModelError::Task {
                expected: Task::Regression,
                given: Task::MultiLabel,
            });
        };
        Mismatch::check("columns of the scores", model.n_outputs(), scores.ncols())?;
        match self {
            Self::Threshold => {
                let thresholds = model
                    .thresholds()
                    .map_or_else(Thresholds::default, |t| Thresholds::PerLabel(t.to_vec()));
                Ok(LabelSets::from_scores(scores, &thresholds)?.to_csr())
            }
            Self::ExpectedF1 => {
                let n = model.training().n_samples().max(1) as f64;
                let shares: Vec<f64> = counts.iter().map(|&count| count as f64 / n).collect();
                Ok(f1_decisions(scores, Prevalence::Given(&shares))?)
            }
        }
    }
}
