//! What every fitted model has in common.

use crate::{CsrMatrix, MatrixView};
use ndarray::Array2;

/// Default limit on a dense result, in bytes: 4 GiB.
pub const DEFAULT_MEMORY_LIMIT: usize = 4 << 30;

/// A fitted model: its sizes and its predictions. Immutable.
pub trait Predictor {
    /// What a prediction can fail with.
    type Error;

    /// Number of features p.
    fn n_features(&self) -> usize;

    /// Number of outputs d.
    fn n_outputs(&self) -> usize;

    /// Number of training samples.
    fn n_train(&self) -> usize;

    /// Returns the predictions (n x d) for features `x` (n x p), if they take no more than `memory_limit` bytes.
    ///
    /// # Errors
    /// Another number of features than the model was fitted to, values that the model does not take, such as missing
    /// ones, and a result above the limit.
    fn predict_with_limit(&self, x: MatrixView<'_>, memory_limit: usize) -> Result<Array2<f32>, Self::Error>;

    /// Returns the k largest predictions of each sample that are not 0, as CSR (n x d); of equal ones, those of the
    /// smaller outputs. Never holds all predictions.
    ///
    /// # Errors
    /// As [`predict`](Self::predict) but for the limit, and k = 0.
    fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, Self::Error>;

    /// [`predict_with_limit`](Self::predict_with_limit) of [`DEFAULT_MEMORY_LIMIT`].
    ///
    /// # Errors
    /// As there.
    fn predict(&self, x: MatrixView<'_>) -> Result<Array2<f32>, Self::Error> {
        self.predict_with_limit(x, DEFAULT_MEMORY_LIMIT)
    }
}

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
