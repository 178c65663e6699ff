//! Leaves that are sets of labels, summed by counting.
//!
//! In fully grown trees on few 0/1 labels, all samples of a leaf have the same labels. Such a leaf is a label set,
//! encoded as the bits of a word. Summing the leaves of many trees is then counting bits, in a vector of counters that
//! a processor updates at once. Counts are exact, so the result does not depend on the order. Bench: `forest_speed` of
//! `rpo-benches` on sets of few labels (yeast, scene, emotions).

use rpo_core::{Matrix, MatrixView};
use rpo_tree::LeafModel;
use rpo_tree::leaves::SampleLeaves;
use std::sync::Arc;

/// The label sets of the leaves of a forest, 4 bytes per leaf.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LabelSets {
    sets: Vec<u32>,
    /// Start of the leaves of each tree.
    start: Vec<usize>,
    n_labels: usize,
}

/// A leaf that is no label set: its rows differ, or have values other than 0 and 1.
const MIXED: u32 = u32::MAX;

/// Counts of labels.
pub(crate) type Counts<const LANES: usize> = [u16; LANES];

impl LabelSets {
    /// Largest number of labels. With one more, the set of all labels would equal [`MIXED`].
    const MOST_LABELS: usize = 31;

    /// Encodes all leaves. Returns `None` for a single output, for too many outputs or trees, and if too many leaves
    /// are no label set for counting to be faster.
    pub(crate) fn new(leaves_of_trees: &[&impl LeafModel], n_outputs: usize) -> Option<Self> {
        if !(2..=Self::MOST_LABELS).contains(&n_outputs) || leaves_of_trees.len() > usize::from(u16::MAX) {
            return None;
        }
        let (mut sets, mut start) = (Vec::new(), Vec::new());
        let mut known: Option<(&Arc<Matrix>, Vec<u32>)> = None;
        for leaves in leaves_of_trees {
            start.push(sets.len());
            match leaves.as_samples() {
                Some(leaves) => {
                    let outputs = leaves.outputs();
                    let (_, of_rows) = match known.take() {
                        Some(known) if Arc::ptr_eq(known.0, outputs) => known,
                        _ => (outputs, row_sets(outputs.view())),
                    };
                    sets.extend((0..leaves.n_leaves() as u32).map(|leaf| common_set(leaves, leaf, &of_rows)));
                    known = Some((outputs, of_rows));
                }
                None => sets.extend((0..leaves.n_leaves() as u32).map(|leaf| {
                    let mut set = Some(0);
                    leaves.for_each(leaf, |j, v| set = set.and_then(|set| include(set, j, v)));
                    set.unwrap_or(MIXED)
                })),
            }
        }
        let n_mixed = sets.iter().filter(|set| **set == MIXED).count();
        (4 * n_mixed <= sets.len()).then_some(Self {
            sets,
            start,
            n_labels: n_outputs,
        })
    }

    /// Returns the number of lanes that hold all labels: 8, 16 or 32.
    pub(crate) fn n_lanes(&self) -> usize {
        self.n_labels.next_power_of_two().max(8)
    }

    /// Counts the labels of a leaf of a tree. Returns `false` if the leaf is no label set.
    #[inline]
    pub(crate) fn count<const LANES: usize>(
        &self,
        tree: usize,
        leaf: u32,
        counts: &mut Counts<LANES>,
    ) -> bool {
        let set = self.sets[self.start[tree] + leaf as usize];
        if set == MIXED {
            return false;
        }
        for (lane, count) in counts.iter_mut().enumerate() {
            // Each lane tests one bit of a half of the word: all lanes do the same operations.
            let half = if lane < 16 { set } else { set >> 16 } as u16;
            *count += u16::from(half & (1 << (lane % 16)) != 0);
        }
        true
    }
}

/// Adds a value of a label to a set. Returns `None` if the result is no label set.
fn include<T: Copy + PartialEq + From<u8>>(set: u32, label: u32, value: T) -> Option<u32> {
    if value == T::from(1) && set & (1 << label) == 0 {
        Some(set | 1 << label)
    } else {
        (value == T::from(0)).then_some(set)
    }
}

/// Returns the label set of each row.
fn row_sets(outputs: MatrixView<'_>) -> Vec<u32> {
    let set = |row| {
        let mut set = Some(0);
        outputs.for_each_in_row(row, |j, v| set = set.and_then(|set| include(set, j, v)));
        set.unwrap_or(MIXED)
    };
    (0..outputs.n_rows()).map(set).collect()
}

/// Returns the label set common to all rows of a leaf, or [`MIXED`] if they differ.
fn common_set(leaves: &SampleLeaves, leaf: u32, of_rows: &[u32]) -> u32 {
    let rows = leaves.members(leaf).0;
    let set = of_rows[rows[0] as usize];
    if rows.iter().all(|&row| of_rows[row as usize] == set) {
        set
    } else {
        MIXED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_made_of_zeros_and_ones() {
        let set = |terms: &[(u32, f32)]| terms.iter().try_fold(0, |set, &(j, v)| include(set, j, v));
        assert_eq!(set(&[(3, 1.0), (0, 0.0), (5, 1.0)]), Some(0b10_1000));
        assert_eq!(set(&[]), Some(0));
        for bad in [
            [(1, 0.5), (2, 1.0)],
            [(1, 1.0), (1, 1.0)],
            [(0, f32::NAN), (1, 0.0)],
            [(3, -1.0), (0, 1.0)],
        ] {
            assert_eq!(set(&bad), None, "{bad:?}");
        }
    }

    #[test]
    fn every_label_is_counted_in_its_lane() {
        let sets = |n_labels| LabelSets {
            sets: vec![0, 0b1010_0001, 1 << 30 | 1 << 16 | 1 << 15, MIXED],
            start: vec![0, 1],
            n_labels,
        };
        let mut counts = [1_u16; 32];
        assert!(sets(31).count(1, 0, &mut counts));
        assert!(sets(31).count(0, 2, &mut counts));
        assert!(!sets(31).count(1, 2, &mut counts));
        let expected = |lane| 1 + u16::from([0, 5, 7, 15, 16, 30].contains(&lane));
        assert_eq!(counts, std::array::from_fn(expected));
        let lanes = [2, 8, 9, 16, 17, 31].map(|n| sets(n).n_lanes());
        assert_eq!(lanes, [8, 8, 16, 16, 32, 32]);
    }
}
