//! Filters of rare features and imbalanced labels.

use super::{PreprocessError, Transform, check_samples, check_task, count_present};
use crate::dataset::{Dataset, Task};
use crate::statistics::{Imbalance, LabelStatistics};
use rpo_core::{Domain, Mismatch, ParameterError};
use serde::{Deserialize, Serialize};

/// The features that [`Filter::RareFeatures`] may drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Nominal features only. Encode features of more than two values first
    /// ([`Encoding::OneHot`](super::Encoding::OneHot)), so that each value is judged separately.
    Nominal,
    /// All features.
    All,
}

/// A rule for dropping columns.
///
/// ```
/// use ndarray::array;
/// use rpo_data::preprocess::{Filter, Transform};
/// use rpo_data::{Dataset, Task};
/// let labels = array![[1., 0.], [0., 0.], [0., 1.], [1., 0.]];
/// let data = Dataset::new(array![[1.], [2.], [3.], [4.]].into(), labels.into(), Task::MultiLabel)?;
/// let filter = Filter::ImbalancedLabels { max_ratio: 2.0 }.fit(&data)?; // ratios 1 and 3
/// assert_eq!(filter.apply(&data)?.n_outputs(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Filter {
    /// Drops the features in scope that are present, neither 0 nor missing, in less than this fraction of the samples.
    /// (Daniels and Metaxas 2017, *Experiments and Results*: nominal features in less than 1 %; all features for RCV1.)
    RareFeatures {
        /// The fraction, from 0 to 1.
        min_fraction: f64,
        /// The features that may be dropped.
        scope: Scope,
    },
    /// Drops the labels whose imbalance ratio max(n₊, n₋) / min(n₊, n₋) is above the maximum; constant labels are
    /// always dropped. (Daniels and Metaxas 2017, *Experiments and Results*: 50, over the full data.)
    ImbalancedLabels {
        /// The maximum ratio, at least 1.
        max_ratio: f64,
    },
    /// Drops the labels with fewer positive, or fewer negative, samples than this. (Not in the paper's text; the 124
    /// labels of CAL500 in its Table 1 are those with at least 20 samples, the rule of other work with the same
    /// protocol.)
    RareLabels {
        /// The minimum number of samples.
        min_count: usize,
    },
}

impl Filter {
    /// Determines the columns of a set that the rule keeps.
    ///
    /// # Errors
    /// [`PreprocessError::Parameter`], [`PreprocessError::NoSamples`], and for label rules [`PreprocessError::Task`].
    pub fn fit(self, data: &Dataset) -> Result<ColumnFilter, PreprocessError> {
        Ok(match self {
            Self::RareFeatures { min_fraction, scope } => {
                Domain::Probability.check("min_fraction", min_fraction)?;
                check_samples(data)?;
                let present = count_present(data);
                let fewest = min_fraction * data.n_samples() as f64;
                ColumnFilter::new(false, data.n_features(), |j| {
                    let in_scope = scope == Scope::All || data.nominal().contains_key(&j);
                    !in_scope || present[j] as f64 >= fewest
                })
            }
            Self::ImbalancedLabels { max_ratio } => {
                ParameterError::unless(max_ratio >= 1.0, "max_ratio", max_ratio, "at least 1")?;
                let ratios = statistics(data)?.imbalance_ratios(Imbalance::Samples);
                ColumnFilter::new(true, ratios.len(), |j| {
                    ratios[j].is_finite() && ratios[j] <= max_ratio
                })
            }
            Self::RareLabels { min_count } => {
                let found = statistics(data)?;
                ColumnFilter::new(true, found.counts.len(), |j| {
                    let positive = found.counts[j];
                    let negative = found.n_samples - found.missing[j] - positive;
                    positive.min(negative) >= min_count
                })
            }
        })
    }
}

/// The columns that a [`Filter`] keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnFilter {
    of_outputs: bool,
    n_columns: usize,
    columns: Vec<usize>,
}

impl ColumnFilter {
    fn new(of_outputs: bool, n_columns: usize, keeps: impl Fn(usize) -> bool) -> Self {
        Self {
            of_outputs,
            n_columns,
            columns: (0..n_columns).filter(|&j| keeps(j)).collect(),
        }
    }
}

impl Transform for ColumnFilter {
    fn apply(&self, data: &Dataset) -> Result<Dataset, PreprocessError> {
        if self.of_outputs {
            Mismatch::check("outputs", self.n_columns, data.n_outputs())?;
            return Ok(data.select_outputs(&self.columns)?);
        }
        Mismatch::check("features", self.n_columns, data.n_features())?;
        Ok(data.select_features(&self.columns)?)
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
        let kept = |min_fraction, scope| {
            let filter = Filter::RareFeatures { min_fraction, scope };
            filter.fit(&data).map(|f| f.columns)
        };
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
        let filter = |max_ratio| Filter::ImbalancedLabels { max_ratio }.fit(&data);
        let kept = |ratio| filter(ratio).map(|f| f.columns);
        assert_eq!((kept(3.0).unwrap(), kept(2.9).unwrap()), (vec![0, 2], vec![2]));
        assert_eq!(kept(f64::INFINITY).unwrap(), [0, 2]);
        let expected = ParameterError::out_of_range("max_ratio", 0.9, "at least 1");
        assert_eq!(kept(0.9), Err(expected.into()));
        assert!(matches!(kept(f64::NAN), Err(PreprocessError::Parameter(_))));
        let rare = |min_count| Filter::RareLabels { min_count }.fit(&data).unwrap().columns;
        assert_eq!((rare(0).len(), rare(1), rare(2)), (4, vec![0, 2], vec![2]));
        assert_eq!(
            filter(3.0).unwrap().apply(&data).unwrap().output_names(),
            &["0", "2"].into_iter().collect()
        );
    }
}
