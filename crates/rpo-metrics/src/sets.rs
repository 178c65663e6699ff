//! Metrics that compare two label sets per sample: Hamming, subset accuracy, precision, recall, F1, Jaccard, and of each
//! label the correlation coefficient of Matthews, the geometric mean and the balanced accuracy.
//!
//! Missing entries of the truth are counted nowhere, whatever is predicted there. Means over samples and over labels
//! leave out those without observed entries.

use crate::{LabelSets, Mean, MetricError};

/// The average over labels or samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Average {
    /// The ratio of the counts added over all entries.
    Micro,
    /// The mean over labels.
    Macro,
    /// The mean over samples ("example-based").
    Samples,
}

/// The value of 0/0, where nothing is relevant and nothing predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ZeroDivision {
    /// 0, as scikit-learn has it. The default.
    #[default]
    Zero,
    /// 1, as Mulan has it for macro averages.
    One,
}

/// Counts of agreement and disagreement between truth and prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Confusion {
    /// Relevant and predicted.
    pub true_positives: u64,
    /// Predicted, not relevant.
    pub false_positives: u64,
    /// Relevant, not predicted.
    pub false_negatives: u64,
    /// Neither relevant nor predicted.
    pub true_negatives: u64,
}

impl Confusion {
    /// Returns TP / (TP + FP).
    pub fn precision(self, zero: ZeroDivision) -> f64 {
        ratio(self.true_positives, self.false_positives, zero)
    }

    /// Returns TP / (TP + FN).
    pub fn recall(self, zero: ZeroDivision) -> f64 {
        ratio(self.true_positives, self.false_negatives, zero)
    }

    /// Returns 2 TP / (2 TP + FP + FN).
    pub fn f1(self, zero: ZeroDivision) -> f64 {
        ratio(2 * self.true_positives, self.errors(), zero)
    }

    /// Returns TP / (TP + FP + FN).
    pub fn jaccard(self, zero: ZeroDivision) -> f64 {
        ratio(self.true_positives, self.errors(), zero)
    }

    /// Returns FP + FN.
    pub fn errors(self) -> u64 {
        self.false_positives + self.false_negatives
    }

    /// Returns the correlation coefficient of Matthews, (TP TN − FP FN) / √((TP + FP) (TP + FN) (TN + FP) (TN + FN)),
    /// from −1 to 1: NaN where all entries are relevant or none is, else 0 where all are predicted or none is.
    pub fn mcc(self) -> f64 {
        let [tp, fp, fn_, tn] = self.counts();
        let (relevant, predicted) = ((tp + fn_) * (tn + fp), (tp + fp) * (tn + fn_));
        if relevant > 0.0 && predicted == 0.0 {
            return 0.0;
        }
        (tp * tn - fp * fn_) / (relevant.sqrt() * predicted.sqrt())
    }

    /// Returns the geometric mean of recall and specificity, √(TP / (TP + FN) · TN / (TN + FP)): NaN where all entries are
    /// relevant or none is.
    pub fn g_mean(self) -> f64 {
        let [tp, fp, fn_, tn] = self.counts();
        (tp / (tp + fn_) * (tn / (tn + fp))).sqrt()
    }

    /// Returns the mean of recall and specificity, (TP / (TP + FN) + TN / (TN + FP)) / 2: NaN where all entries are relevant
    /// or none is.
    pub fn balanced_accuracy(self) -> f64 {
        let [tp, fp, fn_, tn] = self.counts();
        f64::midpoint(tp / (tp + fn_), tn / (tn + fp))
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

    /// The number of entries.
    fn n(self) -> u64 {
        self.true_positives + self.errors() + self.true_negatives
    }

    /// The counts among a number of entries of which those counted so far are all that are relevant or predicted.
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

/// Truth and prediction compared once, in time proportional to their ones; every set metric follows.
///
/// ```
/// use rpo_metrics::{Average, LabelSets, SetComparison, ZeroDivision};
/// let truth = LabelSets::from_lists(3, &[vec![0, 1], vec![2]])?;
/// let predicted = LabelSets::from_lists(3, &[vec![0], vec![2]])?;
/// let sets = SetComparison::new(&truth, &predicted)?;
/// assert_eq!(sets.hamming_loss(), 1.0 / 6.0);
/// assert_eq!(sets.f1(Average::Micro, ZeroDivision::Zero), 0.8);
/// # Ok::<(), rpo_metrics::MetricError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetComparison {
    per_label: Vec<Confusion>,
    per_sample: Vec<Confusion>,
}

impl SetComparison {
    /// Compares sample by sample.
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

