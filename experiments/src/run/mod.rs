//! Computes cells in parallel, each in its own process, and stores their measurements.

mod schedule;
mod store;
mod work;

pub(crate) use schedule::{Limits, run};
pub(crate) use store::Store;

use crate::plan::job::Job;

/// Runs the jobs on standard input, in a process started by [`run`].
///
/// # Errors
/// If a job is malformed or fails.
pub(crate) fn run_cell() -> anyhow::Result<()> {
    let jobs: Vec<Job> = serde_json::from_reader(std::io::stdin().lock())?;
    serde_json::to_writer(std::io::stdout().lock(), &work::run(&jobs)?)?;
    Ok(())
}
