//! Splits of the samples of a set: at random, by labels, by groups or by time.
//!
//! All splits are functions of the number of samples (or of the labels) and a [`Seed`] alone. Samples are listed in
//! increasing order. Samples of one group ([`Dataset::with_groups`]) are never on both sides.
//!
//! ```
//! use rpo_data::Seed;
//! use rpo_data::split::{TestSize, random_split};
//! let split = random_split(10, TestSize::Fraction(0.3), Seed::new(1))?;
//! assert_eq!((split.train.len(), split.test.len()), (7, 3));
//! # Ok::<(), rpo_data::split::SplitError>(())
//! ```

mod dataset;
mod stratified;
mod whole;

pub use dataset::Withheld;
pub use stratified::stratified_partitions;
use stratified::{stratified_k_fold, stratified_split};
pub use whole::group_numbers;
pub(crate) use whole::grouped_folds;
use whole::{grouped_split, time_folds, time_split};

use crate::dataset::{Dataset, DatasetError};
use rand::seq::SliceRandom;
use rpo_core::{Domain, ParameterError, Seed};

/// The reason why samples cannot be split.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// A fraction, number of folds or weight that is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A sample that the set does not have.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    /// More samples are requested than there are.
    #[error("{train} training and {test} test samples requested, there are {n_samples}")]
    Sizes {
        /// Number of training samples.
        train: usize,
        /// Number of test samples.
        test: usize,
        /// Number of samples.
        n_samples: usize,
    },
    /// A time that is not a number.
    #[error("sample {sample} has no time")]
    Time {
        /// Sample, from 0.
        sample: usize,
    },
    /// Samples to be withheld from a single group.
    #[error("all {n_samples} samples belong to one group, so none can be withheld")]
    OneGroup {
        /// Number of samples.
        n_samples: usize,
    },
    /// Samples to be withheld that are all of one time.
    #[error("all {n_samples} samples have the same time, so none is later than the others")]
    OneTime {
        /// Number of samples.
        n_samples: usize,
    },
    /// Groups together with times, which may contradict each other.
    #[error("samples with groups cannot be split by time; remove the groups or choose a random split")]
    GroupsAndTimes,
    /// A partition without samples.
    #[error("a partition of the {n_samples} samples would be empty; use another fraction, or more samples")]
    Empty {
        /// Number of samples.
        n_samples: usize,
    },
}

/// Training samples and test samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Training samples, increasing.
    pub train: Vec<usize>,
    /// Test samples, increasing.
    pub test: Vec<usize>,
}

impl Split {
    /// Returns the training and the test set of a data set.
    ///
    /// # Errors
    /// [`DatasetError::OutOfRange`] if the set has fewer samples than the split was made for.
    pub fn apply(&self, data: &Dataset) -> Result<(Dataset, Dataset), DatasetError> {
        Ok((
            data.select_samples(&self.train)?,
            data.select_samples(&self.test)?,
        ))
    }

    /// Creates the splits that test each fold against all others.
    fn one_against_rest(folds: &[Vec<usize>]) -> Vec<Self> {
        let n_samples: usize = folds.iter().map(Vec::len).sum();
        let mut fold_of = vec![0; n_samples];
        for (k, fold) in folds.iter().enumerate() {
            fold.iter().for_each(|&row| fold_of[row] = k);
        }
        let split = |(k, test): (usize, &Vec<usize>)| Self {
            train: (0..n_samples).filter(|&row| fold_of[row] != k).collect(),
            test: test.clone(),
        };
        folds.iter().enumerate().map(split).collect()
    }
}

/// The number of test samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TestSize {
    /// A fraction of the samples, rounded to the nearest number; the rest is for training.
    Fraction(f64),
    /// Numbers of samples for training and for testing; the remaining samples are left out.
    Counts {
        /// Number of training samples.
        train: usize,
        /// Number of test samples.
        test: usize,
    },
}

/// Splits samples at random.
///
/// # Errors
/// [`SplitError::Parameter`], [`SplitError::Sizes`], [`SplitError::Empty`].
///
/// # Panics
/// If the indices of all samples exceed the memory.
pub fn random_split(n_samples: usize, size: TestSize, seed: Seed) -> Result<Split, SplitError> {
    let (train, test) = match size {
        TestSize::Fraction(fraction) => {
            check_fraction(fraction)?;
            let test = (fraction * n_samples as f64).round() as usize;
            (n_samples - test, test)
        }
        TestSize::Counts { train, test } => (train, test),
    };
    if train.checked_add(test).is_none_or(|sum| sum > n_samples) {
        return Err(SplitError::Sizes {
            train,
            test,
            n_samples,
        });
    }
    if train == 0 || test == 0 {
        return Err(SplitError::Empty { n_samples });
    }
    let rows = shuffled(n_samples, seed.purpose("random split"));
    Ok(Split {
        train: sorted(&rows[test..test + train]),
        test: sorted(&rows[..test]),
    })
}

