//! Predicting with a forest.
//!
//! Rows go in blocks: every tree routes the whole block while its nodes are in the cache, then each row sums
//! its leaves' answers, tree by tree in `f64`; leaves that answer sets of labels are counted, which is exact. A row's
//! result depends on that row alone.

use crate::EnsembleError;
use crate::bag::OutOfBag;
use crate::block::{BlockPredictor, Routed};
use crate::error::mismatch;
use crate::forest::{Forest, Routes};
use crate::label_sets::LabelSets;
use crate::sums::SparseSums;
use crate::value_routes::ValueRoutes;
use ndarray::{Array2, ArrayViewMut2, Axis};
use rayon::prelude::*;
use rpo_core::{CsrMatrix, MatrixView, check_count, check_dense, csr_of_rows, keep_top, top_of};
use rpo_tree::{LeafKind, Leaves, RowBlock, Rule, Structure};
use std::ops::Range;

/// Largest number of bytes of dense predictions, unless a caller allows more: 4 GiB.
pub const DEFAULT_BUDGET: usize = 4 << 30;

impl Forest {
    /// Predictions (n x d): the mean of the trees' answers. For 0/1 labels values in [0, 1] that rank the
    /// labels.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] for another number of features than the forest was fitted to,
    /// [`EnsembleError::Predictions`] if the result would exceed [`DEFAULT_BUDGET`].
    pub fn predict(&self, x: MatrixView<'_>) -> Result<Array2<f32>, EnsembleError> {
        self.predict_within(x, DEFAULT_BUDGET)
    }

    /// [`predict`](Self::predict) with another limit on the bytes of the result.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predict_within(&self, x: MatrixView<'_>, budget: usize) -> Result<Array2<f32>, EnsembleError> {
        check_features(x, self.n_features())?;
        mean_of_trees(self, x, budget)
    }

    /// The largest predictions of each row that are not 0, at most k of them, as CSR (n x d); of equal ones
    /// the smaller output index first. Never holds all predictions.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] for another number of features than the forest was fitted to,
    /// [`EnsembleError::Parameter`] for k = 0.
    pub fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, EnsembleError> {
        check_features(x, self.n_features())?;
        top_k(self, x, k)
    }

    /// How much each training row counts in the predictions for each row of `x`, as CSR (n x training rows):
    /// a prediction is the sum of the training outputs with these weights, which sum to 1 (boosting paper,
    /// appendix B). Says which training rows explain a prediction, and gives quantiles of an output.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] for another number of features than the forest was fitted to, and if the
    /// leaves do not refer to training rows.
    pub fn training_weights(&self, x: MatrixView<'_>) -> Result<CsrMatrix, EnsembleError> {
        check_features(x, self.n_features())?;
        let with_rows = self
            .trees()
            .iter()
            .filter(|t| t.tree.leaves().kind() == LeafKind::Samples)
            .count();
        if with_rows < self.trees().len() {
            let what = "trees whose leaves refer to training rows";
            return mismatch(what, self.trees().len(), with_rows);
        }
        let n_train = self.n_train();
        Ok(sparse_rows(
            self,
            x,
            n_train,
            n_train,
            BlockPredictor::with_members,
            |predictor, i, sums| {
                predictor
                    .members(i)
                    .iter()
                    .for_each(|&(row, share)| sums.add(row, share));
            },
            mean(self.n_trees()),
        ))
    }

    /// Predictions for the training rows, each by the trees that did not see it, and how many those are. A
    /// row that every tree saw has NaN in all outputs.
    ///
    /// `x` are the features the forest was fitted to.
    ///
    /// # Errors
    /// [`EnsembleError::NoBootstrap`] if every tree saw every row, [`EnsembleError::Mismatch`] if `x` has
    /// not the training set's shape, [`EnsembleError::Predictions`] if the result would exceed
    /// [`DEFAULT_BUDGET`].
    pub fn oob_predictions(&self, x: MatrixView<'_>) -> Result<(Array2<f32>, Vec<u32>), EnsembleError> {
        check_features(x, self.n_features())?;
        let seeds = self.trees().iter().map(|t| t.seed);
        let out_of_bag = OutOfBag::new(self.bag(), seeds, self.n_train(), x.n_rows())?;
        let mut out = zeros(x.n_rows(), self.n_outputs(), DEFAULT_BUDGET)?;
        let counts = &out_of_bag.counts;
        let admit = |tree: usize, row: usize| out_of_bag.admits(tree, row);
        predict_rows(self, x, admit, &mut out, |i| 1.0 / f64::from(counts[i]));
        for (mut row, _) in out
            .rows_mut()
            .into_iter()
            .zip(counts)
            .filter(|(_, count)| **count == 0)
        {
            row.fill(f32::NAN);
        }
        Ok((out, out_of_bag.counts))
    }

    /// The leaf of each row in each tree (n x trees).
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] for another number of features than the forest was fitted to.
    pub fn apply(&self, x: MatrixView<'_>) -> Result<Array2<u32>, EnsembleError> {
        check_features(x, self.n_features())?;
        let mut out = Array2::zeros((x.n_rows(), self.trees().len()));
        let (span, block) = spans(self, x);
        out.axis_chunks_iter_mut(Axis(0), span)
            .into_par_iter()
            .enumerate()
            .for_each(|(i, mut out)| {
                let mut predictor = BlockPredictor::new(self, x, |_, _| true);
                for (k, mut out) in out.axis_chunks_iter_mut(Axis(0), block).enumerate() {
                    let first = i * span + k * block;
                    predictor.load(first..first + out.nrows());
                    out.indexed_iter_mut()
                        .for_each(|((row, tree), leaf)| *leaf = predictor.leaf(tree, row));
                }
            });
        Ok(out)
    }
}

