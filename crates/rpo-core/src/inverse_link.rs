//! From additive scores to predictions.

use serde::{Deserialize, Serialize};

/// The function from the activations of a model, which are sums, to its predictions: the inverse of its link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InverseLink {
    /// The activation itself, in the units of the output.
    Identity,
    /// The logistic function of each activation: a probability for every label.
    Logistic,
    /// eᵃ: a positive mean.
    Exponential,
    /// eᵃⱼ / Σ eᵃ: probabilities of classes, of which each sample has exactly one.
    Softmax,
}

/// What the probabilities of sums of rounded numbers may miss [0, 1] by.
const ROUNDING: f64 = 1e-6;

/// Returns true for a score from 0 to 1, up to 1e-6 that the rounding of sums may leave.
///
/// ```
/// use rpo_core::is_probability;
/// assert!(is_probability(1.000_000_1) && !is_probability(1.1) && !is_probability(f64::NAN));
/// ```
pub fn is_probability(score: f64) -> bool {
    (-ROUNDING..=1.0 + ROUNDING).contains(&score)
}
