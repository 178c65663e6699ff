//! Metrics that compare two label sets per sample: Hamming, subset accuracy, precision, recall, F1, Jaccard, and per
//! label the Matthews correlation coefficient, the geometric mean and the balanced accuracy.
//!
//! Missing entries of the truth are not counted, whatever is predicted for them. Means over samples and over labels
//! leave out those without observed entries.

use crate::{LabelSets, Mean, MetricError};

/// The kind of average of a set metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Average {
    /// The metric of the counts summed over all entries.
    Micro,
    /// The mean over labels.
    Macro,
    /// The mean over samples ("example-based").
    Samples,
}

/// The value of 0/0, if nothing is relevant and nothing is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ZeroDivision {
    /// 0, as in scikit-learn. The default.
    #[default]
    Zero,
    /// 1, as in Mulan for macro averages.
    One,
}

/// A metric of the counts of a [`Confusion`], larger is better except for [`SetMetric::ErrorRate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetMetric {
    /// The fraction of wrong entries, (FP + FN) / (TP + FP + FN + TN), smaller is better: the Hamming loss over all entries.
    ErrorRate,
    /// 1 if no entry is wrong, otherwise 0. Over samples this is the subset accuracy; 1 minus it is the zero-one loss.
    Exact,
    /// TP / (TP + FP).
    Precision(ZeroDivision),
    /// TP / (TP + FN).
    Recall(ZeroDivision),
    /// 2 TP / (2 TP + FP + FN). The macro F1 is the mean of the labels' F1, not the F1 of mean precision and recall.
    F1(ZeroDivision),
    /// TP / (TP + FP + FN). Over samples it is also called multi-label accuracy.
    Jaccard(ZeroDivision),
    /// The Matthews correlation coefficient, (TP TN − FP FN) / √((TP + FP) (TP + FN) (TN + FP) (TN + FN)), from −1
    /// to 1. NaN if all entries are relevant or none is, otherwise 0 if all are predicted or none is.
    Mcc,
    /// The geometric mean of recall and specificity, √(TP / (TP + FN) · TN / (TN + FP)). NaN if all entries are
    /// relevant or none is.
    GMean,
    /// The mean of recall and specificity, (TP / (TP + FN) + TN / (TN + FP)) / 2. NaN if all entries are relevant or
    /// none is.
    BalancedAccuracy,
}

/// Counts of agreement and disagreement between truth and prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Confusion {
    /// Number of entries that are relevant and predicted.
    pub true_positives: u64,
    /// Number of entries that are predicted but not relevant.
    pub false_positives: u64,
    /// Number of entries that are relevant but not predicted.
    pub false_negatives: u64,
    /// Number of entries that are neither relevant nor predicted.
    pub true_negatives: u64,
}

impl Confusion {
    /// Returns the value of a metric.
    pub fn value(self, metric: SetMetric) -> f64 {
        let [tp, fp, fn_, tn] = self.counts();
        match metric {
            SetMetric::ErrorRate => self.errors() as f64 / self.n() as f64,
            SetMetric::Exact => f64::from(u8::from(self.errors() == 0)),
            SetMetric::Precision(zero) => ratio(self.true_positives, self.false_positives, zero),
            SetMetric::Recall(zero) => ratio(self.true_positives, self.false_negatives, zero),
            SetMetric::F1(zero) => ratio(2 * self.true_positives, self.errors(), zero),
            SetMetric::Jaccard(zero) => ratio(self.true_positives, self.errors(), zero),
            SetMetric::Mcc => {
                let (relevant, predicted) = ((tp + fn_) * (tn + fp), (tp + fp) * (tn + fn_));
                if relevant > 0.0 && predicted == 0.0 {
                    return 0.0;
                }
                // The root of a square is exact, so that perfect labels give exactly 1 and no value exceeds it.
                (tp * tn - fp * fn_) / (relevant * predicted).sqrt()
            }
            SetMetric::GMean => (tp / (tp + fn_) * (tn / (tn + fp))).sqrt(),
            SetMetric::BalancedAccuracy => f64::midpoint(tp / (tp + fn_), tn / (tn + fp)),
        }
    }

    /// FP + FN.
    fn errors(self) -> u64 {
        self.false_positives + self.false_negatives
    }

    /// TP, FP, FN, TN.
    fn counts(self) -> [f64; 4] {
        [
            self.true_positives,
            self.false_positives,
            self.false_negatives,
            self.true_negatives,
        ]
        .map(|count| count as f64)
    }

