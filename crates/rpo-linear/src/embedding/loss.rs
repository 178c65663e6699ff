//! Losses of activations, and the conversion of activations to scores.

use ndarray::{ArrayView1, ArrayView2, ArrayViewMut2, Axis};
use rpo_core::InverseLink;
use rpo_core::math;

/// Converts activations to scores, in place; each row is a sample.
pub(crate) fn apply_to_rows(inverse_link: InverseLink, mut activations: ArrayViewMut2<'_, f32>) {
    match inverse_link {
        InverseLink::Identity => {}
        InverseLink::Logistic => activations.mapv_inplace(math::sigmoid),
        InverseLink::Exponential => activations.mapv_inplace(|a| math::exp(f64::from(a)) as f32),
        InverseLink::Softmax => {
            for mut row in activations.rows_mut() {
                let largest = row.iter().fold(f32::NEG_INFINITY, |best, v| best.max(*v));
                let sum: f64 = row.iter().map(|v| math::exp(f64::from(v - largest))).sum();
                let sum = sum as f32;
                row.mapv_inplace(|v| math::exp(f64::from(v - largest)) as f32 / sum);
            }
        }
    }
}

/// Returns the sum over samples (rows) of the loss of activations a for 0/1 targets: Σⱼ log(1 + eᵃⱼ) minus the sum of a
/// over the labels; log Σⱼ eᵃⱼ minus a of the class; or half the squared distance.
///
/// `labels` calls its second argument with each label of a row and its target.
pub(crate) fn loss(
    inverse_link: InverseLink,
    activations: ArrayView2<'_, f32>,
    mut labels: impl FnMut(usize, &mut dyn FnMut(usize, f64)),
) -> f64 {
    let mut sum = 0.0;
    for (i, row) in activations.rows().into_iter().enumerate() {
        match inverse_link {
            InverseLink::Identity => {
                sum += row.iter().map(|v| 0.5 * f64::from(*v).powi(2)).sum::<f64>();
                // (a - y)² = a² - 2 a y + y² where y is stored.
                labels(i, &mut |j, y| sum += y * (0.5 * y - f64::from(row[j])));
            }
            InverseLink::Logistic => {
                sum += sum_of_softplus(row);
                labels(i, &mut |j, y| sum -= y * f64::from(row[j]));
            }
            InverseLink::Exponential => unreachable!("embeddings have no loss with this link"),
            InverseLink::Softmax => {
                let largest = row.iter().fold(f32::NEG_INFINITY, |best, v| best.max(*v));
                let exponentials: f64 = row.iter().map(|v| math::exp(f64::from(v - largest))).sum();
                sum += f64::from(largest) + math::ln(exponentials);
                labels(i, &mut |j, y| sum -= y * f64::from(row[j]));
            }
        }
    }
    sum
}

/// Σ log(1 + eᵃ) = Σ max(a, 0) + log Π (1 + e^-|a|), with one logarithm for many activations.
fn sum_of_softplus(activations: ArrayView1<'_, f32>) -> f64 {
    // Each factor is at most 2, so that their product stays in range.
    const FACTORS: usize = 512;
    let mut sum = 0.0;
    for chunk in activations.axis_chunks_iter(Axis(0), FACTORS) {
        let (mut positive, mut product) = (0.0, 1.0);
        for &a in chunk {
            positive += f64::from(a.max(0.0));
            product *= 1.0 + f64::from(math::exp(-a.abs()));
        }
        sum += positive + math::ln(product);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};
    use proptest::prelude::*;

    fn total(response: InverseLink, activations: &Array2<f32>, targets: &Array2<f32>) -> f64 {
        loss(response, activations.view(), |i, f| {
            (0..targets.ncols())
                .filter(|&j| targets[[i, j]] != 0.0)
                .for_each(|j| f(j, f64::from(targets[[i, j]])));
        })
    }

    proptest! {
        #[test]
        fn softplus_is_summed_by_products(values in proptest::collection::vec(-100.0_f32..100.0, 0..1500)) {
            let expected: f64 = values.iter().map(|v| math::softplus(f64::from(*v))).sum();
            let found = sum_of_softplus(values.as_slice().into());
            prop_assert!((found - expected).abs() <= 1e-6 * (1.0 + expected), "{found} {expected}");
        }

        /// The gradient is response - target; adding a constant to all activations does not change a softmax.
        #[test]
        fn gradients_are_response_minus_target(
            values in proptest::collection::vec(-4.0_f32..4.0, 10), class in 0_usize..5, shift in -20.0_f32..20.0,
        ) {
            let activations = Array2::from_shape_vec((2, 5), values).unwrap();
            let mut targets = Array2::zeros((2, 5));
            targets[[0, class]] = 1.0;
            targets[[1, 4 - class]] = 1.0;
            for response in [InverseLink::Identity, InverseLink::Logistic, InverseLink::Softmax] {
                let mut scores = activations.clone();
                apply_to_rows(response, scores.view_mut());
                for at in [(0, class), (1, 0), (1, 4 - class)] {
                    // The actual step in f32 is measured rather than assumed.
                    let (mut above, mut below) = (activations.clone(), activations.clone());
                    above[at] += 1e-2;
                    below[at] -= 1e-2;
                    let step = f64::from(above[at]) - f64::from(below[at]);
                    let slope = (total(response, &above, &targets) - total(response, &below, &targets)) / step;
                    let expected = f64::from(scores[at] - targets[at]);
                    prop_assert!((slope - expected).abs() < 3e-5, "{response:?}: {slope} {expected}");
                }
            }
            let mut expected = activations.clone();
            apply_to_rows(InverseLink::Softmax, expected.view_mut());
            let mut shifted = activations.clone() + shift;
            apply_to_rows(InverseLink::Softmax, shifted.view_mut());
            prop_assert!((&shifted - &expected).iter().all(|v| v.abs() < 1e-5));
            prop_assert!(expected.rows().into_iter().all(|row| (row.sum() - 1.0).abs() < 1e-6));
        }
    }

    #[test]
    fn large_activations_stay_finite() {
        let activations = array![[1e30_f32, -1e30, 0.0]];
        let targets = array![[0.0_f32, 1.0, 0.0]];
        for response in [InverseLink::Logistic, InverseLink::Softmax] {
            let mut scores = activations.clone();
            apply_to_rows(response, scores.view_mut());
            assert!(scores.iter().all(|v| (0.0..=1.0).contains(v)));
            assert!((total(response, &activations, &targets) / 2e30 - 1.0).abs() < 1e-6);
        }
    }
}
