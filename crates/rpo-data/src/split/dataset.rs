//! Splitting a data set in two.

use super::{
    Split, SplitError, TestSize, grouped_folds, grouped_split, k_fold, random_split, stratified_k_fold,
    stratified_split, time_folds, time_split,
};
use crate::dataset::{Dataset, DatasetError};
use rpo_core::{Matrix, Mismatch, Seed};
use std::borrow::Cow;

/// The samples that a split withholds for testing. Of a set with groups ([`Dataset::with_groups`]), such as customers,
/// patients or documents, whole groups are drawn at random instead: all samples of a group are on the same side.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Withheld {
    /// Preserves the frequencies of labels and classes, also beside numbers (iterative stratification, Sechidis,
    /// Tsoumakas, Vlahavas 2011); where all outputs are numbers, samples are drawn at random.
    #[default]
    Stratified,
    /// Drawn at random, whatever the outputs.
    Random,
    /// The latest samples, by the time of each sample: no training sample is later than a test sample, and samples of
    /// the same time are on the same side. For sets without groups.
    Latest(Vec<f64>),
}

impl Withheld {
    /// The times of these samples alone.
    ///
    /// # Errors
    /// A number of times that is not `n_samples`, the number of all samples.
    ///
    /// # Panics
    /// If there is no such sample.
    pub fn select(&self, samples: &[usize], n_samples: usize) -> Result<Self, DatasetError> {
        self.check(n_samples)?;
        Ok(match self {
            Self::Stratified | Self::Random => self.clone(),
            Self::Latest(times) => Self::Latest(samples.iter().map(|&i| times[i]).collect()),
        })
    }

    /// The labels whose frequencies are preserved, if there are any.
    fn preserved<'a>(&self, data: &'a Dataset) -> Option<Cow<'a, Matrix>> {
        (*self == Self::Stratified).then(|| data.labels()).flatten()
    }

    fn check(&self, n_samples: usize) -> Result<(), DatasetError> {
        match self {
            Self::Stratified | Self::Random => Ok(()),
            Self::Latest(times) => Mismatch::check("times of the samples", n_samples, times.len()),
        }
        .map_err(DatasetError::from)
    }
}

impl Dataset {
    /// Splits the samples into a training and a test set. The frequencies of labels are preserved (iterative
    /// stratification, Sechidis, Tsoumakas, Vlahavas 2011); sets of numbers alone are split at random, and sets with
    /// groups by whole groups. Depends on the set and the seed alone.
    ///
    /// ```
    /// use rpo_data::Seed;
    /// use rpo_data::generate::{Generator, MultiLabelSet};
    /// let data = MultiLabelSet::new(100, 10, 5).generate(Seed::new(1))?;
    /// let (train, test) = data.split(0.2, Seed::new(2))?;
    /// assert_eq!(train.n_samples() + test.n_samples(), 100);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A fraction that is not strictly between 0 and 1, or that leaves one of the sets empty.
    pub fn split(&self, test_fraction: f64, seed: Seed) -> Result<(Self, Self), SplitError> {
        Ok(Split::withholding(self, &Withheld::Stratified, test_fraction, seed)?.apply(self)?)
    }
}

impl Split {
    /// Withholds about a fraction of the samples of a set.
    ///
    /// ```
    /// use ndarray::Array2;
    /// use rpo_data::split::{Split, Withheld};
    /// use rpo_data::{Dataset, Seed, Task};
    /// let data = Dataset::new(Array2::zeros((4, 1)).into(), Array2::zeros((4, 1)).into(), Task::Regression)?;
    /// let years = Withheld::Latest(vec![2020.0, 2023.0, 2021.0, 2022.0]);
    /// let split = Split::withholding(&data, &years, 0.25, Seed::new(1))?;
    /// assert_eq!((split.train, split.test), (vec![0, 2, 3], vec![1]));
    /// let data = data.with_groups(vec![5, 7, 5, 7])?;
    /// let split = Split::withholding(&data, &Withheld::Stratified, 0.5, Seed::new(1))?;
    /// assert!(split.test == [0, 2] || split.train == [0, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A fraction that is not strictly between 0 and 1, a time that is NaN, a number of times that is not that of the
    /// samples, times of a set with groups, and a side that would be empty: too few samples, groups or times.
    pub fn withholding(
        data: &Dataset,
        withheld: &Withheld,
        test_fraction: f64,
        seed: Seed,
    ) -> Result<Self, SplitError> {
        withheld.check(data.n_samples())?;
        match (withheld, data.groups()) {
            (Withheld::Latest(times), None) => time_split(times, test_fraction),
            (Withheld::Latest(_), Some(_)) => Err(SplitError::GroupsAndTimes),
            (_, Some(groups)) => grouped_split(groups, test_fraction, seed),
            (withheld, None) => match withheld.preserved(data) {
                Some(labels) => stratified_split(labels.view(), test_fraction, seed),
                None => random_split(data.n_samples(), TestSize::Fraction(test_fraction), seed),
            },
        }
    }

    /// Splits a set into k folds. Each is tested against all others; with times, against all that are earlier.
    ///
    /// * [`Withheld::Stratified`] preserves the frequencies of labels, for which the sizes of folds may differ by more
    ///   than 1; where all outputs are numbers, folds are random.
    /// * [`Withheld::Random`]: sizes differ by at most 1.
    /// * With groups, either of them: whole groups, so that no group of a test set is in its training set. Folds are as
    ///   equal in size as the greedy assignment of groups, the largest first, makes them.
    /// * [`Withheld::Latest`]: time is cut into k + 1 parts with about as many samples each. Fold i is the part i + 1,
    ///   tested against parts 1 to i; the first part is never tested. Samples of the same time are in one part.
    ///
    /// ```
    /// use ndarray::Array2;
    /// use rpo_data::split::{Split, Withheld};
    /// use rpo_data::{Dataset, Seed, Task};
    /// let data = Dataset::new(Array2::zeros((4, 1)).into(), Array2::zeros((4, 1)).into(), Task::Regression)?;
    /// let years = Withheld::Latest(vec![2020.0, 2023.0, 2021.0, 2022.0]);
    /// let folds = Split::folds(&data, &years, 3, Seed::new(1))?;
    /// assert_eq!((&folds[0].train[..], &folds[0].test[..]), (&[0][..], &[2][..]));
    /// assert_eq!((&folds[2].train[..], &folds[2].test[..]), (&[0, 2, 3][..], &[1][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`SplitError::Parameter`] for fewer than two folds, or fewer samples or groups than folds, or no more times than
    /// folds; a time that is NaN; a number of times that is not that of the samples; times of a set with groups.
    pub fn folds(data: &Dataset, withheld: &Withheld, k: usize, seed: Seed) -> Result<Vec<Self>, SplitError> {
        withheld.check(data.n_samples())?;
        match (withheld, data.groups()) {
            (Withheld::Latest(times), None) => time_folds(times, k),
            (Withheld::Latest(_), Some(_)) => Err(SplitError::GroupsAndTimes),
            (_, Some(groups)) => grouped_folds(groups, k, seed),
            (withheld, None) => match withheld.preserved(data) {
                Some(labels) => stratified_k_fold(labels.view(), k, seed),
                None => k_fold(data.n_samples(), k, seed),
            },
        }
    }
}
