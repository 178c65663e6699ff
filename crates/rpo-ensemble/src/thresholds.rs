//! Decision thresholds: the scores from which labels are predicted.
//!
//! Scores of rare labels stay far below ½ even where the label is present, so a threshold of ½ misses these labels.
//! Thresholds are found on scores of samples that a model was not fitted to: out-of-bag predictions of any ensemble, or
//! a validation set. A label is predicted where its score is at or above its threshold.
//!
//! A threshold lies midway between the lowest score for which the label is predicted and the next lower score. Among
//! equally good thresholds the highest is chosen. A threshold that predicts the label for every sample is the lowest
//! score. For a label that every sample has, it lies half the size of that score below: ½ where scores are 1, so that it
//! is reached by scores of other samples that differ from 1 in their last digit.
//!
//! A threshold of one label predicts it at most five times as often as it occurs. The F-measure of a label that scores
//! do not tell is largest where every sample has it, 2π/(1 + π) at frequency π (Lipton, Elkan, Naryanaswamy, ECML 2014):
//! without the bound, random forests give a sample of corel5k 54 labels where it has 3.5, and with it 4.7. Over 15 sets,
//! for random forests, one-vs-rest and CRAFTML, the mean of F-measures over labels is .001 lower with it, and the F-measure
//! of all decisions .015 to .055 higher.
//!
//! Labels with less than five positive samples share one threshold, at which all of them together are predicted as often
//! as they occur: thresholds from so few samples would be due to chance. Over nine sets of 14 to 5,000 labels, half of
//! them rare, and the same three methods, the F-measure of all decisions is .016 higher with it than with a threshold for
//! each of these labels, and the mean of F-measures over labels .003; with 5,000 labels .04 to .05, and .01 to .02.
//!
//! ```
//! use ndarray::array;
//! use rpo_ensemble::thresholds::{ThresholdRule, find};
//! let scores = array![[0.5, 0.25], [0.25, 0.125], [0.125, 0.0625], [0.0625, 0.5]];
//! let labels = array![[1.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0]];
//! let found = find(ThresholdRule::MicroF, scores.view(), (&labels).into())?;
//! assert_eq!(found, [0.1875, 0.1875]);
//! # Ok::<(), rpo_ensemble::EnsembleError>(())
//! ```

use crate::error::EnsembleError;
use crate::inputs::check_binary;
use ndarray::ArrayView2;
use rpo_core::{MatrixView, Mismatch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::mem;

/// The criterion that thresholds optimize.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdRule {
    /// One threshold per label, which maximizes the F-measure 2TP/(2TP + FP + FN) of the label, and so the mean of
    /// F-measures over labels (Daniels and Metaxas 2017, section 4), among those that predict it at most five times as
    /// often as it occurs; ½ if none of these predicts it for a sample that has it. Labels with less than five positive
    /// samples share the one of [`Rate`](Self::Rate).
    MacroF,
    /// One threshold for all labels, which maximizes the F-measure of all decisions together. ½ without any positive
    /// sample.
    MicroF,
    /// One threshold per label, such that as many samples are predicted as are positive. If equal scores do not allow
    /// this number, the next lower possible number is predicted, or the smallest one if the next lower is none; above
    /// every score if the smallest number is more than five times that of the positive samples. Labels with less than
    /// five positive samples share one threshold, such that this holds for all of them together.
    Rate,
}

rpo_core::impl_names!(ThresholdRule, "a rule of thresholds");

