//! The Huber loss.

use super::Loss;

/// ½ (y − f)² for distances up to δ, δ (|y − f| − δ/2) beyond: r = y − f clamped to ±δ (Huber 1964). Steps are found by
/// line search: if all samples of a leaf lie beyond δ, there is no curvature for a Newton step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Huber {
    pub(crate) delta: f64,
}

impl Loss for Huber {
    fn value(&self, y: f64, score: f64) -> f64 {
        let distance = (y - score).abs();
        if distance <= self.delta {
            0.5 * distance * distance
        } else {
            self.delta * (distance - 0.5 * self.delta)
        }
    }

    fn residual(&self, y: f64, score: f64) -> f64 {
        (y - score).clamp(-self.delta, self.delta)
    }
}
