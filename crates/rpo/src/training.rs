//! The summary of the training set that a model keeps.

use crate::{Model, ModelError};
use rpo_core::Predictor;
use rpo_core::store::{Reader, Sizes, Store, StoreError, Writer};
use rpo_data::{Dataset, Task};
use std::borrow::Cow;

/// Distribution of the outputs.
#[derive(Debug, Clone, PartialEq)]
pub enum OutputSummary {
    /// Labels.
    Labels {
        /// For each label, the number of samples observed to have it.
        counts: Vec<usize>,
        /// For each label, the number of samples where it is missing; empty if none is.
        missing: Vec<usize>,
    },
    /// The mean of each output over the samples where it is observed; 0 for an output that is never observed.
    Means(Vec<f64>),
}

/// The size of the training set and the distribution of its outputs, which some metrics need (propensities of labels,
/// the baseline of the relative error), with the features that were missing and checksums that tell training sets apart.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TrainingSummary {
    /// Number of training samples.
    pub n_samples: usize,
    /// Distribution of the outputs.
    pub outputs: OutputSummary,
    /// The features that were missing in some sample, in increasing order; `None` for a model of a file that does not tell.
    pub missing_features: Option<Vec<u32>>,
    /// `None` for a model of a file without checksums.
    checksums: Option<Checksums>,
}

/// What differs between two training sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrainingDifference {
    /// The number of samples, or the distribution of an output.
    Summary,
    /// The outputs of single samples, or their order.
    Outputs,
    /// The weights of samples.
    Weights,
}

impl OutputSummary {
    /// Summarizes the outputs of a data set.
    pub(crate) fn of(data: &Dataset) -> Self {
        let n_samples = data.n_samples();
        match data.task() {
            Task::MultiLabel => {
                let statistics = data.label_statistics();
                let are_missing = statistics.missing.iter().any(|&missing| missing > 0);
                Self::Labels {
                    counts: statistics.counts,
                    missing: if are_missing {
                        statistics.missing
                    } else {
                        Vec::new()
                    },
                }
            }
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
                Self::Means(sums.into_iter().zip(missing).map(mean).collect())
            }
        }
    }

    /// The mean of each output over those of the samples where it is observed; for labels, the fraction of these that have
    /// them.
    pub(crate) fn means(&self, n_samples: usize) -> Vec<f64> {
        match self {
            Self::Labels { counts, missing } => {
                let missing = missing.iter().copied().chain(std::iter::repeat(0));
                let share =
                    |(&count, missing): (&usize, usize)| count as f64 / (n_samples - missing).max(1) as f64;
                counts.iter().zip(missing).map(share).collect()
            }
            Self::Means(means) => means.clone(),
        }
    }
}

impl TrainingSummary {
    /// Summarizes a data set.
    pub(crate) fn of(data: &Dataset) -> Self {
        Self {
            n_samples: data.n_samples(),
            outputs: OutputSummary::of(data),
            missing_features: None,
            checksums: Some(Checksums::of(data)),
        }
        .with_features_of(data)
    }

    /// Sets what it tells of features to that of a set with the same samples.
    pub(crate) fn with_features_of(self, data: &Dataset) -> Self {
        let counts = data.features().view().missing_counts(None);
        let missing = (0..).zip(counts).filter(|(_, count)| *count > 0);
        Self {
            missing_features: Some(missing.map(|(feature, _)| feature).collect()),
            ..self
        }
    }