/// Returns the thresholds (one per label) that a rule finds on scores and labels (both n x d). Pairs of a score and a
/// label of which either is NaN are ignored: scores of samples that were in the bag of every tree, and missing labels.
/// The threshold of a label without any pair is ½.
///
/// # Errors
/// [`EnsembleError::Mismatch`] for labels of another shape than the scores, [`EnsembleError::Label`] for one that is
/// neither 0, 1 nor NaN, [`EnsembleError::Prediction`] for a score that is infinite.
pub fn find(
    rule: ThresholdRule,
    scores: ArrayView2<'_, f32>,
    labels: MatrixView<'_>,
) -> Result<Vec<f64>, EnsembleError> {
    Mismatch::check(
        "rows of labels for the rows of scores",
        scores.nrows(),
        labels.n_rows(),
    )?;
    Mismatch::check(
        "labels for the columns of scores",
        scores.ncols(),
        labels.n_cols(),
    )?;
    check_binary(labels, true)?;
    let mut pairs: Vec<Vec<(f32, bool)>> = vec![Vec::with_capacity(scores.nrows()); scores.ncols()];
    let mut row_labels = vec![0.0; scores.ncols()];
    for (row, scores) in scores.rows().into_iter().enumerate() {
        labels.copy_row(row, &mut row_labels);
        for (output, ((pairs, &score), &label)) in pairs.iter_mut().zip(scores).zip(&row_labels).enumerate() {
            if score.is_infinite() {
                // There is nothing midway between infinite scores.
                let value = score;
                return Err(EnsembleError::Prediction {
                    sample: row,
                    output,
                    value,
                });
            }
            if !score.is_nan() && !label.is_nan() {
                pairs.push((score, label != 0.0));
            }
        }
    }
    Ok(match rule {
        ThresholdRule::MacroF => of_each_label(pairs, best_f_of_label),
        ThresholdRule::Rate => of_each_label(pairs, same_rate),
        ThresholdRule::MicroF => {
            let n_labels = pairs.len();
            vec![best_f(pairs.into_iter().flatten().collect(), usize::MAX); n_labels]
        }
    })
}

/// The threshold where none is better: without pairs, or if none predicts a positive one.
const HALF: f64 = 0.5;
/// Largest number of predictions of a label, as a multiple of its number of positive samples.
const MOST: usize = 5;
/// Number of positive samples from which a label has its own threshold.
const RARE: usize = 5;

/// Calls `f(threshold, predicted, hits)` for every possible threshold, highest first.
fn for_each_cut(pairs: &mut [(f32, bool)], mut f: impl FnMut(f64, usize, usize)) {
    pairs.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let mut hits = 0;
    for (i, &(score, positive)) in pairs.iter().enumerate() {
        hits += usize::from(positive);
        match pairs.get(i + 1) {
            Some(&(next, _)) if next == score => {}
            Some(&(next, _)) => f((f64::from(score) + f64::from(next)) / 2.0, i + 1, hits),
            None => f(f64::from(score), i + 1, hits),
        }
    }
}

/// Returns the threshold of a label that all samples have, given at least one.
fn of_certain_label(pairs: &[(f32, bool)]) -> Option<f64> {
    let lowest = pairs
        .iter()
        .map(|(score, _)| f64::from(*score))
        .reduce(f64::min)?;
    let is_certain = pairs.iter().all(|(_, positive)| *positive);
    is_certain.then(|| lowest - lowest.abs() / 2.0)
}

fn n_positive(pairs: &[(f32, bool)]) -> usize {
    pairs.iter().filter(|(_, positive)| *positive).count()
}

/// Returns the thresholds of all labels: rare ones share that of their rate, and `f` finds those of the others.
fn of_each_label(mut pairs: Vec<Vec<(f32, bool)>>, f: impl Fn(Vec<(f32, bool)>) -> f64) -> Vec<f64> {
    let is_rare = |pairs: &[(f32, bool)]| n_positive(pairs) < RARE && of_certain_label(pairs).is_none();
    let rare: Vec<bool> = pairs
        .iter()
        .map(|pairs| !pairs.is_empty() && is_rare(pairs))
        .collect();
    let of_rare = pairs.iter_mut().zip(&rare).filter(|(_, is_rare)| **is_rare);
    let shared = same_rate(of_rare.flat_map(|(pairs, _)| mem::take(pairs)).collect());
    let thresholds = pairs.into_iter().zip(rare);
    thresholds
        .map(|(pairs, is_rare)| if is_rare { shared } else { f(pairs) })
        .collect()
}

/// Returns the threshold of a label by [`ThresholdRule::MacroF`].
fn best_f_of_label(pairs: Vec<(f32, bool)>) -> f64 {
    let most = MOST.saturating_mul(n_positive(&pairs));
    best_f(pairs, most)
}

