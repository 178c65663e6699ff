//! The terms that keep splits and leaf values small.

use crate::TreeError;
use rpo_core::check_not_negative;

/// Regularization of the [gain](crate::histogram). By default none, so that the gain is the decrease of the variance.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SplitPenalty {
    /// λ, added to the sum of curvatures of a node: shrinks leaves of little curvature towards 0.
    pub l2: f64,
    /// α, by which the magnitude of a sum of gradients is lowered; leaves of less count as 0.
    pub l1: f64,
    /// Smallest sum of curvatures (of weights where the curvature is 1) of a child.
    pub min_child_weight: f64,
    /// Smallest gain of a split, γ.
    pub min_split_gain: f64,
}

impl SplitPenalty {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`TreeError::Parameter`] for the first that is negative, NaN or infinite.
    pub fn check(&self) -> Result<(), TreeError> {
        for (name, value) in [
            ("leaf_l2", self.l2),
            ("leaf_l1", self.l1),
            ("min_child_weight", self.min_child_weight),
            ("min_split_gain", self.min_split_gain),
        ] {
            check_not_negative(name, value)?;
        }
        Ok(())
    }

    /// T(G)² / (H + λ), for one target.
    pub(super) fn value(&self, g: f64, h: f64) -> f64 {
        self.square(g) / (h + self.l2)
    }

    /// T(G)².
    #[inline(always)]
    pub(super) fn square(&self, g: f64) -> f64 {
        let t = (g.abs() - self.l1).max(0.0);
        t * t
    }
}
