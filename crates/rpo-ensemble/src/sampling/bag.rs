//! Bags: the samples that the trees of a forest grow on.

use super::subset::{rows, size};
use crate::error::EnsembleError;
use ndarray::Array2;
use rand::Rng;
use rayon::prelude::*;
use rpo_core::{MatrixView, Mismatch, Predictor, Seed};
use serde::{Deserialize, Serialize};

/// The kind of sample that each tree of a fitted forest grew on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bag {
    /// All samples.
    All,
    /// A bootstrap: n of the n samples, drawn with replacement.
    Bootstrap,
    /// This many samples, drawn without replacement.
    Subsample(usize),
}

impl Bag {
    /// Returns a bag of round(fraction · n) samples, drawn without replacement: for a fraction below 1 at most n - 1, so
    /// that samples are out of bag.
    pub(crate) fn of_fraction(fraction: f64, n_samples: usize) -> Self {
        match n_samples {
            2.. if fraction < 1.0 => Self::Subsample(size(fraction, n_samples).min(n_samples - 1)),
            _ => Self::All,
        }
    }

    /// Returns how often each of n samples is in the bag of a tree.
    pub(crate) fn counts(self, tree: Seed, n_rows: usize) -> Vec<f32> {
        match self {
            Self::All => vec![1.0; n_rows],
            Self::Bootstrap => {
                let mut rng = tree.purpose("bootstrap").rng();
                let mut counts = vec![0.0; n_rows];
                for _ in 0..n_rows {
                    counts[rng.gen_range(0..n_rows as u32) as usize] += 1.0;
                }
                counts
            }
            Self::Subsample(k) => {
                let mut counts = vec![0.0; n_rows];
                for row in rows(tree, n_rows, k) {
                    counts[row as usize] = 1.0;
                }
                counts
            }
        }
    }
}

/// A model that can predict training samples by the trees that were not grown on them.
pub trait OutOfBagPredictor: Predictor {
    /// Returns predictions (n x d) for the training samples, each by the trees that did not see it, and the number of
    /// these trees for each sample. A sample that every tree saw has NaN in all outputs.
    ///
    /// `x` are the features that the model was fitted to, in their order, which is not checked.
    ///
    /// # Errors
    /// [`EnsembleError::NoBootstrap`] if every tree saw every sample, [`EnsembleError::Mismatch`] if `x` does not have
    /// the shape of the training set, [`EnsembleError::Predictions`] if the result would exceed
    /// [`DEFAULT_MEMORY_LIMIT`](rpo_core::DEFAULT_MEMORY_LIMIT).
    fn oob_predictions(&self, x: MatrixView<'_>) -> Result<(Array2<f32>, Vec<u32>), Self::Error>;
}

/// The out-of-bag samples of each tree.
pub(crate) struct OutOfBag {
    /// True for out-of-bag samples, by tree, then sample.
    out: Vec<Vec<bool>>,
    /// By sample, the number of trees that did not see it.
    pub(crate) counts: Vec<u32>,
}

impl OutOfBag {
    /// Determines the out-of-bag samples of trees with these seeds, which grew on `n_train` samples; `given` is the
    /// number of samples passed by the caller, which must be equal.
    pub(crate) fn new(
        bag: Bag,
        seeds: impl Iterator<Item = Seed>,
        n_train: usize,
        given: usize,
    ) -> Result<Self, EnsembleError> {
        if bag == Bag::All {
            return Err(EnsembleError::NoBootstrap);
        }
        Mismatch::check("training samples", n_train, given)?;
        let seeds: Vec<Seed> = seeds.collect();
        let of_tree = |seed: &Seed| bag.counts(*seed, n_train).into_iter().map(|c| c == 0.0).collect();
        let out: Vec<Vec<bool>> = seeds.par_iter().map(of_tree).collect();
        let count = |row: usize| out.iter().filter(|tree| tree[row]).count() as u32;
        Ok(Self {
            counts: (0..n_train).map(count).collect(),
            out,
        })
    }

    /// True if a sample is out of bag for a tree.
    #[inline]
    pub(crate) fn admits(&self, tree: usize, row: usize) -> bool {
        self.out[tree][row]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rpo_core::Mismatch;

    #[test]
    fn rows_are_in_bags_or_out_of_them() {
        let seeds = || [1, 2].map(Seed::new).into_iter();
        assert_eq!(Bag::of_fraction(0.75, 8), Bag::Subsample(6));
        assert_eq!(Bag::of_fraction(1.0, 8), Bag::All);
        assert_eq!(Bag::of_fraction(0.99, 8), Bag::Subsample(7));
        assert_eq!(Bag::of_fraction(0.99, 1), Bag::All);
        for bag in [Bag::Bootstrap, Bag::Subsample(6)] {
            let out = OutOfBag::new(bag, seeds(), 8, 8).unwrap();
            for (tree, seed) in seeds().enumerate() {
                let counts = bag.counts(seed, 8);
                assert!((0..8).all(|row| out.admits(tree, row) == (counts[row] == 0.0)));
                assert_eq!(
                    counts.iter().sum::<f32>(),
                    if bag == Bag::Bootstrap { 8.0 } else { 6.0 }
                );
            }
            let all = |row| (0..2).filter(|&tree| out.admits(tree, row)).count() as u32;
            assert!((0..8).all(|row| out.counts[row] == all(row)));
            assert_ne!(bag.counts(Seed::new(1), 8), bag.counts(Seed::new(2), 8));
        }
        let all = OutOfBag::new(Bag::All, seeds(), 8, 8).map(|_| ());
        assert_eq!(all, Err(EnsembleError::NoBootstrap));
        let fewer = OutOfBag::new(Bag::Bootstrap, seeds(), 8, 7).map(|_| ());
        assert!(matches!(
            fewer,
            Err(EnsembleError::Mismatch(Mismatch {
                expected: 8,
                given: 7,
                ..
            }))
        ));
    }
}
