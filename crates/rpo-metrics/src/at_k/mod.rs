//! Metrics on the best k labels of a sample: precision, nDCG, their propensity-scored forms, one-error, and the best k
//! labels as a label set.
//!
//! Samples without relevant labels contribute 0 and stay in the mean (for one-error the caller chooses). Metrics are
//! always divided by k, even if a sample lists fewer labels or k exceeds the number of labels: a label that is not
//! predicted is not a hit. When the lists are made ([`TopK`]), ties between scores go to the smaller label index.
//!
//! Missing labels are skipped: the best k labels of a sample are the best k of its observed ones. Lists must be long
//! enough for them, at most k + [`LabelSets::most_missing`]. Samples without observed labels are left out of the means.

mod by_frequency;
mod top_k;

pub use by_frequency::{FrequencyGroups, GroupAtK, by_frequency_at_k};
pub use top_k::TopK;

use crate::labels::check_label_values;
use crate::{EmptySamples, LabelSets, Mean, MetricError, Real, SetComparison};
use rayon::prelude::*;
use rpo_core::math;
use rpo_core::{Domain, Mismatch};

/// The value of the relevant labels among the best k of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gain {
    /// The precision at k: 1/k for each, $|\mathrm{top}_k(i) \cap R_i| / k$ for sample i with the relevant labels R.
    Precision,
    /// The normalised discounted cumulative gain at k: gain 1, discount $1/\log_2(\mathrm{rank} + 1)$, divided per
    /// sample by the best possible value, which is the sum of the first min(k, |R|) discounts.
    Ndcg,
}

/// Returns the mean gain of the best k labels over samples; larger is better.
///
/// ```
/// use rpo_metrics::{Gain, LabelSets, TopK, gain_at_k};
/// let truth = LabelSets::from_lists(4, &[[0, 2], [1, 3]])?;
/// let top = TopK::from_lists(4, 2, &[[(2, 0.9), (1, 0.8)], [(0, 0.5), (2, 0.4)]])?;
/// assert_eq!(gain_at_k(&truth, &top, Gain::Precision, 2)?, 0.25);
/// # Ok::<(), rpo_metrics::MetricError>(())
/// ```
///
/// # Errors
/// k = 0, predictions with fewer than k labels per sample, shapes that differ.
pub fn gain_at_k<S: Real>(
    truth: &LabelSets<'_>,
    top: &TopK<S>,
    gain: Gain,
    k: usize,
) -> Result<f64, MetricError> {
    check(truth, top, k)?;
    Ok(match gain {
        Gain::Precision => row_mean(truth, |i| hits(truth, top, i, k).count() as f64) / k as f64,
        Gain::Ndcg => {
            let discounts = Discounts::new(truth, k);
            row_mean(truth, |i| {
                let gain: f64 = hits(truth, top, i, k).map(|(rank, _)| discounts.at[rank]).sum();
                discounts.normalise(gain, truth.labels(i).len())
            })
        }
    })
}

/// Compares the true labels with the best k of each sample as label sets. Macro precision, recall and F1 at k are
/// [averages](SetComparison::average) of [`Average::Macro`](crate::Average::Macro), in which a rare label weighs as
/// much as a frequent one. Source: Schultheis, Wydmuch, Kotłowski, Babbar, Dembczyński, NeurIPS 2023, section 2.
///
/// # Errors
/// As for [`gain_at_k`].
pub fn sets_at_k<S: Real>(
    truth: &LabelSets<'_>,
    top: &TopK<S>,
    k: usize,
) -> Result<SetComparison, MetricError> {
    check(truth, top, k)?;
    let best = |i| best_observed(truth, top, i).take(k).collect();
    let best: Vec<Vec<u32>> = (0..truth.n_samples()).map(best).collect();
    SetComparison::new(truth, &LabelSets::from_lists(truth.n_labels(), &best)?)
}

/// A propensity-scored metric.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PropensityScored {
    /// Normalised by the value of the best possible ranking: in \[0, 1\]; NaN if no sample has a relevant label.
    pub value: f64,
    /// Not normalised: an unbiased estimate of the metric on complete labels, which may exceed 1.
    pub unnormalised: f64,
}

