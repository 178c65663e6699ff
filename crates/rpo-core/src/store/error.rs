//! Errors of stored models.

use std::fmt::Display;

/// A value that could not be stored or restored.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// An array that is missing, unknown, or of the wrong type, shape or length.
    #[error("array {name:?} {problem}")]
    Array {
        /// Its name.
        name: String,
        /// The problem, as in "array x *is missing*".
        problem: String,
    },
    /// An entry of an array with an impossible value.
    #[error("array {name:?}, entry {index}: {value} is invalid; expected {expected}")]
    Entry {
        /// Name of the array.
        name: String,
        /// Index of the entry.
        index: usize,
        /// Its value.
        value: f64,
        /// The values that are allowed.
        expected: &'static str,
    },
    /// A field that is missing, unknown or invalid.
    #[error("field `{name}` {problem}")]
    Field {
        /// Its name.
        name: String,
        /// The problem, as in "field x *is missing*".
        problem: String,
    },
    /// A part whose arrays are valid individually but not in combination.
    #[error("{part}: {problem}")]
    Part {
        /// The part: "tree 3".
        part: String,
        /// The problem.
        problem: String,
    },
}

impl StoreError {
    /// Creates an error for an invalid array.
    pub fn array(name: &str, problem: impl Into<String>) -> Self {
        Self::Array {
            name: name.to_owned(),
            problem: problem.into(),
        }
    }

    /// Creates an error for an invalid field.
    pub(super) fn field(name: &str, problem: impl Into<String>) -> Self {
        Self::Field {
            name: name.to_owned(),
            problem: problem.into(),
        }
    }

    /// Creates an error for an invalid part, for instance from the error of its constructor.
    pub fn part(part: impl Display, problem: impl Display) -> Self {
        Self::Part {
            part: part.to_string(),
            problem: problem.to_string(),
        }
    }
}
