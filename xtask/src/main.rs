//! Tasks of the workspace, run as `cargo xtask <task>`.

mod bench;
mod ci;
mod fuzz;
mod peers;
mod python;
mod semver;
mod tidy;

use anyhow::Context;
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::process::Command;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Tasks of the workspace")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Checks everything that continuous integration checks
    Ci,
    /// Checks the Python package: builds the wheel and tests it in a fresh environment
    Python,
    /// Reports words that documentation, messages and help texts must not use
    Tidy,
    /// Measures whole programs; for benchmarks of the layers use `cargo bench -p rpo-benches`
    #[command(arg_required_else_help = true, args_conflicts_with_subcommands = true)]
    Bench {
        /// Count instructions and report programs whose number changed by more than 2 %; needs perf or valgrind
        #[arg(long)]
        instructions: bool,
        /// Record the counts instead of comparing with them
        #[arg(long, requires = "instructions")]
        record: bool,
        #[command(subcommand)]
        beside: Option<Beside>,
    },
    /// Fuzzes all readers of external input; needs cargo-fuzz and the nightly toolchain
    Fuzz {
        /// Total time, divided among the targets
        #[arg(long, value_name = "SECONDS", default_value_t = 300)]
        seconds: u64,
    },
    /// Compares the public interface of every published crate with a revision; needs cargo-semver-checks
    Semver {
        /// The tag, branch or commit of the last release
        baseline: String,
    },
    /// Runs an experiment and reports it with the published figures; --help for its options
    #[command(disable_help_flag = true)]
    Reproduce {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        options: Vec<OsString>,
    },
}

#[derive(Subcommand)]
enum Beside {
    /// Compares methods with other libraries and writes docs/benchmarks.md; --help for its options
    #[command(disable_help_flag = true)]
    Peers {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        options: Vec<OsString>,
    },
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().task {
        Task::Ci => ci::run(),
        Task::Python => python::run(),
        Task::Tidy => tidy::run(),
        Task::Bench {
            beside: Some(Beside::Peers { options }),
            ..
        } => peers::run(&options),
        Task::Bench { record, .. } => bench::run(record),
        Task::Fuzz { seconds } => fuzz::run(seconds),
        Task::Semver { baseline } => semver::run(&baseline),
        Task::Reproduce { options } => reproduce(&options),
    }
}

/// Builds the experiments in release mode and runs one.
fn reproduce(options: &[OsString]) -> anyhow::Result<()> {
    let arguments = [
        "run",
        "--release",
        "--quiet",
        "--package",
        "rpo-experiments",
        "--",
    ];
    let status = cargo(&arguments).args(options).status();
    match status.context("cargo does not run")?.code() {
        Some(0) => Ok(()),
        code => std::process::exit(code.unwrap_or(1)),
    }
}

/// The cargo that runs this program.
fn cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    command
}
