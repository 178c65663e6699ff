//! Predicting blocks of rows.

use super::label_sets::{Counts, LabelSets};
use rpo_core::{CsrView, Matrix, MatrixView, csr_row};
use rpo_tree::LeafModel;
use rpo_tree::leaves::SampleLeaves;
use std::ops::Range;
use std::sync::Arc;

/// Beyond this many outputs, leaves that refer to training rows answer through weights of training rows.
const FEW_OUTPUTS: usize = 128;

/// Training rows that are read before the first of them is added: they lie far apart in memory, and a processor does not look
/// past the end of a row by itself, as it cannot foretell where that is.
const AHEAD: usize = 16;

/// Has the ends of a row come from memory.
#[inline]
fn read_ahead(row: &[u32]) {
    // Reading must not be left out although nothing comes of it.
    std::hint::black_box((row.first().copied(), row.last().copied()));
}

/// An ensemble as prediction sees it: trees that send rows to leaves.
pub(crate) trait Routed: Sync {
    /// The leaves of the trees.
    type Leaves: LeafModel;
    /// What routing blocks of rows of a matrix works in.
    type Scratch<'x>;
    /// Number of outputs.
    fn n_outputs(&self) -> usize;
    /// Number of trees, at least 1.
    fn n_trees(&self) -> usize;
    /// How the leaves of a tree answer.
    fn leaves(&self, tree: usize) -> &Self::Leaves;
    /// What leaves answer, where that is mostly sets of labels.
    fn label_sets(&self) -> Option<&LabelSets> {
        None
    }
    /// Number of rows that make a good block.
    fn block_size(&self, x: MatrixView<'_>) -> usize;
    /// Scratch space for the rows of a matrix.
    fn scratch<'x>(&self, x: MatrixView<'x>) -> Self::Scratch<'x>;
    /// Writes the leaves of a block of rows, by tree, then row.
    fn route(&self, scratch: &mut Self::Scratch<'_>, rows: Range<usize>, leaves: &mut [u32]);
}

/// Routes blocks of rows through the trees and hands out their answers.
///
/// A tree is asked for the whole block before the next one, while its nodes and leaves are in the cache. With
/// few outputs the answers are handed out in the same order; with many, where sums for a whole block would
/// leave the cache, a row's answer is first put together as weights of training rows (appendix B of the
/// boosting paper) and only then, row by row, summed over their outputs.
pub(crate) struct BlockPredictor<'f, 'x, F: Routed, A> {
    forest: &'f F,
    scratch: F::Scratch<'x>,
    /// Whether a tree (first) may answer for a row of `x` (second).
    admit: A,
    rows: Range<usize>,
    /// Leaves by tree, then row of the block.
    leaves: Vec<u32>,
    /// Whether members are gathered.
    by_member: bool,
    /// The training outputs, if all leaves refer to the same.
    outputs: Option<TrainingOutputs<'f>>,
    /// Training rows and their shares, by row of the block, then tree.
    members: Vec<(u32, f64)>,
    /// Where the members of each row of the block begin, and where the last end.
    member_start: Vec<usize>,
}

/// Training outputs, with the case told apart in which no value need be read.
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

/// The training outputs that leaves refer to.
fn references(leaves: &impl LeafModel) -> Option<&Arc<Matrix>> {
    leaves.as_samples().map(SampleLeaves::outputs)
}

impl<'f, 'x, F: Routed, A: Fn(usize, usize) -> bool> BlockPredictor<'f, 'x, F, A> {
    /// For answers in outputs.
    pub(crate) fn new(forest: &'f F, x: MatrixView<'x>, admit: A) -> Self {
        let first = references(forest.leaves(0));
        let shared = |tree| {
            let these = references(forest.leaves(tree));
            these.zip(first).is_some_and(|(a, b)| Arc::ptr_eq(a, b))
        };
        let outputs = first
            .filter(|_| (0..forest.n_trees()).all(shared))
            .map(|o| TrainingOutputs::new(o.view()));
        Self {
            forest,
            scratch: forest.scratch(x),
            admit,
            rows: 0..0,
            leaves: Vec::new(),
            by_member: outputs.is_some() && forest.n_outputs() > FEW_OUTPUTS,
            outputs,
            members: Vec::new(),
            member_start: Vec::new(),
        }
    }

