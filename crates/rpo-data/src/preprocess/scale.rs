//! Feature weights, and scaling of samples to unit length.

use super::{
    Nominal, PreprocessError, Transform, check_features, check_nominal, check_samples, count_present,
    map_values, text_features,
};
use crate::dataset::{Dataset, DatasetError};
use rpo_core::math;
use rpo_core::{Matrix, MatrixError, MatrixView, Mismatch, finite_or_missing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The weights that features are multiplied by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureWeights {
    /// log(n / nⱼ), the inverse document frequency of a feature that is not 0 in nⱼ of n samples.
    Idf,
}

/// The length that the features of each sample are scaled to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Normalization {
    /// Euclidean length 1.
    L2,
}

/// The step of [`FeatureWeights::Idf`].
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Idf {
    weights: Vec<f32>,
    nominal: Nominal,
}

impl Idf {
    /// Counts the samples that have each feature.
    pub(super) fn fit(data: &Dataset) -> Result<Self, PreprocessError> {
        check_samples(data)?;
        let n = data.n_samples() as f64;
        let weight = |count: usize| {
            if count == 0 {
                0.0
            } else {
                math::ln(n / count as f64) as f32
            }
        };
        let mut weights: Vec<f32> = count_present(data).into_iter().map(weight).collect();
        let texts = text_features(data.texts());
        for j in data.nominal().keys().copied().chain(texts) {
            weights[j] = 1.0;
        }
        Self::new(weights, data.nominal().clone())
    }

    /// Creates the step from its weights.
    pub(super) fn new(weights: Vec<f32>, nominal: Nominal) -> Result<Self, PreprocessError> {
        check_features(&nominal, weights.len())?;
        let bad = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0));
        if let Some(feature) = bad {
            let value = weights[feature].into();
            return Err(PreprocessError::Moment { feature, value });
        }
        Ok(Self { weights, nominal })
    }

    /// Returns the weight of each feature.
    pub(super) fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Weights features (n x p).
    pub(super) fn weigh(&self, x: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        Mismatch::check("features", self.weights.len(), x.n_cols())?;
        let weighted = map_values(x, |_, j, v| v * self.weights[j as usize]);
        weighted
            .view()
            .check_values(finite_or_missing)
            .map_err(infinite)?;
        Ok(weighted)
    }
}

impl Transform for Idf {
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError> {
        let features = self.weigh(data.features().view())?;
        check_nominal(&self.nominal, data)?;
        Ok(data.replace_values(features))
    }
}

/// Scales features (n x p) so that the observed features of each sample have length 1; a sample whose features are all
/// 0 stays unchanged.
pub(super) fn unit_length(x: MatrixView<'_>) -> Matrix {
    let factors: Vec<f32> = (0..x.n_rows()).map(|row| x.unit_factor(row)).collect();
    map_values(x, |row, _, v| v * factors[row])
}

/// Applies [`unit_length`] to a set, whose features are all numeric afterwards.
pub(super) fn of_unit_length(data: &Dataset) -> Result<Dataset, PreprocessError> {
    let features = unit_length(data.features().view());
    Ok(data.replace_values(features).with_nominal(Nominal::new())?)
}

/// Converts the error of a value that a step made infinite.
pub(super) fn infinite(error: MatrixError) -> PreprocessError {
    match error {
        MatrixError::NonFinite { row, column, value } => DatasetError::InfiniteFeature {
            sample: row,
            feature: column,
            value,
        }
        .into(),
        e => e.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::{Layout, Task};
    use ndarray::{Array2, array};

    fn data(x: Array2<f32>, layout: Layout) -> Dataset {
        let y = Array2::zeros((x.nrows(), 1));
        let data = Dataset::new(x.into(), y.into(), Task::MultiLabel).unwrap();
        data.with_layout(layout, usize::MAX).unwrap()
    }

    #[test]
    fn hand_computed() {
        let nan = f32::NAN;
        // Features of one sample, of two, of none, of all four, and one next to a missing value.
        let x = array![
            [2.0, 1.0, 0.0, 1.0, nan],
            [0.0, -3.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, 0.0, 2.0, 5.0],
            [0.0, 0.0, 0.0, 3.0, 0.0]
        ];
        for layout in [Layout::Dense, Layout::Sparse] {
            let train = data(x.clone(), layout);
            let idf = Idf::fit(&train).unwrap();
            let (one, two) = (4.0_f32.ln(), 2.0_f32.ln());
            assert_eq!(idf.weights(), [one, two, 0.0, 0.0, one]);
            let made = idf
                .apply(&train)
                .unwrap()
                .features()
                .view()
                .to_dense(usize::MAX)
                .unwrap();
            assert_eq!(made[[0, 0]], 2.0 * one);
            assert_eq!(made[[1, 1]], -3.0 * two);
            assert!(made[[0, 4]].is_nan() && made.column(3).iter().all(|&v| v == 0.0));
            let unit = of_unit_length(&idf.apply(&train).unwrap()).unwrap();
            let unit = unit.features().view().to_dense(usize::MAX).unwrap();
            assert!((unit[[0, 0]].hypot(unit[[0, 1]]) - 1.0).abs() < 1e-6 && unit[[0, 4]].is_nan());
            assert!((unit[[1, 1]] + 1.0).abs() < 1e-6);
            assert_eq!(unit.row(3), array![0.0, 0.0, 0.0, 0.0, 0.0]);
            // A feature that no training sample had is ignored; the error names a number that is too large.
            let new = data(array![[0.0, 0.0, 7.0, 0.0, f32::MAX]], layout);
            let expected = DatasetError::InfiniteFeature {
                sample: 0,
                feature: 4,
                value: f32::INFINITY,
            };
            assert_eq!(idf.apply(&new), Err(expected.into()));
            let few = data(array![[1.0]], layout);
            assert!(matches!(idf.apply(&few), Err(PreprocessError::Mismatch(_))));
        }
        assert_eq!(
            Idf::fit(&data(Array2::zeros((0, 2)), Layout::Dense)),
            Err(PreprocessError::NoSamples)
        );
        assert!(Idf::new(vec![-1.0], Nominal::new()).is_err());
        assert!(Idf::new(vec![f32::NAN], Nominal::new()).is_err());
    }
}
