//! Divides the samples of a set, at random or by labels.
//!
//! All splits are functions of the number of samples (or of the labels) and a [`Seed`] alone. Rows are listed
//! in increasing order.
//!
//! ```
//! use rpo_core::Seed;
//! use rpo_data::split::{TestSize, random_split};
//! let split = random_split(10, TestSize::Share(0.3), Seed::new(1))?;
//! assert_eq!((split.train.len(), split.test.len()), (7, 3));
//! # Ok::<(), rpo_data::split::SplitError>(())
//! ```

mod stratified;

pub use stratified::{stratified_k_fold, stratified_parts, stratified_split};

use crate::dataset::{Dataset, DatasetError};
use rand::seq::SliceRandom;
use rpo_core::Seed;

/// Why samples cannot be divided.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// A share outside (0, 1).
    #[error("share {0} of the samples is not strictly between 0 and 1")]
    Share(f64),
    /// More samples asked for than there are.
    #[error("{train} training and {test} test samples asked for, there are {n_samples}")]
    Sizes {
        /// Training samples.
        train: usize,
        /// Test samples.
        test: usize,
        /// Samples.
        n_samples: usize,
    },
    /// A part without samples.
    #[error("a part of the {n_samples} samples would be empty; take another share, or more samples")]
    EmptyPart {
        /// Samples.
        n_samples: usize,
    },
    /// Too few or too many folds.
    #[error("{folds} folds of {n_samples} samples; at least 2 and at most as many as samples are possible")]
    Folds {
        /// Folds.
        folds: usize,
        /// Samples.
        n_samples: usize,
    },
    /// A part whose weight is not positive and finite.
    #[error("part {part} has the weight {weight}; positive and finite expected")]
    Weight {
        /// Part, from 0.
        part: usize,
        /// Its weight.
        weight: f64,
    },
    /// No part.
    #[error("no part to divide into")]
    NoParts,
}

/// Rows to train on and rows to test on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Rows to train on, increasing.
    pub train: Vec<usize>,
    /// Rows to test on, increasing.
    pub test: Vec<usize>,
}

impl Split {
    /// The training and the test part of a set.
    ///
    /// # Errors
    /// [`DatasetError::OutOfRange`] if the set has fewer rows than the split was made for.
    pub fn apply(&self, data: &Dataset) -> Result<(Dataset, Dataset), DatasetError> {
        Ok((data.select_rows(&self.train)?, data.select_rows(&self.test)?))
    }

    /// One part against all others, for each part.
    fn one_against_rest(parts: &[Vec<usize>]) -> Vec<Self> {
        let n_samples: usize = parts.iter().map(Vec::len).sum();
        let mut part_of = vec![0; n_samples];
        for (k, part) in parts.iter().enumerate() {
            part.iter().for_each(|&row| part_of[row] = k);
        }
        let split = |(k, test): (usize, &Vec<usize>)| Self {
            train: (0..n_samples).filter(|&row| part_of[row] != k).collect(),
            test: test.clone(),
        };
        parts.iter().enumerate().map(split).collect()
    }
}

/// How many samples to test on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TestSize {
    /// This share, rounded to the nearest number; the rest are for training.
    Share(f64),
    /// So many for training and so many for testing; others are left out.
    Counts {
        /// Training samples.
        train: usize,
        /// Test samples.
        test: usize,
    },
}

/// Divides samples at random.
///
/// # Errors
/// [`SplitError::Share`], [`SplitError::Sizes`], [`SplitError::EmptyPart`].
pub fn random_split(n_samples: usize, size: TestSize, seed: Seed) -> Result<Split, SplitError> {
    let (train, test) = match size {
        TestSize::Share(share) => {
            check_fraction(share)?;
            let test = (share * n_samples as f64).round() as usize;
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
        return Err(SplitError::EmptyPart { n_samples });
    }
    let rows = shuffled(n_samples, seed.purpose("random split"));
    Ok(Split {
        train: sorted(&rows[test..test + train]),
        test: sorted(&rows[..test]),
    })
}

/// Divides samples at random into k folds whose sizes differ by at most 1; each fold is tested on once.
///
/// # Errors
/// [`SplitError::Folds`].
pub fn k_fold(n_samples: usize, k: usize, seed: Seed) -> Result<Vec<Split>, SplitError> {
    check_folds(k, n_samples)?;
    let rows = shuffled(n_samples, seed.purpose("k-fold"));
    let bound = |fold: usize| (fold as u128 * n_samples as u128 / k as u128) as usize;
    let folds: Vec<Vec<usize>> = (0..k)
        .map(|fold| sorted(&rows[bound(fold)..bound(fold + 1)]))
        .collect();
    Ok(Split::one_against_rest(&folds))
}

fn check_fraction(share: f64) -> Result<(), SplitError> {
    if share > 0.0 && share < 1.0 {
        Ok(())
    } else {
        Err(SplitError::Share(share))
    }
}

fn check_folds(folds: usize, n_samples: usize) -> Result<(), SplitError> {
    if (2..=n_samples).contains(&folds) {
        Ok(())
    } else {
        Err(SplitError::Folds { folds, n_samples })
    }
}

/// 0 to n exclusive in random order.
fn shuffled(n: usize, seed: Seed) -> Vec<usize> {
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
    fn impossible_divisions_are_refused() {
        let seed = Seed::new(0);
        for share in [0.0, 1.0, -0.5] {
            assert_eq!(
                random_split(9, TestSize::Share(share), seed),
                Err(SplitError::Share(share))
            );
        }
        assert!(matches!(
            random_split(9, TestSize::Share(f64::NAN), seed),
            Err(SplitError::Share(_))
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
        assert_eq!(counts(0, 5), Err(SplitError::EmptyPart { n_samples: 9 }));
        assert_eq!(
            random_split(1, TestSize::Share(0.4), seed),
            Err(SplitError::EmptyPart { n_samples: 1 })
        );
        for folds in [0, 1, 10] {
            assert_eq!(
                k_fold(9, folds, seed),
                Err(SplitError::Folds { folds, n_samples: 9 })
            );
        }
    }

    #[test]
    fn values_are_stable() {
        // A change of these changes every experiment that splits at random.
        let split = random_split(10, TestSize::Counts { train: 3, test: 3 }, Seed::new(1)).unwrap();
        assert_eq!((split.train, split.test), (vec![1, 3, 9], vec![0, 7, 8]));
    }

    proptest! {
        #[test]
        fn parts_are_disjoint_and_complete(n in 2_usize..60, k in 2_usize..60, share in 0.01..0.99, seed in any::<u64>()) {
            let everything: Vec<usize> = (0..n).collect();
            let whole = |split: &Split| sorted(&[&split.train[..], &split.test[..]].concat());
            if let Ok(split) = random_split(n, TestSize::Share(share), Seed::new(seed)) {
                prop_assert_eq!(whole(&split), &everything[..]);
                prop_assert!((split.test.len() as f64 - share * n as f64).abs() <= 0.5);
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