/// Returns the propensity-scored gain of the best k labels; larger is better.
///
/// Each hit of label l counts $1/p_l$ instead of 1. [`Gain::Precision`] becomes
/// $\frac{1}{n} \sum_i \frac{1}{k} \sum_{l \in \mathrm{top}_k(i) \cap R_i} 1/p_l$; [`Gain::Ndcg`] becomes, per sample,
/// the discounted sum of 1/p over the hits, divided by the first min(k, |R|) discounts. The normalised value is divided
/// by its largest possible value (a ratio of means over the whole set). `inverse` holds 1/p per label
/// ([`Propensity::inverse`](crate::Propensity::inverse)). Source: Jain, Prabhu, Varma, KDD 2016.
///
/// # Errors
/// As for [`gain_at_k`]; inverse propensities that are not one positive number per label.
pub fn propensity_scored_at_k<S: Real>(
    truth: &LabelSets<'_>,
    top: &TopK<S>,
    gain: Gain,
    inverse: &[f64],
    k: usize,
) -> Result<PropensityScored, MetricError> {
    check(truth, top, k)?;
    check_inverse(truth, inverse)?;
    if gain == Gain::Precision {
        let gain = |i| hits(truth, top, i, k).map(|(_, l)| inverse[l as usize]).sum();
        let best = |i| best_first(truth, inverse, i, k).iter().sum();
        return Ok(scored(truth, k as f64, gain, best));
    }
    let discounts = Discounts::new(truth, k);
    let gain = |i| {
        let weight = |(rank, l): (usize, u32)| discounts.at[rank] * inverse[l as usize];
        discounts.normalise(hits(truth, top, i, k).map(weight).sum(), truth.labels(i).len())
    };
    let best = |i| {
        let weights = best_first(truth, inverse, i, k);
        let sum = weights.iter().zip(&discounts.at).map(|(w, d)| w * d).sum();
        discounts.normalise(sum, truth.labels(i).len())
    };
    Ok(scored(truth, 1.0, gain, best))
}

/// Returns the one-error: the fraction of samples whose best label is not relevant; smaller is better. A sample without
/// listed labels counts as an error.
///
/// # Errors
/// Shapes that differ.
pub fn one_error<S: Real>(
    truth: &LabelSets<'_>,
    top: &TopK<S>,
    empty_samples: EmptySamples,
) -> Result<Mean, MetricError> {
    check(truth, top, 1)?;
    Ok(Mean::from_iter((0..truth.n_samples()).map(|i| {
        if truth.all_missing(i) || truth.labels(i).is_empty() && empty_samples == EmptySamples::Skip {
            return f64::NAN;
        }
        f64::from(u8::from(hits(truth, top, i, 1).next().is_none()))
    })))
}

fn check<S: Real>(truth: &LabelSets<'_>, top: &TopK<S>, k: usize) -> Result<(), MetricError> {
    truth.check_shape((top.n_samples(), top.n_labels()))?;
    Domain::Count.check("k", k)?;
    top.check_holds(k)?;
    // Lists that were not truncated are complete.
    if truth.n_missing() > 0 && top.k() < truth.n_labels() {
        for row in 0..truth.n_samples() {
            let (listed, observed) = (top.labels(row).len(), best_observed(truth, top, row).count());
            if listed == top.k() && observed < k {
                let (needed, held) = (k + listed - observed, top.k());
                return Err(MetricError::TopKTooShort { needed, held });
            }
        }
    }
    Ok(())
}

/// Iterates over the observed labels of a sample's list, best first.
#[inline]
fn best_observed<'a, S: Real>(
    truth: &'a LabelSets<'_>,
    top: &'a TopK<S>,
    row: usize,
) -> impl Iterator<Item = u32> + 'a {
    let missing = truth.missing(row);
    let listed = top.labels(row).iter().copied();
    listed.filter(|label| missing.binary_search(label).is_err())
}

fn check_inverse(truth: &LabelSets<'_>, inverse: &[f64]) -> Result<(), MetricError> {
    Mismatch::check("inverse propensities", truth.n_labels(), inverse.len())?;
    let positive = |v: f64| v > 0.0 && v.is_finite();
    check_label_values("inverse propensities", inverse, "positive and finite", positive)
}