/// Rows of a block where hardly any room is needed for one.
const MOST_ROWS: usize = 256;

/// What rows are spread into: values, or bits where they suffice.
pub(crate) struct ForestScratch<'x> {
    x: MatrixView<'x>,
    block: RowBlock<'x>,
    bits: Vec<u64>,
    way: Way,
}

/// How the rows of a block are sent through trees.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// By the rules.
    Rules,
    /// By the bits of the block.
    Bits,
    /// By its values, none of which is missing.
    Values,
}

impl<'x> ForestScratch<'x> {
    pub(crate) fn new(x: MatrixView<'x>) -> Self {
        Self {
            x,
            block: RowBlock::new(x),
            bits: Vec::new(),
            way: Way::Rules,
        }
    }

    /// Takes some rows to send them through trees of a forest.
    pub(crate) fn load(&mut self, forest: &Forest, rows: Range<usize>) {
        self.way = match forest.routes() {
            Routes::Bits(routes) if routes.load(self.x, rows.clone(), &mut self.bits) => Way::Bits,
            Routes::Values(_) if ValueRoutes::serve(self.x, rows.clone()) => Way::Values,
            _ => Way::Rules,
        };
        if self.way != Way::Bits {
            self.block.load(rows);
        }
    }

    /// Writes the leaves of the rows in some trees, by tree, then row.
    pub(crate) fn leaves(&self, forest: &Forest, trees: Range<usize>, leaves: &mut [u32]) {
        let n_rows = leaves.len() / trees.len();
        match (forest.routes(), self.way) {
            (Routes::Bits(routes), Way::Bits) => {
                let chunks = leaves.chunks_mut(n_rows);
                trees
                    .zip(chunks)
                    .for_each(|(tree, leaves)| routes.leaves(tree, &self.bits, leaves));
            }
            (Routes::Values(routes), Way::Values) => {
                let chunks = leaves.chunks_mut(n_rows);
                trees
                    .zip(chunks)
                    .for_each(|(tree, leaves)| routes.leaves(tree, &self.block, leaves));
            }
            _ => {
                let trees = &forest.trees()[trees];
                route_block(trees.iter().map(|t| t.tree.structure()), &self.block, leaves);
            }
        }
    }
}

impl Routed for Forest {
    type Scratch<'x> = ForestScratch<'x>;

    fn n_trees(&self) -> usize {
        self.trees().len()
    }

    fn n_outputs(&self) -> usize {
        self.n_outputs()
    }

    fn leaves(&self, tree: usize) -> &Leaves {
        self.trees()[tree].tree.leaves()
    }

    fn label_sets(&self) -> Option<&LabelSets> {
        self.label_sets()
    }

    fn block_size(&self, x: MatrixView<'_>) -> usize {
        match self.routes() {
            Routes::Bits(_) => MOST_ROWS,
            Routes::Values(_) | Routes::Rules => RowBlock::good_size(x),
        }
    }

    fn scratch<'x>(&self, x: MatrixView<'x>) -> ForestScratch<'x> {
        ForestScratch::new(x)
    }

    fn route(&self, scratch: &mut ForestScratch<'_>, rows: Range<usize>, leaves: &mut [u32]) {
        if !rows.is_empty() {
            scratch.load(self, rows);
            scratch.leaves(self, 0..self.trees().len(), leaves);
        }
    }
}

/// Writes the leaves of a block of rows, by tree, then row.
pub(crate) fn route_block<'f, R: Rule + 'f>(
    structures: impl Iterator<Item = &'f Structure<R>>,
    block: &RowBlock<'_>,
    leaves: &mut [u32],
) {
    let rows = block.rows();
    if !rows.is_empty() {
        for (structure, leaves) in structures.zip(leaves.chunks_mut(rows.len())) {
            structure.leaves(&rows, leaves);
        }
    }
}

