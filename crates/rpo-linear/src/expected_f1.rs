//! Label decisions from scores, for the macro F1.

use ndarray::{ArrayView1, ArrayView2, Axis};
use rayon::prelude::*;
use rpo_core::{CsrMatrix, Domain, Mismatch, is_probability};

use crate::LinearError;

/// The expected fraction of samples with each label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Prevalence<'a> {
    /// Given fractions, one per label, usually those of the training set.
    Given(&'a [f64]),
    /// The mean of the scores of each label.
    OfScores,
}

/// Predicts labels for all samples at once so that the expected F1 of each label is largest. A label is predicted for
/// the K samples with the highest scores, with K = argmax Σ_{i <= K} p₍ᵢ₎ / (K + N π), where N π is the expected number
/// of samples with the label. Returns a CSR matrix of ones, N x d.
///
/// Scores (N x d) must be probabilities, since the expectation is defined for no others; least squares does not give
/// any. The rule is transductive: the prediction for a sample depends on the others. Either all samples with equal
/// scores get the label or none does, so that their order does not matter. A label with π = 0 or without a positive
/// score is never predicted. Cost: O(N log N) per label.
///
/// Source: Karampatziakis, Mineiro, 2015, Algorithm 4, following the software of its authors (the text is lost); the
/// ratio is the limit of the expected F1 for many samples (Dembczynski et al., ICML 2013).
///
/// # Errors
/// [`LinearError::Mismatch`] if there is not one prevalence per label, [`LinearError::Parameter`] for a prevalence
/// outside [0, 1], [`LinearError::NotAProbability`] for a score that is not a probability ([`is_probability`]).
pub fn f1_decisions(
    scores: ArrayView2<'_, f32>,
    prevalence: Prevalence<'_>,
) -> Result<CsrMatrix, LinearError> {
    let (n, d) = scores.dim();
    if let Prevalence::Given(shares) = prevalence {
        Mismatch::check("prevalences", d, shares.len())?;
        let mut shares = shares.iter();
        shares.try_for_each(|share| Domain::Probability.check("prevalence", *share))?;
    }
    let is_none = |score: f32| !is_probability(f64::from(score));
    if let Some(((sample, output), &value)) = scores.indexed_iter().find(|(_, score)| is_none(**score)) {
        return Err(LinearError::NotAProbability {
            sample,
            output,
            value,
        });
    }
    let chosen: Vec<Vec<u32>> = (0..d)
        .into_par_iter()
        .map(|label| {
            let column = scores.index_axis(Axis(1), label);
            let share = match prevalence {
                Prevalence::Given(shares) => shares[label],
                Prevalence::OfScores => column.iter().map(|v| probability(*v)).sum::<f64>() / n.max(1) as f64,
            };
            decide(column, share)
        })
        .collect();
    let mut rows = vec![Vec::new(); n];
    for (label, samples) in (0..).zip(&chosen) {
        samples.iter().for_each(|&i| rows[i as usize].push(label));
    }
    let (mut indptr, mut columns) = (vec![0], Vec::new());
    for row in &rows {
        columns.extend_from_slice(row);
        indptr.push(columns.len());
    }
    let values = vec![1.0; columns.len()];
    Ok(CsrMatrix::new((n, d), indptr, columns, values))
}

/// Clamps a probability, which rounding may leave outside [0, 1].
fn probability(score: f32) -> f64 {
    f64::from(score.clamp(0.0, 1.0))
}

fn decide(scores: ArrayView1<'_, f32>, prevalence: f64) -> Vec<u32> {
    let mut order: Vec<(u32, f64)> = (0..).zip(scores.iter().map(|v| probability(*v))).collect();
    order.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
    let sorted: Vec<f64> = order.iter().map(|(_, p)| *p).collect();
    let k = most_expected_f1(&sorted, prevalence * sorted.len() as f64);
    order[..k].iter().map(|(i, _)| *i).collect()
}

