//! Errors in the arguments of a metric.

use crate::Metric;
use rpo_core::{Mismatch, NotCsr, ParameterError};

/// An argument that a metric refuses.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// Sizes that differ from those of the truth.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// A parameter of a metric out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A matrix without samples or without columns.
    #[error("the matrix must have at least one sample and one column, got {samples} x {columns}")]
    Empty {
        /// Number of samples.
        samples: usize,
        /// Number of columns.
        columns: usize,
    },
    /// A sparse matrix that is stored by columns.
    #[error(transparent)]
    NotCsr(#[from] NotCsr),
    /// A value that is NaN or infinite.
    #[error("{what}: the value of sample {sample}, column {column} must be finite, got {value}")]
    NonFinite {
        /// Name of the argument.
        what: &'static str,
        /// The sample, from 0.
        sample: usize,
        /// The column, from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// A score that is not a probability, where a metric needs one.
    #[error("the score of sample {sample}, label {label} must be a probability, from 0 to 1, got {value}")]
    NotAProbability {
        /// The sample, from 0.
        sample: usize,
        /// The label, from 0.
        label: usize,
        /// The score.
        value: f64,
    },
    /// A prediction interval whose lower bound is above the upper one.
    #[error(
        "the interval of output {output} for sample {sample} has the lower bound {lower} above the upper bound {upper}"
    )]
    Interval {
        /// The sample, from 0.
        sample: usize,
        /// The output, from 0.
        output: usize,
        /// The lower bound.
        lower: f32,
        /// The upper bound.
        upper: f32,
    },
    /// A true value below 0, where a metric is a deviance.
    #[error("output {output} of sample {sample}: a deviance needs true values of at least 0, got {truth}")]
    Deviance {
        /// The sample, from 0.
        sample: usize,
        /// The output, from 0.
        output: usize,
        /// The true value.
        truth: f64,
    },
    /// A label matrix with a value that is neither 0 nor 1.
    #[error("labels: the value of sample {sample}, column {column} must be 0 or 1, got {value}")]
    NotBinary {
        /// The sample, from 0.
        sample: usize,
        /// The column, from 0.
        column: usize,
        /// The value.
        value: f32,
    },
    /// A label that is not below the number of labels.
    #[error("sample {sample} has label {label}, but there are {n_labels} labels, counted from 0")]
    LabelOutOfRange {
        /// The sample, from 0.
        sample: usize,
        /// The label.
        label: u32,
        /// The number of labels.
        n_labels: usize,
    },
    /// A label that a sample lists twice.
    #[error("sample {sample} lists label {label} more than once")]
    DuplicateLabel {
        /// The sample, from 0.
        sample: usize,
        /// The label.
        label: u32,
    },
    /// A metric with a larger k than the predictions hold.
    #[error("the predictions hold only the best {held} labels of each sample, but {needed} are needed")]
    TopKTooShort {
        /// The k that is needed.
        needed: usize,
        /// The k that the predictions hold.
        held: usize,
    },
    /// A value per label that is NaN, or not positive and finite although it must be.
    #[error("{what}: the value of label {label} must be {expected}, got {value}")]
    LabelValue {
        /// Name of the argument.
        what: &'static str,
        /// The label, from 0.
        label: usize,
        /// The allowed values.
        expected: &'static str,
        /// Its value.
        value: f64,
    },
    /// An argument that a metric needs but the evaluation does not have.
    #[error("{metric} needs {needs}")]
    Missing {
        /// The metric.
        metric: String,
        /// The missing argument.
        needs: &'static str,
    },
    /// A custom metric that cannot be computed.
    #[error("{metric}: {message}")]
    Custom {
        /// The metric.
        metric: String,
        /// The reason.
        message: String,
    },
    /// A name that does not belong to a metric.
    #[error("unknown metric {name:?}: expected one of {}", Metric::names().collect::<Vec<_>>().join(", "))]
    UnknownMetric {
        /// The name.
        name: String,
    },
}

impl MetricError {
    /// The sample that the error names, if any. A caller that passed a part of the samples converts it to that of all.
    pub fn sample_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::NonFinite { sample, .. }
            | Self::NotAProbability { sample, .. }
            | Self::NotBinary { sample, .. }
            | Self::Interval { sample, .. }
            | Self::Deviance { sample, .. }
            | Self::LabelOutOfRange { sample, .. }
            | Self::DuplicateLabel { sample, .. } => Some(sample),
            _ => None,
        }
    }

    /// Creates the error for something that an evaluation lacks, for any metric.
    pub(crate) fn needs(needs: &'static str) -> Self {
        Self::Missing {
            metric: "the metric".to_owned(),
            needs,
        }
    }
}
