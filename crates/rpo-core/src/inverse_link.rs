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
