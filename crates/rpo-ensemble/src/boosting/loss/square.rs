//! The square loss.

use super::{Direction, Loss};

/// ℓ(y, f) = ½ (y − f)²: r = y − f, ρ₀ is the weighted mean, and the step is ρ = Σ w r g / Σ w g².
///
/// (Eqs. 20 and 23 of the paper have the denominator Σ g, which is 0 up to rounding for centred residuals.)
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Square;

/// Returns the quotient of a quadratic step, or 0 if the direction vanishes: its denominator is negligible, absolutely
/// or relative to `squares` = Σ w r².
pub(crate) fn quotient(numerator: f64, denominator: f64, squares: f64) -> f64 {
    if denominator <= 1e-300 || denominator <= 1e-24 * squares {
        0.0
    } else {
        numerator / denominator
    }
}

impl Loss for Square {
    fn value(&self, y: f64, score: f64) -> f64 {
        0.5 * (y - score) * (y - score)
    }

    fn residual(&self, y: f64, score: f64) -> f64 {
        y - score
    }

    fn curvature(&self, _y: f64, _score: f64) -> Option<f64> {
        Some(1.0)
    }

    fn is_quadratic(&self) -> bool {
        true
    }

    fn initial(&self, targets: &[f64], weights: &[f64]) -> f64 {
        let total: f64 = weights.iter().sum();
        let sum: f64 = targets.iter().zip(weights).map(|(y, w)| w * y).sum();
        sum / total
    }

    fn step(&self, direction: &Direction<'_>) -> f64 {
        let (mut numerator, mut denominator, mut squares) = (0.0, 0.0, 0.0);
        for (y, f, g, w) in direction.samples() {
            let r = y - f;
            numerator += w * r * g;
            denominator += w * g * g;
            squares += w * r * r;
        }
        quotient(numerator, denominator, squares)
    }
}
