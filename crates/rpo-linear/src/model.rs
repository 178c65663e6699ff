//! A fitted link.

use ndarray::{Array2, ArrayViewMut2};
use rpo_core::{CsrMatrix, MatrixView};

use crate::error::check_length;
use crate::scores::Scorer;
use crate::{FeatureMap, LinearError, Response};

/// Largest number of bytes of dense scores, unless a caller allows more: 4 GiB.
pub const DEFAULT_BUDGET: usize = 4 << 30;

/// A fitted [`LinkParams`](crate::LinkParams): scores response(Θᵀ(φ(x), 1)). Immutable.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkModel {
    map: FeatureMap,
    weights: Array2<f32>,
    response: Response,
    n_train: usize,
}

impl LinkModel {
    /// Puts a model together from its parts, as a model file holds them: φ, Θᵀ (d x terms, the last the intercept), the
    /// response, and the number of samples it was fitted to.
    ///
    /// # Errors
    /// [`LinearError::Mismatch`] if sizes do not fit.
    pub fn new(
        map: FeatureMap,
        weights: Array2<f32>,
        response: Response,
        n_train: usize,
    ) -> Result<Self, LinearError> {
        check_length("terms of the weights", map.n_terms(), weights.ncols())?;
        Ok(Self {
            map,
            weights,
            response,
            n_train,
        })
    }

    /// Number of features p.
    pub fn n_features(&self) -> usize {
        self.map.n_features()
    }

    /// Number of outputs d.
    pub fn n_outputs(&self) -> usize {
        self.weights.nrows()
    }

    /// Number of samples it was fitted to.
    pub fn n_train(&self) -> usize {
        self.n_train
    }

    /// φ.
    pub fn map(&self) -> &FeatureMap {
        &self.map
    }

    /// Θᵀ (d x terms), the last term the intercept.
    pub fn weights(&self) -> &Array2<f32> {
        &self.weights
    }

    /// What scores are: probabilities with a logistic loss, estimates of the outputs with the squared loss. Of 0/1
    /// labels, those of 0.5 or more are predicted, which minimises the expected Hamming loss; see
    /// [`f1_decisions`](crate::f1_decisions) for the macro F1.
    pub fn response(&self) -> Response {
        self.response
    }

    /// Scores (n x d) of features (n x p).
    ///
    /// # Errors
    /// [`LinearError::Mismatch`] for another number of features than the model was fitted to, [`LinearError::Features`]
    /// for values that are not finite, [`LinearError::Predictions`] if the result would exceed [`DEFAULT_BUDGET`].
    pub fn predict(&self, x: MatrixView<'_>) -> Result<Array2<f32>, LinearError> {
        self.predict_within(x, DEFAULT_BUDGET)
    }

    /// [`predict`](Self::predict) with another limit on the bytes of the result.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predict_within(&self, x: MatrixView<'_>, budget: usize) -> Result<Array2<f32>, LinearError> {
        self.scores_within(x, budget)
    }

    /// The k largest scores of each row that are not 0, as CSR (n x d); of equal ones the smaller output. Never holds
    /// all scores.
    ///
    /// # Errors
    /// As [`predict`](Self::predict), and [`LinearError::Parameter`] for k = 0.
    pub fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, LinearError> {
        self.top_scores(x, k)
    }
}

impl Scorer for LinkModel {
    fn shape(&self) -> (usize, usize) {
        (self.n_features(), self.n_outputs())
    }

    fn score(&self, x: MatrixView<'_>, rows: &[usize], mut out: ArrayViewMut2<'_, f32>) {
        let mut phi = Array2::zeros((rows.len(), self.map.n_terms()));
        self.map.fill(x, rows, phi.view_mut());
        ndarray::linalg::general_mat_mul(1.0, &phi, &self.weights.t(), 0.0, &mut out);
        self.response.apply_to_rows(out);
    }
}
