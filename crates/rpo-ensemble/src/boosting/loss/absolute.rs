//! The absolute loss.

use super::median::{weighted_median, weighted_middle};
use super::{Direction, Loss};

/// ℓ(y, f) = |y − f|: r = sign(y − f), 0 at a tie. ρ₀ is the weighted median, or the midpoint if two values share it.
/// The step is the lower weighted median of (y − f)/g with weights w |g| over the samples with g ≠ 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Absolute;

impl Loss for Absolute {
    fn value(&self, y: f64, score: f64) -> f64 {
        (y - score).abs()
    }

    fn residual(&self, y: f64, score: f64) -> f64 {
        let difference = y - score;
        // signum(0) is 1.
        if difference == 0.0 {
            0.0
        } else {
            difference.signum()
        }
    }

    fn has_unit(&self) -> bool {
        false
    }

    fn initial(&self, targets: &[f64], weights: &[f64]) -> f64 {
        weighted_median(targets, weights)
    }

    fn step(&self, direction: &Direction<'_>) -> f64 {
        let moving = direction.samples().filter(|&(_, _, g, _)| g != 0.0);
        let mut quotients = moving.map(|(y, f, g, w)| ((y - f) / g, w * g.abs())).peekable();
        if quotients.peek().is_none() {
            return 0.0;
        }
        weighted_middle(quotients).0
    }
}