    /// Returns the counts of each label.
    pub fn per_label(&self) -> &[Confusion] {
        &self.per_label
    }

    /// Returns the counts of all entries.
    pub fn total(&self) -> Confusion {
        let mut total = Confusion::default();
        self.per_sample.iter().for_each(|&c| total.add(c));
        total
    }

    /// Returns the fraction of wrong entries among the observed ones, smaller is better.
    pub fn hamming_loss(&self) -> f64 {
        let total = self.total();
        total.errors() as f64 / total.n() as f64
    }

    /// Returns the fraction of samples predicted without any error, larger is better.
    pub fn subset_accuracy(&self) -> f64 {
        let (wrong, all) = self.wrong_samples();
        (all - wrong) as f64 / all as f64
    }

    /// Returns the fraction of samples with an error, smaller is better: 1 -
    /// [`subset_accuracy`](Self::subset_accuracy).
    pub fn zero_one_loss(&self) -> f64 {
        let (wrong, all) = self.wrong_samples();
        wrong as f64 / all as f64
    }

    /// The number of samples with an error, and of those with observed entries.
    fn wrong_samples(&self) -> (usize, usize) {
        let wrong = self.per_sample.iter().filter(|c| c.errors() > 0).count();
        (wrong, self.per_sample.iter().filter(|c| c.n() > 0).count())
    }

    /// Returns the precision, larger is better.
    pub fn precision(&self, average: Average, zero: ZeroDivision) -> f64 {
        self.average(average, |c| c.precision(zero))
    }

    /// Returns the recall, larger is better.
    pub fn recall(&self, average: Average, zero: ZeroDivision) -> f64 {
        self.average(average, |c| c.recall(zero))
    }

    /// Returns the F1, larger is better. The macro F1 is the mean of the labels' F1, not the F1 of mean precision and
    /// recall.
    pub fn f1(&self, average: Average, zero: ZeroDivision) -> f64 {
        self.average(average, |c| c.f1(zero))
    }

    /// Returns the Jaccard similarity, larger is better. Over samples it is also called multi-label accuracy.
    pub fn jaccard(&self, average: Average, zero: ZeroDivision) -> f64 {
        self.average(average, |c| c.jaccard(zero))
    }

    fn average(&self, average: Average, value: impl Fn(Confusion) -> f64) -> f64 {
        let mean = |of: &[Confusion]| {
            let observed = of.iter().filter(|c| c.n() > 0).map(|&c| value(c));
            Mean::of_defined(observed).value
        };
        match average {
            Average::Micro => value(self.total()),
            Average::Macro => mean(&self.per_label),
            Average::Samples => mean(&self.per_sample),
        }
    }
}

/// Merges two increasing lists, telling for each label in either what it is.
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
        // Label 1 and sample 0 are 0/0.
        for average in [Average::Macro, Average::Samples] {
            assert_eq!(sets.f1(average, ZeroDivision::Zero), 0.5);
            assert_eq!(sets.f1(average, ZeroDivision::One), 1.0);
            assert_eq!(sets.jaccard(average, ZeroDivision::One), 1.0);
        }
        assert_eq!(sets.subset_accuracy(), 1.0);
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
        assert_eq!(sets.precision(Average::Samples, ZeroDivision::Zero), 0.5);
        assert_eq!(sets.recall(Average::Micro, ZeroDivision::Zero), 2.0 / 3.0);
        assert_eq!(sets.f1(Average::Samples, ZeroDivision::Zero), 4.0 / 7.0);
        assert_eq!(sets.jaccard(Average::Samples, ZeroDivision::Zero), 0.4);
        assert_eq!(sets.hamming_loss(), 0.5);
        assert_eq!(sets.zero_one_loss(), 1.0);
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
            assert!(constant.mcc().is_nan() && constant.g_mean().is_nan());
            assert!(constant.balanced_accuracy().is_nan());
        }
        // Nothing is predicted, or everything.
        for predicted in [counts(0, 0, 2, 3), counts(2, 3, 0, 0)] {
            assert_eq!((predicted.mcc(), predicted.g_mean()), (0.0, 0.0));
            assert_eq!(predicted.balanced_accuracy(), 0.5);
        }
        let swapped = counts(0, 3, 2, 0);
        assert!((swapped.mcc() + 1.0).abs() < 1e-15 && swapped.balanced_accuracy() == 0.0);
    }
}