    /// Returns the number of entries.
    fn n(self) -> u64 {
        self.true_positives + self.errors() + self.true_negatives
    }

    /// Completes the counts for `n` entries: the entries not counted so far are neither relevant nor predicted.
    fn among(self, n: usize) -> Self {
        Self {
            true_negatives: n as u64 - self.true_positives - self.errors(),
            ..self
        }
    }

    fn add(&mut self, other: Self) {
        self.true_positives += other.true_positives;
        self.false_positives += other.false_positives;
        self.false_negatives += other.false_negatives;
        self.true_negatives += other.true_negatives;
    }
}

fn ratio(good: u64, bad: u64, zero: ZeroDivision) -> f64 {
    match (good + bad, zero) {
        (0, ZeroDivision::Zero) => 0.0,
        (0, ZeroDivision::One) => 1.0,
        (total, _) => good as f64 / total as f64,
    }
}

/// The comparison of truth and prediction, made once in time proportional to their ones; all set metrics follow from
/// it.
///
/// ```
/// use rpo_metrics::{Average, LabelSets, SetComparison, SetMetric, ZeroDivision};
/// let truth = LabelSets::from_lists(3, &[vec![0, 1], vec![2]])?;
/// let predicted = LabelSets::from_lists(3, &[vec![0], vec![2]])?;
/// let sets = SetComparison::new(&truth, &predicted)?;
/// assert_eq!(sets.average(Average::Micro, SetMetric::ErrorRate), 1.0 / 6.0);
/// assert_eq!(sets.average(Average::Micro, SetMetric::F1(ZeroDivision::Zero)), 0.8);
/// # Ok::<(), rpo_metrics::MetricError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetComparison {
    /// The counts of each label.
    pub per_label: Vec<Confusion>,
    /// The counts of each sample.
    pub per_sample: Vec<Confusion>,
}

impl SetComparison {
    /// Compares two label sets per sample.
    ///
    /// # Errors
    /// Shapes that differ.
    pub fn new(truth: &LabelSets<'_>, predicted: &LabelSets<'_>) -> Result<Self, MetricError> {
        truth.check_shape((predicted.n_samples(), predicted.n_labels()))?;
        let mut per_label = vec![Confusion::default(); truth.n_labels()];
        let compare = |i| {
            let mut sum = Confusion::default();
            let missing = truth.missing(i);
            each_difference(truth.labels(i), predicted.labels(i), |label, found| {
                if missing.binary_search(&label).is_err() {
                    per_label[label as usize].add(found);
                    sum.add(found);
                }
            });
            sum.among(truth.n_labels() - missing.len())
        };
        let per_sample = (0..truth.n_samples()).map(compare).collect();
        let missing = (truth.n_missing() > 0).then(|| truth.missing_by_label().0);
        for (j, label) in per_label.iter_mut().enumerate() {
            let n_missing = missing.as_ref().map_or(0, |starts| starts[j + 1] - starts[j]);
            *label = label.among(truth.n_samples() - n_missing);
        }
        Ok(Self {
            per_label,
            per_sample,
        })
    }

    /// Returns the counts of all entries.
    pub(crate) fn total(&self) -> Confusion {
        let mut total = Confusion::default();
        self.per_sample.iter().for_each(|&c| total.add(c));
        total
    }

    /// Returns a metric over all entries, or its mean over the labels or samples with observed entries for which it is
    /// defined; NaN if no entry is observed.
    pub fn average(&self, average: Average, metric: SetMetric) -> f64 {
        let mean = |of: &[Confusion]| {
            let observed = of.iter().filter(|c| c.n() > 0).map(|c| c.value(metric));
            Mean::from_iter(observed).value
        };
        match average {
            Average::Micro => mean(&[self.total()]),
            Average::Macro => mean(&self.per_label),
            Average::Samples => mean(&self.per_sample),
        }
    }
}

