//! Predictions as weights of training samples.
//!
//! A leaf that refers to training samples predicts their mean, so a forest predicts a weighted sum of training outputs
//! (boosting paper, appendix B). The trees of a forest send a row to leaves that share most of their training samples:
//! on delicious, the leaves of 100 trees have 570 of them, 55 of which are distinct. Their weights are therefore summed
//! first, and the outputs of each are read once.

use super::sums::SparseSums;
use rpo_tree::LeafModel;
use rpo_tree::leaves::SampleLeaves;

/// The training samples that predict each row of a block, with their weights.
pub(super) struct TrainingWeights<'f> {
    trees: Vec<&'f SampleLeaves>,
    /// By row of the block. Training samples come in the order in which the trees meet them, and weights are summed in
    /// the order of the trees, so neither depends on the block.
    weights: Vec<(u32, f64)>,
    /// For each row of the block, the end of its weights.
    end: Vec<usize>,
    sums: SparseSums,
    reached: ReachedLeaves,
}

impl<'f> TrainingWeights<'f> {
    /// Takes the leaves of the trees.
    pub(super) fn new(trees: Vec<&'f SampleLeaves>) -> Self {
        let n_train = trees.first().map_or(0, |leaves| leaves.outputs().n_rows());
        let most_leaves = trees.iter().map(|leaves| leaves.n_leaves()).max();
        Self {
            trees,
            weights: Vec::new(),
            end: Vec::new(),
            sums: SparseSums::new(n_train),
            reached: ReachedLeaves::new(most_leaves.unwrap_or(0)),
        }
    }

    /// Computes the weights for a block of rows, given the leaves that they reach, by tree, then row. A tree takes
    /// part in the prediction of a row if `admits(tree, row)`.
    pub(super) fn compute(&mut self, leaves: &[u32], admits: impl Fn(usize, usize) -> bool) {
        let n_rows = leaves.len() / self.trees.len();
        self.weights.clear();
        self.end.clear();
        for first in (0..n_rows).step_by(AT_ONCE) {
            let rows = first..(first + AT_ONCE).min(n_rows);
            self.reached.clear(rows.len(), self.trees.len());
            let trees = self.trees.iter().zip(leaves.chunks_exact(n_rows));
            for (tree, (samples, leaves)) in trees.enumerate() {
                let rows = rows.clone().filter(|&row| admits(tree, row));
                self.reached
                    .add(samples, rows.map(|row| (row - first, leaves[row])));
            }
            for row in 0..rows.len() {
                for members in self.reached.members(row) {
                    self.sums.add_all(members.iter().copied());
                }
                self.sums
                    .drain(|member, weight| self.weights.push((member, weight)));
                self.end.push(self.weights.len());
            }
        }
    }

    /// Returns the training samples that predict a row of the block, with their weights, which sum to the number of
    /// trees that take part.
    pub(super) fn of(&self, row: usize) -> &[(u32, f64)] {
        let start = row.checked_sub(1).map_or(0, |before| self.end[before]);
        &self.weights[start..self.end[row]]
    }
}

/// Number of rows whose leaves are read at once, tree by tree while the leaves of a tree are in the cache: few enough
/// for what is read to stay in the cache as well.
const AT_ONCE: usize = 256;

/// The leaves that some rows reach.
struct ReachedLeaves {
    /// The members of the leaves and their weights within the leaf, each leaf once.
    members: Vec<(u32, f64)>,
    /// By row, then tree: the leaf's range of members.
    ranges: Vec<(usize, usize)>,
    n_trees: usize,
    /// Number of trees added.
    n_added: usize,
    /// By leaf of the tree that is added: its range of members, if it was reached; empty otherwise, and between calls.
    known: Vec<(usize, usize)>,
}

impl ReachedLeaves {
    /// Creates the buffers for trees of up to `most_leaves` leaves.
    fn new(most_leaves: usize) -> Self {
        Self {
            members: Vec::new(),
            ranges: Vec::new(),
            n_trees: 0,
            n_added: 0,
            known: vec![(0, 0); most_leaves],
        }
    }

