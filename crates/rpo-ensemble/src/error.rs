//! What can go wrong when an ensemble is fitted or asked.

use rpo_core::{MatrixError, ParameterError};
use rpo_projections::ProjectionError;
use rpo_tree::TreeError;

/// The error of every fallible function of this crate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EnsembleError {
    /// A parameter outside its range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Two arguments that must agree in a length do not.
    #[error("{what}: expected {expected}, given {given}")]
    Mismatch {
        /// Which length.
        what: &'static str,
        /// The length required.
        expected: usize,
        /// The length given.
        given: usize,
    },
    /// An output that is NaN or infinite.
    #[error("outputs: {0}")]
    Outputs(#[source] MatrixError),
    /// A feature that is NaN or infinite, where a method has no place for it.
    #[error("features: {0}")]
    Features(#[source] MatrixError),
    /// Predictions that would need more memory than allowed.
    #[error("predictions: {0}; predict the top labels, or fewer rows at a time")]
    Predictions(#[source] MatrixError),
    /// The features, or a parameter of the trees.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The projection of the outputs.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// A bootstrap all of whose rows have weight 0.
    #[error(
        "the bootstrap of tree {tree} drew no row of positive weight; give more rows weight, or no bootstrap"
    )]
    EmptyBag {
        /// The index of the tree.
        tree: usize,
    },
    /// A label that is neither 0 nor 1 where only labels can be learned.
    #[error("the output at row {row}, column {output} is {value}; labels are 0 or 1")]
    Label {
        /// Row, from 0.
        row: usize,
        /// Output, from 0.
        output: usize,
        /// The value.
        value: f32,
    },
    /// Out-of-bag predictions of an ensemble whose trees saw every row.
    #[error("the trees were grown without bootstrap: no row is out of bag")]
    NoBootstrap,
    /// A training target that the loss does not know.
    #[error("the target at row {row}, output {output} is {value}; the loss expects {expected}")]
    Target {
        /// Row, from 0.
        row: usize,
        /// Output, from 0.
        output: usize,
        /// The value.
        value: f32,
        /// What is allowed.
        expected: &'static str,
    },
    /// An output without a known target of positive weight.
    #[error("output {output} has no target of positive weight")]
    NoTarget {
        /// Output, from 0.
        output: usize,
    },
    /// A weight of a cell that is negative, NaN or infinite.
    #[error("the weight at row {row}, output {output} is {value}; weights are finite and not negative")]
    CellWeight {
        /// Row, from 0.
        row: usize,
        /// Output, from 0.
        output: usize,
        /// The weight.
        value: f32,
    },
    /// Training that would need more memory than allowed.
    #[error("training scores: {0}; raise the budget, or use sparse outputs with the square loss")]
    Training(#[source] MatrixError),
    /// A form of the training scores that does not fit the data.
    #[error("the training form {form} needs {needs}")]
    Form {
        /// The form.
        form: &'static str,
        /// What it needs.
        needs: &'static str,
    },
    /// Scores that grew beyond all bounds, as values near the largest floating-point numbers make them.
    #[error("step {step} is not finite; scale the outputs down")]
    Diverged {
        /// The step, from 0.
        step: usize,
    },
    /// A projection family that gives zero again and again.
    #[error("the projection of step {step} is zero however often it is drawn")]
    ZeroProjection {
        /// The step, from 0.
        step: usize,
    },
    /// Ensembles that cannot become one.
    #[error("the ensembles cannot be merged: {0}")]
    Merge(&'static str),
}

/// Refuses a length.
pub(crate) fn mismatch<T>(what: &'static str, expected: usize, given: usize) -> Result<T, EnsembleError> {
    Err(EnsembleError::Mismatch {
        what,
        expected,
        given,
    })
}

/// Refuses the first length that is not the expected one; given are what it is of, the expected, and the given one.
pub(crate) fn check_lengths<const N: usize>(
    lengths: [(&'static str, usize, usize); N],
) -> Result<(), EnsembleError> {
    let wrong = lengths.into_iter().find(|(_, expected, given)| expected != given);
    wrong.map_or(Ok(()), |(what, expected, given)| mismatch(what, expected, given))
}
