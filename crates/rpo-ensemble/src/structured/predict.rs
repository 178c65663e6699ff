//! Predicting with a structured forest.

use super::StructuredForest;
use crate::error::EnsembleError;
use crate::inference::block::BlockPredictor;
use crate::inference::mean::{check_features, check_width, spans, sparse_rows, zeros};
use crate::sampling::bag::{OutOfBag, OutOfBagPredictor};
use ndarray::{Array2, ArrayViewMut1, Axis};
use rayon::prelude::*;
use rpo_core::{Apply, CsrMatrix, DEFAULT_MEMORY_LIMIT, Domain, MatrixView, Predictor, TreeEnsemble};
use rpo_tree::LeafModel;

/// ω_tj, by tree and label.
struct LabelWeights {
    /// True if a tree clustered a label, tree by tree.
    clustered: Vec<bool>,
    n_outputs: usize,
    weight: f64,
}

impl LabelWeights {
    fn new(forest: &StructuredForest) -> Self {
        let d = forest.n_outputs();
        let mut clustered = vec![false; forest.forest().trees().len() * d];
        for (labels, clustered) in forest.clustered_labels().iter().zip(clustered.chunks_mut(d)) {
            labels.iter().for_each(|&j| clustered[j as usize] = true);
        }
        Self {
            clustered,
            n_outputs: d,
            weight: forest.label_weight(),
        }
    }

    #[inline]
    fn of(&self, tree: usize, label: usize) -> f64 {
        if self.clustered[tree * self.n_outputs + label] {
            self.weight
        } else {
            1.0
        }
    }

    /// Returns Σ_t ω_tj of each label over the admitted trees.
    fn totals(&self, admit: impl Fn(usize) -> bool) -> Vec<f64> {
        let mut totals = vec![0.0; self.n_outputs];
        let trees = self.clustered.len() / self.n_outputs;
        for tree in (0..trees).filter(|&tree| admit(tree)) {
            for (label, total) in totals.iter_mut().enumerate() {
                *total += self.of(tree, label);
            }
        }
        totals
    }
}

impl Apply for StructuredForest {
    fn apply(&self, x: MatrixView<'_>) -> Result<Array2<u32>, EnsembleError> {
        self.forest.apply(x)
    }
}

/// Predictions are weighted means over trees, with weights by label; see the [module](crate::structured). With
/// hyperplanes, a missing feature is an error ([`EnsembleError::Tree`]).
impl Predictor for StructuredForest {
    type Error = EnsembleError;

    fn n_features(&self) -> usize {
        self.forest.n_features()
    }

    fn n_outputs(&self) -> usize {
        self.forest.n_outputs()
    }

    fn n_train(&self) -> usize {
        self.forest.n_train()
    }

    fn predict_with_limit(
        &self,
        x: MatrixView<'_>,
        memory_limit: usize,
    ) -> Result<Array2<f32>, EnsembleError> {
        self.check_input(x)?;
        let mut out = zeros(x.n_rows(), self.n_outputs(), memory_limit)?;
        let weights = LabelWeights::new(self);
        let totals = weights.totals(|_| true);
        self.score_rows(
            x,
            &weights,
            |_, _| true,
            &mut out,
            |_, mut out, sums| {
                for ((out, sum), total) in out.iter_mut().zip(sums).zip(&totals) {
                    *out = (sum / total) as f32;
                }
            },
        );
        Ok(out)
    }

    fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, EnsembleError> {
        self.check_input(x)?;
        Domain::Count.check("k", k)?;
        let weights = LabelWeights::new(self);
        let totals = weights.totals(|_| true);
        Ok(sparse_rows(
            self.forest(),
            x,
            self.n_outputs(),
            k,
            BlockPredictor::new,
            |predictor, row, sums| {
                for (t, tree) in self.forest.trees().iter().enumerate() {
                    tree.tree.leaves().for_each(predictor.leaf(t, row), |j, v| {
                        sums.add(j, weights.of(t, j as usize) * v);
                    });
                }
            },
            |j, sum| (sum / totals[j as usize]) as f32,
        ))
    }
}

/// Scores are normalized by the label weights of the out-of-bag trees of each sample.
impl OutOfBagPredictor for StructuredForest {
    fn oob_predictions(&self, x: MatrixView<'_>) -> Result<(Array2<f32>, Vec<u32>), EnsembleError> {
        self.check_input(x)?;
        let seeds = self.forest.trees().iter().map(|t| t.seed);
        let out_of_bag = OutOfBag::new(self.forest().bag(), seeds, self.n_train(), x.n_rows())?;
        let mut out = zeros(x.n_rows(), self.n_outputs(), DEFAULT_MEMORY_LIMIT)?;
        let weights = LabelWeights::new(self);
        let admit = |tree: usize, row: usize| out_of_bag.admits(tree, row);
        self.score_rows(x, &weights, admit, &mut out, |row, mut out, sums| {
            let totals = weights.totals(|tree| admit(tree, row));
            for ((out, sum), total) in out.iter_mut().zip(sums).zip(&totals) {
                // This is 0/0 if every tree saw the row.
                *out = (sum / total) as f32;
            }
        });
        Ok((out, out_of_bag.counts))
    }
}

impl StructuredForest {
    /// Sums the weighted leaf values of the admitted trees row by row, and passes each row with its sums to `finish`.
    fn score_rows(
        &self,
        x: MatrixView<'_>,
        weights: &LabelWeights,
        admit: impl Fn(usize, usize) -> bool + Sync,
        out: &mut Array2<f32>,
        finish: impl Fn(usize, ArrayViewMut1<'_, f32>, &[f64]) + Sync,
    ) {
        let (span, block) = spans(self.forest(), x);
        out.axis_chunks_iter_mut(Axis(0), span)
            .into_par_iter()
            .enumerate()
            .for_each(|(i, mut out)| {
                let mut router = BlockPredictor::new(self.forest(), x, &admit);
                let mut sums = vec![0.0; self.n_outputs()];
                for (k, mut out) in out.axis_chunks_iter_mut(Axis(0), block).enumerate() {
                    let first = i * span + k * block;
                    router.load(first..first + out.nrows());
                    for (row, out) in out.rows_mut().into_iter().enumerate() {
                        sums.fill(0.0);
                        for (t, tree) in self.forest.trees().iter().enumerate() {
                            if admit(t, first + row) {
                                tree.tree.leaves().for_each(router.leaf(t, row), |j, v| {
                                    sums[j as usize] += weights.of(t, j as usize) * v;
                                });
                            }
                        }
                        finish(first + row, out, &sums);
                    }
                }
            });
    }

    pub(super) fn check_input(&self, x: MatrixView<'_>) -> Result<(), EnsembleError> {
        check_features(x, self.n_features())?;
        check_width(x)?;
        if self.is_oblique() {
            rpo_tree::oblique::check_present(x)?;
        }
        Ok(())
    }
}
