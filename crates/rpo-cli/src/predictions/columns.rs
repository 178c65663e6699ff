//! The columns of predictions: scores or values of targets, and with them the bounds of prediction intervals.

use ndarray::{Array2, Axis, concatenate};
use rpo::core::{MatrixView, Predictor};
use rpo::{Model, ModelError, TargetValue};
use std::borrow::Cow;

/// A model and whether the bounds of its prediction intervals are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PredictedColumns<'m> {
    pub(crate) model: &'m Model,
    pub(crate) intervals: bool,
}

impl<'m> PredictedColumns<'m> {
    /// Names of the columns of [`scores`](Self::scores).
    pub(crate) fn score_names(self) -> Vec<String> {
        let outputs = self.model.schema().output_names.iter();
        self.with_bound_names(outputs.map(Cow::into_owned).collect())
    }

    /// Names of the columns of [`values`](Self::values).
    pub(crate) fn value_names(self) -> Vec<String> {
        self.with_bound_names(self.model.value_columns())
    }

    fn with_bound_names(self, mut names: Vec<String>) -> Vec<String> {
        if self.intervals {
            names.extend(self.model.bound_names());
        }
        names
    }

    /// The scores of all outputs, and the bounds.
    pub(crate) fn scores(self, x: MatrixView<'_>) -> Result<Array2<f32>, ModelError> {
        let scores = self.model.predict_with_limit(x, usize::MAX)?;
        if !self.intervals {
            return Ok(scores);
        }
        let bounds = self.model.bounds(scores.view())?;
        Ok(concatenate(Axis(1), &[scores.view(), bounds.view()]).expect("as many rows"))
    }

    /// The values of the targets, and the bounds.
    pub(crate) fn values(self, x: MatrixView<'_>) -> Result<Vec<Vec<TargetValue<'m>>>, ModelError> {
        let scores = self.model.predict_with_limit(x, usize::MAX)?;
        let mut values = self.model.target_values(scores.view())?;
        if self.intervals {
            let bounds = self.model.bounds(scores.view())?;
            for (values, bounds) in values.iter_mut().zip(bounds.rows()) {
                values.extend(bounds.iter().map(|&bound| TargetValue::Number(bound)));
            }
        }
        Ok(values)
    }
}
