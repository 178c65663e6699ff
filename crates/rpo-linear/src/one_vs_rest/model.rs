//! A sparse linear classifier for each label.

use ndarray::{Array1, Array2, ArrayViewMut2};
use rpo_core::{CsrMatrix, CsrView, MatrixView, Mismatch, Predictor, csr_row};

use super::RowNorm;
use crate::LinearError;
use crate::dual::MarginLoss;
use crate::scores::Scorer;

/// A sparse linear classifier for each label: scores 1 / (1 + e⁻ᵃᶻ), z = Wᵀx + b, of samples scaled to length 1 if the
/// training samples were; a = 1 for the logistic loss, 3 for the squared hinge. Immutable.
#[derive(Debug, Clone, PartialEq)]
pub struct OneVsRestModel {
    weights: CsrMatrix,
    offset: Array1<f32>,
    loss: MarginLoss,
    normalize: RowNorm,
    residual: f32,
    n_train: usize,
}

impl OneVsRestModel {
    /// Combines the parts of a model: W (p x d), one offset per label, the loss, the scaling of samples, the residual, and
    /// the number of training samples.
    ///
    /// # Errors
    /// [`LinearError::NotCsr`] or [`LinearError::Mismatch`].
    pub(crate) fn new(
        weights: CsrMatrix,
        offset: Array1<f32>,
        loss: MarginLoss,
        normalize: RowNorm,
        residual: f32,
        n_train: usize,
    ) -> Result<Self, LinearError> {
        Mismatch::check("offsets", weights.cols(), offset.len())?;
        Ok(Self {
            weights,
            offset,
            loss,
            normalize,
            residual,
            n_train,
        })
    }

    /// W (p x d), without the weights that were left out.
    pub fn weights(&self) -> CsrView<'_> {
        self.weights.view()
    }

    /// The intercepts b, d.
    pub fn offset(&self) -> &Array1<f32> {
        &self.offset
    }

    /// The loss that was minimised.
    pub fn loss(&self) -> MarginLoss {
        self.loss
    }

    /// The scaling of samples.
    pub fn normalize(&self) -> RowNorm {
        self.normalize
    }

    /// The largest violation of the optimality conditions, over all samples and labels, of the weights before small ones
    /// were left out; at most the tolerance unless a fit ended by its number of passes.
    pub fn residual(&self) -> f32 {
        self.residual
    }
}

/// Predictions are the scores, in [0, 1]. Features that are not finite ([`LinearError::Features`]) and scores beyond the
/// range of `f32` ([`LinearError::Score`]) are errors.
impl Predictor for OneVsRestModel {
    type Error = LinearError;

    fn n_features(&self) -> usize {
        self.weights.rows()
    }

    fn n_outputs(&self) -> usize {
        self.weights.cols()
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

impl Scorer for OneVsRestModel {
    fn score(&self, x: MatrixView<'_>, rows: &[usize], mut out: ArrayViewMut2<'_, f32>) {
        let weights = self.weights.view();
        for (&row, mut out) in rows.iter().zip(out.rows_mut()) {
            let factor = match self.normalize {
                RowNorm::L2 => x.unit_factor(row),
                RowNorm::None => 1.0,
            };
            out.assign(&self.offset);
            x.for_each_in_row(row, |j, v| {
                let (labels, weights) = csr_row(&weights, j as usize);
                let v = v * factor;
                labels
                    .iter()
                    .zip(weights)
                    .for_each(|(&l, &w)| out[l as usize] += v * w);
            });
            out.mapv_inplace(|z| self.loss.probability(z));
        }
    }
}
