//! Losses for nonnegative amounts and counts, whose score is the logarithm of the mean.

use super::Loss;
use rpo_core::InverseLink;
use rpo_core::math;
use std::fmt::Debug;

/// Largest move of a score in one step. Needed because the minimum is at minus infinity if all targets are 0, and
/// because one Newton step from far below the targets overshoots far beyond them.
const LARGEST_MOVE: f64 = 2.0;

/// Returns the logarithm of the weighted mean, or of 1/(2n) if all targets are 0, which no finite constant fits.
fn log_of_mean(targets: &[f64], weights: &[f64]) -> f64 {
    let total: f64 = weights.iter().sum();
    let sum: f64 = targets.iter().zip(weights).map(|(y, w)| w * y).sum();
    let mean = if sum > 0.0 {
        sum / total
    } else {
        0.5 / targets.len() as f64
    };
    math::ln(mean)
}

/// Half the deviance of a distribution of amounts with the mean μ = eᶠ, and its derivatives, as in [`Loss`].
pub(crate) trait Deviance: Debug + Send + Sync {
    fn value(&self, y: f64, score: f64) -> f64;

    fn residual(&self, y: f64, score: f64) -> f64;

    fn curvature(&self, y: f64, score: f64) -> f64;
}

/// The loss that is half of a deviance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LogLink<D>(pub(crate) D);

impl<D: Deviance> Loss for LogLink<D> {
    fn value(&self, y: f64, score: f64) -> f64 {
        self.0.value(y, score)
    }

    fn residual(&self, y: f64, score: f64) -> f64 {
        self.0.residual(y, score)
    }

    fn curvature(&self, y: f64, score: f64) -> Option<f64> {
        Some(self.0.curvature(y, score))
    }

    fn largest_move(&self) -> f64 {
        LARGEST_MOVE
    }

    fn initial(&self, targets: &[f64], weights: &[f64]) -> f64 {
        log_of_mean(targets, weights)
    }

    fn refuses(&self, y: f64) -> Option<&'static str> {
        (y < 0.0).then_some("at least 0")
    }

    fn inverse_link(&self) -> InverseLink {
        InverseLink::Exponential
    }
}

/// Half the Poisson deviance of μ = eᶠ: ℓ(y, f) = μ − y − y (f − log y), r = y − μ, with the second derivative μ.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Poisson;

impl Deviance for Poisson {
    fn value(&self, y: f64, score: f64) -> f64 {
        let of_target = if y > 0.0 { y * (score - math::ln(y)) } else { 0.0 };
        math::exp(score) - y - of_target
    }

    fn residual(&self, y: f64, score: f64) -> f64 {
        y - math::exp(score)
    }

    fn curvature(&self, _y: f64, score: f64) -> f64 {
        math::exp(score)
    }
}

/// Half the deviance of the Tweedie distribution with mean μ = eᶠ and variance proportional to μᵖ, 1 < p < 2: ℓ(y, f) =
/// y²⁻ᵖ / ((1 − p)(2 − p)) − y μ¹⁻ᵖ / (1 − p) + μ²⁻ᵖ / (2 − p) and r = y μ¹⁻ᵖ − μ²⁻ᵖ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Tweedie {
    pub(crate) power: f64,
}

impl Tweedie {
    /// Returns μ¹⁻ᵖ and μ²⁻ᵖ.
    fn powers(self, score: f64) -> (f64, f64) {
        (
            math::exp((1.0 - self.power) * score),
            math::exp((2.0 - self.power) * score),
        )
    }
}

impl Deviance for Tweedie {
    fn value(&self, y: f64, score: f64) -> f64 {
        let (below, above) = (1.0 - self.power, 2.0 - self.power);
        let powers = self.powers(score);
        math::powf(y, above) / (below * above) - y * powers.0 / below + powers.1 / above
    }

    fn residual(&self, y: f64, score: f64) -> f64 {
        let powers = self.powers(score);
        y * powers.0 - powers.1
    }

    fn curvature(&self, y: f64, score: f64) -> f64 {
        let powers = self.powers(score);
        (self.power - 1.0) * y * powers.0 + (2.0 - self.power) * powers.1
    }
}
