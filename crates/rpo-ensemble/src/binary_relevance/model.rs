//! The fitted forests.

use crate::EnsembleError;
use crate::predict::{DEFAULT_BUDGET, check_features, check_k, zeros};
use crate::sampling::out_of_bag;
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use rpo_core::{CsrMatrix, MatrixView, Seed, csr_of_rows, top_of};
use rpo_tree::{AxisRule, Node, RowBlock, Structure};

/// A tree that answers for one label.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelTree {
    structure: Structure<AxisRule>,
    shares: Vec<f32>,
}

impl LabelTree {
    /// Joins a structure and the share of positive rows of each leaf.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] if they differ in the number of leaves.
    pub fn new(structure: Structure<AxisRule>, shares: Vec<f32>) -> Result<Self, EnsembleError> {
        if structure.n_leaves() != shares.len() {
            return Err(EnsembleError::Mismatch {
                what: "leaves of the structure",
                expected: structure.n_leaves(),
                given: shares.len(),
            });
        }
        Ok(Self { structure, shares })
    }

    /// The structure.
    pub fn structure(&self) -> &Structure<AxisRule> {
        &self.structure
    }

    /// The share of positive rows of each leaf.
    pub fn shares(&self) -> &[f32] {
        &self.shares
    }
}

/// A forest for every label; scores are means of leaves' shares of positive rows, in [0, 1]. Immutable.
#[derive(Debug, Clone, PartialEq)]
pub struct BinaryRelevanceForest {
    /// The trees of label 0, then those of label 1, and so on.
    trees: Vec<LabelTree>,
    /// By tree of a label.
    seeds: Vec<Seed>,
    rows_per_tree: usize,
    n_train: usize,
    n_features: usize,
}

impl BinaryRelevanceForest {
    /// Puts forests together from their parts, as a model file holds them: trees label by label, the seeds that a label's
    /// trees drew their rows from, rows per tree, training rows, features.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] if there is no tree, or their number or what they refer to does not fit.
    pub fn from_parts(
        trees: Vec<LabelTree>,
        seeds: Vec<Seed>,
        rows_per_tree: usize,
        n_train: usize,
        n_features: usize,
    ) -> Result<Self, EnsembleError> {
        let mismatch = |what, expected, given| {
            Err(EnsembleError::Mismatch {
                what,
                expected,
                given,
            })
        };
        if seeds.is_empty() || trees.is_empty() {
            return mismatch("number of trees of at least", 1, 0);
        }
        if !trees.len().is_multiple_of(seeds.len()) {
            let whole = trees.len().next_multiple_of(seeds.len());
            return mismatch("trees for as many of each label", whole, trees.len());
        }
        if !(1..=n_train).contains(&rows_per_tree) {
            return mismatch("training rows for the rows of a tree", rows_per_tree, n_train);
        }
        let features = trees
            .iter()
            .flat_map(|t| t.structure.nodes())
            .filter_map(|node| match node {
                Node::Split { rule, .. } => Some(rule.feature() as usize),
                Node::Leaf(_) => None,
            });
        if let Some(feature) = features.max().filter(|f| *f >= n_features) {
            return mismatch("features for the rules of a tree", feature + 1, n_features);
        }
        Ok(Self {
            trees,
            seeds,
            rows_per_tree,
            n_train,
            n_features,
        })
    }

    /// The trees, label by label.
    pub fn trees(&self) -> &[LabelTree] {
        &self.trees
    }

    /// The seeds that a label's trees drew their rows from; as many as a label has trees.
    pub fn seeds(&self) -> &[Seed] {
        &self.seeds
    }

    /// Rows that each tree grew on.
    pub fn rows_per_tree(&self) -> usize {
        self.rows_per_tree
    }

    /// Number of features p.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Number of labels d.
    pub fn n_outputs(&self) -> usize {
        self.trees.len() / self.seeds.len()
    }

    /// Number of training rows n.
    pub fn n_train(&self) -> usize {
        self.n_train
    }

