//! The samples that settings are scored on, and those that the winner is fitted to.

use rpo_core::Seed;
use rpo_data::Dataset;
use rpo_data::split::SplitError;

/// A data set split into samples to train on and samples to score settings on.
#[derive(Debug, Clone, PartialEq)]
pub struct Holdout {
    /// The samples that settings are fitted to.
    pub train: Dataset,
    /// The samples that they are scored on.
    pub validation: Dataset,
}

impl Holdout {
    /// Withholds a fraction of the samples as [`Dataset::split`] does.
    ///
    /// # Errors
    /// As [`Dataset::split`].
    pub fn new(data: &Dataset, fraction: f64, seed: Seed) -> Result<Self, SplitError> {
        let (train, validation) = data.split(fraction, seed.purpose("holdout"))?;
        Ok(Self { train, validation })
    }
}

/// The samples that the winner of a search is fitted to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Refit {
    /// The training samples, as when it was scored.
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