/// Returns the K that maximizes Σ_{i <= K} p₍ᵢ₎ / (K + expected), for decreasing probabilities; 0 if `expected` or all
/// probabilities are 0. K never separates equal probabilities: along a run of them the ratio is monotonic, so that no
/// maximum is missed. Ties go to the smallest K.
fn most_expected_f1(decreasing: &[f64], expected: f64) -> usize {
    if expected.is_nan() || expected <= 0.0 {
        return 0;
    }
    let (mut sum, mut best) = (0.0, (0, 0.0));
    for (i, p) in decreasing.iter().enumerate() {
        sum += p;
        let ratio = sum / ((i + 1) as f64 + expected);
        let run_ends = decreasing.get(i + 1).is_none_or(|next| next < p);
        if run_ends && ratio > best.1 {
            best = (i + 1, ratio);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};
    use proptest::prelude::*;
    use rpo_core::ParameterError;

    /// The rule by its definition: tries every K, without incremental sums.
    fn naive(sorted: &[f64], expected: f64) -> f64 {
        (1..=sorted.len())
            .map(|k| sorted[..k].iter().sum::<f64>() / (k as f64 + expected))
            .fold(0.0, f64::max)
    }

    proptest! {
        /// The chosen samples attain the largest ratio, no sample with a higher score is left out, and neither the order of
        /// the samples nor the scale of all scores matters.
        #[test]
        fn the_best_ratio_is_found_whatever_the_order(
            scores in proptest::collection::vec(0_u8..20, 1..40), share in 0.001..1.0, turn in 0_usize..40,
        ) {
            let n = scores.len();
            let column = Array2::from_shape_fn((n, 1), |(i, _)| f32::from(scores[i]) / 20.0);
            let chosen = |column: &Array2<f32>| -> Vec<bool> {
                let found = f1_decisions(column.view(), Prevalence::Given(&[share])).unwrap();
                (0..n).map(|i| found.get(i, 0).is_some()).collect()
            };
            let picked = chosen(&column);
            let mut sorted: Vec<f64> = column.iter().map(|v| f64::from(*v)).collect();
            sorted.sort_by(|a, b| b.total_cmp(a));
            let k = picked.iter().filter(|p| **p).count();
            let expected = share * n as f64;
            let ratio = sorted[..k].iter().sum::<f64>() / (k as f64 + expected);
            prop_assert!((ratio - naive(&sorted, expected)).abs() < 1e-12);
            let lowest = (0..n).filter(|&i| picked[i]).map(|i| column[[i, 0]]).fold(f32::INFINITY, f32::min);
            prop_assert!((0..n).all(|i| picked[i] == (column[[i, 0]] >= lowest)));
            let moved = Array2::from_shape_fn((n, 1), |(i, _)| column[[(i + turn) % n, 0]]);
            let again = chosen(&moved);
            prop_assert!((0..n).all(|i| again[i] == picked[(i + turn) % n]));
            // Halving is exact: it only scales the ratio.
            prop_assert_eq!(chosen(&column.mapv(|v| v / 2.0)), picked);
        }
    }

    #[test]
    fn rare_labels_are_predicted_below_half() {
        // π N = 1: 0.4 / 2 = 0.2; 0.7 / 3 = 0.23; 0.8 / 4 = 0.2.
        let scores = array![[0.4_f32], [0.1], [0.3], [0.0]];
        let found = f1_decisions(scores.view(), Prevalence::Given(&[0.25])).unwrap();
        assert_eq!(
            (found.get(0, 0), found.get(2, 0), found.nnz()),
            (Some(&1.0), Some(&1.0), 2)
        );
        let own = f1_decisions(scores.view(), Prevalence::OfScores).unwrap();
        assert_eq!(own.nnz(), 2);
        assert_eq!(
            f1_decisions(scores.view(), Prevalence::Given(&[0.0]))
                .unwrap()
                .nnz(),
            0
        );
        let none = array![[-1e-7_f32], [0.0]];
        assert_eq!(
            f1_decisions(none.view(), Prevalence::Given(&[0.5]))
                .unwrap()
                .nnz(),
            0
        );
        let empty = Array2::zeros((0, 1));
        assert_eq!(
            f1_decisions(empty.view(), Prevalence::OfScores).unwrap().shape(),
            (0, 1)
        );
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for bad in [f32::NAN, 1.1, -0.1] {
            let scores = array![[0.4_f32, 0.5], [1.0, bad]];
            let found = f1_decisions(scores.view(), Prevalence::OfScores);
            let is_named = matches!(
                found,
                Err(LinearError::NotAProbability {
                    sample: 1,
                    output: 1,
                    ..
                })
            );
            assert!(is_named, "{bad}: {found:?}");
        }
        let scores = array![[0.4_f32, 0.5]];
        for bad in [-0.1, 1.1, f64::NAN] {
            let found = f1_decisions(scores.view(), Prevalence::Given(&[0.5, bad]));
            assert!(matches!(
                found,
                Err(LinearError::Parameter(ParameterError::OutOfRange {
                    name: "prevalence",
                    ..
                }))
            ));
        }
        assert!(f1_decisions(scores.view(), Prevalence::Given(&[0.5])).is_err());
    }
}
