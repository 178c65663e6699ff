//! Trees: a structure and the predictions of its leaves.

use crate::error::TreeError;
use crate::leaves::{LeafBuilder, LeafModel, Leaves};
use crate::rule::Rule;
use crate::structure::Structure;
use ndarray::Array2;
use rpo_core::{Matrix, MatrixView, Mismatch};
use std::sync::Arc;

/// A tree: a structure and the predictions of its leaves, in the original output space.
///
/// The leaves are one of the storages of [`Leaves`] unless another [`LeafModel`] is specified.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree<R, L = Leaves> {
    structure: Structure<R>,
    leaves: L,
}

impl<R: Rule, L: LeafModel> Tree<R, L> {
    /// Combines a structure and its leaves.
    ///
    /// # Errors
    /// [`TreeError::Mismatch`] if they differ in the number of leaves.
    pub fn new(structure: Structure<R>, leaves: L) -> Result<Self, TreeError> {
        Mismatch::check("leaves of the structure", structure.n_leaves(), leaves.n_leaves())?;
        Ok(Self { structure, leaves })
    }

    /// Returns the structure.
    pub fn structure(&self) -> &Structure<R> {
        &self.structure
    }

    /// Returns the leaves.
    pub fn leaves(&self) -> &L {
        &self.leaves
    }

    /// Returns the structure and the leaves.
    pub fn into_parts(self) -> (Structure<R>, L) {
        (self.structure, self.leaves)
    }

    /// Predicts the outputs (samples x outputs) of the samples of `x`: the values of their leaves, summed in `f64` and
    /// rounded to `f32`.
    ///
    /// # Errors
    /// See [`Structure::apply`].
    pub fn predict(&self, x: MatrixView<'_>) -> Result<Array2<f32>, TreeError> {
        let leaves = self.structure.apply(x)?;
        let mut out = Array2::zeros((x.n_rows(), self.leaves.n_outputs()));
        let mut sums = vec![0.0; self.leaves.n_outputs()];
        for (mut row, leaf) in out.rows_mut().into_iter().zip(leaves) {
            sums.fill(0.0);
            self.leaves.for_each(leaf, |j, v| sums[j as usize] += v);
            row.iter_mut()
                .zip(&sums)
                .for_each(|(out, &sum)| *out = sum as f32);
        }
        Ok(out)
    }

    /// Returns the tree with new leaves made from the samples of `x` that reach them: other outputs, other samples, or
    /// both, as for honest trees (structure and predictions from different samples: Wager and Athey 2018). Leaves that no
    /// sample of positive weight reaches are [removed](Structure::occupied).
    ///
    /// # Errors
    /// [`TreeError::Mismatch`] if `x`, `weights` and `outputs` differ in rows, the errors of [`Structure::apply`], and
    /// those of the builder; for [`LeafKind`](crate::LeafKind), those of its [`LeafBuilder`](crate::LeafBuilder).
    pub fn relabel<B: LeafBuilder>(
        &self,
        builder: &B,
        x: MatrixView<'_>,
        weights: &[f32],
        outputs: &Arc<Matrix>,
    ) -> Result<Tree<R, B::Leaves>, TreeError> {
        Mismatch::check("rows of outputs", x.n_rows(), outputs.n_rows())?;
        let (structure, members) = self.structure.occupied(x, weights)?;
        let leaves = builder.build(&members, weights, outputs)?;
        Tree::new(structure, leaves)
    }
}
