//! Drops features and labels that carry too little.

use super::{PreprocessError, Transform, check_count, check_rows};
use crate::dataset::{Dataset, FeatureKind, Task};
use serde::{Deserialize, Serialize};

/// Which features a [`FeatureFilter`] may drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Nominal ones only. Those with more than two values are better one-hot encoded before, so that each value
    /// is judged by itself.
    Nominal,
    /// All.
    All,
}

/// Keeps the features that are present often enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureFilter {
    n_features: usize,
    kept: Vec<usize>,
}

impl FeatureFilter {
    /// Drops the features in scope that are present, neither 0 nor missing, in less than `min_share` of the
    /// rows. (Daniels and Metaxas 2017, section 4: nominal features in less than 1 %; all features for RCV1.)
    ///
    /// # Errors
    /// [`PreprocessError::Share`], [`PreprocessError::NoRows`].
    pub fn drop_rare(data: &Dataset, min_share: f64, scope: Scope) -> Result<Self, PreprocessError> {
        if !(0.0..=1.0).contains(&min_share) {
            return Err(PreprocessError::Share(min_share));
        }
        check_rows(data)?;
        let features = data.features().view();
        let mut present = vec![0_usize; data.n_features()];
        for row in 0..data.n_samples() {
            features.for_each_in_row(row, |j, v| {
                present[j as usize] += usize::from(v != 0.0 && !v.is_nan());
            });
        }
        let fewest = min_share * data.n_samples() as f64;
        let is_kept = |&j: &usize| {
            let in_scope = scope == Scope::All || matches!(data.feature_kind(j), FeatureKind::Nominal(_));
            !in_scope || present[j] as f64 >= fewest
        };
        Ok(Self {
            n_features: data.n_features(),
            kept: (0..data.n_features()).filter(is_kept).collect(),
        })
    }

    /// The features kept.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }
}

impl Transform for FeatureFilter {
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError> {
        check_count("features", self.n_features, data.n_features())?;
        Ok(data.select_features(&self.kept)?)
    }
}

/// Keeps the labels that are not too imbalanced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelFilter {
    n_outputs: usize,
    kept: Vec<usize>,
}

impl LabelFilter {
    /// Drops the labels whose imbalance ratio max(n+, n-) / min(n+, n-) is above `max_ratio`, constant ones
    /// always. (Daniels and Metaxas 2017, section 4: 50, over the full data.)
    ///
    /// # Errors
    /// [`PreprocessError::Ratio`] if it is below 1, [`PreprocessError::NoRows`], [`PreprocessError::Task`].
    pub fn drop_imbalanced(data: &Dataset, max_ratio: f64) -> Result<Self, PreprocessError> {
        if !(1.0..).contains(&max_ratio) {
            return Err(PreprocessError::Ratio(max_ratio));
        }
        check_rows(data)?;
        if data.task() != Task::MultiLabel {
            return Err(PreprocessError::Task {
                expected: Task::MultiLabel,
                found: data.task(),
            });
        }
        let ratios = data.label_statistics().imbalance_ratios();
        Ok(Self {
            n_outputs: data.n_outputs(),
            kept: (0..ratios.len())
                .filter(|&j| ratios[j].is_finite() && ratios[j] <= max_ratio)
                .collect(),
        })
    }

    /// Drops the labels that fewer than `min_count` samples have or do not have. (Not in the paper's text; the 124
    /// labels of CAL500 in its Table 1 are those that at least 20 samples have, the rule of other work by the same
    /// protocol.)
    ///
    /// # Errors
    /// [`PreprocessError::NoRows`], [`PreprocessError::Task`].
    pub fn drop_rare(data: &Dataset, min_count: usize) -> Result<Self, PreprocessError> {
        check_rows(data)?;
        if data.task() != Task::MultiLabel {
            return Err(PreprocessError::Task {
                expected: Task::MultiLabel,
                found: data.task(),
            });
        }
        let statistics = data.label_statistics();
        let is_kept = |&j: &usize| {
            let positive = statistics.counts[j];
            let negative = statistics.n_samples - statistics.missing[j] - positive;
            positive.min(negative) >= min_count
        };
        Ok(Self {
            n_outputs: data.n_outputs(),
            kept: (0..data.n_outputs()).filter(is_kept).collect(),
        })
    }

    /// The labels kept.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }
}

impl Transform for LabelFilter {
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError> {
        check_count("outputs", self.n_outputs, data.n_outputs())?;
        Ok(data.select_outputs(&self.kept)?)
    }
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
        let kept = |share, scope| FeatureFilter::drop_rare(&data, share, scope).map(|f| f.kept);
        assert_eq!(kept(0.25, Scope::All).unwrap(), [0, 1, 2]);
        assert_eq!(kept(0.26, Scope::All).unwrap(), [0]);
        assert_eq!(kept(0.26, Scope::Nominal).unwrap(), [0, 2]);
        for bad in [-0.1, 1.1] {
            assert_eq!(kept(bad, Scope::All), Err(PreprocessError::Share(bad)));
        }
        assert!(matches!(
            kept(f64::NAN, Scope::All),
            Err(PreprocessError::Share(_))
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
        let kept = |ratio| LabelFilter::drop_imbalanced(&data, ratio).map(|f| f.kept);
        assert_eq!((kept(3.0).unwrap(), kept(2.9).unwrap()), (vec![0, 2], vec![2]));
        assert_eq!(kept(f64::INFINITY).unwrap(), [0, 2]);
        assert_eq!(kept(0.9), Err(PreprocessError::Ratio(0.9)));
        assert!(matches!(kept(f64::NAN), Err(PreprocessError::Ratio(_))));
        let rare = |count| LabelFilter::drop_rare(&data, count).unwrap().kept;
        assert_eq!((rare(0).len(), rare(1), rare(2)), (4, vec![0, 2], vec![2]));
        let filter = LabelFilter::drop_imbalanced(&data, 3.0).unwrap();
        assert_eq!(
            filter.apply(&data).unwrap().output_names(),
            &["0", "2"].into_iter().collect()
        );
    }
}