    fn clear(&mut self, n_rows: usize, n_trees: usize) {
        self.members.clear();
        self.ranges.clear();
        self.ranges.resize(n_rows * n_trees, (0, 0));
        (self.n_trees, self.n_added) = (n_trees, 0);
    }

    /// Adds the leaves of the next tree that some rows reach.
    fn add(&mut self, samples: &SampleLeaves, reached: impl Iterator<Item = (usize, u32)> + Clone) {
        for (row, leaf) in reached.clone() {
            let known = &mut self.known[leaf as usize];
            if known.1 == 0 {
                known.0 = self.members.len();
                samples.for_each_member(leaf, |member, share| self.members.push((member, share)));
                known.1 = self.members.len();
            }
            self.ranges[row * self.n_trees + self.n_added] = *known;
        }
        reached.for_each(|(_, leaf)| self.known[leaf as usize] = (0, 0));
        self.n_added += 1;
    }

    /// Returns the members of the leaves that a row reaches, tree by tree.
    fn members(&self, row: usize) -> impl Iterator<Item = &[(u32, f64)]> {
        let ranges = &self.ranges[row * self.n_trees..][..self.n_trees];
        ranges.iter().map(|&(start, end)| &self.members[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use rpo_core::{Matrix, Seed};
    use rpo_tree::{LeafBuilder, LeafKind, LeafMembers, Leaves};
    use std::sync::Arc;

    /// The weights are the sums over the trees, in the order of the trees, for any size of block.
    #[test]
    fn weights_are_sums_over_trees() {
        let (n_train, n_leaves, n_trees, n_rows) = (40, 12, 7, 2 * AT_ONCE + 5);
        let draw =
            |what: usize, i: usize, below: usize| Seed::new(what as u64).hash(i as u64) as usize % below;
        let outputs = Arc::new(Matrix::from(Array2::<f32>::zeros((n_train, 1))));
        let leaves: Vec<Leaves> = (0..n_trees)
            .map(|tree| {
                // Every leaf has a member.
                let leaf_of = |i: usize| if i < n_leaves { i } else { draw(tree, i, n_leaves) } as u32;
                let leaf_of: Vec<u32> = (0..n_train).map(leaf_of).collect();
                let weights: Vec<f32> = (0..n_train)
                    .map(|i| 1.0 + draw(100 + tree, i, 3) as f32)
                    .collect();
                let members = LeafMembers::from_assignment(&leaf_of, n_leaves).unwrap();
                LeafKind::Samples.build(&members, &weights, &outputs).unwrap()
            })
            .collect();
        let trees: Vec<&SampleLeaves> = leaves.iter().map(|l| l.as_samples().unwrap()).collect();
        let admits = |tree: usize, row: usize| draw(300 + tree, row, 4) > 0;
        let reached = |tree: usize, row: usize| draw(200 + tree, row, n_leaves) as u32;
        let mut weights = TrainingWeights::new(trees.clone());
        let mut compute = |rows: std::ops::Range<usize>| {
            let first = rows.start;
            let reached = |tree| rows.clone().map(move |row| reached(tree, row));
            let leaves: Vec<u32> = (0..n_trees).flat_map(reached).collect();
            weights.compute(&leaves, |tree, row| admits(tree, first + row));
            (0..rows.len())
                .map(|row| weights.of(row).to_vec())
                .collect::<Vec<_>>()
        };
        let all = compute(0..n_rows);
        for row in 0..n_rows {
            let mut expected: Vec<(u32, f64)> = Vec::new();
            for tree in (0..n_trees).filter(|&tree| admits(tree, row)) {
                trees[tree].for_each_member(reached(tree, row), |member, share| {
                    match expected.iter_mut().find(|(known, _)| *known == member) {
                        Some((_, weight)) => *weight += share,
                        None => expected.push((member, share)),
                    }
                });
            }
            assert_eq!(all[row], expected);
        }
        let ends = [0, 3, AT_ONCE, n_rows];
        let parts: Vec<_> = ends.windows(2).flat_map(|w| compute(w[0]..w[1])).collect();
        assert_eq!(parts, all);
    }
}
