//! Statistics of the columns of a set.

use crate::column_sums::{ColumnSums, column_sums};
use crate::dataset::Dataset;
use rayon::prelude::*;
use rpo_core::{MatrixView, Mismatch, math};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Statistics of the labels of a multi-label set; in a regression set, a nonzero output counts as a label.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LabelStatistics {
    /// Number of samples.
    pub n_samples: usize,
    /// Number of samples that have each label.
    pub counts: Vec<usize>,
    /// Number of samples in which each label is missing.
    pub missing: Vec<usize>,
    /// Number of samples without labels.
    pub n_unlabelled: usize,
    /// Mean number of labels per sample, without missing ones; 0 for an empty set.
    pub cardinality: f64,
    /// Cardinality divided by the mean number of observed labels per sample, which is the number of labels if none is
    /// missing; in [0, 1], and 0 if none is observed.
    pub density: f64,
}

impl LabelStatistics {
    /// Returns the number of labels that no sample has.
    pub(crate) fn n_never(&self) -> usize {
        self.counts.iter().filter(|&&c| c == 0).count()
    }

    /// Returns the imbalance ratio of each label, at least 1; infinite if the divisor is 0.
    pub fn imbalance_ratios(&self, of: Imbalance) -> Vec<f64> {
        let most = self.counts.iter().max().copied().unwrap_or(0);
        let ratio = |(&positive, missing): (&usize, &usize)| {
            let negative = self.n_samples - missing - positive;
            let (more, fewer) = match of {
                Imbalance::Labels => (most, positive),
                Imbalance::Samples => (positive.max(negative), positive.min(negative)),
            };
            match fewer {
                0 => f64::INFINITY,
                fewer => more as f64 / fewer as f64,
            }
        };
        self.counts.iter().zip(&self.missing).map(ratio).collect()
    }

    /// Returns MeanIR: the mean of the ratios of [`Imbalance::Labels`] over the labels that occur; NaN if none does.
    pub(crate) fn mean_ir(&self) -> f64 {
        let ratios = self.imbalance_ratios(Imbalance::Labels);
        let finite = ratios.iter().filter(|ratio| ratio.is_finite());
        finite.clone().sum::<f64>() / finite.count() as f64
    }
}

/// The counts that an imbalance ratio of a label compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Imbalance {
    /// The most frequent label and this one: IRLbl, the count of the former divided by that of the latter. (Charte,
    /// Rivera, del Jesus, Herrera: Addressing imbalance in multilabel classification, 2015.)
    Labels,
    /// The samples with and without the label: max(n₊, n₋) / min(n₊, n₋), over the samples where it is observed.
    /// (Daniels and Metaxas 2017, *Experiments and Results*.)
    Samples,
}

/// Mean, spread and range of the observed values of a column; NaN if there are none.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Moments {
    /// Number of samples in which the value is missing.
    pub missing: usize,
    /// The mean.
    pub mean: f64,
    /// The standard deviation, with divisor n.
    pub deviation: f64,
    /// The smallest value.
    pub least: f64,
    /// The largest value.
    pub largest: f64,
}

/// Computes the moments of each column.
fn moments_of(columns: MatrixView<'_>) -> Vec<Moments> {
    let moments = |sums: ColumnSums| match sums.weight > 0.0 {
        // The mean of a constant column is its value, without rounding.
        true => Moments {
            missing: sums.missing,
            mean: if sums.varies() { sums.mean } else { sums.least },
            deviation: if sums.varies() {
                (sums.squares / sums.weight).sqrt()
            } else {
                0.0
            },
            least: sums.least,
            largest: sums.largest,
        },
        false => Moments {
            missing: sums.missing,
            mean: f64::NAN,
            deviation: f64::NAN,
            least: f64::NAN,
            largest: f64::NAN,
        },
    };
    column_sums(columns, None).into_iter().map(moments).collect()
}

impl Dataset {
    /// Computes the moments of each output.
    pub fn output_moments(&self) -> Vec<Moments> {
        moments_of(self.outputs().view())
    }

    /// Computes the moments of each feature; those of a categorical feature are of the positions of its categories.
    pub fn feature_moments(&self) -> Vec<Moments> {
        moments_of(self.features().view())
    }

    /// Returns the number of distinct label sets.
    pub(crate) fn n_label_sets(&self) -> usize {
        let outputs = self.outputs().view();
        let set = |row: usize| {
            let mut labels = Vec::new();
            outputs.for_each_in_row(row, |j, v| {
                if v == 1.0 {
                    labels.push(j);
                }
            });
            labels
        };
        (0..outputs.n_rows()).map(set).collect::<BTreeSet<_>>().len()
    }

