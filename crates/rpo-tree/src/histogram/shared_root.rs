//! The sums of the root for several targets at once.
//!
//! Trees of different targets see the same samples at the root, and the same bins: one pass that adds the targets of a sample
//! side by side costs little more than one for a single target, and the root is about half of the sums of a tree.

use super::features::BinnedFeatures;
use super::fixed::Fixed;
use super::scalar::Scalar;

/// Fewest targets for which a pass over all lanes pays.
const WORTH_IT: usize = 3;

/// Sums all rows by bin for each of some targets, K at a time.
pub(super) fn share_root<C: Fixed, const K: usize>(
    features: &BinnedFeatures,
    targets: &mut [&mut Scalar<C>],
) {
    let mut sums: Vec<[C; K]> = Vec::new();
    for targets in targets.chunks_mut(K).filter(|targets| targets.len() >= WORTH_IT) {
        let mut cells = vec![[C::ZERO; K]; features.n_rows()];
        for (lane, target) in targets.iter().enumerate() {
            let of_rows = cells.iter_mut().zip(target.cells());
            of_rows.for_each(|(cells, cell)| cells[lane] = *cell);
        }
        let all: Vec<u32> = (0..features.n_rows() as u32).collect();
        features.accumulate(&all, &cells, &mut sums);
        for (lane, target) in targets.iter_mut().enumerate() {
            target.set_root(sums.iter().map(|sums| sums[lane]).collect());
        }
    }
}
