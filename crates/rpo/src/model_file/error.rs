//! What can be wrong with a model file.

use crate::{ModelError, TargetError};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A model that could not be saved or loaded: which file, why.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelFileError {
    /// The file, if there is one.
    pub path: Option<PathBuf>,
    /// What is wrong.
    pub kind: ModelFileErrorKind,
}

impl ModelFileError {
    pub(super) fn in_file(mut self, path: &Path) -> Self {
        self.path.get_or_insert_with(|| path.to_owned());
        self
    }
}

impl fmt::Display for ModelFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for ModelFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.kind.source()
    }
}

impl<K: Into<ModelFileErrorKind>> From<K> for ModelFileError {
    fn from(kind: K) -> Self {
        Self {
            path: None,
            kind: kind.into(),
        }
    }
}

/// What is wrong with a model file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileErrorKind {
    /// The system could not read it.
    #[error("cannot read: {message}")]
    Read {
        /// The kind of error.
        kind: io::ErrorKind,
        /// What the system says.
        message: String,
    },
    /// It could not be written; the error names the file.
    #[error(transparent)]
    Write(#[from] TargetError),
    /// Not a safetensors file, or a damaged one.
    #[error("not a model file, or cut short or damaged: {message}")]
    Container {
        /// What the container's reader says.
        message: String,
    },
    /// A safetensors file of something else.
    #[error("a safetensors file, but not a model of this software: {message}")]
    NotAModel {
        /// What is missing.
        message: &'static str,
    },
    /// A description that is not as documented.
    #[error("the description of the model is invalid: {message}")]
    Description {
        /// What is wrong with it.
        message: String,
    },
    /// A version of the format that this software does not read.
    #[error("version {found} of the model format; this software reads version {supported}")]
    Version {
        /// By the file.
        found: u64,
        /// What this software reads.
        supported: u64,
    },
    /// A method that this software does not know.
    #[error("unknown kind of model {found:?}; this software reads {supported}")]
    Method {
        /// By the file.
        found: String,
        /// What this software reads.
        supported: &'static str,
    },
    /// Bytes that are not those that were written.
    #[error("the file is damaged: its checksum is {found}, {expected} was written")]
    Checksum {
        /// By the file.
        expected: String,
        /// Of the file.
        found: String,
    },
    /// An array that is missing, unknown, or of the wrong type or shape.
    #[error("array {name:?}: {problem}")]
    Array {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An entry of an array that cannot be.
    #[error("array {name:?}, entry {index}: {value} is invalid; expected {expected}")]
    Entry {
        /// Name of the array.
        name: &'static str,
        /// Index of the entry.
        index: usize,
        /// Its value.
        value: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// A tree whose nodes do not make one.
    #[error("tree {tree}: {problem}")]
    Tree {
        /// Its index.
        tree: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// Parts that do not make a model.
    #[error("the parts of the model do not fit: {0}")]
    Model(#[from] ModelError),
    /// A forest whose trees refer to different training outputs; only one set of them can be saved.
    #[error("tree {tree} refers to other training outputs than the trees before it")]
    SeveralOutputs {
        /// Its index.
        tree: usize,
    },
    /// A description beyond what the container can hold.
    #[error("names and parameters take {bytes} bytes, the format holds at most {limit}")]
    TooLarge {
        /// Bytes they take.
        bytes: usize,
        /// Bytes there are.
        limit: usize,
    },
}

impl ModelFileErrorKind {
    pub(super) fn array(name: &str, problem: impl Into<String>) -> Self {
        Self::Array {
            name: name.to_owned(),
            problem: problem.into(),
        }
    }
}
