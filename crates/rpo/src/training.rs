//! The summary of the training set that a model keeps.

use crate::ModelError;
use rpo_core::store::{Reader, Sizes, Store, StoreError, Writer};
use rpo_data::{Dataset, Task};

/// Distribution of the outputs.
#[derive(Debug, Clone, PartialEq)]
pub enum OutputSummary {
    /// For each label, the number of samples observed to have it.
    LabelCounts(Vec<usize>),
    /// The mean of each output over the samples where it is observed; 0 for an output that is never observed.
    Means(Vec<f64>),
}

/// The size of the training set and the distribution of its outputs, which some metrics need (propensities of labels,
/// the baseline of the relative error).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TrainingSummary {
    /// Number of training samples.
    pub n_samples: usize,
    /// Distribution of the outputs.
    pub outputs: OutputSummary,
}

impl TrainingSummary {
    /// Summarizes a data set.
    pub(crate) fn of(data: &Dataset) -> Self {
        let n_samples = data.n_samples();
        let outputs = match data.task() {
            Task::MultiLabel => OutputSummary::LabelCounts(data.label_statistics().counts),
            Task::Regression => {
                let outputs = data.outputs().view();
                let mut sums = vec![0.0; outputs.n_cols()];
                let mut missing = vec![0; outputs.n_cols()];
                for row in 0..n_samples {
                    outputs.for_each_in_row(row, |j, v| {
                        if v.is_nan() {
                            missing[j as usize] += 1;
                        } else {
                            sums[j as usize] += f64::from(v);
                        }
                    });
                }
                let mean = |(sum, missing): (f64, usize)| sum / (n_samples - missing).max(1) as f64;
                OutputSummary::Means(sums.into_iter().zip(missing).map(mean).collect())
            }
        };
        Self { n_samples, outputs }
    }

    /// Repeats each output `times` times in succession.
    pub(crate) fn repeated(self, times: usize) -> Self {
        fn each<T: Copy>(values: &[T], times: usize) -> Vec<T> {
            let values = values.iter();
            values.flat_map(|&v| std::iter::repeat_n(v, times)).collect()
        }
        let outputs = match &self.outputs {
            OutputSummary::LabelCounts(counts) => OutputSummary::LabelCounts(each(counts, times)),
            OutputSummary::Means(means) => OutputSummary::Means(each(means, times)),
        };
        Self { outputs, ..self }
    }

    /// Creates a summary from the parts stored in a model file.
    ///
    /// # Errors
    /// [`ModelError::Summary`] for a count above the number of samples or a mean that is not finite.
    pub(crate) fn new(n_samples: usize, outputs: OutputSummary) -> Result<Self, ModelError> {
        let (what, expected) = match &outputs {
            OutputSummary::LabelCounts(_) => ("label count", "at most the number of training samples"),
            OutputSummary::Means(_) => ("training mean", "a finite number"),
        };
        let bad = match &outputs {
            OutputSummary::LabelCounts(counts) => counts
                .iter()
                .position(|&count| count > n_samples)
                .map(|output| (output, counts[output] as f64)),
            OutputSummary::Means(means) => means
                .iter()
                .position(|mean| !mean.is_finite())
                .map(|output| (output, means[output])),
        };
        match bad {
            None => Ok(Self { n_samples, outputs }),
            Some((output, value)) => Err(ModelError::Summary {
                what,
                output,
                value,
                expected,
            }),
        }
    }

    /// Number of outputs.
    pub(crate) fn n_outputs(&self) -> usize {
        match &self.outputs {
            OutputSummary::LabelCounts(counts) => counts.len(),
            OutputSummary::Means(means) => means.len(),
        }
    }

    /// For each label, the number of training samples that have it; `None` for regression.
    pub fn label_counts(&self) -> Option<&[usize]> {
        match &self.outputs {
            OutputSummary::LabelCounts(counts) => Some(counts),
            OutputSummary::Means(_) => None,
        }
    }

    /// The mean of each output; for labels, the fraction of samples that have them.
    pub fn output_means(&self) -> Vec<f64> {
        match &self.outputs {
            OutputSummary::LabelCounts(counts) => {
                let n = self.n_samples.max(1) as f64;
                counts.iter().map(|&count| count as f64 / n).collect()
            }
            OutputSummary::Means(means) => means.clone(),
        }
    }
}

/// Name of the array of label counts.
const LABEL_COUNTS: &str = "train.label_counts";
/// Name of the array of means.
const MEANS: &str = "train.means";

impl Store for TrainingSummary {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        match &self.outputs {
            OutputSummary::LabelCounts(counts) => {
                let counts: Vec<u32> = counts.iter().map(|&count| count as u32).collect();
                out.array(LABEL_COUNTS, &counts)
            }
            OutputSummary::Means(means) => out.array(MEANS, means),
        }
    }
}

impl TrainingSummary {
    /// Restores the summary of the outputs of a task.
    pub(crate) fn restore(from: &mut Reader<'_>, task: Task, sizes: Sizes) -> Result<Self, StoreError> {
        let outputs = match task {
            Task::MultiLabel => {
                let counts = from.array::<u32>(LABEL_COUNTS)?.of_length(sizes.n_outputs)?;
                OutputSummary::LabelCounts(counts.map(|count| count as usize).collect())
            }
            Task::Regression => {
                let means = from.array::<f64>(MEANS)?.of_length(sizes.n_outputs)?;
                OutputSummary::Means(means.to_vec())
            }
        };
        Self::new(sizes.n_train, outputs).map_err(|e| StoreError::part("summary of the training set", e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn missing_outputs_are_in_no_summary() {
        const M: f32 = f32::NAN;
        let summary = |y: ndarray::Array2<f32>, task| {
            let x = array![[0.0], [1.0], [2.0]];
            TrainingSummary::of(&Dataset::with_missing(x.into(), y.into(), task).unwrap())
        };
        let numbers = summary(array![[1.0, M, M], [M, 4.0, M], [2.0, 6.0, M]], Task::Regression);
        assert_eq!(numbers.output_means(), [1.5, 5.0, 0.0]);
        let labels = summary(array![[1.0, M, M], [M, 0.0, M], [1.0, 1.0, M]], Task::MultiLabel);
        assert_eq!(labels.label_counts(), Some(&[2, 1, 0][..]));
        for summary in [numbers, labels] {
            let again = TrainingSummary::new(summary.n_samples, summary.outputs.clone());
            assert_eq!(again, Ok(summary));
        }
    }
}
