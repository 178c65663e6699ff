//! Errors of the arguments of a test.

use rpo_core::{Mismatch, ParameterError, TooFew};

/// An argument that a test refuses.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// Paired samples of different lengths.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
    /// A level or p-value out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Fewer values than a test needs.
    #[error(transparent)]
    TooFew(#[from] TooFew),
    /// A value that is NaN or infinite.
    #[error("value {index} must be finite, got {value}")]
    NonFinite {
        /// Position of the value, from 0; in a table, row by row.
        index: usize,
        /// The value.
        value: f64,
    },
    /// More differences than the exact test accepts.
    #[error("the exact test takes at most {limit} differences, got {given}: use the normal approximation")]
    TooManyForExact {
        /// The number of differences.
        given: usize,
        /// The largest accepted number.
        limit: usize,
    },
}

pub(crate) fn check_finite(values: &[f64]) -> Result<(), StatsError> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(index) => Err(StatsError::NonFinite {
            index,
            value: values[index],
        }),
        None => Ok(()),
    }
}
