//! Scores of blocks of samples.

use super::model::Boosted;
use super::routing::Samples;
use super::step::{BoostingStep, StepValues};
use rpo_core::{MatrixView, Predictor, TreeEnsemble, vectorized};
use rpo_tree::AxisRule;
use std::ops::Range;

/// Sums the values of the leaves that samples reach, tree by tree in `f64`.
pub(super) struct BlockScores<'m, 'x> {
    model: &'m Boosted,
    samples: Samples<'x>,
    /// Leaf indices by tree, then sample.
    leaves: Vec<u32>,
    sums: Vec<f64>,
}

impl<'m, 'x> BlockScores<'m, 'x> {
    pub(super) fn new(model: &'m Boosted, x: MatrixView<'x>) -> Self {
        Self {
            model,
            samples: Samples::new(x),
            leaves: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Returns the number of samples that a block should have.
    pub(super) fn block_size(model: &Boosted, x: MatrixView<'_>) -> usize {
        Samples::good_size(model.traversal(), x)
    }

    /// Calls `see` with the index and the scores of each sample in a range.
    pub(super) fn for_each(&mut self, range: Range<usize>, see: impl FnMut(usize, &[f64])) {
        self.samples.load(self.model.traversal(), range.clone());
        if self.model.trees().iter().all(|tree| single(tree).is_some()) {
            self.by_output(range, see);
        } else {
            self.by_sample(range, see);
        }
    }

    /// Calls `see` with each tree and the leaves that the samples of a range reach in it.
    pub(super) fn leaves_of(&mut self, range: Range<usize>, mut see: impl FnMut(usize, &[u32])) {
        let (n_trees, n_rows) = (self.model.trees().len(), range.len());
        self.samples.load(self.model.traversal(), range);
        self.route(0..n_trees, n_rows);
        for (tree, leaves) in self.leaves.chunks(n_rows.max(1)).enumerate() {
            see(tree, leaves);
        }
    }

    /// For trees with values for all outputs. Samples are summed in groups whose sums stay in the cache of a core.
    fn by_sample(&mut self, range: Range<usize>, mut see: impl FnMut(usize, &[f64])) {
        let (model, n_rows, d) = (self.model, range.len(), self.model.n_outputs());
        self.route(0..model.trees().len(), n_rows);
        let group = ((64 << 10) / (size_of::<f64>() * d)).clamp(1, n_rows.max(1));
        for start in (0..n_rows).step_by(group) {
            let rows = start..(start + group).min(n_rows);
            self.sums.clear();
            rows.clone()
                .for_each(|_| self.sums.extend_from_slice(model.initial()));
            let (trees, leaves) = (model.trees(), &self.leaves);
            let sums = &mut self.sums;
            vectorized(
                #[inline(always)]
                || {
                    for (tree, leaves) in trees.iter().zip(leaves.chunks(n_rows)) {
                        for (row, &leaf) in sums.chunks_exact_mut(d).zip(&leaves[rows.clone()]) {
                            tree.values.add(leaf, row);
                        }
                    }
                },
            );
            for (row, sums) in rows.zip(self.sums.chunks_exact(d)) {
                see(range.start + row, sums);
            }
        }
    }

    /// For trees of one output each, which are many: sums are stored by output, then sample, and as many trees are
    /// routed at a time as have leaves that fit into a core's cache.
    fn by_output(&mut self, range: Range<usize>, mut see: impl FnMut(usize, &[f64])) {
        /// Number of leaf indices.
        const FIT: usize = 1 << 15;
        let (model, n_rows) = (self.model, range.len());
        self.sums.clear();
        for &initial in model.initial() {
            self.sums.extend(std::iter::repeat_n(initial, n_rows));
        }
        let at_once = (FIT / n_rows.max(1)).max(1);
        for first in (0..model.trees().len()).step_by(at_once) {
            let trees = first..(first + at_once).min(model.trees().len());
            self.route(trees.clone(), n_rows);
            for (tree, leaves) in model.trees()[trees].iter().zip(self.leaves.chunks(n_rows)) {
                let Some((values, output)) = single(tree) else {
                    unreachable!("all trees are of one output")
                };
                let sums = &mut self.sums[output as usize * n_rows..][..n_rows];
                for (sum, &leaf) in sums.iter_mut().zip(leaves) {
                    *sum += f64::from(values[leaf as usize]);
                }
            }
        }
        let mut scores = vec![0.0; model.n_outputs()];
        for row in 0..n_rows {
            for (score, sums) in scores.iter_mut().zip(self.sums.chunks_exact(n_rows)) {
                *score = sums[row];
            }
            see(range.start + row, &scores);
        }
    }

    /// Writes the leaves of the loaded samples in some trees.
    fn route(&mut self, trees: Range<usize>, n_rows: usize) {
        let model = self.model;
        self.leaves.resize(n_rows * trees.len(), 0);
        let structure = |tree: usize| &model.trees()[tree].structure;
        if !trees.is_empty() {
            self.samples
                .leaves(model.traversal(), structure, trees, &mut self.leaves);
        }
    }
}

/// Returns the values of the leaves and the output of a tree of one output.
fn single(tree: &BoostingStep<AxisRule>) -> Option<(&[f32], u32)> {
    match &tree.values {
        StepValues::Single { leaves, output, .. } => Some((leaves, *output)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boosting::{Algorithm, BoostingParams, LossKind};
    use ndarray::Array2;
    use rpo_core::{Apply, Learner, Seed};
    use rpo_tree::LeafModel;

    /// Scores are sums over the trees, step by step, for every node layout, and after trees were removed.
    #[test]
    fn scores_are_sums_of_leaf_values() {
        let (n, p) = (600, 6);
        let draw = |i: usize, j: usize| Seed::new(j as u64).hash(i as u64);
        let binary = Array2::from_shape_fn((n, p), |(i, j)| (draw(i, j) % 4 / 3) as f32);
        let numeric = Array2::from_shape_fn((n, p), |(i, j)| (draw(i, j) % 101) as f32 - 40.0);
        let mut missing = binary.clone();
        missing[[n / 2, 1]] = f32::NAN;
        let y = Array2::from_shape_fn((n, 5), |(i, j)| {
            let sum = numeric[[i, j]] + 50.0 * binary[[i, j]];
            f32::from(u8::from(sum > 20.0))
        });
        for (fitted, x) in [(&binary, &binary), (&numeric, &numeric), (&binary, &missing)] {
            for algorithm in Algorithm::ALL {
                let params = BoostingParams {
                    loss: Some(LossKind::Logistic),
                    iterations: 6,
                    ..BoostingParams::from(algorithm)
                };
                let model = params.fit(fitted.into(), (&y).into()).unwrap();
                model.traversal();
                for model in [model.clone(), model.truncate(3)] {
                    let mut expected = Array2::from_shape_fn((n, 5), |(_, j)| model.initial()[j]);
                    for tree in model.trees() {
                        for (mut scores, leaf) in expected
                            .rows_mut()
                            .into_iter()
                            .zip(tree.structure.apply(x.into()).unwrap())
                        {
                            tree.values.for_each(leaf, |j, value| scores[j as usize] += value);
                        }
                    }
                    let leaves = model.apply(x.into()).unwrap();
                    assert_eq!(leaves.dim(), (n, model.trees().len()));
                    for (tree, leaves) in model.trees().iter().zip(leaves.columns()) {
                        assert_eq!(leaves.to_vec(), tree.structure.apply(x.into()).unwrap());
                    }
                    let mut seen = 0;
                    BlockScores::new(&model, x.into()).for_each(0..n, |row, scores| {
                        assert_eq!(scores, expected.row(row).to_slice().unwrap(), "{algorithm:?}");
                        seen += 1;
                    });
                    assert_eq!(seen, n);
                }
            }
        }
    }
}
