//! The work of a cell, which runs in its own process, so that CPU time and memory can be measured separately.

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

/// Runs a job, or several that one fit serves ([`Job::but_for_steps`]), by increasing number of steps.
///
/// # Errors
/// Errors of the libraries: unavailable data, or parameters that are impossible for the data.
pub(crate) fn run(jobs: &[Job]) -> anyhow::Result<Vec<Outcome>> {
    let Some(job) = jobs.first() else { bail!("no job") };
    let found = match &job.work {
        Work::Score { metrics, bootstrap } => score::run(jobs, metrics, *bootstrap)?,
        Work::Decompose(sizes) => vec![decompose::run(job, *sizes)?],
    };
    // JSON has no NaN, and undefined values do not count in a mean.
    let outcomes = found.into_iter().map(|mut values| {
        values.retain(|_, value| value.is_finite());
        Outcome { values }
    });
    Ok(outcomes.collect())
}
