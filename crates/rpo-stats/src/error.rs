//! Errors of the arguments of a test.

use rpo_core::{Mismatch, ParameterError};

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
    #[error("{what}: at least {needed} needed, got {given}")]
    TooFew {
        /// Name of the counted values, in the plural.
        what: &'static str,
        /// The number that was given.
        given: usize,
        /// The number that is needed.
        needed: usize,
    },
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

pub(crate) fn check_enough(what: &'static str, given: usize, needed: usize) -> Result<(), StatsError> {
    if given < needed {
        return Err(StatsError::TooFew { what, given, needed });
    }
    Ok(())
}
