//! Errors of descriptions.

use std::path::PathBuf;

/// Reason why an experiment cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum DescribeError {
    /// A file or folder that cannot be read.
    #[error("{}: cannot read: {message}", path.display())]
    Io { path: PathBuf, message: String },
    /// No experiment of this name.
    #[error("no experiment {name:?}; there are {}, or the path of a .toml file", known.join(", "))]
    Unknown { name: String, known: Vec<String> },
    /// An invalid field in a file.
    #[error("{}:{line}: {field}: {message}", path.display())]
    Field {
        path: PathBuf,
        line: usize,
        field: String,
        message: String,
    },
}
