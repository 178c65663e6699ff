//! Computes cells: side by side, each in its own process, and keeps what they measure.

mod schedule;
mod store;
mod work;

pub(crate) use schedule::{Limits, run};
pub(crate) use store::Store;

use crate::plan::job::Job;

/// Runs the jobs on standard input, for a process that [`run`] started.
///
/// # Errors
/// If a job is malformed or fails.
pub(crate) fn run_cell() -> anyhow::Result<()> {
    let jobs: Vec<Job> = serde_json::from_reader(std::io::stdin().lock())?;
    serde_json::to_writer(std::io::stdout().lock(), &work::run(&jobs)?)?;
    Ok(())
}
