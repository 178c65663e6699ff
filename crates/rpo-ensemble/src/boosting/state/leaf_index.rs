//! The leaf of each training sample.

use crate::boosting::features::Features;
use rpo_tree::{AxisRule, Grown, LeafMembers};

/// The leaf of every training sample in the tree of a step.
#[derive(Debug, Clone)]
pub(in crate::boosting) struct LeafIndex {
    /// Leaf by sample.
    pub(in crate::boosting) of_row: Vec<u32>,
    pub(in crate::boosting) n_leaves: usize,
}

impl LeafIndex {
    /// Returns the leaves of a grown tree: by its rules, as with a subsample, or those in which samples were while it grew;
    /// samples of weight 0, which have no influence, then get leaf 0.
    pub(in crate::boosting) fn new(grown: &Grown<AxisRule>, features: &Features<'_>, by_rules: bool) -> Self {
        let n_leaves = grown.structure.n_leaves();
        if by_rules {
            let of_row = features.leaves(&grown.structure);
            return Self { of_row, n_leaves };
        }
        let mut of_row = vec![0; features.x().n_rows()];
        for leaf in 0..n_leaves {
            for &row in &grown.members[leaf] {
                of_row[row as usize] = leaf as u32;
            }
        }
        Self { of_row, n_leaves }
    }

    /// Returns the samples of each leaf.
    pub(in crate::boosting) fn members(&self) -> LeafMembers {
        LeafMembers::from_assignment(&self.of_row, self.n_leaves).expect("leaves are below their number")
    }
}
