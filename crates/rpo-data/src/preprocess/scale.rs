//! Feature weights, and scaling of samples to unit length.

use super::kinds::Kinds;
use super::step::{Fitted, Step, restored};
use super::{Nominal, PreprocessError, Steps, check_samples, count_present, map_values, text_features};
use crate::dataset::{Dataset, DatasetError};
use rpo_core::math;
use rpo_core::store::{Reader, StoreError, Writer};
use rpo_core::{Matrix, MatrixError, MatrixView, Mismatch, finite_or_missing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The names of the stored array of weights, and of the stored length of samples.
const WEIGHT: &str = "idf.weight";
const NORMALIZE: &str = "normalize_features";

/// The weights that features are multiplied by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureWeights {
    /// log(n / nⱼ), the inverse document frequency of a feature that is not 0 in nⱼ of n samples, but at least log 2:
    /// that of a number that is hardly ever 0, such as a measurement, would be 0 and lose the feature. 1 for nominal
    /// features with other values than 0 and 1, and for terms of texts, which have weights already.
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
}

impl Idf {
    /// Counts the samples that have each feature.
    fn fit(data: &Dataset) -> Result<Self, PreprocessError> {
        check_samples(data)?;
        let n = data.n_samples() as f64;
        let weight = |count: usize| {
            if count == 0 {
                0.0
            } else {
                math::ln((n / count as f64).max(2.0)) as f32
            }
        };
        let mut weights: Vec<f32> = count_present(data).into_iter().map(weight).collect();
        let texts = text_features(data.texts());
        // Words of bags in ARFF files are declared {0,1}.
        let categories = data
            .nominal()
            .iter()
            .filter(|(_, values)| values[..] != ["0", "1"]);
        for j in categories.map(|(&j, _)| j).chain(texts) {
            weights[j] = 1.0;
        }
        Self::new(weights)
    }

    /// Creates the step from its weights.
    fn new(weights: Vec<f32>) -> Result<Self, PreprocessError> {
        let bad = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0));
        if let Some(feature) = bad {
            let value = weights[feature].into();
            return Err(PreprocessError::Moment { feature, value });
        }
        Ok(Self { weights })
    }
}

impl Step for Idf {
    fn fit_transform(steps: Steps<'_>, data: &Dataset) -> Fitted<Self> {
        match steps.weights {
            Some(FeatureWeights::Idf) => Self::fit(data)?.fitted(data),
            None => Ok(None),
        }
    }

    fn transform(&self, x: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        Mismatch::check("features", self.weights.len(), x.n_cols())?;
        let weighted = map_values(x, |_, j, v| v * self.weights[j as usize]);
        weighted
            .view()
            .check_values(finite_or_missing)
            .map_err(infinite)?;
        Ok(weighted)
    }

    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        out.array(WEIGHT, &self.weights)
    }

    fn restore(from: &mut Reader<'_>, kinds: &Kinds) -> Result<Option<Self>, StoreError> {
        if !from.has(WEIGHT) {
            return Ok(None);
        }
        let weights = from.array::<f32>(WEIGHT)?.to_vec();
        let n_weights = Mismatch::check("features", kinds.n_features, weights.len());
        restored(n_weights.map_err(Into::into).and_then(|()| Self::new(weights)))
    }
}

/// Scales the observed features of each sample to length 1; a sample whose features are all 0 stays unchanged.
impl Step for Normalization {
    fn fit_transform(steps: Steps<'_>, data: &Dataset) -> Fitted<Self> {
        match steps.normalize {
            Some(length) => length.fitted(data),
            None => Ok(None),
        }
    }

    fn transform(&self, x: MatrixView<'_>) -> Result<Matrix, PreprocessError> {
        let Self::L2 = self;
        let factors: Vec<f32> = (0..x.n_rows()).map(|row| x.unit_factor(row)).collect();
        Ok(map_values(x, |row, _, v| v * factors[row]))
    }

    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        out.field(NORMALIZE, self)
    }

    fn restore(from: &mut Reader<'_>, _: &Kinds) -> Result<Option<Self>, StoreError> {
        from.field(NORMALIZE)
    }

    fn nominal(&self, _: Nominal) -> Nominal {
        Nominal::new()
    }
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

    /// ARFF files declare the words of a bag {0,1}; other nominal features are no counts.
    #[test]
    fn indicators_that_are_declared_nominal_are_weighted() {
        let x = array![[1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]];
        let values = |first: &str, second: &str| [first, second].map(String::from).into();
        let nominal = [(0, values("0", "1")), (1, values("no", "yes"))];
        let data = data(x, Layout::Dense).with_nominal(nominal.into()).unwrap();
        assert_eq!(Idf::fit(&data).unwrap().weights, [4.0_f32.ln(), 1.0]);
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
            assert_eq!(idf.weights, [one, two, 0.0, two, one]);
            let weighted = idf.transform(train.features().view()).unwrap();
            let made = weighted.view().to_dense(usize::MAX).unwrap();
            assert_eq!(made[[0, 0]], 2.0 * one);
            assert_eq!(made[[1, 1]], -3.0 * two);
            assert!(made[[0, 4]].is_nan() && made[[3, 3]] == 3.0 * two);
            let unit = Normalization::L2.transform(weighted.view()).unwrap();
            let unit = unit.view().to_dense(usize::MAX).unwrap();
            let length = |row: usize| unit.row(row).iter().take(4).map(|v| v * v).sum::<f32>();
            assert!((length(0) - 1.0).abs() < 1e-6 && unit[[0, 4]].is_nan());
            assert!((length(1) - 1.0).abs() < 1e-6 && unit[[1, 1]] < 0.0);
            assert_eq!(unit.row(3), array![0.0, 0.0, 0.0, 1.0, 0.0]);
            // A feature that no training sample had is ignored; the error names a number that is too large.
            let new = data(array![[0.0, 0.0, 7.0, 0.0, f32::MAX]], layout);
            let expected = DatasetError::InfiniteFeature {
                sample: 0,
                feature: 4,
                value: f32::INFINITY,
            };
            assert_eq!(idf.transform(new.features().view()), Err(expected.into()));
            let few = data(array![[1.0]], layout);
            let few = idf.transform(few.features().view());
            assert!(matches!(few, Err(PreprocessError::Mismatch(_))));
        }
        assert_eq!(
            Idf::fit(&data(Array2::zeros((0, 2)), Layout::Dense)),
            Err(PreprocessError::NoSamples)
        );
        assert!(Idf::new(vec![-1.0]).is_err());
        assert!(Idf::new(vec![f32::NAN]).is_err());
    }
}
