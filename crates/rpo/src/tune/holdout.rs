//! The samples that settings are scored on, and what becomes of them in the end.

use rpo_core::Seed;
use rpo_data::split::{SplitError, TestSize, random_split, stratified_split};
use rpo_data::{Dataset, DatasetError, Task};

/// A set divided into a part to train on and a part to score settings on.
#[derive(Debug, Clone, PartialEq)]
pub struct Holdout {
    /// What settings are fitted to.
    pub train: Dataset,
    /// What they are scored on.
    pub validation: Dataset,
}

/// Why no samples can be withheld.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum HoldoutError {
    /// The share, or a set too small for it.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// The parts.
    #[error(transparent)]
    Dataset(#[from] DatasetError),
}

impl Holdout {
    /// Withholds a share of the samples, strictly between 0 and 1: of labels so that each keeps its frequency
    /// (iterative stratification, Sechidis, Tsoumakas, Vlahavas 2011), of numbers at random. Depends on the
    /// set and the seed alone.
    ///
    /// # Errors
    /// [`HoldoutError::Split`] for another share, or where a part would be empty.
    pub fn new(data: &Dataset, share: f64, seed: Seed) -> Result<Self, HoldoutError> {
        let seed = seed.purpose("holdout");
        let split = match data.task() {
            Task::MultiLabel => stratified_split(data.outputs().view(), share, seed)?,
            Task::Regression => random_split(data.n_samples(), TestSize::Fraction(share), seed)?,
        };
        let (train, validation) = split.apply(data)?;
        Ok(Self { train, validation })
    }
}

/// What the winner of a search is fitted to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Refit {
    /// The training part, as when it was scored.
    #[default]
    No,
    /// All samples, the validation part too.
    Everything,
}

impl Refit {
    /// The samples to fit the winner to.
    pub fn samples<'a>(self, everything: &'a Dataset, holdout: &'a Holdout) -> &'a Dataset {
        match self {
            Self::No => &holdout.train,
            Self::Everything => everything,
        }
    }
}