    /// Returns true if metrics cannot tell the training sets apart: they have as many samples and the same distribution of
    /// outputs.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.n_samples == other.n_samples && self.outputs == other.outputs
    }

    /// Returns what differs from the training set of another model. Checksums are compared if both have some.
    pub(crate) fn difference(&self, other: &Self) -> Option<TrainingDifference> {
        if !self.is_like(other) {
            return Some(TrainingDifference::Summary);
        }
        let (ours, theirs) = self.checksums.zip(other.checksums)?;
        if ours.outputs != theirs.outputs {
            return Some(TrainingDifference::Outputs);
        }
        (ours.weights != theirs.weights).then_some(TrainingDifference::Weights)
    }

    /// Returns true if the outputs of a data set are those of the training set, in their order, as far as their number and
    /// a checksum tell: they are probably the same samples. False for a model of a file without checksums.
    pub fn has_outputs_of(&self, data: &Dataset) -> bool {
        let outputs = |of: Checksums| of.outputs;
        self.n_samples == data.n_samples() && self.checksums.map(outputs) == Some(Checksums::of(data).outputs)
    }

    /// Repeats each output `times` times in succession.
    pub(crate) fn repeated(self, times: usize) -> Self {
        fn each<T: Copy>(values: &[T], times: usize) -> Vec<T> {
            let values = values.iter();
            values.flat_map(|&v| std::iter::repeat_n(v, times)).collect()
        }
        let outputs = match &self.outputs {
            OutputSummary::Labels { counts, missing } => OutputSummary::Labels {
                counts: each(counts, times),
                missing: each(missing, times),
            },
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
            OutputSummary::Labels { .. } => (
                "label count",
                "at most the number of training samples where the label is not missing",
            ),
            OutputSummary::Means(_) => ("training mean", "a finite number"),
        };
        let bad = match &outputs {
            OutputSummary::Labels { counts, missing } => (0..counts.len())
                .find(|&output| {
                    let missing = missing.get(output).copied().unwrap_or(0);
                    n_samples
                        .checked_sub(missing)
                        .is_none_or(|observed| counts[output] > observed)
                })
                .map(|output| (output, counts[output] as f64)),
            OutputSummary::Means(means) => means
                .iter()
                .position(|mean| !mean.is_finite())
                .map(|output| (output, means[output])),
        };
        match bad {
            None => Ok(Self {
                n_samples,
                outputs,
                missing_features: None,
                checksums: None,
            }),
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
            OutputSummary::Labels { counts, .. } => counts.len(),
            OutputSummary::Means(means) => means.len(),
        }
    }

    /// For each label, the number of training samples that have it; `None` for regression.
    pub fn label_counts(&self) -> Option<&[usize]> {
        match &self.outputs {
            OutputSummary::Labels { counts, .. } => Some(counts),
            OutputSummary::Means(_) => None,
        }
    }

    /// The mean of each output over the samples where it is observed; for labels, the fraction of these that have them.
    pub fn output_means(&self) -> Vec<f64> {
        self.outputs.means(self.n_samples)
    }
}

/// Checksums of the training samples in their order, whatever their storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Checksums {
    outputs: u64,
    weights: u64,
}

impl Checksums {
    fn of(data: &Dataset) -> Self {
        let (y, of_samples) = (data.outputs().view(), data.weights());
        // Weights that take too much memory are an error of the fit.
        let of_cells = data.cell_weights().ok().flatten();
        let (mut outputs, mut weights) = (Checksum::default(), Checksum::default());
        let mut row_values = vec![0.0; if of_cells.is_some() { y.n_cols() } else { 0 }];
        for row in 0..y.n_rows() {
            y.for_each_in_row(row, |column, value| {
                if value != 0.0 {
                    outputs.add(column, value);
                }
            });
            outputs.add(END, 0.0);
            if let Some(of_cells) = &of_cells {
                y.copy_row(row, &mut row_values);
                for ((column, weight), value) in (0..).zip(of_cells.row(row)).zip(&row_values) {
                    if *weight != 1.0 && !value.is_nan() {
                        weights.add(column, *weight);
                    }
                }
            }
            weights.add(END, of_samples.map_or(1.0, |weights| weights[row]));
        }
        Self {
            outputs: outputs.0,
            weights: weights.0,
        }
    }
}

/// A checksum of numbers. Each step is a bijection of the sum so far, so that sequences which differ in one number have
/// different sums.
#[derive(Default)]
struct Checksum(u64);

impl Checksum {
    fn add(&mut self, column: u32, value: f32) {
        let value = if value.is_nan() { f32::NAN } else { value };
        let word = u64::from(column) << 32 | u64::from(value.to_bits());
        self.0 = (self.0 ^ word).wrapping_mul(FACTOR).rotate_left(32);
    }
}

/// The column of the last word of a row.
const END: u32 = u32::MAX;

/// The odd number next to 2⁶⁴ over the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Name of the array of label counts.
const LABEL_COUNTS: &str = "train.label_counts";
/// Name of the array of the numbers of samples where a label is missing.
const MISSING_LABELS: &str = "train.missing_labels";
/// Name of the array of means.
const MEANS: &str = "train.means";
/// Name of the array of the checksums of outputs and weights.
const CHECKSUMS: &str = "train.checksums";
/// Name of the array of the features that were missing.
const MISSING_FEATURES: &str = "train.missing_features";

