//! The samples on which settings are scored, and those to which the winner is fitted.

use rpo_core::Seed;
use rpo_data::Dataset;
use rpo_data::split::{Split, SplitError, Withheld};

/// A data set split into samples to train on and samples to score settings on.
#[derive(Debug, Clone, PartialEq)]
pub struct Holdout {
    /// The samples that settings are fitted to.
    pub train: Dataset,
    /// The samples on which settings are scored.
    pub validation: Dataset,
}

impl Holdout {
    /// Withholds a fraction of the samples, or of the groups of a set that has some, like [`Dataset::split`].
    ///
    /// # Errors
    /// As [`Dataset::split`].
    pub fn new(data: &Dataset, fraction: f64, seed: Seed) -> Result<Self, SplitError> {
        Self::withholding(data, &Withheld::Stratified, fraction, seed)
    }

    /// Withholds a fraction of the samples, like [`Split::withholding`].
    ///
    /// # Errors
    /// As [`Split::withholding`].
    pub fn withholding(
        data: &Dataset,
        withheld: &Withheld,
        fraction: f64,
        seed: Seed,
    ) -> Result<Self, SplitError> {
        let split = Split::withholding(data, withheld, fraction, seed.purpose("holdout"))?;
        let (train, validation) = split.apply(data)?;
        Ok(Self { train, validation })
    }
}

/// The samples that the winner of a search is fitted to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Refit {
    /// The training samples, as for scoring.
    #[default]
    No,
    /// All samples.
    Everything,
}

impl Refit {
    /// The samples to fit the winner to.
    pub(super) fn samples<'a>(self, everything: &'a Dataset, holdout: &'a Holdout) -> &'a Dataset {
        match self {
            Self::No => &holdout.train,
            Self::Everything => everything,
        }
    }
}
