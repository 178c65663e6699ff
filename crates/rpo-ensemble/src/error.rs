//! Errors of fitting ensembles and predicting with them.

use rpo_core::{MatrixError, MemoryLimit, Mismatch, ParameterError, WeightError};
use rpo_projections::ProjectionError;
use rpo_tree::TreeError;

/// The error of every fallible function of this crate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EnsembleError {
    /// A parameter that is out of range or contradicts another.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Two sizes that must be equal are not.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// A weight of a sample that cannot be used.
    #[error(transparent)]
    Weight(#[from] WeightError),
    /// An output that is NaN or infinite.
    #[error("outputs: {0}")]
    Outputs(#[source] MatrixError),
    /// A feature that is missing or infinite, for a method that needs finite features.
    #[error("features: {0}")]
    Features(#[source] MatrixError),
    /// Predictions that would need more memory than allowed.
    #[error("predictions: {0}; predict the top labels, or fewer samples at a time")]
    Predictions(#[source] MatrixError),
    /// A projection of the outputs that would need more memory than allowed.
    #[error(transparent)]
    Memory(#[from] MemoryLimit),
    /// A prediction beyond the range of `f32`.
    #[error(
        "the prediction of output {output} for sample {row} is {value}, beyond 32-bit numbers; scale the outputs down"
    )]
    Prediction {
        /// Sample, from 0.
        row: usize,
        /// Output, from 0.
        output: usize,
        /// The prediction.
        value: f32,
    },
    /// An error of growing trees.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// An error of the projection of the outputs.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// A bootstrap that drew only samples of weight 0.
    #[error(
        "the bootstrap of tree {tree} drew no sample of positive weight; give more samples weight, or set `bootstrap` to false"
    )]
    EmptyBag {
        /// The index of the tree.
        tree: usize,
    },
    /// An output other than 0 and 1, for a method that learns labels.
    #[error("output {output} of sample {row} is {value}; labels must be 0 or 1")]
    Label {
        /// Sample, from 0.
        row: usize,
        /// Output, from 0.
        output: usize,
        /// The value.
        value: f32,
    },
    /// Out-of-bag predictions of an ensemble whose trees grew on all samples.
    #[error("no sample is out of bag: every tree grew on all samples")]
    NoBootstrap,
    /// A training target that the loss cannot be evaluated for.
    #[error("target {output} of sample {row} is {value}; the loss needs {expected}")]
    Target {
        /// Sample, from 0.
        row: usize,
        /// Output, from 0.
        output: usize,
        /// The value.
        value: f32,
        /// The values that are allowed.
        expected: &'static str,
    },
    /// A sample with none or several of outputs of which each sample has one.
    #[error(
        "sample {row} does not have exactly one of the outputs {first} to {last}, a group of the softmax loss"
    )]
    Group {
        /// Sample, from 0.
        row: usize,
        /// First output of the group, from 0.
        first: usize,
        /// Last output of the group.
        last: usize,
    },
    /// An output without an observed target of positive weight.
    #[error("output {output} has no observed target of positive weight")]
    NoTarget {
        /// Output, from 0.
        output: usize,
    },
    /// A weight of a cell that is negative, NaN, infinite, or another than that of its group.
    #[error(
        "the weight of output {output} in sample {row} is {value}; weights must be finite and not negative, and equal \
         within a group of the softmax loss"
    )]
    CellWeight {
        /// Sample, from 0.
        row: usize,
        /// Output, from 0.
        output: usize,
        /// The weight.
        value: f32,
    },
    /// Training that would need more memory than allowed.
    #[error("training scores: {0}; raise `memory_limit`, or use sparse outputs with the square loss")]
    Training(#[source] MatrixError),
    /// A form of the training scores that does not fit the data.
    #[error("the training form {form} needs {needs}")]
    Form {
        /// The form.
        form: &'static str,
        /// The requirement.
        needs: &'static str,
    },
    /// Scores that overflowed, as values near the largest floating-point numbers do.
    #[error("step {step} is not finite; scale the outputs down")]
    Diverged {
        /// The step, from 0.
        step: usize,
    },
    /// A projection family whose projections are zero however often they are drawn.
    #[error("every projection drawn for step {step} is zero")]
    ZeroProjection {
        /// The step, from 0.
        step: usize,
    },
    /// A fit that was stopped before its end.
    #[error("the fit was stopped")]
    Stopped,
    /// Ensembles that cannot be merged.
    #[error("cannot merge: {0}")]
    Merge(&'static str),
}

/// Refuses a size.
pub(crate) fn mismatch<T>(what: &'static str, expected: usize, given: usize) -> Result<T, EnsembleError> {
    Err(Mismatch {
        what,
        expected,
        given,
    }
    .into())
}

/// Refuses the first size that is not the expected one, given what is counted, the expected and the given size of each.
pub(crate) fn check_lengths<const N: usize>(
    lengths: [(&'static str, usize, usize); N],
) -> Result<(), EnsembleError> {
    for (what, expected, given) in lengths {
        Mismatch::check(what, expected, given)?;
    }
    Ok(())
}