    /// Counts the labels. O(nnz + `n_outputs`).
    pub fn label_statistics(&self) -> LabelStatistics {
        let outputs = self.outputs().view();
        let (mut counts, mut missing) = (vec![0; outputs.n_cols()], vec![0; outputs.n_cols()]);
        let mut n_unlabelled = 0;
        for row in 0..outputs.n_rows() {
            let mut any = false;
            outputs.for_each_in_row(row, |j, v| {
                if v.is_nan() {
                    missing[j as usize] += 1;
                } else if v != 0.0 {
                    counts[j as usize] += 1;
                    any = true;
                }
            });
            n_unlabelled += usize::from(!any);
        }
        let (n_samples, n_labels) = (outputs.n_rows(), counts.len());
        let n_present = counts.iter().sum::<usize>() as f64;
        let cardinality = n_present / n_samples.max(1) as f64;
        let density = match missing.iter().sum::<usize>() {
            0 => cardinality / n_labels.max(1) as f64,
            n_missing => n_present / (n_samples * n_labels - n_missing).max(1) as f64,
        };
        LabelStatistics {
            n_samples,
            counts,
            missing,
            n_unlabelled,
            cardinality,
            density,
        }
    }

    /// Computes SCUMBLE, the extent to which rare labels occur together with frequent ones: the mean over samples with
    /// labels of 1 minus the ratio of the geometric to the arithmetic mean of the IRLbl of a sample's labels; in [0,
    /// 1), NaN without labels. (Charte et al.: Concurrence among imbalanced labels and its influence on multilabel
    /// resampling algorithms, 2014, equation 4.)
    pub(crate) fn scumble(&self) -> f64 {
        let ratios = self.label_statistics().imbalance_ratios(Imbalance::Labels);
        let outputs = self.outputs().view();
        let (mut sum, mut n) = (0.0, 0_usize);
        for row in 0..outputs.n_rows() {
            let (mut total, mut logs, mut count) = (0.0, 0.0, 0_usize);
            outputs.for_each_in_row(row, |j, v| {
                if v == 1.0 {
                    let ratio = ratios[j as usize];
                    total += ratio;
                    logs += math::ln(ratio);
                    count += 1;
                }
            });
            if count > 0 {
                let count = count as f64;
                // Rounding may take the ratio of equal ones past 1.
                sum += (1.0 - math::exp(logs / count) / (total / count)).max(0.0);
                n += 1;
            }
        }
        sum / n as f64
    }

    /// Returns the number of samples whose features equal those of a sample of another set, value by value, whatever
    /// their outputs. For a test set, these are the samples that a model has seen.
    ///
    /// # Errors
    /// [`Mismatch`] if the numbers of features differ.
    pub fn n_shared(&self, other: &Self) -> Result<usize, Mismatch> {
        Mismatch::check("features", self.n_features(), other.n_features())?;
        let keys = |data: &Self| {
            let features = data.features().view();
            let key = |row: usize| {
                let mut entries = Vec::new();
                // A value that is not stored is 0.
                features.for_each_in_row(row, |j, v| {
                    if v != 0.0 {
                        entries.push((j, v.to_bits()));
                    }
                });
                entries
            };
            (0..data.n_samples()).map(key).collect::<Vec<_>>()
        };
        let mut others = keys(other);
        others.sort_unstable();
        let shared = |key: &&Vec<(u32, u32)>| others.binary_search(key).is_ok();
        Ok(keys(self).iter().filter(shared).count())
    }

    /// Returns the number of samples whose features and outputs equal those of an earlier sample, bit by bit.
    pub fn n_duplicates(&self) -> usize {
        let entries = |sample: usize| {
            let mut entries = Vec::new();
            let (features, outputs) = (self.features().view(), self.outputs().view());
            features.for_each_in_row(sample, |j, v| entries.push((false, j, v.to_bits())));
            outputs.for_each_in_row(sample, |j, v| entries.push((true, j, v.to_bits())));
            entries
        };
        // Entries of all samples at once would take more memory than the data.
        let hashed = |sample: usize| {
            let mut hasher = DefaultHasher::new();
            entries(sample).hash(&mut hasher);
            (hasher.finish(), sample)
        };
        let mut hashes: Vec<(u64, usize)> = (0..self.n_samples()).into_par_iter().map(hashed).collect();
        hashes.par_sort_unstable();
        let of_one_hash = |equal: &[(u64, usize)]| {
            let mut distinct = Vec::new();
            for &(_, sample) in equal {
                let entries = entries(sample);
                if !distinct.contains(&entries) {
                    distinct.push(entries);
                }
            }
            equal.len() - distinct.len()
        };
        let repeated = hashes.chunk_by(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1);
        repeated.map(of_one_hash).sum()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dataset, Imbalance, Task};
    use ndarray::array;

