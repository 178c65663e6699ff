//! Penalties of leaf values.

/// Penalties of the value v of a leaf in the second-order approximation of a loss, −R v + ½ H v² + α |v| + ½ λ v²,
/// where R and H are the sums of negative gradients and of second derivatives over the samples of the leaf.
///
/// The default is no penalty, a Newton step R / H.
///
/// ```
/// use rpo_tree::criterion::LeafPenalty;
/// let penalty = LeafPenalty { l1: 1.0, l2: 2.0 };
/// assert_eq!(penalty.value(-7.0, 1.0), -2.0); // -(7 - 1) / (1 + 2)
/// assert_eq!(penalty.value(0.5, 1.0), 0.0);
/// assert_eq!(LeafPenalty::default().value(3.0, 0.0), 0.0); // no curvature, no step
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LeafPenalty {
    /// α, at least 0.
    pub l1: f64,
    /// λ, at least 0.
    pub l2: f64,
}

impl LeafPenalty {
    /// Returns R moved towards 0 by α.
    #[inline(always)]
    fn shrunk(self, gradient: f64) -> f64 {
        (gradient.abs() - self.l1).max(0.0).copysign(gradient)
    }

    /// Returns the best leaf value, sign(R) max(|R| − α, 0) / (H + λ); 0 where H + λ vanishes.
    #[inline]
    pub fn value(self, gradient: f64, curvature: f64) -> f64 {
        let denominator = curvature + self.l2;
        if denominator <= VANISHING {
            return 0.0;
        }
        self.shrunk(gradient) / denominator
    }

    /// Returns twice the decrease achieved by the best leaf value, max(|R| − α, 0)² / (H + λ); 0 where H + λ vanishes.
    #[inline(always)]
    pub(crate) fn score(self, gradient: f64, curvature: f64) -> f64 {
        quotient(square_beyond::<true>(gradient, self.l1), curvature + self.l2)
    }
}

/// Returns max(|v| − α, 0)², in fewer steps for `SHRINKS = false`, which promises that α is 0.
#[inline(always)]
pub(crate) fn square_beyond<const SHRINKS: bool>(v: f64, l1: f64) -> f64 {
    let t = if SHRINKS { v.abs() - l1 } else { v };
    let t = if SHRINKS && t <= 0.0 { 0.0 } else { t };
    t * t
}

/// Returns a quotient, 0 where the denominator vanishes.
#[inline(always)]
pub(crate) fn quotient(numerator: f64, denominator: f64) -> f64 {
    let quotient = numerator / denominator;
    // Selected after the division, to keep loops over scores free of branches.
    if denominator <= VANISHING { 0.0 } else { quotient }
}

/// Denominators up to this one count as 0: a quotient would reflect rounding more than the leaf.
const VANISHING: f64 = 1e-300;
