//! Statistics of the labels of a set.

use crate::dataset::Dataset;
use rpo_core::Matrix;

/// Statistics of the labels of a multi-label set; of a regression set, an output that is not 0 counts as a label.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelStatistics {
    /// Number of samples.
    pub n_samples: usize,
    /// For each label, the number of samples that have it.
    pub counts: Vec<usize>,
    /// For each label, the number of samples where it is missing.
    pub missing: Vec<usize>,
    /// Number of samples without labels.
    pub n_unlabelled: usize,
}

impl LabelStatistics {
    /// Mean number of labels per sample, missing ones not counted; 0 for an empty set.
    pub fn cardinality(&self) -> f64 {
        self.counts.iter().sum::<usize>() as f64 / self.n_samples.max(1) as f64
    }

    /// [Cardinality](Self::cardinality) over the mean number of observed labels per sample, which is the number of labels
    /// if none is missing; in [0, 1], and 0 if none is observed.
    pub fn density(&self) -> f64 {
        match self.missing.iter().sum::<usize>() {
            0 => self.cardinality() / self.counts.len().max(1) as f64,
            missing => {
                let observed = self.n_samples * self.counts.len() - missing;
                self.counts.iter().sum::<usize>() as f64 / observed.max(1) as f64
            }
        }
    }

    /// Number of labels that no sample has.
    pub fn n_never(&self) -> usize {
        self.counts.iter().filter(|&&c| c == 0).count()
    }

    /// max(n+, n-) / min(n+, n-) for each label over the samples where it is observed, at least 1; infinite for a
    /// constant label. (Daniels and Metaxas 2017, section 4.)
    pub fn imbalance_ratios(&self) -> Vec<f64> {
        self.counts
            .iter()
            .zip(&self.missing)
            .map(|(&positive, missing)| {
                let negative = self.n_samples - missing - positive;
                match positive.min(negative) {
                    0 => f64::INFINITY,
                    fewer => positive.max(negative) as f64 / fewer as f64,
                }
            })
            .collect()
    }
}

impl Dataset {
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
        LabelStatistics {
            n_samples: outputs.n_rows(),
            counts,
            missing,
            n_unlabelled,
        }
    }

    /// Mean number of stored features per sample, for sparse features those that are not 0; 0 for an empty set.
    pub fn mean_stored_features(&self) -> f64 {
        let stored = match self.features() {
            Matrix::Dense(a) => a.len(),
            Matrix::Sparse(a) => a.nnz(),
        };
        stored as f64 / self.n_samples().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dataset, Task};
    use ndarray::array;

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
        assert_eq!((found.cardinality(), found.density()), (1.0, 1.0 / 3.0));
        assert_eq!(found.imbalance_ratios(), [3.0, f64::INFINITY, 3.0]);
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
        assert_eq!((found.cardinality(), found.density()), (0.5, 2.0 / 5.0));
        assert_eq!(found.imbalance_ratios(), [2.0, 1.0]);
    }
}
