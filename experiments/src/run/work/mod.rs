//! The work of a cell, which runs in its own process, so that CPU time and memory are its alone.

mod bootstrap;

mod decompose;
mod friedman;
mod meter;
mod score;
mod targets;
mod time_limit;

use super::store::Outcome;
use crate::plan::job::{Job, Work};
use anyhow::bail;

/// Runs a job, or some that one fit serves ([`Job::but_for_steps`]), by increasing numbers of steps.
///
/// # Errors
/// Of the libraries: data that cannot be had, parameters that the data make impossible.
pub(crate) fn run(jobs: &[Job]) -> anyhow::Result<Vec<Outcome>> {
    let Some(job) = jobs.first() else { bail!("no job") };
    let found = match &job.work {
        Work::Score { metrics, bootstrap } => score::run(jobs, metrics, *bootstrap)?,
        Work::Decompose(sizes) => vec![decompose::run(job, *sizes)?],
    };
    // JSON has no NaN, and what is undefined has no place in a mean.
    let outcomes = found.into_iter().map(|mut values| {
        values.retain(|_, value| value.is_finite());
        Outcome { values }
    });
    Ok(outcomes.collect())
}
