//! Errors of fitting ensembles and predicting with them.

use rpo_core::{MatrixError, MemoryLimit, Mismatch, NotCsr, ParameterError, TooFew, WeightError};
use rpo_projections::ProjectionError;
use rpo_tree::TreeError;

/// The error of every fallible function of this crate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EnsembleError {
    /// A parameter is out of range or contradicts another.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Two sizes that must be equal are not.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// Fewer trees, features, outputs or samples than are needed.
    #[error(transparent)]
    TooFew(#[from] TooFew),
    /// There is no output.
    #[error("there must be at least one output")]
    NoOutputs,
    /// A tree refers to training samples that are not stored.
    #[error("a tree refers to training samples, but the model stores none")]
    NoTrainingSamples,
    /// A sparse matrix that is stored by columns.
    #[error(transparent)]
    NotCsr(#[from] NotCsr),
    /// The weight of a sample is invalid.
    #[error(transparent)]
    Weight(#[from] WeightError),
    /// An output is NaN or infinite.
    #[error("outputs: {0}")]
    Outputs(#[source] MatrixError),
    /// A feature is missing or infinite, and the method needs finite features.
    #[error("features: {0}")]
    Features(#[source] MatrixError),
    /// Predictions would need more memory than allowed.
    #[error("predictions: {0}; predict the top labels, or fewer samples at a time")]
    Predictions(#[source] MatrixError),
    /// A projection of the outputs would need more memory than allowed.
    #[error(transparent)]
    Memory(#[from] MemoryLimit),
    /// A prediction is beyond the range of `f32`.
    #[error(
        "the prediction of output {output} for sample {sample} is {value}, beyond the range of 32-bit floats; scale the outputs down"
    )]
    Prediction {
        /// Sample, from 0.
        sample: usize,
        /// Output, from 0.
        output: usize,
        /// The prediction.
        value: f32,
    },
    /// Growing a tree failed.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// Projecting the outputs failed.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// A custom loss returned a number that is NaN or infinite, or a negative second derivative at the initial score.
    #[error(
        "the {what} of the loss is {value} for output {output} of sample {sample}, with target {target} and score {score}; it must \
         be finite, and a second derivative must not be negative"
    )]
    Loss {
        /// "value", "negative gradient" or "second derivative".
        what: &'static str,
        /// Sample, from 0.
        sample: usize,
        /// Output, from 0.
        output: usize,
        /// The target.
        target: f64,
        /// The score.
        score: f64,
        /// The number that the loss returned.
        value: f64,
    },
    /// All samples that were drawn for a tree have weight 0.
    #[error(
        "all samples drawn for tree {tree} have weight 0; give more samples a positive weight, or leave out those of weight 0"
    )]
    EmptyBag {
        /// The index of the tree, or its position in a forest whose leaves are labelled anew.
        tree: usize,
    },
    /// An output is neither 0 nor 1, and the method learns labels.
    #[error("output {output} of sample {sample} is {value}; labels must be 0 or 1")]
    NotALabel {
        /// Sample, from 0.
        sample: usize,
        /// Output, from 0.
        output: usize,
        /// The value.
        value: f32,
    },
    /// Out-of-bag predictions were requested from an ensemble whose trees all grew on all samples.
    #[error("no sample is out of bag: every tree grew on all samples")]
    NoBootstrap,
    /// Samples that were given as those of the training do not reach every leaf.
    #[error(
        "a leaf of tree {tree} receives no sample of positive weight: pass the training samples, in their original order"
    )]
    NotTrainingSamples {
        /// The position of the tree in the forest.
        tree: usize,
    },
    /// The loss is not defined for a training target.
    #[error("target {output} of sample {sample} is {value}; the loss needs {expected}")]
    Target {
        /// Sample, from 0.
        sample: usize,
        /// Output, from 0.
        output: usize,
        /// The value.
        value: f32,
        /// Description of the allowed values.
        expected: &'static str,
    },
    /// A sample does not have exactly one output of a group of the softmax loss.
    #[error(
        "sample {sample} does not have exactly one of the outputs {first} to {last}, a group of the softmax loss"
    )]
    Group {
        /// Sample, from 0.
        sample: usize,
        /// First output of the group, from 0.
        first: usize,
        /// Last output of the group.
        last: usize,
    },
    /// An output has no observed target of positive weight.
    #[error("output {output} has no observed target of positive weight")]
    NoTarget {
        /// Output, from 0.
        output: usize,
    },
    /// The weight of a cell (a sample and an output) is negative, NaN, infinite, or different from the weights of its
    /// group.
    #[error(
        "the weight of output {output} in sample {sample} is {value}; weights must be finite and not negative, and equal \
         within a group of the softmax loss"
    )]
    CellWeight {
        /// Sample, from 0.
        sample: usize,
        /// Output, from 0.
        output: usize,
        /// The weight.
        value: f32,
    },
    /// The scores and targets of boosting would need more memory than [its limit](crate::boosting::BoostingOptions::memory_limit).
    #[error(
        "training scores: {0}; use fewer samples or outputs, sparse outputs with the square loss, or a higher `memory_limit`"
    )]
    Training(#[source] MatrixError),
    /// Sparse outputs, which forests with bins need dense, would take more memory than allowed.
    #[error("outputs for `bins`: {0}; leave out `bins`, or use a projection")]
    DenseOutputs(#[source] MatrixError),
    /// The form of the training scores does not suit the data.
    #[error("the training form {form} needs {needs}")]
    Form {
        /// The form.
        form: &'static str,
        /// The requirement.
        needs: &'static str,
    },
    /// Numbers overflowed, as happens with outputs near the largest floating-point numbers, or a custom loss has a
    /// derivative that is not finite.
    #[error(
        "step {step} of boosting is not finite; scale the outputs down, or check the derivatives of the custom loss"
    )]
    Diverged {
        /// The step, from 0.
        step: usize,
    },
    /// All projections drawn for a step are zero.
    #[error("every projection drawn for step {step} is zero")]
    ZeroProjection {
        /// The step, from 0.
        step: usize,
    },
    /// The fit was stopped before its end.
    #[error("the fit was stopped")]
    Stopped,
    /// The error of a custom grower.
    #[error("{0}")]
    Custom(String),
    /// A model cannot be continued.
    #[error("cannot continue: {0}")]
    Continue(&'static str),
    /// The ensembles cannot be merged.
    #[error("cannot merge: {0}")]
    Merge(&'static str),
}

impl EnsembleError {
    /// The sample that the error names, if any. A caller that passed a part of the samples converts it to that of all.
    pub fn sample_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::Features(e) | Self::Outputs(e) => e.row_mut(),
            Self::Tree(e) => e.sample_mut(),
            Self::Prediction { sample, .. }
            | Self::Loss { sample, .. }
            | Self::NotALabel { sample, .. }
            | Self::Target { sample, .. }
            | Self::Group { sample, .. }
            | Self::CellWeight { sample, .. } => Some(sample),
            _ => None,
        }
    }
}
