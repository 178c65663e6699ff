//! Predicting blocks of rows.

use crate::forest::{Forest, ForestTree};
use rpo_core::{Matrix, MatrixView};
use rpo_tree::{LeafModel, Leaves, RowBlock};
use std::ops::Range;
use std::sync::Arc;

/// The training outputs that a tree's leaves refer to.
fn references(tree: &ForestTree) -> Option<&Arc<Matrix>> {
    match tree.tree.leaves() {
        Leaves::Samples(leaves) => Some(leaves.outputs()),
        _ => None,
    }
}

/// Routes blocks of rows through the trees and sums their answers.
///
/// A tree is asked for the whole block before the next one, while its nodes are in the cache. If leaves refer
/// to training rows, a row's answer is first put together as weights of training rows (appendix B of the
/// boosting paper), again tree by tree, and only then summed over their outputs.
pub(crate) struct BlockPredictor<'f, 'x, A> {
    forest: &'f Forest,
    block: RowBlock<'x>,
    /// Whether a tree (first) may answer for a row of `x` (second).
    admit: A,
    start: usize,
    /// Leaves by tree, then row of the block.
    leaves: Vec<u32>,
    /// The training outputs, if all trees refer to the same.
    outputs: Option<MatrixView<'f>>,
    /// Whether all leaves refer to training rows.
    by_member: bool,
    /// Per row of the block: training rows and their shares, tree by tree.
    members: Vec<Vec<(u32, f64)>>,
}

impl<'f, 'x, A: Fn(usize, usize) -> bool> BlockPredictor<'f, 'x, A> {
    pub(crate) fn new(forest: &'f Forest, x: MatrixView<'x>, admit: A) -> Self {
        let first = references(&forest.trees()[0]);
        let shared = |t| references(t).zip(first).is_some_and(|(a, b)| Arc::ptr_eq(a, b));
        Self {
            forest,
            block: RowBlock::new(x),
            admit,
            start: 0,
            leaves: Vec::new(),
            outputs: first
                .filter(|_| forest.trees().iter().all(shared))
                .map(|o| o.view()),
            by_member: forest.trees().iter().all(|t| references(t).is_some()),
            members: Vec::new(),
        }
    }

    /// Number of rows in the block.
    pub(crate) fn len(&self) -> usize {
        self.block.len()
    }

    /// Takes the given rows of `x`.
    pub(crate) fn load(&mut self, range: Range<usize>) {
        self.start = range.start;
        self.block.load(range);
        let rows = self.block.rows();
        self.leaves.resize(rows.len() * self.forest.trees().len(), 0);
        self.members.resize_with(rows.len(), Vec::new);
        self.members.iter_mut().for_each(Vec::clear);
        if rows.is_empty() {
            return;
        }
        for (i, (tree, leaves)) in self
            .forest
            .trees()
            .iter()
            .zip(self.leaves.chunks_mut(rows.len()))
            .enumerate()
        {
            tree.tree.structure().leaves(&rows, leaves);
            let (Leaves::Samples(samples), true) = (tree.tree.leaves(), self.by_member) else {
                continue;
            };
            for (row, (&leaf, members)) in leaves.iter().zip(&mut self.members).enumerate() {
                if (self.admit)(i, self.start + row) {
                    samples.for_each_member(leaf, |member, share| members.push((member, share)));
                }
            }
        }
    }

    /// The leaf of a row of the block in a tree.
    pub(crate) fn leaf(&self, tree: usize, row: usize) -> u32 {
        self.leaves[tree * self.block.len() + row]
    }

    /// The training rows that answer for a row of the block, tree by tree, with their shares in a tree's
    /// answer; none if leaves hold their answers.
    pub(crate) fn members(&self, row: usize) -> &[(u32, f64)] {
        &self.members[row]
    }

    /// Calls `f(output, value)` for terms that sum to the trees' answers to a row of the block.
    #[inline]
    pub(crate) fn for_each(&self, row: usize, mut f: impl FnMut(u32, f64)) {
        if let Some(outputs) = self.outputs {
            for &(member, share) in &self.members[row] {
                outputs.for_each_in_row(member as usize, |j, v| f(j, share * f64::from(v)));
            }
            return;
        }
        for (i, tree) in self.forest.trees().iter().enumerate() {
            if (self.admit)(i, self.start + row) {
                tree.tree.leaves().for_each(self.leaf(i, row), &mut f);
            }
        }
    }
}
