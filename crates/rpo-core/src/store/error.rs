//! What can be wrong with a stored model.

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
        /// What is wrong with it, as in "array x *is missing*".
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
        /// What is wrong with it, as in "field x *is missing*".
        problem: String,
    },
    /// A part whose arrays are sound by themselves and do not make one.
    #[error("{part}: {problem}")]
    Part {
        /// Which part: "tree 3".
        part: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl StoreError {
    /// An array that is not as it should be.
    pub fn array(name: &str, problem: impl Into<String>) -> Self {
        Self::Array {
            name: name.to_owned(),
            problem: problem.into(),
        }
    }

    /// A field that is not as it should be.
    pub(super) fn field(name: &str, problem: impl Into<String>) -> Self {
        Self::Field {
            name: name.to_owned(),
            problem: problem.into(),
        }
    }

    /// A part that is not as it should be, for instance by the error of its constructor.
    pub fn part(part: impl Display, problem: impl Display) -> Self {
        Self::Part {
            part: part.to_string(),
            problem: problem.to_string(),
        }
    }
}
