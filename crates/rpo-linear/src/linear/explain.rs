//! What features contribute to the scores of a linear model.

use super::LinearModel;
use crate::LinearError;
use crate::checks::check_features;
use rayon::prelude::*;
use rpo_core::{
    Contributions, CsrMatrix, Explain, Matrix, MatrixView, Predictor, check_explained, csr_of_rows, csr_row,
};

/// The contribution of feature j to output k is a w_jk (x_j - m_j), with the mean m_j over the background samples: the
/// Shapley value if features are independent in the background. a is 1, or for the squared hinge the mean slope of the
/// log-odds between the margin of the means and that of the sample (the value of Aumann and Shapley). Scores are the
/// arguments of the inverse link g, and features are those of samples scaled to length 1 if the model scales them. The
/// base of a label that no training sample has is -∞, and that of one that every sample has ∞.
impl Explain for LinearModel {
    fn contributions(
        &self,
        x: MatrixView<'_>,
        outputs: &[&[u32]],
        background: MatrixView<'_>,
    ) -> Result<Contributions, LinearError> {
        check_features(self.n_features(), x)?;
        check_features(self.n_features(), background)?;
        check_explained::<LinearError>(x, outputs, self.n_outputs(), background)?;
        let mut means = vec![0.0; self.n_features()];
        for row in 0..background.n_rows() {
            let factor = self.factor(background, row);
            background.for_each_in_row(row, |j, v| means[j as usize] += f64::from(v * factor));
        }
        means
            .iter_mut()
            .for_each(|sum| *sum /= background.n_rows() as f64);
        let weights = self.weights_by_output();
        let weights = weights.view();
        let base_margin = |k: usize| {
            let (features, weights) = csr_row(&weights, k);
            let products = features
                .iter()
                .zip(weights)
                .map(|(&j, &w)| f64::from(w) * means[j as usize]);
            products.sum::<f64>() + self.offset[k]
        };
        let base: Vec<f64> = (0..self.n_outputs()).map(base_margin).collect();
        let rows: Vec<Vec<Vec<(u32, f32)>>> = outputs
            .par_iter()
            .enumerate()
            .map_init(
                || vec![0.0; self.n_features()],
                |values, (row, outputs)| {
                    x.copy_row(row, values);
                    let factor = self.factor(x, row);
                    let change = |(&j, &w): (&u32, &f32)| {
                        let difference = f64::from(values[j as usize] * factor) - means[j as usize];
                        (j, f64::from(w) * difference)
                    };
                    let of_output = |&k: &u32| {
                        let (features, weights) = csr_row(&weights, k as usize);
                        let changes = || features.iter().zip(weights).map(change);
                        let from = base[k as usize];
                        let to = from + changes().map(|(_, change)| change).sum::<f64>();
                        let slope = self.calibration.slope_between(from, to);
                        let given = changes().map(|(j, change)| (j, (slope * change) as f32));
                        given.filter(|(_, given)| *given != 0.0).collect()
                    };
                    outputs.iter().map(of_output).collect()
                },
            )
            .collect();
        let n_rows = outputs.iter().map(|outputs| outputs.len()).sum();
        let values = csr_of_rows(rows.iter().flatten(), (n_rows, self.n_features()));
        Ok(Contributions {
            base: base.into_iter().map(|z| self.calibration.log_odds(z)).collect(),
            links: vec![self.inverse_link; self.n_outputs()],
            values,
        })
    }
}

impl LinearModel {
    fn weights_by_output(&self) -> CsrMatrix {
        match &self.weights {
            Matrix::Dense(weights) => MatrixView::Dense(weights.t()).to_csr(),
            Matrix::Sparse(weights) => weights.transpose_view().to_csr(),
        }
    }
}
