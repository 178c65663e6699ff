//! Scaling of outputs to a common unit, so that the outputs of the largest numbers do not decide all splits.

use crate::missing::observed_sums;
use rpo_core::MatrixView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unit of the outputs while splits are searched. Leaves and predictions keep the outputs' own units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum OutputScaling {
    /// Standard deviations, unless all outputs are labels (0 or 1).
    #[default]
    Auto,
    /// The outputs' own units: an output of large numbers weighs more.
    None,
    /// The standard deviation of each output. Constant outputs are left unscaled.
    Deviation,
}

impl OutputScaling {
    /// Returns the factor of each output: the reciprocal of its standard deviation over the samples of positive weight
    /// in which it is observed. `None` if nothing is scaled, as with a single output.
    pub(crate) fn factors(self, y: MatrixView<'_>, weights: Option<&[f32]>) -> Option<Vec<f32>> {
        let is_scaled = match self {
            Self::None => false,
            Self::Deviation => true,
            Self::Auto => y.reborrow().first_not_label(true).is_some(),
        };
        (is_scaled && y.n_cols() > 1).then(|| {
            let reciprocal = |variance: f64| {
                let factor = (1.0 / variance.sqrt()) as f32;
                if factor.is_normal() { factor } else { 1.0 }
            };
            variances(y, weights).into_iter().map(reciprocal).collect()
        })
    }
}

/// Returns the weighted variance of the observed values of each output; 0 if the values differ only by rounding to
/// `f32`.
fn variances(y: MatrixView<'_>, weights: Option<&[f32]>) -> Vec<f64> {
    let weight = |row: usize| weights.map_or(1.0, |w| f64::from(w[row]));
    let sums = observed_sums(y, weights);
    let means: Vec<f64> = sums.iter().map(|sum| sum.mean()).collect();
    let mut squares = vec![0.0; y.n_cols()];
    for row in 0..y.n_rows() {
        y.for_each_in_row(row, |j, value| {
            if !value.is_nan() {
                let distance = f64::from(value) - means[j as usize];
                squares[j as usize] += weight(row) * distance * distance;
            }
        });
    }
    let variance = |j: usize| {
        let (sum, mean) = (&sums[j], means[j]);
        // Entries that are not stored are 0.
        let variance = (squares[j] + sum.absent * mean * mean) / sum.weight;
        // Values that are rounded differ by 1.2e-7 of their mean at most.
        if variance > 1e-14 * mean * mean {
            variance
        } else {
            0.0
        }
    };
    (0..y.n_cols()).map(variance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn factors_are_reciprocal_deviations() {
        const M: f32 = f32::NAN;
        let y = array![
            [0.0_f32, 10.0, 5.0, M],
            [2.0, 30.0, 5.0, 1.0],
            [0.0, 10.0, 5.0, 3.0],
            [2.0, 30.0, 5.0, M]
        ];
        let csr = MatrixView::from(&y).to_csr();
        for y in [MatrixView::from(&y), MatrixView::Sparse(csr.view())] {
            let factors = |scaling: OutputScaling, weights| scaling.factors(y, weights);
            assert_eq!(factors(OutputScaling::Auto, None), Some(vec![1.0, 0.1, 1.0, 1.0]));
            assert_eq!(factors(OutputScaling::None, None), None);
            // The first two samples count three times: outputs with two balanced values stay so, the last has one
            // weighted value.
            let weighted = factors(OutputScaling::Deviation, Some(&[3.0, 3.0, 0.0, 0.0][..]));
            assert_eq!(weighted, Some(vec![1.0, 0.1, 1.0, 1.0]));
        }
        let labels = array![[0.0_f32, 1.0], [1.0, M]];
        assert_eq!(OutputScaling::Auto.factors((&labels).into(), None), None);
        assert!(OutputScaling::Deviation.factors((&labels).into(), None).is_some());
        // A small spread around a large number is no rounding error, as that of the second output is.
        let far = array![[1.700_001e9_f32, 0.1, 0.0], [1.7e9, 0.100_000_01, 2.0]];
        let spread = (f64::from(far[[0, 0]]) - f64::from(far[[1, 0]])) / 2.0;
        let factors = OutputScaling::Auto.factors((&far).into(), None).unwrap();
        assert!(
            (f64::from(factors[0]) * spread - 1.0).abs() < 1e-6 && factors[1..] == [1.0; 2],
            "{factors:?}"
        );
        // One output cannot outweigh others.
        assert_eq!(
            OutputScaling::Deviation.factors((&array![[1.0_f32], [9.0]]).into(), None),
            None
        );
    }
}
