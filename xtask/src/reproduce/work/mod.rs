//! What a cell computes. It runs in a process of its own, so that CPU time and memory are its alone.

mod bootstrap;
mod decompose;
mod friedman;
mod meter;
mod score;

use crate::reproduce::cell::{Job, Outcome, Work};

/// Runs a job.
///
/// # Errors
/// Of the libraries: data that cannot be had, parameters that the data make impossible.
pub(crate) fn run(job: &Job) -> anyhow::Result<Outcome> {
    let values = match &job.work {
        Work::Score { metrics, bootstrap } => score::run(job, metrics, *bootstrap)?,
        Work::Decompose(sizes) => decompose::run(job, *sizes)?,
    };
    // JSON has no NaN, and what is undefined has no place in a mean.
    let values = values
        .into_iter()
        .filter(|(_, value)| value.is_finite())
        .collect();
    Ok(Outcome { values })
}