    /// Scores (n x d).
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] for another number of features than the forests were fitted to,
    /// [`EnsembleError::Predictions`] if the result would exceed [`DEFAULT_BUDGET`].
    pub fn predict(&self, x: MatrixView<'_>) -> Result<Array2<f32>, EnsembleError> {
        self.predict_within(x, DEFAULT_BUDGET)
    }

    /// [`predict`](Self::predict) with another limit on the bytes of the result.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predict_within(&self, x: MatrixView<'_>, budget: usize) -> Result<Array2<f32>, EnsembleError> {
        check_features(x, self.n_features)?;
        let mut out = zeros(x.n_rows(), self.n_outputs(), budget)?;
        let count = self.seeds.len() as f64;
        self.score_rows(x, |_, _| true, |_| count, &mut out);
        Ok(out)
    }

    /// The largest scores of each row that are not 0, at most k of them, as CSR (n x d); of equal ones the smaller label
    /// first. Holds the scores of a block of rows at a time.
    ///
    /// # Errors
    /// As [`predict`](Self::predict) but for the budget; [`EnsembleError::Parameter`] for k = 0.
    pub fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, EnsembleError> {
        check_features(x, self.n_features)?;
        check_k(k)?;
        let block = RowBlock::good_size(x);
        let starts: Vec<usize> = (0..x.n_rows()).step_by(block).collect();
        let blocks: Vec<Vec<Vec<(u32, f32)>>> = starts
            .into_par_iter()
            .map(|start| {
                let mut rows = RowBlock::new(x);
                rows.load(start..(start + block).min(x.n_rows()));
                let mut scores = Array2::zeros((rows.len(), self.n_outputs()));
                let count = self.seeds.len() as f64;
                self.score_block(&rows, start, &|_, _| true, &|_| count, scores.view_mut());
                scores.rows().into_iter().map(|row| top_of(row, k)).collect()
            })
            .collect();
        Ok(csr_of_rows(
            blocks.iter().flatten(),
            (x.n_rows(), self.n_outputs()),
        ))
    }

    /// Scores for the training rows, each by the trees that did not see it, and how many of each label those are. A
    /// row that every tree saw has NaN in all labels.
    ///
    /// `x` are the features the forests were fitted to.
    ///
    /// # Errors
    /// [`EnsembleError::NoBootstrap`] if every tree saw every row, [`EnsembleError::Mismatch`] if `x` has not the
    /// training set's shape, [`EnsembleError::Predictions`] if the result would exceed [`DEFAULT_BUDGET`].
    pub fn oob_predictions(&self, x: MatrixView<'_>) -> Result<(Array2<f32>, Vec<u32>), EnsembleError> {
        check_features(x, self.n_features)?;
        if self.rows_per_tree == self.n_train {
            return Err(EnsembleError::NoBootstrap);
        }
        if x.n_rows() != self.n_train {
            return Err(EnsembleError::Mismatch {
                what: "training rows",
                expected: self.n_train,
                given: x.n_rows(),
            });
        }
        let mut out = zeros(x.n_rows(), self.n_outputs(), DEFAULT_BUDGET)?;
        let out_of_bag = out_of_bag(&self.seeds, x.n_rows(), self.rows_per_tree);
        let counts: Vec<u32> = (0..x.n_rows())
            .map(|row| out_of_bag.iter().filter(|tree| tree[row]).count() as u32)
            .collect();
        // 0/0 where every tree saw the row.
        self.score_rows(
            x,
            |t, row| out_of_bag[t][row],
            |row| f64::from(counts[row]),
            &mut out,
        );
        Ok((out, counts))
    }

    fn score_rows(
        &self,
        x: MatrixView<'_>,
        admit: impl Fn(usize, usize) -> bool + Sync,
        count: impl Fn(usize) -> f64 + Sync,
        out: &mut Array2<f32>,
    ) {
        let block = RowBlock::good_size(x);
        out.axis_chunks_iter_mut(Axis(0), block)
            .into_par_iter()
            .enumerate()
            .for_each(|(i, out)| {
                let mut rows = RowBlock::new(x);
                rows.load(i * block..i * block + out.nrows());
                self.score_block(&rows, i * block, &admit, &count, out);
            });
    }

    /// Writes the scores of a block of rows that begins at `start`.
    fn score_block(
        &self,
        block: &RowBlock<'_>,
        start: usize,
        admit: &impl Fn(usize, usize) -> bool,
        count: &impl Fn(usize) -> f64,
        mut out: ndarray::ArrayViewMut2<'_, f32>,
    ) {
        let rows = block.rows();
        let mut leaves = vec![0; rows.len()];
        let mut sums = vec![0.0; rows.len()];
        for (trees, mut out) in self.trees.chunks(self.seeds.len()).zip(out.columns_mut()) {
            sums.fill(0.0);
            for (t, tree) in trees.iter().enumerate() {
                tree.structure.leaves(&rows, &mut leaves);
                for (row, (sum, &leaf)) in sums.iter_mut().zip(&leaves).enumerate() {
                    if admit(t, start + row) {
                        *sum += f64::from(tree.shares[leaf as usize]);
                    }
                }
            }
            for (row, (out, sum)) in out.iter_mut().zip(&sums).enumerate() {
                *out = (sum / count(start + row)) as f32;
            }
        }
    }
}
