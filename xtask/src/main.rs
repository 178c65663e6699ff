//! Tasks of the workspace, run as `cargo xtask <task>`.

mod ci;
mod reproduce;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Tasks of the workspace")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Everything that continuous integration checks.
    Ci,
    /// Runs an experiment and reports it beside the published figures.
    Reproduce(reproduce::Options),
    /// Runs one cell of an experiment: a job as JSON on standard input, its outcome on standard output.
    #[command(hide = true)]
    Cell,
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().task {
        Task::Ci => ci::run(),
        Task::Reproduce(options) => reproduce::run(&options),
        Task::Cell => reproduce::run_cell(),
    }
}
