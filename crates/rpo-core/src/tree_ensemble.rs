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

/// A model that knows how much each feature contributed to its splits.
pub trait FeatureImportances {
    /// The importances of features, by feature, which sum to 1 unless all are 0; features that are not listed have
    /// importance 0.
    fn importances(&self) -> Vec<(u32, f64)>;
}

/// A model whose trees send every sample to one leaf each.
pub trait Apply: Predictor {
    /// The leaf of each row of `x` in each tree (n x trees).
    ///
    /// # Errors
    /// As [`predict`](Predictor::predict).
    fn apply(&self, x: MatrixView<'_>) -> Result<Array2<u32>, Self::Error>;
}
