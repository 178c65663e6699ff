//! Functions from additive scores to predictions.

use serde::{Deserialize, Serialize};

/// The inverse link of a model: the function from its activations, which are sums, to its predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InverseLink {
    /// The activation itself, in the units of the output.
    Identity,
    /// The logistic function of each activation: a probability for every label.
    Logistic,
    /// eᵃ: a positive mean.
    Exponential,
    /// eᵃⱼ / Σ eᵃ: probabilities of classes, exactly one of which applies to each sample.
    Softmax,
}

/// The rounding error by which probabilities computed as sums may lie outside [0, 1].
const ROUNDING: f64 = 1e-6;

/// Returns true for a score in [0, 1], with a tolerance of 1e-6 for rounding errors of sums.
///
/// ```
/// use rpo_core::is_probability;
/// assert!(is_probability(1.000_000_1) && !is_probability(1.1) && !is_probability(f64::NAN));
/// ```
pub fn is_probability(score: f64) -> bool {
    (-ROUNDING..=1.0 + ROUNDING).contains(&score)
}
