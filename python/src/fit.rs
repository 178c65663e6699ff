//! Fits on other threads, so that Python keeps running, and watches for signals and progress.

use crate::dataset::Dataset;
use crate::error::{model_error, value_error};
use crate::threads;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rpo::{FitContext, Method, Model};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// Interval at which signals are checked and progress is reported.
const INTERVAL: Duration = Duration::from_millis(50);

/// State shared by the fitting threads and the waiting thread.
#[derive(Default)]
struct Course {
    steps: AtomicUsize,
    /// The number of steps, if the method learned it from the data.
    total: OnceLock<usize>,
    stop: AtomicBool,
    /// Scores of the steps on withheld samples.
    scores: Mutex<Vec<f64>>,
}

/// Fits a method, given by its parameters as JSON, and calls `progress(steps, total)` in the calling thread whenever more
/// steps are done; the total is `None` unless the method learned it from the data. A signal such as Ctrl-C or an exception
/// in `progress` ends the wait at once; the fitting threads then end after their current tree or step. Also returns the
/// scores of steps on withheld samples, if there are any.
pub(crate) fn fit(
    py: Python<'_>,
    parameters: &str,
    data: &Dataset,
    validation: Option<&Dataset>,
    start: Option<Model>,
    n_threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Model, Vec<f64>)> {
    let parameters = serde_json::from_str(parameters).map_err(value_error)?;
    let method = Method::try_from(&parameters).map_err(value_error)?;
    let pool = threads::pool(n_threads)?;
    let course = Arc::new(Course::default());
    let (sender, mut receiver) = channel();
    let (data, validation) = (Arc::clone(&data.0), validation.map(|data| Arc::clone(&data.0)));
    let of_fit = Arc::clone(&course);
    let work = move || {
        let on_step = || {
            of_fit.steps.fetch_add(1, Ordering::Relaxed);
        };
        let on_total = |n_steps| {
            of_fit.total.get_or_init(|| n_steps);
        };
        let stop = || of_fit.stop.load(Ordering::Relaxed);
        let on_score = |_, score| {
            let mut scores = of_fit.scores.lock().unwrap_or_else(PoisonError::into_inner);
            scores.push(score);
        };
        let context = FitContext {
            on_step: Some(&on_step),
            on_total: Some(&on_total),
            on_score: Some(&on_score),
            stop: Some(&stop),
            validation: validation.as_deref(),
            start: start.as_ref(),
            ..FitContext::default()
        };
        let model = pool.install(|| Model::fit_with(&method, &data, &context));
        // If the fit was given up, the model has no receiver.
        let _ = sender.send(model);
    };
    let fitting = thread::Builder::new().name("rpo fit".to_owned()).spawn(work);
    fitting.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let mut reported = 0;
    let mut report = |py: Python<'_>| {
        py.check_signals()?;
        let steps = course.steps.load(Ordering::Relaxed);
        if let Some(progress) = progress
            && steps > reported
        {
            reported = steps;
            progress.call1((steps, course.total.get().copied()))?;
        }
        Ok(())
    };
    loop {
        let received;
        (received, receiver) = py.detach(move || (receiver.recv_timeout(INTERVAL), receiver));
        if let Err(exception) = report(py) {
            course.stop.store(true, Ordering::Relaxed);
            return Err(exception);
        }
        match received {
            Ok(model) => {
                let mut scores = course.scores.lock().unwrap_or_else(PoisonError::into_inner);
                return Ok((model.map_err(model_error)?, std::mem::take(&mut *scores)));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let message = "the fit broke off; the message on the standard error stream says where";
                return Err(PyRuntimeError::new_err(message));
            }
        }
    }
}
