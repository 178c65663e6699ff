//! The logistic loss.

use super::Loss;
use rpo_core::{InverseLink, math};

/// ℓ(y, f) = log(1 + exp(−2 y± f)) for labels y in {0, 1} and y± = 2y − 1, the binomial deviance:
/// r = 2 y± / (1 + exp(2 y± f)), and the probability of the label is σ(2f).
///
/// The initial constant is ρ₀ = ½ log(p / (1 − p)) for a fraction p of ones (the paper's Table 1 omits the ½, without
/// which ρ₀ does not minimise the loss). For outputs of one class no finite constant minimises the loss; p is then
/// taken to be 1/(2n) or 1 − 1/(2n), with n the number of samples. Steps move a score by at most 10, because the
/// minimum along a tree is at infinity if all y± g have the same sign.
///
/// All formulas are evaluated in a form that neither overflows nor cancels, whatever the score. (Section 2.2 of the
/// paper calls this the "exponential loss"; its table gives the logistic loss.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Logistic;

impl Logistic {
    /// Largest move of a score in one step.
    pub(crate) const LARGEST_MOVE: f64 = 10.0;

    /// Returns the constant ρ₀ for a fraction of ones among n samples.
    pub(crate) fn constant(fraction: f64, n_rows: usize) -> f64 {
        let margin = 0.5 / n_rows as f64;
        let p = if fraction > 0.0 && fraction < 1.0 {
            fraction
        } else {
            fraction.clamp(margin, 1.0 - margin)
        };
        0.5 * math::ln(p / (1.0 - p))
    }
}

impl Loss for Logistic {
    #[inline(always)]
    fn value(&self, y: f64, score: f64) -> f64 {
        let z = (2.0 * y - 1.0) * 2.0 * score;
        math::softplus(-z)
    }

    #[inline(always)]
    fn residual(&self, y: f64, score: f64) -> f64 {
        let sign = 2.0 * y - 1.0;
        // The sigmoid of −2 sign f, from the exponential that the curvature needs too.
        let e = math::exp(-2.0 * score.abs());
        let above = if sign * score > 0.0 { e } else { 1.0 };
        2.0 * sign * above / (1.0 + e)
    }

    #[inline(always)]
    fn curvature(&self, _y: f64, score: f64) -> Option<f64> {
        let e = math::exp(-2.0 * score.abs());
        Some(4.0 * e / ((1.0 + e) * (1.0 + e)))
    }

    fn has_unit(&self) -> bool {
        false
    }

    fn natural_scale(&self) -> f64 {
        2.0
    }

    fn largest_move(&self) -> f64 {
        Self::LARGEST_MOVE
    }

    fn initial(&self, targets: &[f64], weights: &[f64]) -> f64 {
        let total: f64 = weights.iter().sum();
        let ones: f64 = targets.iter().zip(weights).map(|(y, w)| w * y).sum();
        Self::constant(ones / total, targets.len())
    }

    fn refuses(&self, y: f64) -> Option<&'static str> {
        (y != 0.0 && y != 1.0).then_some("0 or 1")
    }

    fn inverse_link(&self) -> InverseLink {
        InverseLink::Logistic
    }
}
