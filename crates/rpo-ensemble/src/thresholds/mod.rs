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
//! Apart from [`ThresholdRule::LabelF`], the paper's rule, a threshold of one label predicts it at most five times as
//! often as it occurs. If scores carry no information about a label, its expected F-measure is largest where it is
//! predicted for every sample: 2π/(1 + π) at frequency π (Lipton, Elkan, Naryanaswamy, ECML 2014). A sample of corel5k
//! has 3.5 labels on average; random forests predict 54 without the bound and 4.7 with it. Over 15 sets, for random
//! forests, one-vs-rest and CRAFTML, the bound lowers the macro F-measure by .001 and raises the micro F-measure by
//! .015 to .055.
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

mod columns;
mod cuts;

use crate::error::EnsembleError;
use columns::{Buffer, Columns};
use cuts::{BestF, Largest, Totals, best_of_all, same_rate};
use ndarray::ArrayView2;
use rayon::prelude::*;
use rpo_core::MatrixView;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The criterion that thresholds optimize.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdRule {
    /// [`LabelF`](Self::LabelF) among the thresholds that predict a label at most five times as often as it occurs; ½ if
    /// none of these predicts it for a sample that has it. Labels with less than five positive samples share the
    /// threshold of [`Rate`](Self::Rate).
    MacroF,
    /// One threshold per label, which maximizes the F-measure 2TP/(2TP + FP + FN) of the label, and so the mean of
    /// F-measures over labels, as in the experiments of Daniels and Metaxas (2017). A label about which scores carry no
    /// information is predicted for nearly every sample. ½ for a label without any positive sample.
    LabelF,
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
/// [`EnsembleError::Mismatch`] for labels of another shape than the scores, [`EnsembleError::NotALabel`] for one that is
/// neither 0, 1 nor NaN, [`EnsembleError::Prediction`] for a score that is infinite.
pub fn find(
    rule: ThresholdRule,
    scores: ArrayView2<'_, f32>,
    labels: MatrixView<'_>,
) -> Result<Vec<f64>, EnsembleError> {
    let columns = Columns::new(scores, labels)?;
    Ok(match rule {
        ThresholdRule::MacroF => of_each_label(&columns, |totals, buffer| {
            BestF::of(&mut buffer.pairs, totals.n_positive, totals.most()).threshold
        }),
        ThresholdRule::Rate => of_each_label(&columns, |totals, buffer| same_rate(totals, &mut buffer.pairs)),
        ThresholdRule::LabelF => map_labels(&columns, |totals, buffer| {
            best_of_all(totals, |most| {
                BestF::of(&mut buffer.pairs, totals.n_positive, most)
            })
        }),
        ThresholdRule::MicroF => vec![of_all_labels(&columns); columns.n_labels()],
    })
}

/// Number of positive samples from which a label has its own threshold.
const RARE: usize = 5;

/// Calls `f(totals, pairs)` for each label.
fn map_labels<T: Send>(columns: &Columns<'_>, f: impl Fn(Totals, &mut Buffer) -> T + Sync) -> Vec<T> {
    let labels = (0..columns.n_labels()).into_par_iter();
    let of_label = |buffer: &mut Buffer, label| {
        columns.copy(label, buffer);
        f(Totals::of(&buffer.pairs), buffer)
    };
    labels.map_init(Buffer::default, of_label).collect()
}

/// Returns the largest pairs of some labels together: as many as `most`, and the next one.
fn largest_of(columns: &Columns<'_>, most: usize, is_one: impl Fn(usize) -> bool) -> Vec<cuts::Pair> {
    let (mut largest, mut buffer) = (Largest::new(most), Buffer::default());
    for label in (0..columns.n_labels()).filter(|&label| is_one(label)) {
        columns.copy(label, &mut buffer);
        largest.extend(&buffer.pairs);
    }
    largest.finish()
}

/// Returns the thresholds of all labels: rare ones share that of their rate, and `f` finds those of the others, apart from
/// labels that all samples have.
fn of_each_label(columns: &Columns<'_>, f: impl Fn(Totals, &mut Buffer) -> f64 + Sync) -> Vec<f64> {
    let is_rare = |totals: Totals| totals.n_pairs > 0 && totals.n_positive < RARE;
    let found = map_labels(columns, |totals, buffer| match totals.of_certain() {
        Some(threshold) => Ok(threshold),
        None if is_rare(totals) => Err(totals),
        None => Ok(f(totals, buffer)),
    });
    let of_rare = found.iter().filter_map(|found| found.err());
    let totals = of_rare.fold(Totals::NONE, Totals::and);
    let mut pairs = largest_of(columns, totals.most(), |label| found[label].is_err());
    let shared = same_rate(totals, &mut pairs);
    found.into_iter().map(|found| found.unwrap_or(shared)).collect()
}

/// Returns the threshold that maximizes the F-measure of all decisions together.
fn of_all_labels(columns: &Columns<'_>) -> f64 {
    let totals = map_labels(columns, |totals, _| totals);
    let totals = totals.into_iter().fold(Totals::NONE, Totals::and);
    best_of_all(totals, |most| {
        BestF::of(&mut largest_of(columns, most, |_| true), totals.n_positive, most)
    })
}

#[cfg(test)]
mod tests {
    use super::cuts::MOST;
    use super::*;
    use ndarray::{Array2, array};
    use proptest::prelude::*;
    use rpo_core::Mismatch;

    #[test]
    fn rules_are_read_by_the_names_that_they_are_written_by() {
        let rules = [
            ThresholdRule::MacroF,
            ThresholdRule::LabelF,
            ThresholdRule::MicroF,
            ThresholdRule::Rate,
        ];
        for rule in rules {
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
        /// No threshold has a larger F, and no higher threshold has an equal F.
        #[test]
        fn no_threshold_is_better(pairs in prop::collection::vec((0_u8..12, any::<bool>()), 1..40)) {
            let pairs: Vec<(f32, bool)> = pairs.into_iter().map(|(s, p)| (f32::from(s) / 16.0, p)).collect();
            let (scores, labels) = column(&pairs);
            let found = |rule| find(rule, scores.view(), (&labels).into()).unwrap()[0];
            let predicted = |t: f64| pairs.iter().filter(|(s, _)| f64::from(*s) >= t).count();
            let n_positive = Totals::of(&pairs).n_positive;
            let rules = [
                (ThresholdRule::MicroF, usize::MAX),
                (ThresholdRule::LabelF, usize::MAX),
                (ThresholdRule::MacroF, MOST * n_positive),
            ];
            for (rule, most) in rules {
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
                .partition(|(pairs, _)| Totals::of(pairs).n_positive < RARE);
            for (pairs, threshold) in others {
                prop_assert_eq!(of(pairs, 20), [threshold]);
            }
            let together: Vec<(f32, bool)> = rare.iter().flat_map(|(pairs, _)| pairs.iter().copied()).collect();
            if let Some(threshold) = rare.first().map(|(_, threshold)| *threshold) {
                prop_assert!(rare.iter().all(|(_, other)| *other == threshold));
                let n_positive = Totals::of(&together).n_positive;
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
        // The largest F-measure, of the paper, is that of everybody.
        assert_eq!(found(ThresholdRule::LabelF), [0.0, 0.25]);
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
            let expected = EnsembleError::NotALabel {
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
        assert_eq!(found(ThresholdRule::LabelF), [0.375, 0.5]);
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
