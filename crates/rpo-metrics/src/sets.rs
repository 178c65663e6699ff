//! Metrics that compare two label sets per sample: Hamming, subset accuracy, precision, recall, F1, Jaccard.
//!
//! Missing entries of the truth are counted nowhere, whatever is predicted there. Means over samples and over labels
//! leave out those without observed entries.

use crate::{LabelSets, MetricError};

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

    fn add(&mut self, other: Self) {
        self.true_positives += other.true_positives;
        self.false_positives += other.false_positives;
        self.false_negatives += other.false_negatives;
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
    n_missing: usize,
    /// Labels without observed entries, increasing.
    missing_labels: Vec<usize>,
    /// Samples without observed entries, increasing.
    missing_samples: Vec<usize>,
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
            sum
        };
        let per_sample = (0..truth.n_samples()).map(compare).collect();
        let (mut missing_labels, mut missing_samples) = (Vec::new(), Vec::new());
        if truth.n_missing() > 0 {
            let (starts, _) = truth.missing_by_label();
            missing_samples = (0..truth.n_samples()).filter(|&i| truth.all_missing(i)).collect();
            missing_labels = (0..truth.n_labels())
                .filter(|&j| starts[j + 1] - starts[j] == truth.n_samples())
                .collect();
        }
        Ok(Self {
            per_label,
            per_sample,
            n_missing: truth.n_missing(),
            missing_labels,
            missing_samples,
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
        let n_entries = self.per_sample.len() as f64 * self.per_label.len() as f64 - self.n_missing as f64;
        self.total().errors() as f64 / n_entries
    }

    /// Returns the fraction of samples predicted without any error, larger is better.
    pub fn subset_accuracy(&self) -> f64 {
        let n_rows = self.per_sample.len() - self.missing_samples.len();
        let wrong = self.per_sample.iter().filter(|c| c.errors() > 0).count();
        (n_rows - wrong) as f64 / n_rows as f64
    }

    /// Returns the fraction of samples with an error, smaller is better: 1 -
    /// [`subset_accuracy`](Self::subset_accuracy).
    pub fn zero_one_loss(&self) -> f64 {
        let wrong = self.per_sample.iter().filter(|c| c.errors() > 0).count();
        wrong as f64 / (self.per_sample.len() - self.missing_samples.len()) as f64
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
        let mean = |of: &[Confusion], missing: &[usize]| {
            let observed =
                |(i, &c): (usize, &Confusion)| missing.binary_search(&i).is_err().then(|| value(c));
            let values = of.iter().enumerate().filter_map(observed);
            values.sum::<f64>() / (of.len() - missing.len()) as f64
        };
        match average {
            Average::Micro => value(self.total()),
            Average::Macro => mean(&self.per_label, &self.missing_labels),
            Average::Samples => mean(&self.per_sample, &self.missing_samples),
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
        };
        assert_eq!(sets.total(), expected);
        assert_eq!(sets.precision(Average::Samples, ZeroDivision::Zero), 0.5);
        assert_eq!(sets.recall(Average::Micro, ZeroDivision::Zero), 2.0 / 3.0);
        assert_eq!(sets.f1(Average::Samples, ZeroDivision::Zero), 4.0 / 7.0);
        assert_eq!(sets.jaccard(Average::Samples, ZeroDivision::Zero), 0.4);
        assert_eq!(sets.hamming_loss(), 0.5);
        assert_eq!(sets.zero_one_loss(), 1.0);
    }
}
