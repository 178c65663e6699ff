#![doc = include_str!("../README.md")]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests compare with the standard library"
    )
)]

mod bootstrap;
mod corrections;
mod distributions;
mod error;
mod friedman;
mod paired_t;
mod post_hoc;
mod ranks;
mod wilcoxon;

/// The crate of the types in the signatures of this crate: what errors hold.
pub use rpo_core as core;

pub use bootstrap::Bootstrap;
pub use corrections::Correction;
pub use error::StatsError;
pub use friedman::{Better, Friedman, FriedmanTest};
pub use paired_t::PairedT;
pub use post_hoc::PostHoc;
pub use wilcoxon::{NormalApproximation, SignedRanks, Zeros};

use error::check_finite;
use rpo_core::Mismatch;

/// Probabilities of data at least as extreme as those observed, if there is no difference.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PValues {
    /// Extreme in either direction.
    pub two_sided: f64,
    /// Extreme in the direction x > y.
    pub greater: f64,
    /// Extreme in the direction x < y.
    pub less: f64,
}

/// An estimate with a confidence interval.
pub trait ConfidenceInterval {
    /// Returns the interval that covers the true value with probability `level`.
    ///
    /// # Errors
    /// A level outside (0, 1).
    fn interval(&self, level: f64) -> Result<(f64, f64), StatsError>;
}

/// Returns x - y, pair by pair.
///
/// # Errors
/// Samples of different lengths, values that are not finite.
pub(crate) fn differences(x: &[f64], y: &[f64]) -> Result<Vec<f64>, StatsError> {
    Mismatch::check("values of the second sample", x.len(), y.len())?;
    let differences: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
    check_finite(x)?;
    check_finite(y)?;
    check_finite(&differences)?;
    Ok(differences)
}
