//! Errors of model files.

use crate::{ModelError, TargetError};
use rpo_core::store::StoreError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Error of saving or loading a model: the file and the reason.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ModelFileError {
    /// The file, if there is one.
    pub path: Option<PathBuf>,
    /// The reason.
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

/// Reasons why a model file cannot be saved or loaded.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileErrorKind {
    /// The file could not be read.
    #[error("cannot read: {message}")]
    Read {
        /// The kind of error.
        kind: io::ErrorKind,
        /// The message of the system.
        message: String,
    },
    /// The file could not be written; the error names the file.
    #[error(transparent)]
    Write(#[from] TargetError),
    /// The file is not a safetensors file, or is damaged.
    #[error("not a model file, or cut short or damaged: {message}")]
    Container {
        /// The message of the container's reader.
        message: String,
    },
    /// The file is a safetensors file with other contents.
    #[error("a safetensors file, but not a model of this software: {message}")]
    NotAModel {
        /// What is missing.
        message: &'static str,
    },
    /// The description is invalid.
    #[error("the description of the model is invalid: {message}")]
    Description {
        /// The problem.
        message: String,
    },
    /// The file has a format version that this software does not read.
    #[error("written by version {found} of the model format; this program reads version {supported}: {}", remedy(*.found, *.supported))]
    Version {
        /// The version of the file.
        found: u64,
        /// The version that this software reads.
        supported: u64,
    },
    /// The kind of model is unknown to this software.
    #[error("unknown kind of model {found:?}; this program reads {supported}")]
    UnknownKind {
        /// The kind in the file.
        found: String,
        /// The kinds that can be read.
        supported: String,
    },
    /// The contents differ from what was written.
    #[error("the file is damaged: its checksum is {found}, and {expected} was written")]
    Checksum {
        /// The checksum in the file.
        expected: String,
        /// The checksum of its contents.
        found: String,
    },
    /// The arrays or fields do not form a model, or cannot be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The parts do not form a model.
    #[error("the parts of the model do not fit: {0}")]
    Model(#[from] ModelError),
    /// The description exceeds the size that the container can hold.
    #[error("names and parameters take {bytes} bytes, the format holds at most {limit}")]
    TooLarge {
        /// Its size in bytes.
        bytes: usize,
        /// The largest size in bytes.
        limit: usize,
    },
}

impl ModelFileErrorKind {
    pub(super) fn read(e: &io::Error) -> Self {
        let (kind, message) = (e.kind(), e.to_string());
        Self::Read { kind, message }
    }
}

/// The remedy for a file of another version.
fn remedy(found: u64, supported: u64) -> &'static str {
    if found < supported {
        "train the model again"
    } else {
        "use a newer release"
    }
}
