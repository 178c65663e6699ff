//! Boosting steps: trees and the values that their leaves add to the scores.

use ndarray::{Array2, Axis};
use rayon::prelude::*;
use rpo_core::{CsrMatrix, csr_row};
use rpo_tree::{LeafModel, Rule, Structure};

/// The values that the leaves of a tree add to the scores, learning rate included.
#[derive(Debug, Clone, PartialEq)]
pub enum StepValues {
    /// One tree for all outputs: leaf l adds `leaves[l] * outputs[j]` to output j. A step of Algorithm 3: L + d
    /// numbers.
    Product {
        /// One number per leaf, g.
        leaves: Vec<f32>,
        /// One number per output, μρ.
        outputs: Vec<f32>,
    },
    /// Leaf l adds row l of a matrix (L x d). A step of Algorithms 2 and 4.
    Vectors(Array2<f32>),
    /// Like [`Vectors`](Self::Vectors), but sparse.
    Sparse(CsrMatrix),
    /// Leaf l adds `leaves[l]` to one output. A tree of Algorithm 1.
    Single {
        /// One number per leaf, μρg.
        leaves: Vec<f32>,
        /// Index of the output.
        output: u32,
        /// Number of outputs.
        n_outputs: usize,
    },
}

impl LeafModel for StepValues {
    fn n_leaves(&self) -> usize {
        match self {
            Self::Product { leaves, .. } | Self::Single { leaves, .. } => leaves.len(),
            Self::Vectors(values) => values.nrows(),
            Self::Sparse(values) => values.rows(),
        }
    }

    fn n_outputs(&self) -> usize {
        match self {
            Self::Product { outputs, .. } => outputs.len(),
            Self::Vectors(values) => values.ncols(),
            Self::Sparse(values) => values.cols(),
            Self::Single { n_outputs, .. } => *n_outputs,
        }
    }

    fn for_each(&self, leaf: u32, mut f: impl FnMut(u32, f64)) {
        let leaf = leaf as usize;
        match self {
            Self::Product { leaves, outputs } => {
                let g = f64::from(leaves[leaf]);
                (0..).zip(outputs).for_each(|(j, &rho)| f(j, g * f64::from(rho)));
            }
            Self::Vectors(values) => (0..).zip(values.row(leaf)).for_each(|(j, &v)| f(j, f64::from(v))),
            Self::Sparse(values) => {
                let view = values.view();
                let (columns, values) = csr_row(&view, leaf);
                columns.iter().zip(values).for_each(|(&j, &v)| f(j, f64::from(v)));
            }
            Self::Single { leaves, output, .. } => f(*output, f64::from(leaves[leaf])),
        }
    }
}

impl StepValues {
    /// Stores matrices by rows.
    pub(super) fn lay_out(&mut self) {
        match self {
            Self::Vectors(values) if !values.is_standard_layout() => {
                *values = values.as_standard_layout().into_owned();
            }
            Self::Sparse(values) if !values.is_csr() => *values = values.to_csr(),
            _ => {}
        }
    }

    /// Returns true if every number is finite.
    pub(super) fn is_finite(&self) -> bool {
        let all = |values: &[f32]| values.iter().all(|v| v.is_finite());
        match self {
            Self::Product { leaves, outputs } => all(leaves) && all(outputs),
            Self::Vectors(values) => values.iter().all(|v| v.is_finite()),
            Self::Sparse(values) => all(values.data()),
            Self::Single { leaves, .. } => all(leaves),
        }
    }

    /// Adds the values of a leaf to the scores of a sample. The dense cases are loops over slices.
    #[inline(always)]
    pub(super) fn add(&self, leaf: u32, scores: &mut [f64]) {
        match self {
            Self::Product { leaves, outputs } => {
                let g = f64::from(leaves[leaf as usize]);
                scores
                    .iter_mut()
                    .zip(outputs)
                    .for_each(|(sum, &rho)| *sum += g * f64::from(rho));
            }
            Self::Vectors(values) => {
                let row = values.row(leaf as usize);
                let row = row.as_slice().expect("kept in row order");
                scores
                    .iter_mut()
                    .zip(row)
                    .for_each(|(sum, &v)| *sum += f64::from(v));
            }
            Self::Sparse(_) | Self::Single { .. } => self.for_each(leaf, |j, v| scores[j as usize] += v),
        }
    }
}

/// A tree of a boosting step: its structure and the values that its leaves add to the scores.
#[derive(Debug, Clone, PartialEq)]
pub struct BoostingStep<R> {
    /// The structure of the tree.
    pub structure: Structure<R>,
    /// The values that the leaves add to the scores.
    pub values: StepValues,
    /// The decrease that each split made in the squares of the residual that the tree grew on, per unit of its
    /// projection: |S| ΔI / ‖φ‖². If trees split by second-order gains, twice the decrease of the second-order
    /// approximation of the loss. In units of the outputs' variances for trees that split in these units, and for those
    /// of single outputs with the square loss, unless all outputs are labels. In preorder ([`Structure::splits`]). The importance of a feature is the sum of the
    /// gains of its splits ([`FeatureImportances`](rpo_core::FeatureImportances)).
    pub gains: Vec<f64>,
}

impl<R: Rule> BoostingStep<R> {
    /// Adds the leaf values of samples to their scores (n x d).
    pub(super) fn add(&self, leaf_of_row: &[u32], scores: &mut Array2<f64>) {
        let d = scores.ncols();
        let rows = scores.axis_chunks_iter_mut(Axis(0), 256).into_par_iter();
        rows.zip(leaf_of_row.par_chunks(256))
            .for_each(|(mut scores, leaves)| {
                let scores = scores.as_slice_mut().expect("made in row order");
                for (row, &leaf) in scores.chunks_exact_mut(d).zip(leaves) {
                    self.values.add(leaf, row);
                }
            });
    }
}