/// Splits samples at random into k folds whose sizes differ by at most 1; each fold is the test set once.
pub(crate) fn k_fold(n_samples: usize, k: usize, seed: Seed) -> Result<Vec<Split>, SplitError> {
    check_folds(k, n_samples)?;
    let rows = shuffled(n_samples, seed.purpose("k-fold"));
    let bound = |fold: usize| (fold as u128 * n_samples as u128 / k as u128) as usize;
    let folds: Vec<Vec<usize>> = (0..k)
        .map(|fold| sorted(&rows[bound(fold)..bound(fold + 1)]))
        .collect();
    Ok(Split::one_against_rest(&folds))
}

fn check_fraction(fraction: f64) -> Result<(), ParameterError> {
    Domain::Level.check("fraction", fraction)
}

fn check_folds(folds: usize, n_samples: usize) -> Result<(), ParameterError> {
    let in_range = (2..=n_samples).contains(&folds);
    ParameterError::unless(in_range, "folds", folds, "from 2 to the number of samples")
}

/// Returns the numbers 0 to n exclusive in an order drawn by the seed.
pub fn shuffled(n: usize, seed: Seed) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..n).collect();
    rows.shuffle(&mut seed.rng());
    rows
}

fn sorted(rows: &[usize]) -> Vec<usize> {
    let mut rows = rows.to_vec();
    rows.sort_unstable();
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn impossible_splits_are_refused() {
        let seed = Seed::new(0);
        for fraction in [0.0, 1.0, -0.5] {
            assert_eq!(
                random_split(9, TestSize::Fraction(fraction), seed),
                Err(ParameterError::out_of_range("fraction", fraction, "in (0, 1)").into())
            );
        }
        assert!(matches!(
            random_split(9, TestSize::Fraction(f64::NAN), seed),
            Err(SplitError::Parameter(_))
        ));
        let counts = |train, test| random_split(9, TestSize::Counts { train, test }, seed);
        assert_eq!(
            counts(5, 5),
            Err(SplitError::Sizes {
                train: 5,
                test: 5,
                n_samples: 9
            })
        );
        assert!(matches!(counts(usize::MAX, 2), Err(SplitError::Sizes { .. })));
        assert_eq!(counts(0, 5), Err(SplitError::Empty { n_samples: 9 }));
        assert_eq!(
            random_split(1, TestSize::Fraction(0.4), seed),
            Err(SplitError::Empty { n_samples: 1 })
        );
        for folds in [0, 1, 10] {
            assert_eq!(
                k_fold(9, folds, seed),
                Err(ParameterError::out_of_range("folds", folds, "from 2 to the number of samples").into())
            );
        }
    }

    #[test]
    fn values_are_stable() {
        // Changing these values changes every experiment that splits at random.
        let split = random_split(10, TestSize::Counts { train: 3, test: 3 }, Seed::new(1)).unwrap();
        assert_eq!((split.train, split.test), (vec![1, 3, 9], vec![0, 7, 8]));
    }

    proptest! {
        #[test]
        fn splits_are_disjoint_and_complete(n in 2_usize..60, k in 2_usize..60, fraction in 0.01..0.99, seed in any::<u64>()) {
            let everything: Vec<usize> = (0..n).collect();
            let whole = |split: &Split| sorted(&[&split.train[..], &split.test[..]].concat());
            if let Ok(split) = random_split(n, TestSize::Fraction(fraction), Seed::new(seed)) {
                prop_assert_eq!(whole(&split), &everything[..]);
                prop_assert!((split.test.len() as f64 - fraction * n as f64).abs() <= 0.5);
            }
            if let Ok(folds) = k_fold(n, k, Seed::new(seed)) {
                for fold in &folds {
                    prop_assert_eq!(whole(fold), &everything[..]);
                    prop_assert!(fold.test.len() == n / k || fold.test.len() == n.div_ceil(k));
                }
                let tested: Vec<usize> = folds.iter().flat_map(|fold| fold.test.clone()).collect();
                prop_assert_eq!(sorted(&tested), everything);
            } else {
                prop_assert!(k > n);
            }
        }
    }
}