/// Iterates over the relevant labels among the best k of a sample, as (rank from 0, label).
fn hits<'a, S: Real>(
    truth: &'a LabelSets<'_>,
    top: &'a TopK<S>,
    row: usize,
    k: usize,
) -> impl Iterator<Item = (usize, u32)> + 'a {
    let relevant = truth.labels(row);
    let listed = best_observed(truth, top, row).take(k).enumerate();
    listed.filter(|(_, label)| relevant.binary_search(label).is_ok())
}

/// Returns the weights of the best possible k hits of a sample.
fn best_first(truth: &LabelSets<'_>, weights: &[f64], row: usize, k: usize) -> Vec<f64> {
    let mut best: Vec<f64> = truth.labels(row).iter().map(|&l| weights[l as usize]).collect();
    best.sort_unstable_by(|a, b| b.total_cmp(a));
    best.truncate(k);
    best
}

/// Returns the mean over the samples with observed labels, computed in parallel and summed in order.
fn row_mean(truth: &LabelSets<'_>, value: impl Fn(usize) -> f64 + Sync + Send) -> f64 {
    let values: Vec<f64> = (0..truth.n_samples()).into_par_iter().map(value).collect();
    let observed = || (0..values.len()).filter(|&i| !truth.all_missing(i));
    // A sum of nothing is -0, and adding 0 makes it 0.
    observed().map(|i| values[i]).sum::<f64>() / observed().count() as f64 + 0.0
}

fn scored(
    truth: &LabelSets<'_>,
    divisor: f64,
    gain: impl Fn(usize) -> f64 + Sync + Send,
    best: impl Fn(usize) -> f64 + Sync + Send,
) -> PropensityScored {
    let (gain, best) = (row_mean(truth, gain), row_mean(truth, best));
    PropensityScored {
        value: gain / best,
        unnormalised: gain / divisor,
    }
}

/// Discounts of the first ranks and their running sums.
struct Discounts {
    at: Vec<f64>,
    /// `sums[r]` is the sum of the first `r` discounts.
    sums: Vec<f64>,
}

impl Discounts {
    /// At most as many ranks as there are labels can be filled.
    fn new(truth: &LabelSets<'_>, k: usize) -> Self {
        let n_ranks = k.min(truth.n_labels());
        let at: Vec<f64> = (0..n_ranks)
            .map(|rank| 1.0 / math::log2(rank as f64 + 2.0))
            .collect();
        let mut sums = vec![0.0];
        sums.extend(at.iter().scan(0.0, |sum, d| {
            *sum += d;
            Some(*sum)
        }));
        Self { at, sums }
    }

