//! Predictions step by step, as an iterator.

use crate::error::model_error;
use crate::threads;
use numpy::{IntoPyArray, PyArray2};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// The predictions after each step of a model, computed as they are consumed.
#[pyclass(frozen, module = "rpo._native")]
pub(crate) struct Stages {
    rest: Mutex<rpo::Stages>,
    n_threads: usize,
}

impl Stages {
    pub(crate) fn new(rest: rpo::Stages, n_threads: usize) -> Self {
        let rest = Mutex::new(rest);
        Self { rest, n_threads }
    }
}

#[pymethods]
impl Stages {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f32>>>> {
        let pool = threads::pool(self.n_threads)?;
        // Several Python threads may consume stages: each gets the next one.
        let next = py.detach(|| {
            let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
            let rest = &mut *rest;
            pool.install(|| rest.next())
        });
        let next = next.transpose().map_err(model_error)?;
        Ok(next.map(|predictions| predictions.into_pyarray(py)))
    }
}
