//! A forest for every output by itself.

use crate::EnsembleError;
use crate::fit::{FitOptions, check_inputs};
use crate::forest::Forest;
use crate::params::ValidForestParams;
use crate::predict::{DEFAULT_BUDGET, check_features, check_k, zeros};
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use rpo_core::{CsrMatrix, Matrix, MatrixView, csr_of_rows, top_of};
use rpo_tree::columns::Columns;
use rpo_tree::{LeafKind, LeafModel, RowBlock};
use std::ops::Range;

/// One forest per output, each grown on that output alone: single-target forests, for labels binary relevance
/// (st-rf and br-rf of Joly, Wehenkel, Geurts 2019). What others are compared with; d times the work of one forest.
///
/// All trees lie in one forest of one output, the t trees of output 0 first, and leaves keep a number each.
#[derive(Debug, Clone, PartialEq)]
pub struct SingleTargetForest {
    trees: Forest,
    n_outputs: usize,
}

impl ValidForestParams {
    /// Fits a forest to each output by itself, on the same coded features.
    ///
    /// The forest of output j is that of [`fit_with`](Self::fit_with) on column j with a seed derived from the seed
    /// and j.
    ///
    /// # Errors
    /// As [`fit_with`](Self::fit_with); [`EnsembleError::Parameter`] for a projection, which one output does not
    /// need, for leaves other than dense ones, and for a first tree, as such forests do not merge.
    pub fn fit_single_targets(
        &self,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
        options: FitOptions<'_>,
    ) -> Result<SingleTargetForest, EnsembleError> {
        let refuse = |name, given: &str, expected| {
            let given = given.to_owned();
            Err(EnsembleError::Parameter {
                name,
                given,
                expected,
            })
        };
        if self.0.projection.is_some() {
            return refuse("projection", "one", "none for single targets");
        }
        if !matches!(self.0.leaves, None | Some(LeafKind::Dense)) {
            return refuse("leaves", "sparse or samples", "dense ones for single targets");
        }
        if self.0.first_tree != 0 {
            return refuse(
                "first_tree",
                &self.0.first_tree.to_string(),
                "0 for single targets",
            );
        }
        check_inputs(x, y, options)?;
        let columns = Columns::new(x)?;
        let transposed = match y {
            MatrixView::Dense(_) => None,
            MatrixView::Sparse(y) => Some(y.transpose_view().to_csr()),
        };
        let one = |j: usize| -> Result<Forest, EnsembleError> {
            let target = match (y, &transposed) {
                (MatrixView::Dense(y), _) => Matrix::Dense(y.column(j).insert_axis(Axis(1)).to_owned()),
                (MatrixView::Sparse(_), Some(by_output)) => {
                    Matrix::from(by_output.slice_outer(j..j + 1).transpose_view().to_csr())
                }
                (MatrixView::Sparse(_), None) => unreachable!("transposed above"),
            };
            let mut params = self.0.clone().leaves(Some(LeafKind::Dense));
            params.seed = params.seed.purpose("output").child(j as u64);
            Self(params).fit_on(&columns, target.view(), options)
        };
        let forests: Vec<Forest> = (0..y.n_cols())
            .into_par_iter()
            .map(one)
            .collect::<Result<_, _>>()?;
        let mut forests = forests.into_iter();
        let Some(first) = forests.next() else {
            unreachable!("outputs were checked to be some")
        };
        let trees = forests.try_fold(first, Forest::merge)?;
        SingleTargetForest::from_forest(trees, y.n_cols())
    }
}

impl SingleTargetForest {
    /// Takes the trees of all outputs, as many of each, those of output 0 first.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] if the forest is not one of one output, or its trees are not as many for each of
    /// at least one output.
    pub fn from_forest(trees: Forest, n_outputs: usize) -> Result<Self, EnsembleError> {
        let n_trees = trees.trees().len();
        let per_output = n_trees / n_outputs.max(1);
        for (what, expected, given) in [
            ("outputs of a tree of a single target", 1, trees.n_outputs()),
            (
                "trees of single targets",
                per_output.max(1) * n_outputs.max(1),
                n_trees,
            ),
            ("outputs that have trees", n_outputs.max(1), n_outputs),
        ] {
            if expected != given {
                return Err(EnsembleError::Mismatch {
                    what,
                    expected,
                    given,
                });
            }
        }
        Ok(Self { trees, n_outputs })
    }

    /// The trees of all outputs, those of output 0 first.
    pub fn forest(&self) -> &Forest {
        &self.trees
    }

    /// Number of features p.
    pub fn n_features(&self) -> usize {
        self.trees.n_features()
    }

    /// Number of outputs d.
    pub fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    /// Number of training rows n.
    pub fn n_train(&self) -> usize {
        self.trees.n_train()
    }

    /// Number of trees of each output.
    pub fn trees_per_output(&self) -> usize {
        self.trees.trees().len() / self.n_outputs
    }

    /// Predictions (n x d): for every output the mean of its trees' answers.
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
        check_features(x, self.n_features())?;
        let mut out = zeros(x.n_rows(), self.n_outputs, budget)?;
        let block = RowBlock::good_size(x);
        let blocks = out
            .axis_chunks_iter_mut(Axis(0), block)
            .into_par_iter()
            .enumerate();
        blocks.for_each(|(i, mut out)| {
            let start = i * block;
            out.assign(&self.predict_block(x, start..start + out.nrows()));
        });
        Ok(out)
    }

    /// The largest predictions of each row that are not 0, at most k of them, as CSR (n x d); of equal ones the
    /// smaller output index first. Holds the predictions of a few rows at a time.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] for another number of features than the forests were fitted to,
    /// [`EnsembleError::Parameter`] for k = 0.
    pub fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, EnsembleError> {
        check_features(x, self.n_features())?;
        check_k(k)?;
        let (n, block) = (x.n_rows(), RowBlock::good_size(x));
        let blocks: Vec<Vec<Vec<(u32, f32)>>> = (0..n.div_ceil(block))
            .into_par_iter()
            .map(|i| {
                let predictions = self.predict_block(x, i * block..((i + 1) * block).min(n));
                predictions.rows().into_iter().map(|row| top_of(row, k)).collect()
            })
            .collect();
        Ok(csr_of_rows(blocks.iter().flatten(), (n, self.n_outputs)))
    }

    /// The predictions of a few rows.
    fn predict_block(&self, x: MatrixView<'_>, range: Range<usize>) -> Array2<f32> {
        let mut out = Array2::zeros((range.len(), self.n_outputs));
        let mut block = RowBlock::new(x);
        block.load(range.clone());
        let (rows, per_output) = (block.rows(), self.trees_per_output());
        let (mut leaves, mut sums) = (vec![0; range.len()], vec![0.0; range.len()]);
        for (j, trees) in self.trees.trees().chunks_exact(per_output).enumerate() {
            sums.fill(0.0);
            for tree in trees {
                tree.tree.structure().leaves(&rows, &mut leaves);
                for (sum, &leaf) in sums.iter_mut().zip(&leaves) {
                    tree.tree.leaves().for_each(leaf, |_, value| *sum += value);
                }
            }
            for (out, sum) in out.column_mut(j).iter_mut().zip(&sums) {
                *out = (sum / per_output as f64) as f32;
            }
        }
        out
    }
}
