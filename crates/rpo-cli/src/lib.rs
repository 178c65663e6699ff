#![doc = include_str!("../README.md")]

mod combine;
mod convert;
mod cross_validate;
mod data_file;
mod describe;
mod error;
mod evaluate;
mod generate;
mod help;
mod inspect;
mod interrupt;
mod json_outputs;
mod manual;
mod merge;
mod options;
mod output;
mod predict;
mod progress;
mod resources;
mod serve;
mod split;
mod train;
mod tune;

use clap::{Parser, Subcommand};
pub use error::CliError;
use std::io::Write;
use std::process::ExitCode;

/// Train, evaluate and serve tree ensembles for multi-label classification and multi-output regression.
///
/// Outputs may number in the hundreds of thousands: trees grow on random projections of them and answer in the
/// original output space.
#[derive(Debug, Parser)]
#[command(
    name = "rpo",
    version,
    propagate_version = true,
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Train(Box<train::Train>),
    Tune(Box<tune::Tune>),
    Predict(predict::Predict),
    Evaluate(evaluate::Evaluate),
    #[command(name = "cv")]
    CrossValidate(Box<cross_validate::CrossValidate>),
    Describe(describe::Describe),
    Serve(serve::Serve),
    Split(split::SplitCommand),
    Convert(Box<convert::Convert>),
    Generate(generate::Generate),
    Inspect(inspect::Inspect),
    Merge(merge::Merge),
    Combine(combine::Combine),
    Completions(manual::Completions),
    #[command(name = "man")]
    Manual(manual::Manual),
    Help(help::Help),
}

impl Command {
    fn run(&self) -> Result<(), CliError> {
        match self {
            Self::Train(command) => command.run(),
            Self::Tune(command) => command.run(),
            Self::Predict(command) => command.run(),
            Self::Evaluate(command) => command.run(),
            Self::CrossValidate(command) => command.run(),
            Self::Describe(command) => command.run(),
            Self::Serve(command) => command.run(),
            Self::Split(command) => command.run(),
            Self::Convert(command) => command.run(),
            Self::Generate(command) => command.run(),
            Self::Inspect(command) => command.run(),
            Self::Merge(command) => command.run(),
            Self::Combine(command) => command.run(),
            Self::Completions(command) => command.run(),
            Self::Manual(command) => command.run(),
            Self::Help(command) => command.run(),
        }
    }
}

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    let command = Cli::parse().command;
    interrupt::watch();
    match command.run() {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read standard output has seen enough, as in `rpo predict ... | head`.
        Err(e) if e.is_broken_pipe() => ExitCode::SUCCESS,
        Err(e) => {
            // Where there is no standard error there is nobody to tell.
            let _ = write!(std::io::stderr(), "{}", e.report());
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    /// Methods bring options of their own: no two may have one name, nor one of a command's.
    #[test]
    fn options_have_names_of_their_own() {
        Cli::command().debug_assert();
    }
}