/// The mean of the trees' answers (n x d), within a budget of bytes.
pub(crate) fn mean_of_trees(
    forest: &impl Routed,
    x: MatrixView<'_>,
    budget: usize,
) -> Result<Array2<f32>, EnsembleError> {
    let mut out = zeros(x.n_rows(), forest.n_outputs(), budget)?;
    let scale = 1.0 / forest.n_trees() as f64;
    predict_rows(forest, x, |_, _| true, &mut out, |_| scale);
    Ok(out)
}

/// The k largest of each row's mean answers that are not 0, as CSR (n x d).
pub(crate) fn top_k(forest: &impl Routed, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, EnsembleError> {
    check_count("k", k)?;
    let n_outputs = forest.n_outputs();
    if forest.label_sets().is_some() {
        return Ok(top_of_few(forest, x, k));
    }
    Ok(sparse_rows(
        forest,
        x,
        n_outputs,
        k,
        BlockPredictor::new,
        |predictor, i, sums| {
            predictor.for_each(i..i + 1, |_, j, value| sums.add(j, value));
        },
        mean(forest.n_trees()),
    ))
}

/// What makes of a sum over trees their mean.
fn mean(n_trees: usize) -> impl Fn(u32, f64) -> f32 + Sync {
    let scale = 1.0 / n_trees as f64;
    move |_, sum| (sum * scale) as f32
}

/// The k largest of each row's mean answers, where outputs are few.
fn top_of_few(forest: &impl Routed, x: MatrixView<'_>, k: usize) -> CsrMatrix {
    let ((span, block), n) = (spans(forest, x), x.n_rows());
    let scale = 1.0 / forest.n_trees() as f64;
    let spans: Vec<Vec<Vec<(u32, f32)>>> = (0..n.div_ceil(span))
        .into_par_iter()
        .map(|i| {
            let mut summing = Summing::new(forest, x, |_, _| true);
            let mut rows = Vec::new();
            let end = ((i + 1) * span).min(n);
            for first in (i * span..end).step_by(block) {
                let mut means = Array2::zeros((block.min(end - first), forest.n_outputs()));
                summing.write(first, means.view_mut(), |_| scale);
                rows.extend(means.rows().into_iter().map(|row| top_of(row, k)));
            }
            rows
        })
        .collect();
    csr_of_rows(spans.iter().flatten(), (n, forest.n_outputs()))
}

/// Writes the sums of the admitted trees' answers to each row times the row's scale.
fn predict_rows<F: Routed>(
    forest: &F,
    x: MatrixView<'_>,
    admit: impl Fn(usize, usize) -> bool + Sync,
    out: &mut Array2<f32>,
    scale: impl Fn(usize) -> f64 + Sync,
) {
    let (span, block) = spans(forest, x);
    out.axis_chunks_iter_mut(Axis(0), span)
        .into_par_iter()
        .enumerate()
        .for_each(|(i, mut out)| {
            let mut summing = Summing::new(forest, x, &admit);
            for (k, out) in out.axis_chunks_iter_mut(Axis(0), block).enumerate() {
                summing.write(i * span + k * block, out, &scale);
            }
        });
}

/// Sums the admitted trees' answers to blocks of rows.
struct Summing<'f, 'x, F: Routed, A> {
    predictor: BlockPredictor<'f, 'x, F, A>,
    sets: Option<&'f LabelSets>,
    sums: Vec<f64>,
}

impl<'f, 'x, F: Routed, A: Fn(usize, usize) -> bool> Summing<'f, 'x, F, A> {
    fn new(forest: &'f F, x: MatrixView<'x>, admit: A) -> Self {
        Self {
            predictor: BlockPredictor::new(forest, x, admit),
            sets: forest.label_sets(),
            sums: Vec::new(),
        }
    }

    /// Writes the sums for the rows of `x` from `first` on, as many as `out` has, each times the row's scale.
    fn write(&mut self, first: usize, out: ArrayViewMut2<'_, f32>, scale: impl Fn(usize) -> f64) {
        self.predictor.load(first..first + out.nrows());
        let scale = |row| scale(first + row);
        match self.sets.map(|sets| (sets, sets.n_lanes())) {
            None => self.write_sums(out, scale),
            Some((sets, 8)) => self.write_counts::<8>(sets, out, scale),
            Some((sets, 16)) => self.write_counts::<16>(sets, out, scale),
            Some((sets, _)) => self.write_counts::<32>(sets, out, scale),
        }
    }

    fn write_sums(&mut self, mut out: ArrayViewMut2<'_, f32>, scale: impl Fn(usize) -> f64) {
        let (n_rows, d) = out.dim();
        // Rows that are summed at once: as many as keep their sums inside a core's cache.
        let group = ((128 << 10) / (size_of::<f64>() * d)).clamp(1, n_rows.max(1));
        let sums = &mut self.sums;
        sums.resize(group * d, 0.0);
        for start in (0..n_rows).step_by(group) {
            let rows = start..(start + group).min(n_rows);
            self.predictor.for_each(rows.clone(), |row, j, value| {
                sums[(row - start) * d + j as usize] += value;
            });
            for (row, sums) in rows.zip(sums.chunks_mut(d)) {
                let scale = scale(row);
                for (out, sum) in out.row_mut(row).iter_mut().zip(sums) {
                    *out = (std::mem::take(sum) * scale) as f32;
                }
            }
        }
    }

    fn write_counts<const LANES: usize>(
        &mut self,
        sets: &LabelSets,
        mut out: ArrayViewMut2<'_, f32>,
        scale: impl Fn(usize) -> f64,
    ) {
        let (n_rows, d) = out.dim();
        let mut counts = vec![[0; LANES]; n_rows];
        // What leaves answer that answer no set.
        let sums = &mut self.sums;
        sums.resize(n_rows * d, 0.0);
        self.predictor.count(sets, &mut counts, |row, j, value| {
            sums[row * d + j as usize] += value;
        });
        for (row, (counts, sums)) in counts.iter().zip(sums.chunks_mut(d)).enumerate() {
            let scale = scale(row);
            for ((out, sum), &count) in out.row_mut(row).iter_mut().zip(sums).zip(counts) {
                *out = ((std::mem::take(sum) + f64::from(count)) * scale) as f32;
            }
        }
    }
}

/// Collects what `add` sums for each row over the trees, what `finish` makes of it, and of that the k largest, as CSR.
pub(crate) fn sparse_rows<'f, 'x, F: Routed>(
    forest: &'f F,
    x: MatrixView<'x>,
    n_columns: usize,
    k: usize,
    predictor: impl Fn(&'f F, MatrixView<'x>, Admit) -> BlockPredictor<'f, 'x, F, Admit> + Sync,
    add: impl Fn(&BlockPredictor<'f, 'x, F, Admit>, usize, &mut SparseSums) + Sync,
    finish: impl Fn(u32, f64) -> f32 + Sync,
) -> CsrMatrix {
    let ((span, block), n) = (spans(forest, x), x.n_rows());
    let spans: Vec<Vec<Vec<(u32, f32)>>> = (0..n.div_ceil(span))
        .into_par_iter()
        .map(|i| {
            let mut predictor = predictor(forest, x, |_, _| true);
            let mut sums = SparseSums::new(n_columns);
            let mut rows = Vec::new();
            let end = ((i + 1) * span).min(n);
            for first in (i * span..end).step_by(block) {
                let block = first..(first + block).min(end);
                predictor.load(block.clone());
                for in_block in 0..block.len() {
                    add(&predictor, in_block, &mut sums);
                    let mut values = Vec::new();
                    sums.drain(|j, sum| values.push((j, finish(j, sum))));
                    keep_top(&mut values, k);
                    rows.push(values);
                }
            }
            rows
        })
        .collect();
    csr_of_rows(spans.iter().flatten(), (n, n_columns))
}

/// Refuses features of another number than a model was fitted to, and a layout that is not by rows.
pub(crate) fn check_features(x: MatrixView<'_>, n_features: usize) -> Result<(), EnsembleError> {
    rpo_tree::check_csr("features", x)?;
    if x.n_cols() != n_features {
        return mismatch("features", n_features, x.n_cols());
    }
    Ok(())
}

/// Room for predictions, unless they would take more than `budget` bytes.
pub(crate) fn zeros(rows: usize, columns: usize, budget: usize) -> Result<Array2<f32>, EnsembleError> {
    check_dense(rows, columns, size_of::<f32>(), budget).map_err(EnsembleError::Predictions)?;
    Ok(Array2::zeros((rows, columns)))
}

/// Says whether a tree answers for a row; here: always.
type Admit = fn(usize, usize) -> bool;

/// Number of rows that a thread predicts in one go, a few times that for each thread, and of a block: spans are whole
/// blocks.
pub(crate) fn spans(forest: &impl Routed, x: MatrixView<'_>) -> (usize, usize) {
    let block = forest.block_size(x);
    let span = x.n_rows().div_ceil(4 * rayon::current_num_threads());
    (span.max(1).next_multiple_of(block), block)
}
