//! What can be wrong with a model file.

use crate::{ModelError, TargetError};
use rpo_core::store::StoreError;
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
    #[error("written by version {found} of the model format; this program reads version {supported}: {}", remedy(*.found, *.supported))]
    Version {
        /// By the file.
        found: u64,
        /// What this software reads.
        supported: u64,
    },
    /// A kind of model that this software does not know.
    #[error("unknown kind of model {found:?}; this program reads {supported}")]
    UnknownKind {
        /// By the file.
        found: String,
        /// The kinds that can be read.
        supported: String,
    },
    /// Bytes that are not those that were written.
    #[error("the file is damaged: its checksum is {found}, and {expected} was written")]
    Checksum {
        /// The checksum in the file.
        expected: String,
        /// The checksum of its contents.
        found: String,
    },
    /// Arrays or fields that do not make a model, or cannot be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Parts that do not make a model.
    #[error("the parts of the model do not fit: {0}")]
    Model(#[from] ModelError),
    /// A description beyond what the container can hold.
    #[error("names and parameters take {bytes} bytes, the format holds at most {limit}")]
    TooLarge {
        /// Bytes they take.
        bytes: usize,
        /// Bytes there are.
        limit: usize,
    },
}

/// What to do with a file of another version.
fn remedy(found: u64, supported: u64) -> &'static str {
    if found < supported {
        "train the model again, or use rpo 0.1.0"
    } else {
        "use a newer release"
    }
}
