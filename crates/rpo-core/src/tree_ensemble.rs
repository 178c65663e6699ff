//! What models of trees have in common.

use crate::{MatrixView, Predictor};
use ndarray::Array2;

/// A model that predicts by its trees.
pub trait TreeEnsemble {
    /// A tree, with what the model keeps of it.
    type Tree;

    /// The trees, in their order.
    fn trees(&self) -> &[Self::Tree];
}

/// A model whose trees send every sample to one leaf each.
pub trait Apply: Predictor {
    /// The leaf of each row of `x` in each tree (n x trees).
    ///
    /// # Errors
    /// As [`predict`](Predictor::predict).
    fn apply(&self, x: MatrixView<'_>) -> Result<Array2<u32>, Self::Error>;
}
