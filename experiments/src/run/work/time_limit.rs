//! The time limit of Joly, Wehenkel and Geurts (2019), section 4.1.2: a fit of boosting takes at most a multiple of the
//! time of one step of gbmort with stumps and the square loss on the same samples. Its results depend on the machine.

use crate::plan::job::{Job, STEPS};
use rpo::data::Dataset;
use rpo::{FitContext, Method};
use std::ops::ControlFlow;
use std::time::Instant;

/// Number of steps whose time is measured, after a first one that also codes the features.
const TIMED: usize = 10;

/// Largest number of steps within the time limit, which is that of the paper for fits without one.
const MOST_STEPS: usize = 10_000;

/// The options of a job's method, with a time limit if the job has one.
pub(super) fn limited(job: &Job, train: &Dataset) -> anyhow::Result<Method> {
    let options = job.method.method_options()?;
    let Some(times) = job.method.time_budget else {
        return Ok(options);
    };
    let limit = f64::from(times) * seconds_of_a_step(train)?;
    let options = options.with(STEPS, &MOST_STEPS.to_string())?;
    Ok(options.with("time-limit", &limit.to_string())?)
}

fn seconds_of_a_step(train: &Dataset) -> anyhow::Result<f64> {
    let mut options = Method::named("gbmort")?;
    let steps = (1 + TIMED).to_string();
    for (name, value) in [
        ("loss", "square"),
        ("max-leaves", "2"),
        ("max-features", "all"),
        (STEPS, &steps),
    ] {
        options = options.with(name, value)?;
    }
    let mut seen = Vec::new();
    let stages = [1, 1 + TIMED];
    options
        .estimator(train.task())?
        .fit_in_parts(train, &FitContext::default(), &stages, &mut |_, _| {
            seen.push(Instant::now());
            Ok(ControlFlow::Continue(()))
        })?;
    Ok((seen[1] - seen[0]).as_secs_f64() / TIMED as f64)
}
