//! The sums of the root for several targets at once.
//!
//! Trees of different targets see the same samples at the root, and the same bins: one pass that adds the targets of a sample
//! side by side costs little more than one for a single target, and the root is about half of the sums of a tree.

use super::features::{BinnedFeatures, Rows};
use super::fixed::Fixed;
use super::scalar::{Root, Scalar};
use std::sync::Arc;

/// Rows whose targets lie side by side at a time: so many fit into the second cache.
const CHUNK: usize = 1 << 13;

/// Sums all rows by bin for each of some targets, at most K at a time.
pub(super) fn share_root<C: Fixed, const K: usize>(
    features: &BinnedFeatures,
    targets: &mut [&mut Scalar<C>],
) {
    for targets in targets.chunks_mut(K) {
        match targets.len() {
            1 => {}
            2 => side_by_side::<C, 2>(features, targets),
            _ => side_by_side::<C, K>(features, targets),
        }
    }
}

fn side_by_side<C: Fixed, const K: usize>(features: &BinnedFeatures, targets: &mut [&mut Scalar<C>]) {
    let (mut sums, mut cells) = (Vec::new(), vec![[C::ZERO; K]; CHUNK]);
    features.clear(&mut sums);
    for first in (0..features.n_rows()).step_by(CHUNK) {
        let n = CHUNK.min(features.n_rows() - first);
        for (lane, target) in targets.iter().enumerate() {
            let of_rows = cells.iter_mut().zip(&target.cells()[first..first + n]);
            of_rows.for_each(|(cells, cell)| cells[lane] = *cell);
        }
        features.add(Rows::From(first), &cells[..n], &mut sums);
    }
    let sums = Arc::new(sums.into_flattened());
    for (lane, target) in targets.iter_mut().enumerate() {
        target.set_root(Root {
            sums: Arc::clone(&sums),
            n_targets: K,
            target: lane,
        });
    }
}
