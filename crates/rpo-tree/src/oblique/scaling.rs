//! Scaling of features by their spread.

use rpo_core::MatrixView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The units in which hyperplanes are learned. Features that are constant, or 0 or 1 everywhere, are not scaled (the
/// nominal features in the experiments of Daniels and Metaxas, 2017).
///
/// ADAM moves every weight by about its learning rate per step, and penalties weigh all weights alike, so solvers need
/// features of about unit size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum FeatureScaling {
    /// Unscaled.
    Raw,
    /// Mean 0 and standard deviation 1: the paper's protocol.
    Standard,
    /// Standardised if at least half of the samples have a value other than 0; otherwise, as for term weights of texts,
    /// divided by the largest magnitude, so that 0 stays 0. In units of its spread a feature is larger the rarer it is,
    /// and rare ones dominate the others: on term weights this costs sf-h .05 of its macro-F.
    BySparsity,
}

rpo_core::impl_names!(FeatureScaling, "a scaling of features");

/// x' = (x − centre) · scale by feature. Rules are stored in raw units, so the scaling never leaves this crate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Standardization {
    pub(super) centre: Vec<f32>,
    pub(super) scale: Vec<f32>,
}

impl Standardization {
    fn none(n_features: usize) -> Self {
        Self {
            centre: vec![0.0; n_features],
            scale: vec![1.0; n_features],
        }
    }

    /// Computes the units of the columns; standard deviations have divisor n.
    pub(crate) fn of(x: MatrixView<'_>, scaling: FeatureScaling) -> Self {
        let (n, p) = (x.n_rows(), x.n_cols());
        let mut out = Self::none(p);
        if scaling == FeatureScaling::Raw {
            return out;
        }
        let mut sums = vec![0.0; p];
        let mut count = vec![0_usize; p];
        let (mut nonzero, mut largest) = (vec![0_usize; p], vec![0.0_f32; p]);
        let mut indicator = vec![true; p];
        for row in 0..n {
            x.for_each_in_row(row, |j, v| {
                let j = j as usize;
                sums[j] += f64::from(v);
                count[j] += 1;
                nonzero[j] += usize::from(v != 0.0);
                largest[j] = largest[j].max(v.abs());
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
        for j in (0..p).filter(|&j| !indicator[j] && squares[j] > 0.0) {
            let is_sparse = scaling == FeatureScaling::BySparsity && 2 * nonzero[j] < n;
            let (centre, scale) = if is_sparse {
                (0.0, 1.0 / largest[j])
            } else {
                ((sums[j] / n as f64) as f32, (n as f64 / squares[j]).sqrt() as f32)
            };
            // A spread too small for `f32` is treated as constant.
            if scale.is_finite() {
                (out.centre[j], out.scale[j]) = (centre, scale);
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
        let of = |x| Standardization::of(x, FeatureScaling::Standard);
        let dense = of((&x).into());
        assert_eq!(dense, of(MatrixView::Sparse(sparse.view())));
        assert_eq!(dense.centre, [3.0, 0.0, 0.0, 2.0 / 3.0]);
        let sd = (8.0_f32 / 3.0).sqrt();
        for (scale, expected) in dense.scale.iter().zip([1.0 / sd, 1.0, 1.0, 3.0 / 8.0_f32.sqrt()]) {
            assert!((scale - expected).abs() < 1e-6);
        }
        let mixed = |x| Standardization::of(x, FeatureScaling::BySparsity);
        let (by_sparsity, same) = (mixed((&x).into()), mixed(MatrixView::Sparse(sparse.view())));
        assert_eq!(by_sparsity, same);
        assert_eq!(by_sparsity.centre, [3.0, 0.0, 0.0, 0.0]);
        assert_eq!(by_sparsity.scale, [dense.scale[0], 1.0, 1.0, 0.5]);
        assert_eq!(
            Standardization::of((&x).into(), FeatureScaling::Raw),
            Standardization::none(4)
        );
    }
}
