//! Losses of activations, and the responses that activations stand for.

use ndarray::{ArrayView2, ArrayViewMut2};
use serde::{Deserialize, Serialize};

/// Activations beyond this magnitude count as it: their probabilities are 0 and 1 to the last digit of `f32`.
const LARGEST: f32 = 40.0;

/// What an activation a = Θᵀφ(x) says about a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Response {
    /// The activation itself is the score: least squares.
    Identity,
    /// 1 / (1 + e⁻ᵃ), the probability of each label apart.
    Logistic,
    /// eᵃⱼ / Σ eᵃ, the probabilities of classes of which each row has one.
    Softmax,
}

impl Response {
    /// Turns activations into scores, in place; a sample is a row.
    pub(crate) fn apply_to_rows(self, mut activations: ArrayViewMut2<'_, f32>) {
        match self {
            Self::Identity => {}
            Self::Logistic => activations.mapv_inplace(sigmoid),
            Self::Softmax => {
                for mut row in activations.rows_mut() {
                    let largest = row.iter().fold(f32::NEG_INFINITY, |best, v| best.max(*v));
                    let sum: f64 = row.iter().map(|v| f64::from(v - largest).exp()).sum();
                    let sum = sum as f32;
                    row.mapv_inplace(|v| (v - largest).exp() / sum);
                }
            }
        }
    }

    /// The sum over samples (rows) of the loss of activations a for 0/1 targets: Σⱼ log(1 + eᵃⱼ) - Σ over labels of
    /// a, log Σⱼ eᵃⱼ - a of the class, or half the squared distance.
    ///
    /// `labels` calls back with the labels of a row and their targets.
    pub(crate) fn loss(
        self,
        activations: ArrayView2<'_, f32>,
        mut labels: impl FnMut(usize, &mut dyn FnMut(usize, f64)),
    ) -> f64 {
        let mut sum = 0.0;
        for (i, row) in activations.rows().into_iter().enumerate() {
            match self {
                Self::Identity => {
                    sum += row.iter().map(|v| 0.5 * f64::from(*v).powi(2)).sum::<f64>();
                    // (a - y)² = a² - 2 a y + y² where y is stored.
                    labels(i, &mut |j, y| sum += y * (0.5 * y - f64::from(row[j])));
                }
                Self::Logistic => {
                    sum += row.iter().map(|v| log1p_exp(f64::from(*v))).sum::<f64>();
                    labels(i, &mut |j, y| sum -= y * f64::from(row[j]));
                }
                Self::Softmax => {
                    let largest = row.iter().fold(f32::NEG_INFINITY, |best, v| best.max(*v));
                    let exponentials: f64 = row.iter().map(|v| f64::from(v - largest).exp()).sum();
                    sum += f64::from(largest) + exponentials.ln();
                    labels(i, &mut |j, y| sum -= y * f64::from(row[j]));
                }
            }
        }
        sum
    }
}

/// 1 / (1 + e⁻ᵃ).
pub(crate) fn sigmoid(a: f32) -> f32 {
    1.0 / (1.0 + (-a.clamp(-LARGEST, LARGEST)).exp())
}

/// log(1 + eᵃ) without overflow.
pub(crate) fn log1p_exp(a: f64) -> f64 {
    a.max(0.0) + (-a.abs()).exp().ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    fn loss(response: Response, activations: &Array2<f32>, targets: &Array2<f32>) -> f64 {
        response.loss(activations.view(), |i, f| {
            (0..targets.ncols())
                .filter(|&j| targets[[i, j]] != 0.0)
                .for_each(|j| f(j, f64::from(targets[[i, j]])));
        })
    }

    proptest! {
        /// E-P10: the gradient is response - target; a constant added to all activations changes no softmax.
        #[test]
        fn gradients_are_response_minus_target(
            values in proptest::collection::vec(-4.0_f32..4.0, 10), class in 0_usize..5, shift in -20.0_f32..20.0,
        ) {
            let activations = Array2::from_shape_vec((2, 5), values).unwrap();
            let mut targets = Array2::zeros((2, 5));
            targets[[0, class]] = 1.0;
            targets[[1, 4 - class]] = 1.0;
            for response in [Response::Identity, Response::Logistic, Response::Softmax] {
                let mut scores = activations.clone();
                response.apply_to_rows(scores.view_mut());
                for at in [(0, class), (1, 0), (1, 4 - class)] {
                    // The step of f32 is what it is: measured, not assumed.
                    let (mut above, mut below) = (activations.clone(), activations.clone());
                    above[at] += 1e-2;
                    below[at] -= 1e-2;
                    let step = f64::from(above[at]) - f64::from(below[at]);
                    let slope = (loss(response, &above, &targets) - loss(response, &below, &targets)) / step;
                    let expected = f64::from(scores[at] - targets[at]);
                    prop_assert!((slope - expected).abs() < 3e-5, "{response:?}: {slope} {expected}");
                }
            }
            let mut expected = activations.clone();
            Response::Softmax.apply_to_rows(expected.view_mut());
            let mut shifted = activations.clone() + shift;
            Response::Softmax.apply_to_rows(shifted.view_mut());
            prop_assert!((&shifted - &expected).iter().all(|v| v.abs() < 1e-5));
            prop_assert!(expected.rows().into_iter().all(|row| (row.sum() - 1.0).abs() < 1e-6));
        }
    }

    #[test]
    fn large_activations_stay_finite() {
        let activations = array![[1e30_f32, -1e30, 0.0]];
        let targets = array![[0.0_f32, 1.0, 0.0]];
        for response in [Response::Logistic, Response::Softmax] {
            let mut scores = activations.clone();
            response.apply_to_rows(scores.view_mut());
            assert!(scores.iter().all(|v| (0.0..=1.0).contains(v)));
            assert!((loss(response, &activations, &targets) / 2e30 - 1.0).abs() < 1e-6);
        }
        assert_eq!(log1p_exp(0.0), 2.0_f64.ln());
    }
}