    /// For [`members`](Self::members), which all leaves must have.
    pub(crate) fn with_members(forest: &'f F, x: MatrixView<'x>, admit: A) -> Self {
        Self {
            by_member: true,
            ..Self::new(forest, x, admit)
        }
    }

    /// Takes the given rows of `x`.
    pub(crate) fn load(&mut self, rows: Range<usize>) {
        self.rows = rows.clone();
        self.leaves.resize(rows.len() * self.forest.n_trees(), 0);
        self.forest.route(&mut self.scratch, rows, &mut self.leaves);
        if self.by_member {
            self.gather_members();
        }
    }

    /// Writes the members of all rows, tree by tree: first counts them to know where each row's begin.
    fn gather_members(&mut self) {
        let n_rows = self.rows.len();
        let mut start = std::mem::take(&mut self.member_start);
        start.clear();
        start.resize(n_rows + 1, 0);
        self.for_each_leaf(|row, samples, leaf| start[row + 1] += samples.members(leaf).0.len());
        for row in 0..n_rows {
            start[row + 1] += start[row];
        }
        let mut members = std::mem::take(&mut self.members);
        members.resize(start[n_rows], (0, 0.0));
        let mut next = start.clone();
        self.for_each_leaf(|row, samples, leaf| {
            let next = &mut next[row];
            samples.for_each_member(leaf, |member, share| {
                members[*next] = (member, share);
                *next += 1;
            });
        });
        (self.member_start, self.members) = (start, members);
    }

    /// Calls `f(row, leaves of the tree, leaf)` for the rows of the block that a tree answers for, tree by tree.
    #[inline]
    fn for_each_leaf(&self, mut f: impl FnMut(usize, &SampleLeaves, u32)) {
        let n_rows = self.rows.len();
        for tree in 0..self.forest.n_trees() {
            let Some(samples) = self.forest.leaves(tree).as_samples() else {
                continue;
            };
            for (row, &leaf) in self.leaves[tree * n_rows..][..n_rows].iter().enumerate() {
                if self.admits(tree, row) {
                    f(row, samples, leaf);
                }
            }
        }
    }

    /// The leaf of a row of the block in a tree.
    pub(crate) fn leaf(&self, tree: usize, row: usize) -> u32 {
        self.leaves[tree * self.rows.len() + row]
    }

    /// The training rows that answer for a row of the block, tree by tree, with their shares in a tree's
    /// answer.
    pub(crate) fn members(&self, row: usize) -> &[(u32, f64)] {
        &self.members[self.member_start[row]..self.member_start[row + 1]]
    }

    /// Calls `f(row, outputs, value)` for terms that sum to the trees' answers to some rows of the block, a value for each
    /// of some outputs; each row's terms come tree by tree.
    #[inline]
    pub(crate) fn for_each(&self, rows: Range<usize>, mut f: impl FnMut(usize, &[u32], f64)) {
        match (self.outputs, self.by_member) {
            (Some(TrainingOutputs::Labels(labels)), true) => {
                let labels_of = |member: u32| csr_row(&labels, member as usize).0;
                for row in rows {
                    for members in self.members(row).chunks(AHEAD) {
                        for &(member, _) in members {
                            read_ahead(labels_of(member));
                        }
                        for &(member, share) in members {
                            f(row, labels_of(member), share);
                        }
                    }
                }
            }
            (Some(outputs), true) => {
                for row in rows {
                    for &(member, share) in self.members(row) {
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

    /// Counts the labels that the trees' leaves answer to each row of the block, and calls `f(row, output, value)` for
    /// the terms of what other leaves answer.
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

    /// Calls `f(output, value)` for the terms of a tree's answer to a row of the block.
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
