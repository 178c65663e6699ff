//! Predicting with a forest.

use super::model::Forest;
use crate::error::EnsembleError;
use crate::inference::block::{BlockPredictor, Routed};
use crate::inference::label_sets::LabelSets;
use crate::inference::mean::{
    check_features, check_leaves, mean, mean_of_trees, predict_rows, spans, sparse_rows, top_k, zeros,
};
use crate::inference::traversal::TraversalScratch;
use crate::sampling::bag::{OutOfBag, OutOfBagPredictor};
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use rpo_core::{Apply, CsrMatrix, DEFAULT_MEMORY_LIMIT, MatrixView, Mismatch, Predictor, TreeEnsemble};
use rpo_tree::{LeafModel, Rule};
use std::ops::Range;

impl<R: Rule, L: LeafModel> Forest<R, L> {
    /// Writes the leaves that the rows loaded in `scratch` reach in some trees, by tree, then row.
    pub(super) fn write_leaves(
        &self,
        scratch: &TraversalScratch<'_>,
        trees: Range<usize>,
        leaves: &mut [u32],
    ) {
        let structure = |tree: usize| self.trees()[tree].tree.structure();
        scratch.leaves(self.traversal(), structure, trees, leaves);
    }

    /// Returns the weight of each training sample in the prediction of each sample of `x`, as CSR (n x training
    /// samples). A prediction is the sum of the training outputs with these weights, which sum to 1 (boosting paper,
    /// appendix B). The weights explain a prediction by training samples and allow estimating quantiles of an output.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] for another number of features than the forest was fitted to, and if the
    /// leaves do not refer to training samples.
    pub fn training_weights(&self, x: MatrixView<'_>) -> Result<CsrMatrix, EnsembleError> {
        check_features(x, self.n_features())?;
        let with_rows = self
            .trees()
            .iter()
            .filter(|t| t.tree.leaves().as_samples().is_some())
            .count();
        let what = "trees whose leaves refer to training samples";
        Mismatch::check(what, self.trees().len(), with_rows)?;
        let n_train = self.n_train();
        Ok(sparse_rows(
            self,
            x,
            n_train,
            n_train,
            BlockPredictor::with_weights,
            |predictor, i, sums| {
                sums.add_all(predictor.weights(i).iter().copied());
            },
            mean(self.n_trees()),
        ))
    }
}

impl<R: Rule, L: LeafModel> Apply for Forest<R, L> {
    fn apply(&self, x: MatrixView<'_>) -> Result<Array2<u32>, EnsembleError> {
        check_features(x, self.n_features())?;
        check_leaves(x.n_rows(), self.trees().len())?;
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

impl<R: Rule, L: LeafModel> OutOfBagPredictor for Forest<R, L> {
    fn oob_predictions(&self, x: MatrixView<'_>) -> Result<(Array2<f32>, Vec<u32>), EnsembleError> {
        check_features(x, self.n_features())?;
        let seeds = self.trees().iter().map(|t| t.seed);
        let out_of_bag = OutOfBag::new(self.bag(), seeds, self.n_train(), x.n_rows())?;
        let mut out = zeros(x.n_rows(), self.n_outputs, DEFAULT_MEMORY_LIMIT)?;
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
}

/// Predictions are means over the trees. For 0/1 labels they are values in [0, 1] that rank the labels.
impl<R: Rule, L: LeafModel> Predictor for Forest<R, L> {
    type Error = EnsembleError;

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    fn n_train(&self) -> usize {
        self.n_train
    }

    fn predict_with_limit(
        &self,
        x: MatrixView<'_>,
        memory_limit: usize,
    ) -> Result<Array2<f32>, EnsembleError> {
        check_features(x, self.n_features())?;
        mean_of_trees(self, x, memory_limit)
    }

    fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, EnsembleError> {
        check_features(x, self.n_features())?;
        top_k(self, x, k)
    }
}

impl<R: Rule, L: LeafModel> Routed for Forest<R, L> {
    type Leaves = L;
    type Scratch<'x> = TraversalScratch<'x>;

    fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    fn n_trees(&self) -> usize {
        self.trees().len()
    }

    fn leaves(&self, tree: usize) -> &L {
        self.trees()[tree].tree.leaves()
    }

    fn label_sets(&self) -> Option<&LabelSets> {
        self.label_sets()
    }

    fn block_size(&self, x: MatrixView<'_>) -> usize {
        self.traversal().block_size(x)
    }

    fn scratch<'x>(&self, x: MatrixView<'x>) -> TraversalScratch<'x> {
        TraversalScratch::new(x)
    }

    fn route(&self, scratch: &mut TraversalScratch<'_>, rows: Range<usize>, leaves: &mut [u32]) {
        if !rows.is_empty() {
            scratch.load(self.traversal(), rows);
            self.write_leaves(scratch, 0..self.trees().len(), leaves);
        }
    }
}
