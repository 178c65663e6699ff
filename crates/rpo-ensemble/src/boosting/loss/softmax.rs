//! The softmax loss, for outputs of which each sample has exactly one.

use rpo_core::math;

/// ℓ(y, f) = −Σ_k y_k log p_k with p_k = e^f_k / Σ_l e^f_l for a group of K outputs of which one is 1 and the others
/// are 0: r_k = y_k − p_k. Steps use the diagonal of the Hessian times K / (K − 1), Friedman's factor (2001, Algorithm
/// 6), h_k = p_k (1 − p_k) K / (K − 1). For two outputs, the difference of the scores then moves like the log-odds of
/// the logistic loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Softmax;

impl Softmax {
    /// Largest move of a score in one step, as for the log-odds of the logistic loss.
    pub(crate) const LARGEST_MOVE: f64 = 20.0;

    /// Returns the constant of an output that is 1 in a fraction of n samples: the logarithm of the fraction, or of
    /// 1/(2n) if it is 0.
    pub(crate) fn constant(fraction: f64, n_rows: usize) -> f64 {
        math::ln(fraction.max(0.5 / n_rows as f64))
    }

    /// Returns the loss of a sample. `cells` are the weights of the outputs, equal within a group; 1 if empty.
    pub(crate) fn value(y: &[f64], scores: &[f64], cells: &[f64]) -> f64 {
        let largest = largest(scores);
        let sum: f64 = scores.iter().map(|f| math::exp(f - largest)).sum();
        let normalizer = largest + math::ln(sum);
        let weight = |k: usize| cells.get(k).copied().unwrap_or(1.0);
        let terms = y.iter().zip(scores).enumerate();
        terms.map(|(k, (y, f))| weight(k) * y * (normalizer - f)).sum()
    }

    /// Writes negative gradients and, unless `curvature` is empty, second derivatives.
    pub(crate) fn gradients(y: &[f64], scores: &[f64], residual: &mut [f64], curvature: &mut [f64]) {
        Self::probabilities(scores, residual);
        let k = scores.len() as f64;
        let factor = if k > 1.0 { k / (k - 1.0) } else { 1.0 };
        for (h, p) in curvature.iter_mut().zip(&*residual) {
            *h = factor * p * (1.0 - p);
        }
        residual.iter_mut().zip(y).for_each(|(r, y)| *r = y - *r);
    }

    /// Writes the probabilities p_k.
    pub(crate) fn probabilities(scores: &[f64], out: &mut [f64]) {
        let largest = largest(scores);
        let terms = out.iter_mut().zip(scores);
        terms.for_each(|(p, f)| *p = math::exp(f - largest));
        let sum: f64 = out.iter().sum();
        out.iter_mut().for_each(|p| *p /= sum);
    }
}

fn largest(scores: &[f64]) -> f64 {
    scores.iter().fold(f64::NEG_INFINITY, |max, f| max.max(*f))
}
