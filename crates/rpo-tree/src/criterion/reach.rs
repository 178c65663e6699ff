//! A bound on the scores of moving some of a few rows, from their norms alone.
//!
//! With μ the mean of a node of weight W, a split that moves rows M of weight v gains
//!
//! ```text
//! W ‖Σ_M c (z − μ)‖² / (v (W − v))  ≤  W Σ_M c ‖z − μ‖² / (W − v)   (Cauchy-Schwarz)
//! ```
//!
//! and, with t = ‖μ‖ / √(mean of ‖z‖²), ‖z − μ‖² ≤ (‖z‖ + ‖μ‖)² ≤ (1 + t) ‖z‖² + (1 + 1/t) ‖μ‖². Both grow with the rows
//! in M. Most features of wide sparse data are held by too few rows to reach the best score found so far, and need
//! neither sorting nor the targets of these rows.

use super::NodeSums;

/// Part of a gain and of a score that covers their rounding, far above it.
const SLACK: (f64, f64) = (1e-6, 1e-12);

impl NodeSums {
    /// Returns true if no split of the node that moves some of these rows, each given by its weight and ‖z‖², scores
    /// `score` or more. Stops at the first row with which one might.
    #[inline(always)]
    pub(super) fn cannot_reach(&self, score: f64, rows: impl Iterator<Item = (f64, f64)>) -> bool {
        let gain = (score - self.norm / self.weight) * (1.0 - SLACK.0) - score * SLACK.1;
        let mean_norm = self.norm.sqrt() / self.weight;
        let root_mean_square = (self.squares / self.weight).sqrt();
        let (of_square, of_weight) = (
            1.0 + mean_norm / root_mean_square,
            mean_norm * (mean_norm + root_mean_square),
        );
        let (mut squares, mut weight) = (0.0, 0.0);
        for (row_weight, square) in rows {
            squares += row_weight * square;
            weight += row_weight;
            // Also false for NaN.
            let is_below =
                (of_square * squares + of_weight * weight) * self.weight < gain * (self.weight - weight);
            if !is_below {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sums(rows: &[(f64, [f64; 2])]) -> (f64, [f64; 2]) {
        rows.iter()
            .fold((0.0, [0.0; 2]), |(weight, [x, y]), &(c, [a, b])| {
                (weight + c, [x + c * a, y + c * b])
            })
    }

    fn norm(z: [f64; 2]) -> f64 {
        z[0] * z[0] + z[1] * z[1]
    }

    proptest! {
        /// No split that moves some of the first rows reaches a score that these rows cannot reach, and a score far above
        /// all splits cannot be reached.
        #[test]
        fn bounds_hold_for_all_splits(
            rows in proptest::collection::vec((1_u8..4, -3_i8..4, -3_i8..4), 8..40),
            n_held in 1_usize..7,
            far in prop_oneof![Just(0.0), -50.0..50.0],
            share in 0.0..2.0,
        ) {
            let rows: Vec<(f64, [f64; 2])> = rows
                .iter()
                .map(|&(c, a, b)| (f64::from(c), [f64::from(a) + far, f64::from(b)]))
                .collect();
            let (weight, total) = sums(&rows);
            let node = NodeSums {
                weight,
                squares: rows.iter().map(|&(c, z)| c * norm(z)).sum(),
                norm: norm(total),
                moved_weight: 0.0,
            };
            let score_of = |which: usize| {
                let moved: Vec<_> = (0..n_held).filter(|i| which >> i & 1 == 1).map(|i| rows[i]).collect();
                let (moved_weight, moved) = sums(&moved);
                let rest = [total[0] - moved[0], total[1] - moved[1]];
                NodeSums { moved_weight, ..node }.score(norm(moved), norm(rest))
            };
            let best = (1..1 << n_held).map(score_of).fold(f64::NEG_INFINITY, f64::max);
            let held = || rows[..n_held].iter().map(|&(c, z)| (c, norm(z)));
            prop_assert!(!node.cannot_reach(best, held()));
            let base = node.norm / node.weight;
            let other = base + (best - base) * share;
            prop_assert!(other > best || !node.cannot_reach(other, held()));
            if 2.0 * held().map(|(c, _)| c).sum::<f64>() < weight {
                let above = base + 8.0 * (node.squares + 1.0);
                prop_assert!(node.cannot_reach(above, held()));
            }
        }
    }
}
