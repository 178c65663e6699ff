//! `rpo help`: help on commands and on methods with their options.

use crate::error::CliError;
use crate::options::argument;
use crate::output::print;
use clap::{Args, CommandFactory};
use rpo::auto::{AutoParams, Configuration, Portfolio};
use rpo::core::text::did_you_mean;
use rpo::data::Names;
use rpo::{Estimator, Method, MethodError, ParameterInfo};
use serde_json::json;

/// Print help on a command or a method.
///
/// `rpo help train` describes the command, `rpo help craftml` the options of the method, and
/// `rpo help generate multi-label` the command.
#[derive(Debug, Args)]
pub(crate) struct Help {
    /// A command or a method; if omitted, the commands are listed.
    topic: Option<String>,

    /// A word that follows the command.
    word: Option<String>,
}

impl Help {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        let mut program = crate::Cli::command();
        program.build();
        let Some(topic) = &self.topic else {
            return print(&program.render_long_help().to_string());
        };
        if let Some(command) = program.find_subcommand_mut(topic) {
            let takes = |word: &String| {
                let mut values = command.get_positionals().flat_map(clap::Arg::get_possible_values);
                values.any(|value| value.matches(word, false))
            };
            if let Some(word) = self.word.as_ref().filter(|word| !takes(word)) {
                return Err(CliError::Usage(format!("{word:?} does not follow rpo {topic}")));
            }
            return print(&command.render_long_help().to_string());
        }
        if let Some(word) = &self.word {
            return Err(CliError::Usage(format!(
                "{word:?} follows {topic:?}, which is no command"
            )));
        }
        match Method::named(topic) {
            Ok(method) => print(&of_method(&method)),
            Err(MethodError::UnknownMethod { known, .. }) => {
                Err(CliError::Usage(unknown(topic, &program, &known)))
            }
            Err(e) => Err(e.into()),
        }
    }
}

/// The message about a topic that does not exist.
fn unknown(topic: &str, program: &clap::Command, methods: &[String]) -> String {
    let commands: Vec<&str> = program
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .map(clap::Command::get_name)
        .collect();
    let of_methods = methods.iter().map(String::as_str);
    let topics: Names = commands.iter().copied().chain(of_methods).collect();
    let nearest = did_you_mean(topics.nearest(topic));
    let (commands, methods) = (commands.join(", "), methods.join(", "));
    format!(
        "{topic:?} is neither a command nor a method{nearest}; the commands are {commands}; the methods are {methods}"
    )
}

/// The help page of a method.
fn of_method(method: &Method) -> String {
    let entry = method.entry();
    let name = entry.name;
    let arguments = |is_common| {
        let of_kind = move |p: &&ParameterInfo| p.is_common == is_common && p.name != "seed";
        entry.parameters().iter().filter(of_kind).map(argument)
    };
    let mut page = clap::Command::new("method")
        .about(format!("{name}: {}", entry.summary))
        .disable_help_flag(true)
        .override_usage(format!(
            "rpo train --method {name} [OPTIONS] --model <FILE> --data <FILE|@NAME>"
        ))
        .next_help_heading("Options of the method")
        .args(arguments(false))
        .next_help_heading("Options of all methods")
        .args(arguments(true));
    if name == AutoParams::default().method() {
        page = page.after_help(format!(
            "The built-in portfolio:\n{}",
            lines(&Portfolio::default())
        ));
    }
    page.render_help().to_string()
}

/// A portfolio as it is in a file, with a line for each configuration.
fn lines(portfolio: &Portfolio) -> String {
    let list = |configurations: &[Configuration]| {
        let lines = configurations
            .iter()
            .map(|configuration| json!(configuration).to_string());
        lines.collect::<Vec<_>>().join(",\n  ")
    };
    let (labels, numbers) = (list(&portfolio.labels), list(&portfolio.numbers));
    format!("{{\"labels\": [\n  {labels}\n],\n\"numbers\": [\n  {numbers}\n]}}")
}
