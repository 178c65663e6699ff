//! Splitting a data set in two.

use super::{SplitError, TestSize, random_split, stratified_split};
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
        let split = match self.task() {
            Task::MultiLabel => stratified_split(self.outputs().view(), test_fraction, seed)?,
            Task::Regression => random_split(self.n_samples(), TestSize::Fraction(test_fraction), seed)?,
        };
        Ok(split.apply(self)?)
    }
}
