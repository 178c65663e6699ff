//! Fitted label embeddings.

use ndarray::{Array2, ArrayViewMut2};
use rpo_core::{CsrMatrix, InverseLink, MatrixView, Mismatch, Predictor, product_into};

use super::FeatureMap;
use super::loss::apply_to_rows;
use crate::LinearError;
use crate::scores::Scorer;

/// The model of [`LabelEmbeddingParams`](crate::LabelEmbeddingParams): scores g(Θᵀ(φ(x), 1)) with the inverse link g.
/// Immutable.
#[derive(Debug, Clone, PartialEq)]
pub struct LabelEmbeddingModel {
    /// The inverse link g: scores are probabilities with the logistic and softmax losses, and estimates of the outputs
    /// with the squared loss. Predicting the labels with scores of 0.5 or more minimizes the expected Hamming loss; see
    /// [`f1_decisions`](crate::f1_decisions) for the macro F1.
    pub inverse_link: InverseLink,
    map: FeatureMap,
    weights: Array2<f32>,
    n_train: usize,
}

impl LabelEmbeddingModel {
    /// Combines the components of a model: φ, Θᵀ (d x terms, where the last term is the intercept), the inverse link,
    /// and the number of training samples.
    ///
    /// # Errors
    /// [`LinearError::Mismatch`] if sizes do not match.
    pub(crate) fn new(
        map: FeatureMap,
        weights: Array2<f32>,
        inverse_link: InverseLink,
        n_train: usize,
    ) -> Result<Self, LinearError> {
        Mismatch::check("terms of the weights", map.n_terms(), weights.ncols())?;
        Ok(Self {
            map,
            weights,
            inverse_link,
            n_train,
        })
    }

    /// Returns φ.
    pub fn map(&self) -> &FeatureMap {
        &self.map
    }

    /// Returns Θᵀ (d x terms); the last term is the intercept.
    pub fn weights(&self) -> &Array2<f32> {
        &self.weights
    }
}

/// Predictions are the scores. Features that are not finite ([`LinearError::Features`]) and scores beyond the range of
/// `f32` ([`LinearError::Score`]) are errors.
impl Predictor for LabelEmbeddingModel {
    type Error = LinearError;

    fn n_features(&self) -> usize {
        self.map.n_features
    }

    fn n_outputs(&self) -> usize {
        self.weights.nrows()
    }

    fn n_train(&self) -> usize {
        self.n_train
    }

    fn predict_with_limit(&self, x: MatrixView<'_>, limit: usize) -> Result<Array2<f32>, LinearError> {
        self.scores_with_limit(x, limit)
    }

    fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, LinearError> {
        self.top_scores(x, k)
    }
}

impl Scorer for LabelEmbeddingModel {
    fn score(&self, x: MatrixView<'_>, rows: &[usize], mut out: ArrayViewMut2<'_, f32>) {
        let mut phi = Array2::zeros((rows.len(), self.map.n_terms()));
        self.map.fill(x, rows, phi.view_mut());
        product_into(phi.view(), self.weights.t(), out.view_mut());
        apply_to_rows(self.inverse_link, out);
    }
}
