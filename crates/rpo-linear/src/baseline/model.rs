//! A linear model per output.

use ndarray::{Array1, Array2, ArrayViewMut2};
use rpo_core::{CsrMatrix, InverseLink, MatrixView, Mismatch, Predictor};

use crate::LinearError;
use crate::embedding::loss::apply_to_rows;
use crate::scores::Scorer;

/// A linear model of all outputs: scores g(Wᵀx + offset) with the inverse link g and one column of W per output.
/// Immutable.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModel {
    weights: Array2<f32>,
    offset: Array1<f32>,
    inverse_link: InverseLink,
    n_train: usize,
}

impl LinearModel {
    /// Combines the parts of a model: W (p x d), one offset per output, the inverse link, and the number of training
    /// samples.
    ///
    /// # Errors
    /// [`LinearError::Mismatch`] if sizes do not fit.
    pub fn new(
        weights: Array2<f32>,
        offset: Array1<f32>,
        inverse_link: InverseLink,
        n_train: usize,
    ) -> Result<Self, LinearError> {
        Mismatch::check("offsets", weights.ncols(), offset.len())?;
        Ok(Self {
            weights,
            offset,
            inverse_link,
            n_train,
        })
    }

    /// W (p x d).
    pub fn weights(&self) -> &Array2<f32> {
        &self.weights
    }

    /// The intercepts, d.
    pub fn offset(&self) -> &Array1<f32> {
        &self.offset
    }

    /// The inverse link g.
    pub fn inverse_link(&self) -> InverseLink {
        self.inverse_link
    }
}

/// Predictions are the scores. Features that are not finite ([`LinearError::Features`]) and scores beyond the range of
/// `f32` ([`LinearError::Score`]) are errors.
impl Predictor for LinearModel {
    type Error = LinearError;

    fn n_features(&self) -> usize {
        self.weights.nrows()
    }

    fn n_outputs(&self) -> usize {
        self.weights.ncols()
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

impl Scorer for LinearModel {
    fn score(&self, x: MatrixView<'_>, rows: &[usize], mut out: ArrayViewMut2<'_, f32>) {
        for (&row, mut out) in rows.iter().zip(out.rows_mut()) {
            out.assign(&self.offset);
            x.for_each_in_row(row, |j, v| out.scaled_add(v, &self.weights.row(j as usize)));
        }
        apply_to_rows(self.inverse_link, out);
    }
}
