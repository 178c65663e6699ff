//! Weights of the terms of texts.

use super::{
    PreprocessError, Transform, check_samples, check_texts, count_present, map_values, text_features,
};
use crate::dataset::Dataset;
use crate::text::Texts;
use rpo_core::math;
use rpo_core::{Matrix, MatrixView, Mismatch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The weighting of term counts of texts as features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TextWeighting {
    /// The count c of a term times log((1 + n) / (1 + nⱼ)) + 1, where nⱼ of n samples have the term; each text is then
    /// scaled to length 1.
    #[default]
    TfIdf,
    /// Like `tf-idf`, but with 1 + log c in place of c, so that repeated terms count less.
    LogTfIdf,
    /// The raw counts.
    Counts,
}

/// The step of a [`TextWeighting`].
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TextWeights {
    pub(super) weighting: TextWeighting,
    /// Weights of all terms of the first column, then those of the second, and so on.
    pub(super) weights: Vec<f32>,
    texts: Texts,
    /// For each feature, the position of its column among the texts, and its weight; `None` for other features.
    places: Vec<Option<(u32, f32)>>,
}

impl TextWeights {
    /// Counts the samples with each term; returns `None` if counts are not weighted.
    pub(super) fn fit(data: &Dataset, weighting: TextWeighting) -> Result<Option<Self>, PreprocessError> {
        if weighting == TextWeighting::Counts {
            return Ok(None);
        }
        check_samples(data)?;
        let (counts, n) = (count_present(data), data.n_samples() as f64);
        let weight = |j: usize| (math::ln((1.0 + n) / (1.0 + counts[j] as f64)) + 1.0) as f32;
        let weights = text_features(data.texts()).map(weight).collect();
        Self::new(weighting, weights, data.texts().clone(), data.n_features()).map(Some)
    }

    /// Creates the step from the weights of the terms of all texts.
    pub(super) fn new(
        weighting: TextWeighting,
        weights: Vec<f32>,
        texts: Texts,
        n_features: usize,
    ) -> Result<Self, PreprocessError> {
        Mismatch::check("terms of texts", text_features(&texts).count(), weights.len())?;
        let mut places = vec![None; n_features];
        let columns = texts.iter().enumerate();
        let features = columns.flat_map(|(i, (&first, column))| {
            let features = first..first + column.n_features();
            features.map(move |j| (i as u32, j))
        });
        for ((column, feature), &weight) in features.zip(&weights) {
            if !(weight.is_finite() && weight >= 0.0) {
                let value = weight.into();
                return Err(PreprocessError::Moment { feature, value });
            }
            *places.get_mut(feature).ok_or(PreprocessError::Kind(feature))? = Some((column, weight));
        }
        Ok(Self {
            weighting,
            weights,
            texts,
            places,
        })
    }

    /// Weights features (n x p).
    pub(super) fn weigh(&self, x: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        Mismatch::check("features", self.places.len(), x.n_cols())?;
        let weighted = |weight: f32, count: f32| {
            let count = f64::from(count);
            let frequency = match self.weighting {
                TextWeighting::LogTfIdf if count > 0.0 => 1.0 + math::ln(count),
                _ => count,
            };
            f64::from(weight) * frequency
        };
        let n_texts = self.texts.len();
        let mut squares = vec![0.0; x.n_rows() * n_texts];
        for row in 0..x.n_rows() {
            x.for_each_in_row(row, |j, count| {
                if let Some((column, weight)) = self.places[j as usize] {
                    let value = weighted(weight, count);
                    squares[row * n_texts + column as usize] += value * value;
                }
            });
        }
        Ok(map_values(x, |row, j, v| match self.places[j as usize] {
            Some((column, weight)) if v != 0.0 => {
                (weighted(weight, v) / squares[row * n_texts + column as usize].sqrt()) as f32
            }
            _ => v,
        }))
    }
}

impl Transform for TextWeights {
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError> {
        check_texts(&self.texts, data)?;
        let features = self.weigh(data.features().view())?;
        Ok(data.replace_values(features))
    }
}
