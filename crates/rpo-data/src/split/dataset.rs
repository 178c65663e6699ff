//! Splitting a data set in two.

use super::{Split, SplitError, TestSize, k_fold, random_split, stratified_k_fold, stratified_split};
use crate::dataset::{Dataset, Task};
use rpo_core::Seed;

impl Dataset {
    /// Splits the samples into a training and a test set: labels keep their frequencies (iterative stratification,
    /// Sechidis, Tsoumakas, Vlahavas 2011), numbers are split at random. Depends on the set and the seed alone.
    ///
    /// ```
    /// use rpo_core::Seed;
    /// use rpo_data::generate::MultiLabelSet;
    /// let data = MultiLabelSet::new(100, 10, 5).generate(Seed::new(1))?;
    /// let (train, test) = data.split(0.2, Seed::new(2))?;
    /// assert_eq!(train.n_samples() + test.n_samples(), 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A fraction that is not strictly between 0 and 1, or that leaves one of the sets empty.
    pub fn split(&self, test_fraction: f64, seed: Seed) -> Result<(Self, Self), SplitError> {
        Ok(Split::withholding(self, test_fraction, seed)?.apply(self)?)
    }
}

impl Split {
    /// The samples of the sets of [`Dataset::split`]: labels keep their frequencies, numbers are split at random.
    ///
    /// # Errors
    /// As [`Dataset::split`].
    pub fn withholding(data: &Dataset, test_fraction: f64, seed: Seed) -> Result<Self, SplitError> {
        match data.task() {
            Task::MultiLabel => stratified_split(data.outputs().view(), test_fraction, seed),
            Task::Regression => random_split(data.n_samples(), TestSize::Fraction(test_fraction), seed),
        }
    }

    /// k folds, each against all others. Labels keep their frequencies, for which the sizes of folds may differ by more than 1;
    /// numbers are split at random, into folds whose sizes differ by at most 1.
    ///
    /// # Errors
    /// [`SplitError::Parameter`] for fewer than two folds, or fewer samples than folds.
    pub fn folds(data: &Dataset, k: usize, seed: Seed) -> Result<Vec<Self>, SplitError> {
        match data.task() {
            Task::MultiLabel => stratified_k_fold(data.outputs().view(), k, seed),
            Task::Regression => k_fold(data.n_samples(), k, seed),
        }
    }
}
