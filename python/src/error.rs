//! Errors of the crates as exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyValueError};
use rpo::ModelError;
use rpo::model_file::{ModelFileError, ModelFileErrorKind};
use std::fmt::Display;

/// A `ValueError` with the message of an error.
pub(crate) fn value_error(error: impl Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A `MemoryError` for a result over the memory limit, `OSError` for a file that cannot be written, a `ValueError` for
/// all else.
pub(crate) fn model_error(error: ModelError) -> PyErr {
    match error {
        ModelError::MemoryLimit { .. } => PyMemoryError::new_err(error.to_string()),
        ModelError::File(error) => file_error(&error),
        error => value_error(error),
    }
}

/// An `OSError` for a file that cannot be read or written, a `ValueError` for one that is not a model.
pub(crate) fn file_error(error: &ModelFileError) -> PyErr {
    let message = error.to_string();
    match error.kind {
        ModelFileErrorKind::Read { .. } | ModelFileErrorKind::Write(_) => PyOSError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}
