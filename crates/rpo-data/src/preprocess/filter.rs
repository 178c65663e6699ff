//! Filters of rare features and imbalanced labels.

use super::{PreprocessError, Transform, check_samples, check_task, count_present};
use crate::dataset::{Dataset, FeatureKind, Task};
use crate::statistics::LabelStatistics;
use rpo_core::{Mismatch, ParameterError};
use serde::{Deserialize, Serialize};

/// The features that a [`FeatureFilter`] may drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Nominal features only. Encode features of more than two values before ([`OneHot`](super::OneHot)), so that each
    /// value is judged by itself.
    Nominal,
    /// All features.
    All,
}

/// Keeps the features that are present often enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureFilter(Kept);

/// Keeps the labels that are not too imbalanced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelFilter(Kept);

/// The columns that a filter keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    n_columns: usize,
    columns: Vec<usize>,
}

impl Kept {
    fn new(n_columns: usize, keeps: impl Fn(usize) -> bool) -> Self {
        Self {
            n_columns,
            columns: (0..n_columns).filter(|&j| keeps(j)).collect(),
        }
    }
}

impl FeatureFilter {
    /// Drops the features in scope that are present, neither 0 nor missing, in less than this fraction of the samples.
    /// (Daniels and Metaxas 2017, section 4: nominal features in less than 1 %; all features for RCV1.)
    ///
    /// # Errors
    /// [`PreprocessError::Parameter`], [`PreprocessError::NoSamples`].
    pub fn drop_rare(data: &Dataset, min_fraction: f64, scope: Scope) -> Result<Self, PreprocessError> {
        let in_range = (0.0..=1.0).contains(&min_fraction);
        ParameterError::unless(in_range, "min_fraction", min_fraction, "in [0, 1]")?;
        check_samples(data)?;
        let present = count_present(data);
        let fewest = min_fraction * data.n_samples() as f64;
        Ok(Self(Kept::new(data.n_features(), |j| {
            let in_scope = scope == Scope::All || matches!(data.feature_kind(j), FeatureKind::Nominal(_));
            !in_scope || present[j] as f64 >= fewest
        })))
    }
}

impl Transform for FeatureFilter {
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError> {
        Mismatch::check("features", self.0.n_columns, data.n_features())?;
        Ok(data.select_features(&self.0.columns)?)
    }
}

impl LabelFilter {
    /// Drops the labels whose imbalance ratio max(n+, n-) / min(n+, n-) is above `max_ratio`, constant ones
    /// always. (Daniels and Metaxas 2017, section 4: 50, over the full data.)
    ///
    /// # Errors
    /// [`PreprocessError::Parameter`], [`PreprocessError::NoSamples`], [`PreprocessError::Task`].
    pub fn drop_imbalanced(data: &Dataset, max_ratio: f64) -> Result<Self, PreprocessError> {
        ParameterError::unless(max_ratio >= 1.0, "max_ratio", max_ratio, "at least 1")?;
        let ratios = statistics(data)?.imbalance_ratios();
        Ok(Self(Kept::new(ratios.len(), |j| {
            ratios[j].is_finite() && ratios[j] <= max_ratio
        })))
    }

    /// Drops the labels that fewer than `min_count` samples have or do not have. (Not in the paper's text; the 124
    /// labels of CAL500 in its Table 1 are those that at least 20 samples have, the rule of other work by the same
    /// protocol.)
    ///
    /// # Errors
    /// [`PreprocessError::NoSamples`], [`PreprocessError::Task`].
    pub fn drop_rare(data: &Dataset, min_count: usize) -> Result<Self, PreprocessError> {
        let found = statistics(data)?;
        Ok(Self(Kept::new(found.counts.len(), |j| {
            let positive = found.counts[j];
            let negative = found.n_samples - found.missing[j] - positive;
            positive.min(negative) >= min_count
        })))
    }
}

impl Transform for LabelFilter {
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError> {
        Mismatch::check("outputs", self.0.n_columns, data.n_outputs())?;
        Ok(data.select_outputs(&self.0.columns)?)
    }
}

fn statistics(data: &Dataset) -> Result<LabelStatistics, PreprocessError> {
    check_samples(data)?;
    check_task(data, Task::MultiLabel)?;
    Ok(data.label_statistics())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    #[test]
    fn rare_features_are_dropped_at_the_bound() {
        let x = array![
            [1.0, 1.0, 0.0],
            [1.0, 0.0, f32::NAN],
            [2.0, 0.0, 0.0],
            [0.0, 0.0, 5.0]
        ];
        let values = ["a", "b"].map(String::from).into();
        let data = Dataset::new(x.into(), Array2::zeros((4, 1)).into(), Task::MultiLabel)
            .unwrap()
            .with_nominal([(1, values)].into())
            .unwrap();
        let kept = |fraction, scope| FeatureFilter::drop_rare(&data, fraction, scope).map(|f| f.0.columns);
        assert_eq!(kept(0.25, Scope::All).unwrap(), [0, 1, 2]);
        assert_eq!(kept(0.26, Scope::All).unwrap(), [0]);
        assert_eq!(kept(0.26, Scope::Nominal).unwrap(), [0, 2]);
        for bad in [-0.1, 1.1] {
            let expected = ParameterError::out_of_range("min_fraction", bad, "in [0, 1]");
            assert_eq!(kept(bad, Scope::All), Err(expected.into()));
        }
        assert!(matches!(
            kept(f64::NAN, Scope::All),
            Err(PreprocessError::Parameter(_))
        ));
    }

    #[test]
    fn imbalanced_labels_are_dropped_above_the_bound() {
        // Ratios 3, infinite (never), 1, infinite (always).
        let y = array![
            [1.0, 0.0, 1.0, 1.0],
            [0.0, 0.0, 1.0, 1.0],
            [0.0, 0.0, 0.0, 1.0],
            [0.0, 0.0, 0.0, 1.0]
        ];
        let data = Dataset::new(Array2::zeros((4, 1)).into(), y.into(), Task::MultiLabel).unwrap();
        let kept = |ratio| LabelFilter::drop_imbalanced(&data, ratio).map(|f| f.0.columns);
        assert_eq!((kept(3.0).unwrap(), kept(2.9).unwrap()), (vec![0, 2], vec![2]));
        assert_eq!(kept(f64::INFINITY).unwrap(), [0, 2]);
        let expected = ParameterError::out_of_range("max_ratio", 0.9, "at least 1");
        assert_eq!(kept(0.9), Err(expected.into()));
        assert!(matches!(kept(f64::NAN), Err(PreprocessError::Parameter(_))));
        let rare = |count| LabelFilter::drop_rare(&data, count).unwrap().0.columns;
        assert_eq!((rare(0).len(), rare(1), rare(2)), (4, vec![0, 2], vec![2]));
        let filter = LabelFilter::drop_imbalanced(&data, 3.0).unwrap();
        assert_eq!(
            filter.apply(&data).unwrap().output_names(),
            &["0", "2"].into_iter().collect()
        );
    }
}
