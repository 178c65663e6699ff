//! Decides which labels to predict from scores.

use crate::{MethodError, Model, ModelError};
use ndarray::{ArrayView2, s};
use rpo_core::Predictor;
use rpo_core::{CsrMatrix, Mismatch, top_of};
use rpo_data::Task;
use rpo_linear::{LinearError, Prevalence, f1_decisions};
use rpo_metrics::{LabelSets, MetricError, Thresholds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// How labels are predicted from scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Predicts a label if its score reaches the model's threshold for it, or 0.5. If the model has no thresholds, the
    /// most probable label of each group of mutually exclusive labels is predicted, or the first of equal ones.
    #[default]
    Threshold,
    /// For each label, predicts the set of samples whose expected F1 is largest, given the label's frequency in
    /// training ([`f1_decisions`]). Scores must be probabilities. The prediction for a sample depends on the other
    /// samples, so all must be decided at once.
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
        if model.schema().task == Task::Regression {
            return Err(ModelError::Task {
                expected: Task::Regression,
                given: Task::MultiLabel,
            });
        }
        Mismatch::check("columns of the scores", model.n_outputs(), scores.ncols())?;
        match self {
            Self::Threshold if model.has_groups() => {
                let mut decided = scores.to_owned();
                for group in model.predictor().groups() {
                    for mut row in decided.rows_mut() {
                        let mut group = row.slice_mut(s![group.clone()]);
                        if group.iter().any(|score| score.is_nan()) {
                            // Refused below.
                            continue;
                        }
                        let best = top_of(group.view(), 1);
                        let best = best.first().map_or(0, |(label, _)| *label as usize);
                        let labels = group.iter_mut().enumerate();
                        labels.for_each(|(label, score)| *score = f32::from(u8::from(label == best)));
                    }
                }
                Ok(CsrMatrix::from(&LabelSets::from_scores(
                    decided.view(),
                    &Thresholds::default(),
                )?))
            }
            Self::Threshold => {
                let thresholds = model
                    .thresholds()
                    .map_or_else(Thresholds::default, |t| Thresholds::PerLabel(t.to_vec()));
                Ok(CsrMatrix::from(&LabelSets::from_scores(scores, &thresholds)?))
            }
            Self::ExpectedF1 => {
                let shares = model.training().output_means();
                f1_decisions(scores, Prevalence::Given(&shares)).map_err(|e| match e {
                    LinearError::NotAProbability { row, column, value } => MetricError::NotAProbability {
                        sample: row,
                        label: column,
                        value: f64::from(value),
                    }
                    .into(),
                    e => e.into(),
                })
            }
        }
    }
}