/// Returns the highest threshold of the largest F-measure among those with at most `most` predictions.
fn best_f(mut pairs: Vec<(f32, bool)>, most: usize) -> f64 {
    if let Some(threshold) = of_certain_label(&pairs) {
        return threshold;
    }
    let n_positive = n_positive(&pairs);
    let (mut best, mut threshold) = ((0, 1), HALF);
    for_each_cut(&mut pairs, |cut, predicted, hits| {
        // F = 2 hits / (predicted + positives); fractions are compared exactly.
        let f = (hits, predicted + n_positive);
        if predicted <= most && f.0 as u128 * best.1 as u128 > best.0 as u128 * f.1 as u128 {
            (best, threshold) = (f, cut);
        }
    });
    threshold
}

/// Returns the threshold at which as many pairs are predicted as are positive.
fn same_rate(mut pairs: Vec<(f32, bool)>) -> f64 {
    if pairs.is_empty() {
        return HALF;
    }
    if let Some(threshold) = of_certain_label(&pairs) {
        return threshold;
    }
    let n_positive = n_positive(&pairs);
    let most = MOST.saturating_mul(n_positive);
    if most < pairs.len() {
        // Of many pairs of rare labels, few need to be in order: one more than may be predicted.
        pairs.select_nth_unstable_by(most, |a, b| b.0.total_cmp(&a.0));
        pairs.truncate(most + 1);
    }
    let mut threshold = None;
    for_each_cut(&mut pairs, |cut, predicted, _| {
        let is_smallest = threshold.is_none() && predicted <= most;
        if is_smallest || predicted <= n_positive {
            threshold = Some(cut);
        }
    });
    threshold.unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::{Array2, array};
    use proptest::prelude::*;
    use rpo_core::Mismatch;

    #[test]
    fn rules_are_read_by_the_names_that_they_are_written_by() {
        for rule in [ThresholdRule::MacroF, ThresholdRule::MicroF, ThresholdRule::Rate] {
            let name = serde_json::to_value(rule).unwrap();
            assert_eq!(name.as_str().unwrap().parse(), Ok(rule));
        }
        assert!("half".parse::<ThresholdRule>().is_err());
    }

    fn f_measure(pairs: &[(f32, bool)], threshold: f64) -> f64 {
        let predicted = |score: f32| f64::from(score) >= threshold;
        let hits = pairs.iter().filter(|(s, p)| *p && predicted(*s)).count();
        let all =
            pairs.iter().filter(|(s, _)| predicted(*s)).count() + pairs.iter().filter(|(_, p)| *p).count();
        if all == 0 {
            0.0
        } else {
            2.0 * hits as f64 / all as f64
        }
    }

    fn column(pairs: &[(f32, bool)]) -> (Array2<f32>, Array2<f32>) {
        let column =
            |f: fn(&(f32, bool)) -> f32| Array2::from_shape_fn((pairs.len(), 1), |(i, _)| f(&pairs[i]));
        (column(|p| p.0), column(|p| f32::from(u8::from(p.1))))
    }

    proptest! {
        /// H-P14: no threshold has a larger F, and no higher threshold has an equal F.
        #[test]
        fn no_threshold_is_better(pairs in prop::collection::vec((0_u8..12, any::<bool>()), 1..40)) {
            let pairs: Vec<(f32, bool)> = pairs.into_iter().map(|(s, p)| (f32::from(s) / 16.0, p)).collect();
            let (scores, labels) = column(&pairs);
            let found = |rule| find(rule, scores.view(), (&labels).into()).unwrap()[0];
            let predicted = |t: f64| pairs.iter().filter(|(s, _)| f64::from(*s) >= t).count();
            let n_positive = n_positive(&pairs);
            for (rule, most) in [(ThresholdRule::MicroF, usize::MAX), (ThresholdRule::MacroF, MOST * n_positive)] {
                let found = found(rule);
                if rule == ThresholdRule::MacroF && n_positive < RARE {
                    let by_rate = find(ThresholdRule::Rate, scores.view(), (&labels).into()).unwrap()[0];
                    prop_assert_eq!(found, by_rate);
                    continue;
                }
                let best = f_measure(&pairs, found);
                for cut in (0..=24).map(|cut| f64::from(cut) / 32.0).filter(|cut| predicted(*cut) <= most) {
                    prop_assert!(f_measure(&pairs, cut) <= best);
                }
                if pairs.iter().all(|(_, p)| *p) {
                    let lowest = pairs.iter().map(|(s, _)| f64::from(*s)).fold(1.0, f64::min);
                    prop_assert_eq!(found, lowest / 2.0);
                } else if best > 0.0 {
                    prop_assert!(predicted(found) <= most);
                    let higher = (0..32).map(|i| f64::from(i) / 16.0).filter(|t| *t > found && predicted(*t) < predicted(found));
                    for t in higher {
                        prop_assert!(f_measure(&pairs, t) < best);
                    }
                } else {
                    prop_assert_eq!(found, 0.5);
                }
            }
        }

        #[test]
        fn rates_are_met_from_below(pairs in prop::collection::vec((0_u8..12, any::<bool>()), 1..40)) {
            let pairs: Vec<(f32, bool)> = pairs.into_iter().map(|(s, p)| (f32::from(s), p)).collect();
            let (scores, labels) = column(&pairs);
            let found = find(ThresholdRule::Rate, scores.view(), (&labels).into()).unwrap()[0];
            let n_positive = pairs.iter().filter(|(_, p)| *p).count();
            let predicted = |t: f64| pairs.iter().filter(|(s, _)| f64::from(*s) >= t).count();
            let top = pairs.iter().filter(|(s, _)| *s == pairs.iter().map(|p| p.0).fold(0.0, f32::max)).count();
            let at_most = if top <= MOST * n_positive { n_positive.max(top) } else { 0 };
            prop_assert!(predicted(found) <= at_most);
            prop_assert!((0..12).map(f64::from).all(|t| predicted(t) > n_positive || predicted(t) <= predicted(found)));
        }
    }

    proptest! {
        /// Labels of less than five positive samples have the threshold that they would have as one label of all of
        /// their pairs, and do not change those of the others.
        #[test]
        fn rare_labels_share_a_threshold(
            pairs in prop::collection::vec((0_u8..12, prop::bool::weighted(0.15)), 4 * 20),
            rule in prop_oneof![Just(ThresholdRule::MacroF), Just(ThresholdRule::Rate)],
        ) {
            let pairs: Vec<(f32, bool)> = pairs.into_iter().map(|(s, p)| (f32::from(s) / 16.0, p)).collect();
            let of = |pairs: &[(f32, bool)], n: usize| {
                let at = |i: usize, j: usize| pairs[n * j + i];
                let shape = (n, pairs.len() / n);
                let scores = Array2::from_shape_fn(shape, |(i, j)| at(i, j).0);
                let labels = Array2::from_shape_fn(shape, |(i, j)| f32::from(u8::from(at(i, j).1)));
                find(rule, scores.view(), (&labels).into()).unwrap()
            };
            let found = of(&pairs, 20);
            let (rare, others): (Vec<_>, Vec<_>) = pairs
                .chunks(20)
                .zip(found)
                .partition(|(pairs, _)| n_positive(pairs) < RARE);
            for (pairs, threshold) in others {
                prop_assert_eq!(of(pairs, 20), [threshold]);
            }
            let together: Vec<(f32, bool)> = rare.iter().flat_map(|(pairs, _)| pairs.iter().copied()).collect();
            if let Some(threshold) = rare.first().map(|(_, threshold)| *threshold) {
                prop_assert!(rare.iter().all(|(_, other)| *other == threshold));
                let n_positive = n_positive(&together);
                let predicted = |t: f64| together.iter().filter(|(s, _)| f64::from(*s) >= t).count();
                let cuts = (0..24).map(|i| f64::from(i) / 32.0);
                let allowed = cuts.clone().map(predicted).filter(|n| (1..=n_positive).contains(n)).max();
                let smallest = cuts.map(predicted).filter(|n| (1..=MOST * n_positive).contains(n)).min();
                prop_assert_eq!(predicted(threshold), allowed.or(smallest).unwrap_or(0));
            }
        }
    }

    #[test]
    fn a_label_of_all_samples_is_predicted_for_similar_scores() {
        let labels = array![[1.0, 1.0], [1.0, 1.0]];
        for rule in [ThresholdRule::MacroF, ThresholdRule::Rate] {
            let found = find(rule, array![[1.0, -0.5], [1.0, 2.0]].view(), (&labels).into());
            assert_eq!(found.unwrap(), [0.5, -0.75]);
        }
    }

    /// A score of 0 for all that have a label tells nothing of it, and would predict it for everybody.
    #[test]
    fn labels_that_scores_do_not_tell_are_not_predicted_for_all() {
        let score = |i: usize| [0.0, 0.25, 0.25][i % 3];
        let scores = Array2::from_shape_fn((60, 2), |(i, j)| if j == 0 { score(i) } else { 0.25 });
        let labels = Array2::from_shape_fn((60, 2), |(i, j)| {
            let is_positive = if j == 0 { i % 12 == 0 } else { i < 2 };
            f32::from(u8::from(is_positive))
        });
        let found = |rule| find(rule, scores.view(), (&labels).into()).unwrap();
        assert_eq!(found(ThresholdRule::MacroF), [0.5, f64::INFINITY]);
        assert_eq!(found(ThresholdRule::Rate), [f64::INFINITY, f64::INFINITY]);
    }

    /// Without a positive sample of any rare label, none of them is predicted.
    #[test]
    fn labels_that_do_not_occur_are_not_predicted() {
        let scores = Array2::from_shape_fn((20, 2), |(i, j)| (i * (2 - j)) as f32 / 64.0);
        let labels = Array2::from_shape_fn((20, 2), |(i, j)| f32::from(u8::from(j == 0 && i >= 14)));
        for rule in [ThresholdRule::MacroF, ThresholdRule::Rate] {
            let found = find(rule, scores.view(), (&labels).into()).unwrap();
            assert_eq!(found, [27.0 / 64.0, f64::INFINITY]);
        }
    }

    #[test]
    fn labels_are_0_or_1_or_missing() {
        let scores = array![[0.25_f32], [0.75], [0.5]];
        let of = |labels: MatrixView<'_>| find(ThresholdRule::MacroF, scores.view(), labels);
        assert_eq!(of((&array![[0.0], [1.0], [f32::NAN]]).into()), Ok(vec![0.5]));
        for value in [-1.0, 2.0, 0.5, f32::INFINITY] {
            let (sample, output) = (2, 0);
            let expected = EnsembleError::Label {
                sample,
                output,
                value,
            };
            assert_eq!(of((&array![[0.0], [1.0], [value]]).into()), Err(expected));
        }
    }

    #[test]
    fn infinite_scores_are_refused() {
        let scores = array![[0.5, f32::INFINITY], [f32::NAN, f32::NEG_INFINITY]];
        let labels = array![[1.0, 1.0], [0.0, 0.0]];
        for rule in [ThresholdRule::MacroF, ThresholdRule::MicroF, ThresholdRule::Rate] {
            let refused = EnsembleError::Prediction {
                sample: 0,
                output: 1,
                value: f32::INFINITY,
            };
            assert_eq!(find(rule, scores.view(), (&labels).into()), Err(refused));
        }
    }

    #[test]
    fn labels_together_and_without_scores() {
        let scores = array![[0.5, f32::NAN], [0.25, f32::NAN], [f32::NAN, f32::NAN]];
        let labels = array![[1.0, 1.0], [0.0, 0.0], [0.0, 1.0]];
        let missing = array![[1.0], [f32::NAN], [0.0]];
        let one = array![[0.25], [0.5], [0.125]];
        let alone = find(ThresholdRule::MacroF, one.view(), (&missing).into()).unwrap();
        assert_eq!(alone, [0.1875]);
        let found = |rule| find(rule, scores.view(), (&labels).into()).unwrap();
        assert_eq!(found(ThresholdRule::MacroF), [0.375, 0.5]);
        assert_eq!(found(ThresholdRule::MicroF), [0.375, 0.375]);
        assert_eq!(found(ThresholdRule::Rate), [0.375, 0.5]);
        let fewer = labels.slice(ndarray::s![.., ..1]).to_owned();
        let refused = find(ThresholdRule::Rate, scores.view(), (&fewer).into());
        assert!(matches!(
            refused,
            Err(EnsembleError::Mismatch(Mismatch {
                expected: 2,
                given: 1,
                ..
            }))
        ));
    }
}
