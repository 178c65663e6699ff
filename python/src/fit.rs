//! Fits on other threads, watching for signals and progress.

use crate::dataset::Dataset;
use crate::error::{model_error, value_error};
use crate::threads;
use crate::watch::watched;
use pyo3::prelude::*;
use rpo::{FitContext, Method, Model, SmallWeights};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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
/// scores of steps on withheld samples, if there are any, and what is to be warned of.
pub(crate) fn fit(
    py: Python<'_>,
    parameters: &str,
    data: &Dataset,
    validation: Option<&Dataset>,
    start: Option<Model>,
    n_threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Model, Vec<f64>, Option<String>)> {
    let parameters = serde_json::from_str(parameters).map_err(value_error)?;
    let method = Method::try_from(&parameters).map_err(value_error)?;
    let pool = threads::pool(n_threads)?;
    let warning = SmallWeights::of(&method, &data.0).map(|small| small.to_string());
    let course = Arc::new(Course::default());
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
        Model::fit_with(&method, &data, &context)
    };
    let mut reported = 0;
    let report = |_: Python<'_>| {
        let steps = course.steps.load(Ordering::Relaxed);
        if let Some(progress) = progress
            && steps > reported
        {
            reported = steps;
            progress.call1((steps, course.total.get().copied()))?;
        }
        Ok(())
    };
    let fitted =
        watched(py, pool, work, report).inspect_err(|_| course.stop.store(true, Ordering::Relaxed))?;
    let mut scores = course.scores.lock().unwrap_or_else(PoisonError::into_inner);
    Ok((
        fitted.map_err(model_error)?,
        std::mem::take(&mut *scores),
        warning,
    ))
}