    fn normalise(&self, gain: f64, n_relevant: usize) -> f64 {
        if n_relevant == 0 {
            return 0.0;
        }
        gain / self.sums[n_relevant.min(self.at.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Average, MissingTruth, SetMetric, ZeroDivision};

    fn example() -> (LabelSets<'static>, TopK) {
        let truth = LabelSets::from_lists(4, &[vec![0, 2], vec![], vec![1]]).unwrap();
        let rows = [
            vec![(2, 0.9), (1, 0.8), (0, 0.7)],
            vec![(0, 0.5)],
            vec![(3, 0.5), (1, 0.25)],
        ];
        (truth, TopK::from_lists(4, 3, &rows).unwrap())
    }

    #[test]
    fn by_hand() {
        let (truth, top) = example();
        assert_eq!(gain_at_k(&truth, &top, Gain::Precision, 1).unwrap(), 1.0 / 3.0);
        // Short lists are still divided by k: 2/3, 0 and 1/3.
        assert_eq!(gain_at_k(&truth, &top, Gain::Precision, 3).unwrap(), 1.0 / 3.0);
        let half = 1.0 / 3.0_f64.log2();
        let expected = (1.0 / (1.0 + half) + half) / 3.0;
        assert!((gain_at_k(&truth, &top, Gain::Ndcg, 2).unwrap() - expected).abs() < 1e-15);
        let skip = one_error(&truth, &top, EmptySamples::Skip).unwrap();
        assert_eq!((skip.value, skip.n_skipped), (0.5, 1));
        assert_eq!(
            one_error(&truth, &top, EmptySamples::One).unwrap().value,
            2.0 / 3.0
        );
        // The predictions are {2, 1}, {0} and {3, 1}, of the labels 0 to 3; the hits are one of {0, 2}, none of {} and
        // the one of {1}.
        let sets = sets_at_k(&truth, &top, 2).unwrap();
        let macros =
            |metric: fn(ZeroDivision) -> SetMetric| sets.average(Average::Macro, metric(ZeroDivision::Zero));
        assert_eq!(macros(SetMetric::Precision), (0.0 + 0.5 + 1.0 + 0.0) / 4.0);
        assert_eq!(macros(SetMetric::Recall), (0.0 + 1.0 + 1.0 + 0.0) / 4.0);
        let scored = propensity_scored_at_k(&truth, &top, Gain::Precision, &[4.0, 2.0, 1.0, 8.0], 1).unwrap();
        assert_eq!((scored.value, scored.unnormalised), (1.0 / 6.0, 1.0 / 3.0));
    }

    #[test]
    fn lists_go_on_behind_missing_labels() {
        let truth = ndarray::array![[1.0, 0.0, f32::NAN, f32::NAN, 1.0], [f32::NAN; 5]];
        let truth = LabelSets::new((&truth).into(), MissingTruth::Skip).unwrap();
        let scores = ndarray::array![[0.5, 0.4, 0.9, 0.7, 0.1], [0.1; 5]];
        assert_eq!(truth.most_missing(), 5);
        let top = |k| TopK::from_scores(scores.view(), k).unwrap();
        // The observed labels of sample 0 are 0, 1, 4, in this order; sample 1 is left out.
        let whole = top(5);
        for (k, expected) in [(1, 1.0), (2, 0.5), (3, 2.0 / 3.0), (5, 0.4)] {
            assert_eq!(gain_at_k(&truth, &whole, Gain::Precision, k).unwrap(), expected);
            let total = sets_at_k(&truth, &whole, k).unwrap().total();
            assert_eq!(total.true_positives as f64 / k as f64, expected);
            assert_eq!(total.true_positives + total.false_positives, k.min(3) as u64);
        }
        let error = one_error(&truth, &whole, EmptySamples::One).unwrap();
        assert_eq!((error.value, error.n_skipped), (0.0, 1));
        let short = MetricError::TopKTooShort { needed: 4, held: 3 };
        assert_eq!(gain_at_k(&truth, &top(3), Gain::Precision, 2), Err(short));
        // A list that is shorter than k lacks nothing.
        let rows = [vec![(2, 0.9), (0, 0.5)], vec![]];
        let listed = TopK::from_lists(5, 3, &rows).unwrap();
        assert_eq!(gain_at_k(&truth, &listed, Gain::Precision, 2), Ok(0.5));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let (truth, top) = example();
        let zero = gain_at_k(&truth, &top, Gain::Precision, 0).unwrap_err();
        assert_eq!(zero.to_string(), "`k` must be at least 1, got 0");
        let short = MetricError::TopKTooShort { needed: 4, held: 3 };
        assert_eq!(gain_at_k(&truth, &top, Gain::Ndcg, 4), Err(short));
        let other = TopK::from_lists(5, 3, &[[(0, 1.0)]]).unwrap();
        assert!(matches!(
            one_error(&truth, &other, EmptySamples::Skip),
            Err(MetricError::Mismatch(_))
        ));
        let expected = MetricError::LabelValue {
            what: "inverse propensities",
            label: 1,
            expected: "positive and finite",
            value: 0.0,
        };
        assert_eq!(
            propensity_scored_at_k(&truth, &top, Gain::Precision, &[1.0, 0.0, 1.0, 1.0], 1),
            Err(expected)
        );
        let expected = Mismatch {
            what: "inverse propensities",
            expected: 4,
            given: 3,
        };
        assert_eq!(
            propensity_scored_at_k(&truth, &top, Gain::Ndcg, &[1.0; 3], 1),
            Err(expected.into())
        );
    }
}
