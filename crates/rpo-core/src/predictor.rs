//! Traits of fitted models.

use crate::{CsrMatrix, MatrixView};
use ndarray::Array2;

/// Default limit on the size of a dense result, in bytes: 4 GiB.
pub const DEFAULT_MEMORY_LIMIT: usize = 4 << 30;

/// A fitted model with its sizes and predictions. Immutable.
pub trait Predictor {
    /// The error of a prediction.
    type Error;

    /// Number of features p.
    fn n_features(&self) -> usize;

    /// Number of outputs d.
    fn n_outputs(&self) -> usize;

    /// Number of training samples.
    fn n_train(&self) -> usize;

    /// Returns the predictions (n x d) for features `x` (n x p) if they take at most `memory_limit` bytes.
    ///
    /// # Errors
    /// A number of features other than the one the model was fitted to, values that the model does not accept, such as
    /// missing ones, and a result above the limit.
    fn predict_with_limit(&self, x: MatrixView<'_>, memory_limit: usize) -> Result<Array2<f32>, Self::Error>;

    /// Returns the k largest predictions of each sample, as CSR (n x d); ties go to the smaller output indices. Zeros
    /// are left out, unless a prediction of the sample is negative ([`best_of`](crate::best_of)); forests always leave
    /// them out. Never holds all predictions.
    ///
    /// # Errors
    /// As for [`predict`](Self::predict) except for the limit, and k = 0.
    fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, Self::Error>;

    /// Calls [`predict_with_limit`](Self::predict_with_limit) with [`DEFAULT_MEMORY_LIMIT`].
    ///
    /// # Errors
    /// As for [`predict_with_limit`](Self::predict_with_limit).
    fn predict(&self, x: MatrixView<'_>) -> Result<Array2<f32>, Self::Error> {
        self.predict_with_limit(x, DEFAULT_MEMORY_LIMIT)
    }
}

/// A model that consists of trees.
pub trait TreeEnsemble {
    /// A tree, with the data that the model stores for it.
    type Tree;

    /// Returns the trees, in order.
    fn trees(&self) -> &[Self::Tree];
}

/// A model that records how much each feature contributed to its splits.
pub trait FeatureImportances {
    /// Returns (feature, importance) pairs sorted by feature. The importances sum to 1 unless all are 0; features that
    /// are not listed have importance 0.
    fn importances(&self) -> Vec<(u32, f64)>;
}

/// A model of trees, each of which sends every sample to one leaf.
pub trait Apply: Predictor {
    /// Returns the leaf that each row of `x` reaches in each tree (n x trees).
    ///
    /// # Errors
    /// As for [`predict`](Predictor::predict), and more leaves than 4 GiB hold.
    fn apply(&self, x: MatrixView<'_>) -> Result<Array2<u32>, Self::Error>;
}