/// Merges two increasing lists and calls `found` with each label in either and its kind.
fn each_difference(truth: &[u32], predicted: &[u32], mut found: impl FnMut(u32, Confusion)) {
    let (mut t, mut p) = (
        truth.iter().copied().peekable(),
        predicted.iter().copied().peekable(),
    );
    while let Some(label) = t.peek().into_iter().chain(p.peek()).min().copied() {
        let relevant = t.next_if_eq(&label).is_some();
        let chosen = p.next_if_eq(&label).is_some();
        let count = Confusion {
            true_positives: (relevant && chosen).into(),
            false_positives: (!relevant && chosen).into(),
            false_negatives: (relevant && !chosen).into(),
            true_negatives: 0,
        };
        found(label, count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_relevant_and_nothing_predicted() {
        let none = LabelSets::from_lists(2, &[vec![], vec![0]]).unwrap();
        let sets = SetComparison::new(&none, &none).unwrap();
        // For label 1 and sample 0 the ratio is 0/0.
        for average in [Average::Macro, Average::Samples] {
            assert_eq!(sets.average(average, SetMetric::F1(ZeroDivision::Zero)), 0.5);
            assert_eq!(sets.average(average, SetMetric::F1(ZeroDivision::One)), 1.0);
            assert_eq!(sets.average(average, SetMetric::Jaccard(ZeroDivision::One)), 1.0);
        }
        assert_eq!(sets.average(Average::Samples, SetMetric::Exact), 1.0);
    }

    #[test]
    fn averages_without_observed_entries_are_undefined() {
        let truth = ndarray::array![[f32::NAN, f32::NAN]];
        let truth = LabelSets::new((&truth).into(), crate::MissingTruth::Skip).unwrap();
        let predicted = LabelSets::from_lists(2, &[vec![0]]).unwrap();
        let sets = SetComparison::new(&truth, &predicted).unwrap();
        for average in [Average::Micro, Average::Macro, Average::Samples] {
            for metric in [
                SetMetric::ErrorRate,
                SetMetric::F1(ZeroDivision::Zero),
                SetMetric::Exact,
            ] {
                assert!(sets.average(average, metric).is_nan());
            }
        }
    }

    #[test]
    fn one_row_by_hand() {
        let truth = LabelSets::from_lists(6, &[[0, 2, 3]]).unwrap();
        let predicted = LabelSets::from_lists(6, &[[2, 3, 4, 5]]).unwrap();
        let sets = SetComparison::new(&truth, &predicted).unwrap();
        let expected = Confusion {
            true_positives: 2,
            false_positives: 2,
            false_negatives: 1,
            true_negatives: 1,
        };
        assert_eq!(sets.total(), expected);
        assert_eq!(
            sets.average(Average::Samples, SetMetric::Precision(ZeroDivision::Zero)),
            0.5
        );
        assert_eq!(
            sets.average(Average::Micro, SetMetric::Recall(ZeroDivision::Zero)),
            2.0 / 3.0
        );
        assert_eq!(
            sets.average(Average::Samples, SetMetric::F1(ZeroDivision::Zero)),
            4.0 / 7.0
        );
        assert_eq!(
            sets.average(Average::Samples, SetMetric::Jaccard(ZeroDivision::Zero)),
            0.4
        );
        assert_eq!(sets.average(Average::Micro, SetMetric::ErrorRate), 0.5);
        assert_eq!(sets.average(Average::Samples, SetMetric::Exact), 0.0);
    }

    #[test]
    fn labels_without_contrast_are_undefined() {
        let counts = |true_positives, false_positives, false_negatives, true_negatives| Confusion {
            true_positives,
            false_positives,
            false_negatives,
            true_negatives,
        };
        for constant in [counts(0, 2, 0, 3), counts(4, 0, 1, 0), counts(0, 0, 0, 7)] {
            for metric in [SetMetric::Mcc, SetMetric::GMean, SetMetric::BalancedAccuracy] {
                assert!(constant.value(metric).is_nan());
            }
        }
        // Nothing or everything is predicted.
        for predicted in [counts(0, 0, 2, 3), counts(2, 3, 0, 0)] {
            let found =
                [SetMetric::Mcc, SetMetric::GMean, SetMetric::BalancedAccuracy].map(|m| predicted.value(m));
            assert_eq!(found, [0.0, 0.0, 0.5]);
        }
        // Perfect and completely wrong predictions are exact to the last digit.
        for n in 1..200 {
            assert_eq!(counts(n, 0, 0, 3).value(SetMetric::Mcc), 1.0, "{n}");
            assert_eq!(counts(0, 3, n, 0).value(SetMetric::Mcc), -1.0, "{n}");
        }
        let swapped = counts(0, 3, 2, 0);
        assert_eq!(swapped.value(SetMetric::BalancedAccuracy), 0.0);
    }
}
