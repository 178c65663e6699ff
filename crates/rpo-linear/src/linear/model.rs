//! A linear model per output.

use ndarray::{Array1, Array2, ArrayViewMut2};
use rpo_core::{CsrMatrix, InverseLink, Matrix, MatrixView, Predictor, csr_row};

use super::RowNorm;
use super::calibrate::Calibration;
use crate::LinearError;
use crate::embedding::loss::apply_to_rows;
use crate::scores::Scorer;
use rpo_projections::Penalty;

/// A linear model of all outputs: scores g(f(Wᵀx + b)) with one column of W per output. Samples are scaled to length 1 if
/// the training samples were. For least squares g is the identity; for labels it is the logistic function. f(z) is z, except
/// for the squared hinge, where it makes log-odds of margins: a z + h ln(1 + 100 max(0, 1 + z)) + c, and 8 + ln(t - 7) of
/// one t above 8. Immutable.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModel {
    /// The largest violation of the optimality conditions, over all samples and labels, before small weights were left
    /// out, in the units of `tolerance`; the violation of a label with a stricter tolerance is multiplied by the
    /// ratio of the two tolerances. At most the tolerance unless a fit reached its maximum number of passes. `None`
    /// for least squares and Newton's method.
    pub residual: Option<f32>,
    /// The cost C, given or found, of a label with the mean number of samples in one-vs-rest.
    pub cost: Option<f64>,
    /// The penalty, given or found, of ridge regression.
    pub penalty: Option<Penalty>,
    pub(super) weights: Matrix,
    pub(super) offset: Array1<f64>,
    pub(super) inverse_link: InverseLink,
    /// f.
    pub(super) calibration: Calibration,
    pub(super) normalize: RowNorm,
    pub(super) n_train: usize,
}

impl LinearModel {
    /// Returns W (p x d), sparse if small weights were left out.
    pub fn weights(&self) -> MatrixView<'_> {
        self.weights.view()
    }

    /// Returns the intercepts b, d. In one-vs-rest, a label that no training sample has is -∞, and one that every sample
    /// has ∞, beside weights of 0: their scores are 0 and 1.
    pub fn intercepts(&self) -> &Array1<f64> {
        &self.offset
    }

    /// What the features of a sample are multiplied with before anything else.
    pub(super) fn factor(&self, x: MatrixView<'_>, row: usize) -> f32 {
        match self.normalize {
            RowNorm::L2 => x.unit_factor(row),
            RowNorm::None => 1.0,
        }
    }
}

/// Predictions are the scores. Features that are not finite ([`LinearError::Features`]) and scores beyond the range of
/// `f32` ([`LinearError::Score`]) are errors.
impl Predictor for LinearModel {
    type Error = LinearError;

    fn n_features(&self) -> usize {
        self.weights.n_rows()
    }

    fn n_outputs(&self) -> usize {
        self.weights.n_cols()
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
        let weights = self.weights.view();
        // Features far from 0 have products that cancel beyond the digits of `f32`.
        let mut sums = self.offset.clone();
        for (&row, mut out) in rows.iter().zip(out.rows_mut()) {
            let factor = self.factor(x, row);
            sums.assign(&self.offset);
            x.for_each_in_row(row, |j, v| {
                let v = f64::from(v * factor);
                match &weights {
                    MatrixView::Dense(weights) => {
                        sums.zip_mut_with(&weights.row(j as usize), |sum, &w| *sum += v * f64::from(w));
                    }
                    MatrixView::Sparse(weights) => {
                        let (outputs, weights) = csr_row(weights, j as usize);
                        for (&output, &w) in outputs.iter().zip(weights) {
                            sums[output as usize] += v * f64::from(w);
                        }
                    }
                }
            });
            out.zip_mut_with(&sums, |out, sum| *out = self.calibration.log_odds(*sum) as f32);
        }
        apply_to_rows(self.inverse_link, out.view_mut());
        // The logistic function of 32 bits ends above 0.
        let offsets = self.offset.iter().enumerate();
        for (output, _) in offsets.filter(|(_, b)| **b == f64::NEG_INFINITY) {
            out.column_mut(output).fill(0.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    /// Finite weights and features whose products overflow.
    #[test]
    fn scores_beyond_f32_are_refused() {
        let model = LinearModel {
            weights: Matrix::Dense(array![[3e38_f32, 1.0], [3e38, -1.0]]),
            offset: array![0.0, 0.0],
            inverse_link: InverseLink::Identity,
            calibration: Calibration::line(1.0),
            normalize: RowNorm::None,
            residual: None,
            cost: None,
            penalty: None,
            n_train: 1,
        };
        let mut x = Array2::<f32>::zeros((600, 2));
        x[[421, 0]] = 1.0;
        assert!(model.predict((&x).into()).is_ok());
        x[[421, 1]] = 1.0;
        x[[599, 0]] = 2.0;
        let (sample, output, value) = (421, 0, f32::INFINITY);
        let expected = LinearError::Score {
            sample,
            output,
            value,
        };
        assert_eq!(model.predict((&x).into()), Err(expected.clone()));
        assert_eq!(model.predict_top_k((&x).into(), 1), Err(expected));
    }
}
