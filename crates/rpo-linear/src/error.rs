//! Errors of fitting and of prediction.

use rpo_core::{MatrixError, MemoryLimit, Mismatch, NotCsr, ParameterError, TooFew, WeightError};
use rpo_projections::ProjectionError;

/// The error of every fallible function of this crate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinearError {
    /// A parameter that is out of range or contradicts another one.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Two sizes that must be equal but are not.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// Fewer samples or outputs than a computation needs.
    #[error(transparent)]
    TooFew(#[from] TooFew),
    /// A sparse matrix that is stored by columns.
    #[error(transparent)]
    NotCsr(#[from] NotCsr),
    /// A feature that is NaN or infinite.
    #[error("features: {0}")]
    Features(#[source] MatrixError),
    /// An output that is NaN or infinite.
    #[error("outputs: {0}")]
    Outputs(#[source] MatrixError),
    /// An output that is not 0 or 1, although the loss requires labels.
    #[error("output {output} of sample {sample} is {value}; the logistic and softmax losses require 0 or 1")]
    NotALabel {
        /// Sample, from 0.
        sample: usize,
        /// Output, from 0.
        output: usize,
        /// The value.
        value: f32,
    },
    /// A sample without exactly one label, although the loss requires classes.
    #[error("sample {sample} has {n_labels} labels; the softmax loss requires exactly one")]
    NotClass {
        /// Sample, from 0.
        sample: usize,
        /// Number of its labels.
        n_labels: usize,
    },
    /// An invalid sample weight.
    #[error(transparent)]
    Weight(#[from] WeightError),
    /// Samples of a single group, none of which can be withheld.
    #[error("all samples belong to one group, so none can be withheld {purpose}")]
    OneGroup {
        /// What they would be withheld for.
        purpose: &'static str,
    },
    /// Scores that would exceed the memory limit.
    #[error("predictions: {0}; predict the top labels, or fewer samples at a time")]
    Predictions(#[source] MatrixError),
    /// A matrix of a fit that would exceed the memory limit.
    #[error(transparent)]
    Memory(#[from] MemoryLimit),
    /// Weights beyond the range of `f32`.
    #[error("the fit overflows: {what} is not finite; rescale the features, or raise the penalty")]
    Overflow {
        /// The matrix that is not finite.
        what: &'static str,
    },
    /// A score beyond the range of `f32`.
    #[error(
        "the score of output {output} for sample {sample} is {value}: its features are too large for the weights"
    )]
    Score {
        /// Sample, from 0.
        sample: usize,
        /// Output, from 0.
        output: usize,
        /// The score.
        value: f32,
    },
    /// A score that is not a probability, although a decision needs one.
    #[error("the score of sample {sample}, label {output} must be a probability, from 0 to 1, got {value}")]
    NotAProbability {
        /// Sample, from 0.
        sample: usize,
        /// Label, from 0.
        output: usize,
        /// The score.
        value: f32,
    },
    /// The fit was stopped before its end.
    #[error("the fit was stopped")]
    Stopped,
    /// Label trees that cannot be merged.
    #[error("cannot merge: {0}")]
    Merge(&'static str),
    /// An error of the embedding, the random features or a least squares problem.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
}

impl LinearError {
    /// The sample that the error names, if any. A caller that passed a part of the samples converts it to that of all.
    pub fn sample_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::Features(e) | Self::Outputs(e) => e.row_mut(),
            Self::NotALabel { sample, .. }
            | Self::NotClass { sample, .. }
            | Self::Score { sample, .. }
            | Self::NotAProbability { sample, .. } => Some(sample),
            _ => None,
        }
    }
}
