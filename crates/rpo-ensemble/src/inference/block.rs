//! Predicting blocks of rows.

use super::label_sets::{Counts, LabelSets};
use super::weights::TrainingWeights;
use rpo_core::{CsrView, Matrix, MatrixView, csr_row};
use rpo_tree::LeafModel;
use rpo_tree::leaves::SampleLeaves;
use std::ops::Range;
use std::sync::Arc;

/// With more outputs than this, predictions of leaves that refer to training rows are computed through weights of
/// training rows.
const FEW_OUTPUTS: usize = 128;

/// Number of training rows that are read before the first of them is added. They lie far apart in memory, and a
/// processor does not prefetch the next row by itself, since it cannot predict where the current row ends.
const AHEAD: usize = 16;

/// Loads the first and last entries of a row into the cache.
#[inline]
fn read_ahead(row: &[u32]) {
    // Prevents the compiler from removing the reads, whose results are unused.
    std::hint::black_box((row.first().copied(), row.last().copied()));
}

/// The view of an ensemble for prediction: trees that route rows to leaves.
pub(crate) trait Routed: Sync {
    /// The leaves of the trees.
    type Leaves: LeafModel;
    /// Working memory for routing blocks of rows of a matrix.
    type Scratch<'x>;
    /// Number of outputs.
    fn n_outputs(&self) -> usize;
    /// Number of trees, at least 1.
    fn n_trees(&self) -> usize;
    /// Returns the leaves of a tree.
    fn leaves(&self, tree: usize) -> &Self::Leaves;
    /// Returns the label sets that leaves predict, if most leaves predict one.
    fn label_sets(&self) -> Option<&LabelSets> {
        None
    }
    /// Returns a suitable number of rows per block.
    fn block_size(&self, x: MatrixView<'_>) -> usize;
    /// Creates working memory for the rows of a matrix.
    fn scratch<'x>(&self, x: MatrixView<'x>) -> Self::Scratch<'x>;
    /// Writes the leaves of a block of rows, by tree, then row.
    fn route(&self, scratch: &mut Self::Scratch<'_>, rows: Range<usize>, leaves: &mut [u32]);
}

/// Routes blocks of rows through the trees and sums their leaf values.
///
/// A tree routes the whole block before the next tree does, while its nodes and leaves are in the cache. With few
/// outputs, leaf values are passed on in the same order. With many outputs, where the sums of a whole block would leave
/// the cache, the prediction of a row is first collected as weights of training rows (appendix B of the boosting
/// paper), and then summed row by row over their outputs.
pub(crate) struct BlockPredictor<'f, 'x, F: Routed, A> {
    forest: &'f F,
    scratch: F::Scratch<'x>,
    /// Returns true if a tree (first argument) takes part in the prediction of a row of `x` (second argument).
    admit: A,
    rows: Range<usize>,
    /// Leaf indices by tree, then row of the block.
    leaves: Vec<u32>,
    /// Used if predictions are computed through weights of training rows.
    weights: Option<TrainingWeights<'f>>,
    /// The training outputs, if all leaves refer to the same matrix.
    outputs: Option<TrainingOutputs<'f>>,
}

/// Training outputs, with a separate case in which no value has to be read.
#[derive(Clone, Copy)]
enum TrainingOutputs<'f> {
    /// 0/1 labels.
    Labels(CsrView<'f>),
    /// Any values.
    Values(MatrixView<'f>),
}

impl<'f> TrainingOutputs<'f> {
    fn new(outputs: MatrixView<'f>) -> Self {
        match outputs {
            MatrixView::Sparse(labels) if labels.data().iter().all(|&v| v == 1.0) => Self::Labels(labels),
            values => Self::Values(values),
        }
    }

    /// Calls `f(output, share * value)` for the values stored in a row.
    #[inline]
    fn for_each(&self, row: u32, share: f64, mut f: impl FnMut(u32, f64)) {
        match self {
            Self::Labels(labels) => csr_row(labels, row as usize).0.iter().for_each(|&j| f(j, share)),
            Self::Values(values) => values.for_each_in_row(row as usize, |j, v| f(j, share * f64::from(v))),
        }
    }
}

/// Returns the training outputs that leaves refer to, if they do.
fn references(leaves: &impl LeafModel) -> Option<&Arc<Matrix>> {
    leaves.as_samples().map(SampleLeaves::outputs)
}

impl<'f, 'x, F: Routed, A: Fn(usize, usize) -> bool> BlockPredictor<'f, 'x, F, A> {
    /// Creates a predictor that sums leaf values per output.
    pub(crate) fn new(forest: &'f F, x: MatrixView<'x>, admit: A) -> Self {
        let first = references(forest.leaves(0));
        let shared = |tree| {
            let these = references(forest.leaves(tree));
            these.zip(first).is_some_and(|(a, b)| Arc::ptr_eq(a, b))
        };
        let outputs = first
            .filter(|_| (0..forest.n_trees()).all(shared))
            .map(|o| TrainingOutputs::new(o.view()));
        let mut predictor = Self {
            forest,
            scratch: forest.scratch(x),
            admit,
            rows: 0..0,
            leaves: Vec::new(),
            weights: None,
            outputs,
        };
        if outputs.is_some() && forest.n_outputs() > FEW_OUTPUTS {
            predictor.use_weights();
        }
        predictor
    }

    /// Creates a predictor with [`weights`](Self::weights). All leaves must refer to training rows.
    pub(crate) fn with_weights(forest: &'f F, x: MatrixView<'x>, admit: A) -> Self {
        let mut predictor = Self::new(forest, x, admit);
        predictor.use_weights();
        predictor
    }

    fn use_weights(&mut self) {
        let forest = self.forest;
        self.weights.get_or_insert_with(|| {
            let leaves = |tree| forest.leaves(tree).as_samples();
            TrainingWeights::new((0..forest.n_trees()).filter_map(leaves).collect())
        });
    }

    /// Routes the given rows of `x`.
    pub(crate) fn load(&mut self, rows: Range<usize>) {
        self.rows = rows.clone();
        self.leaves.resize(rows.len() * self.forest.n_trees(), 0);
        self.forest
            .route(&mut self.scratch, rows.clone(), &mut self.leaves);
        if let Some(weights) = &mut self.weights {
            let admit = &self.admit;
            weights.compute(&self.leaves, |tree, row| admit(tree, rows.start + row));
        }
    }

    /// Returns the leaf of a row of the block in a tree.
    pub(crate) fn leaf(&self, tree: usize, row: usize) -> u32 {
        self.leaves[tree * self.rows.len() + row]
    }

    /// Returns the training rows in the leaves that a row of the block reaches, with the sums of their weights within
    /// the leaves; nothing without [`with_weights`](Self::with_weights).
    pub(crate) fn weights(&self, row: usize) -> &[(u32, f64)] {
        self.weights.as_ref().map_or(&[], |weights| weights.of(row))
    }

    /// Calls `f(row, outputs, value)` for terms that sum to the leaf values of some rows of the block over the trees;
    /// `value` is to be added to each of `outputs`. The terms of a row come tree by tree.
    #[inline]
    pub(crate) fn for_each(&self, rows: Range<usize>, mut f: impl FnMut(usize, &[u32], f64)) {
        match (self.outputs, &self.weights) {
            (Some(TrainingOutputs::Labels(labels)), Some(weights)) => {
                let labels_of = |member: u32| csr_row(&labels, member as usize).0;
                for row in rows {
                    for members in weights.of(row).chunks(AHEAD) {
                        for &(member, _) in members {
                            read_ahead(labels_of(member));
                        }
                        for &(member, share) in members {
                            f(row, labels_of(member), share);
                        }
                    }
                }
            }
            (Some(outputs), Some(weights)) => {
                for row in rows {
                    for &(member, share) in weights.of(row) {
                        outputs.for_each(member, share, |j, v| f(row, &[j], v));
                    }
                }
            }
            _ => {
                for tree in 0..self.forest.n_trees() {
                    for row in rows.clone().filter(|&row| self.admits(tree, row)) {
                        self.for_each_of(tree, row, |j, v| f(row, &[j], v));
                    }
                }
            }
        }
    }

    /// Counts, for each row of the block, the labels that the leaves of the trees predict, and calls
    /// `f(row, output, value)` for the terms of leaves that are no label set.
    #[inline]
    pub(crate) fn count<const LANES: usize>(
        &self,
        sets: &LabelSets,
        counts: &mut [Counts<LANES>],
        mut f: impl FnMut(usize, u32, f64),
    ) {
        for tree in 0..self.forest.n_trees() {
            for (row, counts) in counts.iter_mut().enumerate() {
                if self.admits(tree, row) && !sets.count(tree, self.leaf(tree, row), counts) {
                    self.for_each_of(tree, row, |j, v| f(row, j, v));
                }
            }
        }
    }

    fn admits(&self, tree: usize, row: usize) -> bool {
        (self.admit)(tree, self.rows.start + row)
    }

    /// Calls `f(output, value)` for the terms of the leaf value of a tree for a row of the block.
    #[inline]
    fn for_each_of(&self, tree: usize, row: usize, mut f: impl FnMut(u32, f64)) {
        let leaf = self.leaf(tree, row);
        let leaves = self.forest.leaves(tree);
        match (leaves.as_samples(), self.outputs) {
            (Some(leaves), Some(outputs)) => leaves.for_each_member(leaf, |member, share| {
                outputs.for_each(member, share, &mut f);
            }),
            _ => leaves.for_each(leaf, f),
        }
    }
}