    #[test]
    fn samples_of_both_sets_are_counted() {
        let set = |x: ndarray::Array2<f32>| {
            let y = ndarray::Array2::zeros((x.nrows(), 1));
            Dataset::new(x.into(), y.into(), Task::Regression).unwrap()
        };
        let n = f32::NAN;
        let train = set(array![[0.0, 1.0], [2.0, n], [3.0, -0.0]]);
        let test = set(array![[2.0, n], [0.0, 1.0], [0.0, 1.0], [3.0, 0.0], [1.0, 0.0]]);
        assert_eq!((test.n_shared(&train), train.n_shared(&test)), (Ok(4), Ok(3)));
        let sparse = train.clone().with_layout(crate::Layout::Sparse, 0).unwrap();
        assert_eq!(test.n_shared(&sparse), Ok(4));
        assert!(test.n_shared(&set(array![[1.0]])).is_err());
    }

    #[test]
    fn hand_counted() {
        let outputs = array![[1., 0., 1.], [0., 0., 1.], [0., 0., 1.], [0., 0., 0.]];
        let data = Dataset::new(
            array![[0.0], [0.0], [0.0], [0.0]].into(),
            outputs.into(),
            Task::MultiLabel,
        );
        let found = data.unwrap().label_statistics();
        assert_eq!(found.counts, [1, 0, 3]);
        assert_eq!((found.n_unlabelled, found.n_never()), (1, 1));
        assert_eq!((found.cardinality, found.density), (1.0, 1.0 / 3.0));
        assert_eq!(
            found.imbalance_ratios(Imbalance::Samples),
            [3.0, f64::INFINITY, 3.0]
        );
        assert_eq!(
            found.imbalance_ratios(Imbalance::Labels),
            [3.0, f64::INFINITY, 1.0]
        );
        assert_eq!(found.mean_ir(), 2.0);
    }

    #[test]
    fn rare_labels_beside_frequent_ones_and_repeated_samples_are_found() {
        let outputs = array![[1., 1.], [0., 1.], [0., 1.], [0., 0.]];
        let features = array![[0.0], [1.0], [1.0], [f32::NAN]];
        let data = Dataset::new(features.into(), outputs.into(), Task::MultiLabel).unwrap();
        // The labels of the first sample have IRLbl 3 and 1, two samples have one label, the last has none.
        let first = 1.0 - 3.0_f64.sqrt() / 2.0;
        assert!((data.scumble() - first / 3.0).abs() < 1e-12);
        assert_eq!(data.n_duplicates(), 1);
        assert_eq!(data.n_label_sets(), 3);
        let moments = data.output_moments()[1];
        assert_eq!((moments.mean, moments.least, moments.largest), (0.75, 0.0, 1.0));
        assert!((moments.deviation - 0.1875_f64.sqrt()).abs() < 1e-12);
        let sparse = data.with_layout(crate::Layout::Sparse, usize::MAX).unwrap();
        assert_eq!(sparse.n_duplicates(), 1);
    }

    #[test]
    fn a_constant_output_has_no_deviation() {
        let outputs = array![[0.1], [0.1], [0.1]];
        let data = Dataset::new(
            array![[0.0], [1.0], [2.0]].into(),
            outputs.into(),
            Task::Regression,
        )
        .unwrap();
        let moments = data.output_moments()[0];
        assert_eq!((moments.mean, moments.deviation), (f64::from(0.1_f32), 0.0));
    }

    #[test]
    fn missing_labels_are_not_counted() {
        let missing = f32::NAN;
        let outputs = array![[1., 0.], [missing, missing], [0., missing], [0., 1.]];
        let features = array![[0.0], [0.0], [0.0], [0.0]];
        let data = Dataset::with_missing(features.into(), outputs.into(), Task::MultiLabel).unwrap();
        let found = data.label_statistics();
        assert_eq!(
            (&found.counts[..], &found.missing[..]),
            (&[1, 1][..], &[1, 2][..])
        );
        assert_eq!((found.n_unlabelled, found.n_never()), (2, 0));
        assert_eq!((found.cardinality, found.density), (0.5, 2.0 / 5.0));
        assert_eq!(found.imbalance_ratios(Imbalance::Samples), [2.0, 1.0]);
    }
}
