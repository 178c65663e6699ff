//! Features in units of their spread.

use rpo_core::MatrixView;

/// x' = (x − centre) · scale by feature: what makes one learning rate fit all features.
///
/// ADAM moves every weight by about its learning rate per step, and penalties weigh all weights alike, so that
/// solvers need features of about unit size. Rules are stored in raw units: the scaling never leaves this crate.
#[derive(Debug, Clone, PartialEq)]
pub struct Standardization {
    pub(super) centre: Vec<f32>,
    pub(super) scale: Vec<f32>,
}

impl Standardization {
    /// Features as they are.
    pub fn none(n_features: usize) -> Self {
        Self {
            centre: vec![0.0; n_features],
            scale: vec![1.0; n_features],
        }
    }

    /// The mean and one over the standard deviation (divisor n) of each column, but features that are 0 or 1
    /// everywhere and constant ones stay as they are: the protocol of Daniels and Metaxas (2017, section 4), who
    /// standardise numeric features and leave nominal ones.
    pub fn of(x: MatrixView<'_>) -> Self {
        let (n, p) = (x.n_rows(), x.n_cols());
        let mut sums = vec![0.0; p];
        let mut count = vec![0_usize; p];
        let mut indicator = vec![true; p];
        for row in 0..n {
            x.for_each_in_row(row, |j, v| {
                let j = j as usize;
                sums[j] += f64::from(v);
                count[j] += 1;
                indicator[j] &= v == 0.0 || v == 1.0;
            });
        }
        let mut squares: Vec<f64> = sums
            .iter()
            .zip(&count)
            .map(|(sum, &count)| (n - count) as f64 * (sum / n as f64).powi(2))
            .collect();
        for row in 0..n {
            x.for_each_in_row(row, |j, v| {
                squares[j as usize] += (f64::from(v) - sums[j as usize] / n as f64).powi(2);
            });
        }
        let mut out = Self::none(p);
        for j in (0..p).filter(|&j| !indicator[j] && squares[j] > 0.0) {
            let scale = (n as f64 / squares[j]).sqrt() as f32;
            // A spread too small for the type: as good as constant.
            if scale.is_finite() {
                (out.centre[j], out.scale[j]) = ((sums[j] / n as f64) as f32, scale);
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};

    #[test]
    fn numeric_features_are_standardised_in_either_layout() {
        let x: Array2<f32> = array![[1.0, 0.0, 5.0, 0.0], [3.0, 1.0, 5.0, 2.0], [5.0, 0.0, 5.0, 0.0]];
        let sparse = MatrixView::from(&x).to_csr();
        let dense = Standardization::of((&x).into());
        assert_eq!(dense, Standardization::of(MatrixView::Sparse(sparse.view())));
        assert_eq!(dense.centre, [3.0, 0.0, 0.0, 2.0 / 3.0]);
        let sd = (8.0_f32 / 3.0).sqrt();
        for (scale, expected) in dense.scale.iter().zip([1.0 / sd, 1.0, 1.0, 3.0 / 8.0_f32.sqrt()]) {
            assert!((scale - expected).abs() < 1e-6);
        }
    }
}