impl Store for TrainingSummary {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        if let Some(Checksums { outputs, weights }) = self.checksums {
            out.array(CHECKSUMS, &[outputs, weights])?;
        }
        if let Some(features) = &self.missing_features {
            out.array(MISSING_FEATURES, features)?;
        }
        let narrow = |counts: &[usize]| counts.iter().map(|&count| count as u32).collect::<Vec<_>>();
        match &self.outputs {
            OutputSummary::Labels { counts, missing } => {
                out.array(LABEL_COUNTS, &narrow(counts))?;
                match missing.is_empty() {
                    true => Ok(()),
                    false => out.array(MISSING_LABELS, &narrow(missing)),
                }
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
                let are_missing = from.has(MISSING_LABELS);
                let mut counts_of = |name| {
                    let counts = from.array::<u32>(name)?.of_length(sizes.n_outputs)?;
                    Ok::<Vec<usize>, StoreError>(counts.map(|count| count as usize).collect())
                };
                let counts = counts_of(LABEL_COUNTS)?;
                let missing = match are_missing {
                    true => counts_of(MISSING_LABELS)?,
                    false => Vec::new(),
                };
                OutputSummary::Labels { counts, missing }
            }
            Task::Regression => {
                let means = from.array::<f64>(MEANS)?.of_length(sizes.n_outputs)?;
                OutputSummary::Means(means.to_vec())
            }
        };
        let mut checksums = None;
        if from.has(CHECKSUMS) {
            let stored = from.array::<u64>(CHECKSUMS)?.of_length(2)?.to_vec();
            checksums = Some(Checksums {
                outputs: stored[0],
                weights: stored[1],
            });
        }
        let mut missing_features = None;
        if from.has(MISSING_FEATURES) {
            missing_features = Some(from.array::<u32>(MISSING_FEATURES)?.to_vec());
        }
        let summary = Self::new(sizes.n_train, outputs)
            .map_err(|e| StoreError::part("summary of the training set", e))?;
        Ok(Self {
            missing_features,
            checksums,
            ..summary
        })
    }
}

impl Model {
    /// The samples of the training in the data set that is passed again: all, or without those that a fit
    /// [leaves out](Dataset::for_training). Samples are matched by position; other samples, or another order, go
    /// unnoticed.
    pub fn training_samples<'d>(&self, data: &'d Dataset) -> Cow<'d, Dataset> {
        match data.n_samples() == self.n_train() {
            true => Cow::Borrowed(data),
            false => data.for_training(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use rpo_core::MatrixView;

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
        assert_eq!(labels.output_means(), [1.0, 0.5, 0.0]);
        for summary in [numbers, labels] {
            let again = TrainingSummary::new(summary.n_samples, summary.outputs.clone()).unwrap();
            assert!(again.is_like(&summary));
            assert_eq!(again.difference(&summary), None);
        }
    }

    #[test]
    fn checksums_tell_training_sets_apart() {
        let x = array![[0.0], [1.0], [2.0]];
        let y = array![[1.0, 0.0], [0.0, -0.0], [0.0, 1.0]];
        let summary = |y: &ndarray::Array2<f32>, weights: Option<Vec<f32>>| {
            let data = Dataset::new(x.clone().into(), y.clone().into(), Task::MultiLabel).unwrap();
            TrainingSummary::of(&match weights {
                Some(weights) => data.with_weights(weights).unwrap(),
                None => data,
            })
        };
        let first = summary(&y, None);
        assert_eq!(first, summary(&y, Some(vec![1.0; 3])));
        let sparse = MatrixView::from(&y).to_csr();
        let sparse = Dataset::new(x.clone().into(), sparse.into(), Task::MultiLabel).unwrap();
        assert_eq!(first, TrainingSummary::of(&sparse));
        let weighted = summary(&y, Some(vec![1.0, 2.0, 1.0]));
        assert_eq!(first.difference(&weighted), Some(TrainingDifference::Weights));
        let reordered = summary(&array![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], None);
        assert_eq!(first.difference(&reordered), Some(TrainingDifference::Outputs));
        let other = summary(&array![[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], None);
        assert_eq!(first.difference(&other), Some(TrainingDifference::Summary));
    }
}
