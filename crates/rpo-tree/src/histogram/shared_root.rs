//! The sums of the root for several targets at once.
//!
//! Trees for different targets have the same samples and the same bins at the root. One pass that adds the targets of a
//! sample side by side costs little more than a pass for a single target, and the root accounts for about half of the
//! sums of a tree.

use super::features::BinnedFeatures;
use super::fixed::Fixed;
use super::scalar::{Root, Scalar};
use std::sync::Arc;

/// Number of rows whose targets lie side by side at a time: as many as fit into the second-level cache.
const CHUNK: usize = 1 << 13;

/// Sums rows by bin for each of the given targets, at most K at a time.
pub(super) fn share_root<C: Fixed, const K: usize>(
    features: &BinnedFeatures,
    rows: &[u32],
    targets: &mut [&mut Scalar<C>],
) {
    for targets in targets.chunks_mut(K) {
        match targets.len() {
            1 => {}
            2 => side_by_side::<C, 2>(features, rows, targets),
            3 | 4 => side_by_side::<C, 4>(features, rows, targets),
            _ => side_by_side::<C, K>(features, rows, targets),
        }
    }
}

fn side_by_side<C: Fixed, const K: usize>(
    features: &BinnedFeatures,
    rows: &[u32],
    targets: &mut [&mut Scalar<C>],
) {
    let (mut sums, mut cells) = (Vec::new(), vec![[C::ZERO; K]; CHUNK]);
    features.clear(&mut sums);
    let of_rows = features.rows_of(rows);
    for first in (0..rows.len()).step_by(CHUNK) {
        let n = CHUNK.min(rows.len() - first);
        let part = of_rows.part(first..first + n);
        for (lane, target) in targets.iter().enumerate() {
            let target = target.cells();
            part.for_each(&mut cells[..n], |row, cells| cells[lane] = target[row]);
        }
        features.add(part, &cells[..n], &mut sums);
    }
    let sums = Arc::new(sums.into_flattened());
    for (lane, target) in targets.iter_mut().enumerate() {
        target.set_root(Root {
            sums: Arc::clone(&sums),
            n_rows: rows.len(),
            n_targets: K,
            target: lane,
        });
    }
}
