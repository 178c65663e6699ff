//! The kind of the outputs.

use clap::{Args, ValueEnum};
use rpo::data::Task;

/// The kind of the outputs.
#[derive(Debug, Clone, Args)]
pub(crate) struct TaskOptions {
    /// Kind of the outputs, if the file does not determine it: labels are 0 or 1.
    #[arg(long, value_enum, help_heading = "Data")]
    task: Option<TaskName>,
}

/// Names of tasks.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum TaskName {
    MultiLabel,
    Regression,
}

impl TaskOptions {
    /// The task, if it is given.
    pub(super) fn given(&self) -> Option<Task> {
        self.task.map(|name| match name {
            TaskName::MultiLabel => Task::MultiLabel,
            TaskName::Regression => Task::Regression,
        })
    }
}
