//! Converts errors of the crates to exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyValueError};
use rpo::ModelError;
use rpo::ensemble::EnsembleError;
use rpo::linear::LinearError;
use rpo::model_file::{ModelFileError, ModelFileErrorKind};
use std::fmt::Display;
use std::io;

/// A `ValueError` with the message of an error.
pub(crate) fn value_error(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A `MemoryError` for a result over the memory limit, an `OSError` for a file that cannot be written, and a
/// `ValueError` for all other errors.
pub(crate) fn model_error(error: ModelError) -> PyErr {
    match error {
        ModelError::MemoryLimit(_)
        | ModelError::Ensemble(EnsembleError::Predictions(_) | EnsembleError::Memory(_))
        | ModelError::Linear(LinearError::Predictions(_) | LinearError::Memory(_)) => {
            PyMemoryError::new_err(error.to_string())
        }
        ModelError::File(error) => file_error(&error),
        ModelError::MissingFeature { .. } => value_error(format!(
            "{error}; a model fitted with `impute` = median fills missing values in, and a forest or boosting takes them"
        )),
        error => value_error(error),
    }
}

/// An `OSError` with the message of an error, or a subclass such as `FileNotFoundError`, according to its kind.
pub(crate) fn os_error(kind: io::ErrorKind, error: impl Display) -> PyErr {
    io::Error::new(kind, error.to_string()).into()
}

/// An `OSError` for a file that cannot be read or written, a `ValueError` for one that is not a model.
pub(crate) fn file_error(error: &ModelFileError) -> PyErr {
    match &error.kind {
        ModelFileErrorKind::Read { kind, .. } => os_error(*kind, error),
        ModelFileErrorKind::Write(target) => os_error(io::Error::from(target.clone()).kind(), error),
        _ => value_error(error),
    }
}
