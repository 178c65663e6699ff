//! What can go wrong when a linear model or a link is fitted or asked.

use rpo_core::{MatrixError, ParameterError};
use rpo_projections::ProjectionError;

/// The error of every fallible function of this crate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinearError {
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
    /// A sparse matrix that is stored by columns.
    #[error("the {0} are stored by columns, compressed sparse rows are needed")]
    NotCsr(&'static str),
    /// A feature that is NaN or infinite.
    #[error("features: {0}")]
    Features(#[source] MatrixError),
    /// An output that is NaN or infinite.
    #[error("outputs: {0}")]
    Outputs(#[source] MatrixError),
    /// An output that is not 0 or 1, where the loss is for labels.
    #[error("output {column} of row {row} is {value}; the logistic losses take 0 and 1")]
    NotLabel {
        /// Row, from 0.
        row: usize,
        /// Output, from 0.
        column: usize,
        /// The value.
        value: f32,
    },
    /// A row without exactly one label, where the loss is for classes.
    #[error("row {row} has {n_labels} labels; the softmax loss takes one per row")]
    NotClass {
        /// Row, from 0.
        row: usize,
        /// Its labels.
        n_labels: usize,
    },
    /// Scores that would need more memory than allowed.
    #[error("predictions: {0}; predict the top labels, or fewer rows at a time")]
    Predictions(#[source] MatrixError),
    /// Weights that would need more memory than allowed.
    #[error("weights: {0}; an embedding needs far fewer")]
    Weights(#[source] MatrixError),
    /// Weights that left the range of finite numbers: features or outputs are too large for f32.
    #[error("the fit overflows: {what} is not finite; rescale the features, or raise the penalty")]
    Overflow {
        /// What is not finite.
        what: &'static str,
    },
    /// The embedding, the random features or a least squares problem.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
}

/// [`LinearError::Mismatch`] unless two lengths agree.
pub(crate) fn check_length(what: &'static str, expected: usize, given: usize) -> Result<(), LinearError> {
    if expected == given {
        Ok(())
    } else {
        Err(LinearError::Mismatch {
            what,
            expected,
            given,
        })
    }
}
