#![doc = include_str!("../README.md")]

mod commands;
mod csv_file;
mod data_file;
mod doubts;
mod error;
mod files;
mod interrupt;
mod options;
mod output;
mod predictions;
mod progress;
mod resources;
mod unique;

use clap::Parser;
use commands::Command;
use error::CliError;
use std::io::Write;
use std::process::ExitCode;

/// Train, evaluate and serve tree ensembles for multi-label classification and multi-output regression.
///
/// There may be hundreds of thousands of outputs. The methods are forests, boosting, linear classifiers and ensembles of
/// them; `rpo help METHOD` describes one. A first model: rpo train --data train.csv --targets a,b --model m.rpo
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

/// Runs the command with the arguments of the process.
pub fn main() -> ExitCode {
    let command = Cli::parse().command;
    interrupt::watch();
    match command.run() {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of standard output has stopped reading, as in `rpo predict ... | head`.
        Err(e) if e.is_broken_pipe() => ExitCode::SUCCESS,
        Err(e) => {
            // If standard error is closed, nothing can be reported.
            let _ = write!(std::io::stderr(), "{}", e.report());
            e.exit_code()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cli;
    use clap::CommandFactory;

    /// Methods bring their own options, whose names must be unique and differ from those of the commands.
    #[test]
    fn options_have_names_of_their_own() {
        Cli::command().debug_assert();
    }
}
