//! The commands, each in its own file or folder.

mod combine;
mod convert;
mod cross_validate;
mod describe;
mod evaluate;
mod explain;
mod generate;
mod help;
mod inspect;
mod manual;
mod merge;
mod out_of_bag;
mod predict;
mod relabel;
mod serve;
mod split;
mod train;
mod tune;

use clap::Subcommand;

use crate::CliError;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Train(Box<train::Train>),
    Tune(Box<tune::Tune>),
    Predict(predict::Predict),
    Evaluate(evaluate::Evaluate),
    Explain(explain::Explain),
    #[command(name = "cv")]
    CrossValidate(Box<cross_validate::CrossValidate>),
    Describe(describe::Describe),
    Serve(serve::Serve),
    Split(split::SplitCommand),
    Convert(Box<convert::Convert>),
    Generate(generate::Generate),
    Inspect(inspect::Inspect),
    Merge(merge::Merge),
    Relabel(relabel::Relabel),
    Combine(combine::Combine),
    Completions(manual::Completions),
    #[command(name = "man")]
    Manual(manual::Manual),
    Help(help::Help),
}

impl Command {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        match self {
            Self::Train(command) => command.run(),
            Self::Tune(command) => command.run(),
            Self::Predict(command) => command.run(),
            Self::Evaluate(command) => command.run(),
            Self::Explain(command) => command.run(),
            Self::CrossValidate(command) => command.run(),
            Self::Describe(command) => command.run(),
            Self::Serve(command) => command.run(),
            Self::Split(command) => command.run(),
            Self::Convert(command) => command.run(),
            Self::Generate(command) => command.run(),
            Self::Inspect(command) => command.run(),
            Self::Merge(command) => command.run(),
            Self::Relabel(command) => command.run(),
            Self::Combine(command) => command.run(),
            Self::Completions(command) => command.run(),
            Self::Manual(command) => command.run(),
            Self::Help(command) => command.run(),
        }
    }
}
