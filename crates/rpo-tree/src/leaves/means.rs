//! Leaves as weighted means of their members.

use super::{LeafMembers, LeafModel, SampleLeaves};
use crate::TreeError;
use rpo_core::Matrix;
use std::sync::Arc;

/// Predicts for each leaf the weighted mean of its members, or of all members if its own have no weight.
pub(super) struct Means {
    /// Leaves without weight are empty here.
    samples: SampleLeaves,
    /// The mean of all members by increasing output, computed once for all leaves that need it.
    of_all: Vec<(u32, f64)>,
}

impl Means {
    pub(super) fn new(
        members: &LeafMembers,
        weights: &[f32],
        outputs: &Arc<Matrix>,
    ) -> Result<Self, TreeError> {
        let samples = SampleLeaves::of_weighted(members, weights, Arc::clone(outputs))?;
        let mut of_all = Vec::new();
        if samples.n_empty() > 0 {
            let mut sums = vec![0.0; samples.n_outputs()];
            samples.whole().for_each(0, |j, v| sums[j as usize] += v);
            of_all.extend((0..).zip(sums).filter(|(_, sum)| *sum != 0.0));
        }
        Ok(Self { samples, of_all })
    }
}

impl LeafModel for Means {
    fn n_leaves(&self) -> usize {
        self.samples.n_leaves()
    }

    fn n_outputs(&self) -> usize {
        self.samples.n_outputs()
    }

    fn for_each(&self, leaf: u32, mut f: impl FnMut(u32, f64)) {
        if self.samples.members(leaf).0.is_empty() {
            self.of_all.iter().for_each(|&(j, mean)| f(j, mean));
        } else {
            self.samples.for_each(leaf, f);
        }
    }
}
