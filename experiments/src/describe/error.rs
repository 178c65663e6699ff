//! What can be wrong with a description.

use std::path::PathBuf;

/// Why an experiment cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum DescribeError {
    /// A file or folder that cannot be read.
    #[error("{}: cannot read: {message}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        message: String,
    },
    /// No experiment of this name.
    #[error("no experiment {name:?}; there are {}, or the path of a .toml file", known.join(", "))]
    Unknown {
        /// The name.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// Something in a file.
    #[error("{}:{line}: {field}: {message}", path.display())]
    Field {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The field: its table and key.
        field: String,
        /// What is wrong with it.
        message: String,
    },
}
