//! Weights of the terms of texts.

use super::kinds::Kinds;
use super::step::{Fitted, Step, restored};
use super::{PreprocessError, Steps, check_samples, count_present, map_values, text_features};
use crate::dataset::Dataset;
use crate::text::Texts;
use rpo_core::math;
use rpo_core::store::{Reader, StoreError, Writer};
use rpo_core::{Matrix, MatrixView, Mismatch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The names of the stored weighting, and of the stored array of weights.
const TEXT_WEIGHTING: &str = "text_weights";
const TEXT_WEIGHT: &str = "text.weight";

/// The weighting of term counts of texts as features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TextWeighting {
    /// The count c of a term times (log((1 + n) / (1 + nⱼ)) + 1), where nⱼ of n samples have the term; each text is
    /// then scaled to length 1. Terms of no sample are left out.
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
    weighting: TextWeighting,
    /// Weights of all terms of the first column, then those of the second, and so on.
    weights: Vec<f32>,
    n_texts: usize,
    /// For each feature, the position of its column among the texts, and its weight; `None` for other features.
    places: Vec<Option<(u32, f32)>>,
}

impl TextWeights {
    /// Counts the samples with each term. Terms that none of them has, as those of withheld samples, are left out like
    /// terms that are not in the vocabulary.
    fn fit(data: &Dataset, weighting: TextWeighting) -> Result<Self, PreprocessError> {
        check_samples(data)?;
        let (counts, n) = (count_present(data), data.n_samples() as f64);
        let weight = |j: usize| match counts[j] {
            0 => 0.0,
            n_with => (math::ln((1.0 + n) / (1.0 + n_with as f64)) + 1.0) as f32,
        };
        let weights = text_features(data.texts()).map(weight).collect();
        Self::new(weighting, weights, data.texts(), data.n_features())
    }

    /// Creates the step from the weights of the terms of all texts.
    fn new(
        weighting: TextWeighting,
        weights: Vec<f32>,
        texts: &Texts,
        n_features: usize,
    ) -> Result<Self, PreprocessError> {
        Mismatch::check("terms of texts", text_features(texts).count(), weights.len())?;
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
            n_texts: texts.len(),
            places,
        })
    }
}

impl Step for TextWeights {
    fn fit_transform(steps: Steps<'_>, data: &Dataset) -> Fitted<Self> {
        if data.texts().is_empty() || steps.texts == TextWeighting::Counts {
            return Ok(None);
        }
        Self::fit(data, steps.texts)?.fitted(data)
    }

    fn transform(&self, x: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        Mismatch::check("features", self.places.len(), x.n_cols())?;
        let weighted = |weight: f32, count: f32| {
            let count = f64::from(count);
            let frequency = match self.weighting {
                TextWeighting::LogTfIdf if count > 0.0 => 1.0 + math::ln(count),
                _ => count,
            };
            f64::from(weight) * frequency
        };
        let n_texts = self.n_texts;
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
            Some((_, 0.0)) => 0.0,
            Some((column, weight)) if v != 0.0 => {
                (weighted(weight, v) / squares[row * n_texts + column as usize].sqrt()) as f32
            }
            _ => v,
        }))
    }

    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        out.field(TEXT_WEIGHTING, self.weighting)?;
        out.array(TEXT_WEIGHT, &self.weights)
    }

    fn restore(from: &mut Reader<'_>, kinds: &Kinds) -> Result<Option<Self>, StoreError> {
        if !from.has(TEXT_WEIGHT) {
            return Ok(None);
        }
        let weighting = from.field(TEXT_WEIGHTING)?;
        let weights = from.array::<f32>(TEXT_WEIGHT)?.to_vec();
        restored(Self::new(weighting, weights, &kinds.texts, kinds.n_features))
    }
}
