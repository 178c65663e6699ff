//! The options of methods, taken from the registry: their names, help and ranges are those of the parameters.

use super::params::read_parameters;
use crate::error::CliError;
use crate::files::NamedFile;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use rpo::{Estimator, Method, ParameterInfo, Registry};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A method and its given options as text; all others have the method's defaults.
#[derive(Debug, Clone)]
pub(crate) struct MethodOptions {
    method: Option<String>,
    params: Option<PathBuf>,
    given: Vec<(String, String)>,
}

/// The default method.
const DEFAULT_METHOD: &str = "random-forest";

/// Options that `rpo help train` shows; the others are on the help pages of the methods.
const COMMON: [&str; 14] = [
    "time",
    "configurations",
    "trees",
    "max_features",
    "max_depth",
    "min_samples_leaf",
    "projection",
    "components",
    "iterations",
    "learning_rate",
    "loss",
    "thresholds",
    "impute",
    "standardize",
];

impl MethodOptions {
    /// The parameter file.
    pub(super) fn file(&self) -> NamedFile<'_> {
        ("--params", self.params.as_deref())
    }

    /// Builds the method with the given options; those of the command line override those of a file.
    ///
    /// # Errors
    /// [`CliError`] for a file that cannot be read, a method or options that do not exist, and values that are not
    /// allowed.
    pub(crate) fn method(&self) -> Result<Method, CliError> {
        let mut method = match (&self.params, &self.method) {
            (Some(path), named) => {
                let mut parameters = read_parameters(path)?;
                let default = named.as_deref().unwrap_or(DEFAULT_METHOD);
                let in_file = parameters.entry("method").or_insert_with(|| default.into());
                if named.as_ref().is_some_and(|name| *in_file != **name) {
                    return Err(CliError::Usage(format!(
                        "--method {} contradicts {}, which is for {in_file}",
                        named.as_deref().unwrap_or_default(),
                        path.display()
                    )));
                }
                let of_file = |source| CliError::Params {
                    path: path.clone(),
                    source,
                };
                let method = Method::try_from(&parameters).map_err(|e| of_file(e.into()))?;
                // Options may override invalid values.
                if self.given.is_empty() {
                    method.check().map_err(of_file)?;
                }
                method
            }
            (None, named) => Method::named(named.as_deref().unwrap_or(DEFAULT_METHOD))?,
        };
        for (name, value) in &self.given {
            method = method.with(name, value)?;
        }
        Ok(method)
    }

    /// Returns true if there is an option for a parameter.
    pub(crate) fn is_given(&self, parameter: &str) -> bool {
        self.given.iter().any(|(name, _)| name == parameter)
    }
}

/// The parameters of all methods by name; if methods differ in one, what holds for all of them.
fn all_parameters() -> BTreeMap<&'static str, Cow<'static, ParameterInfo>> {
    let mut all = BTreeMap::<&str, Cow<'_, ParameterInfo>>::new();
    for entry in Registry::standard() {
        for parameter in entry.parameters() {
            let known = all.entry(&parameter.name).or_insert(Cow::Borrowed(parameter));
            if **known != *parameter {
                join(known.to_mut(), parameter);
            }
        }
    }
    // The commands have their own option for the seed.
    all.remove("seed");
    all
}

/// What `rpo help METHOD` says where methods differ.
const SEE: &str = "see `rpo help METHOD`";

/// Makes the description of a parameter hold for another method too.
fn join(known: &mut ParameterInfo, other: &ParameterInfo) {
    let defaults = |of: &ParameterInfo| (of.default.clone(), of.label_default);
    // Texts of methods may state defaults.
    if known.help != other.help || defaults(known) != defaults(other) {
        known.default = SEE.into();
        known.label_default = None;
    }
    if known.help != other.help && !known.is_common {
        known.is_common = other.is_common;
        known.help = match other.is_common {
            true => other.help.clone(),
            false => in_general(&known.name).to_owned(),
        };
    }
    if known.range != other.range {
        known.range.clear();
    }
    // Without choices, a method takes other values too.
    if known.choices.is_empty() || other.choices.is_empty() {
        known.choices.clear();
        return;
    }
    let new = other
        .choices
        .iter()
        .filter(|choice| !known.choices.contains(choice));
    let new: Vec<String> = new.cloned().collect();
    known.choices.extend(new);
}

/// The effect of a parameter that methods describe differently and that is not common to all of them.
fn in_general(name: &str) -> &'static str {
    match name {
        "max_features" => {
            "Number of features drawn at a node: all, sqrt, log2, a number, or a fraction such as 0.1."
        }
        "max_depth" => "Largest depth of a leaf; the root has depth 0.",
        "min_samples_leaf" => "Smallest number of samples of a leaf.",
        "projection" => {
            "Projection of the outputs on which trees grow, such as gaussian; predictions are in the original outputs."
        }
        "components" => {
            "Number of components of the projection: a number, ln for the logarithm of the number of outputs, or d for \
             the number of outputs."
        }
        "iterations" => "Number of boosting steps.",
        "loss" => "Loss that is minimized, by boosting or by linear classifiers.",
        _ => "The effect depends on the method: see `rpo help METHOD`.",
    }
}

/// Builds the option of a parameter.
pub(crate) fn argument(parameter: &ParameterInfo) -> Arg {
    let argument = Arg::new(parameter.name.clone())
        .long(parameter.name.replace('_', "-"))
        .help(help(parameter))
        .hide_possible_values(true);
    if parameter.is_switch {
        return argument
            .value_name("BOOL")
            .num_args(0..=1)
            .default_missing_value("true")
            .require_equals(true);
    }
    argument.value_name("VALUE").allow_negative_numbers(true)
}

/// The help of an option: its effect, its choices or range, and its default.
fn help(parameter: &ParameterInfo) -> String {
    let mut remarks = Vec::new();
    if !parameter.choices.is_empty() {
        remarks.push(format!("one of {}", parameter.choices.join(", ")));
    }
    if !parameter.range.is_empty() {
        remarks.push(parameter.range.clone());
    }
    match &parameter.default {
        Value::Null => {}
        Value::String(text) if text == SEE => remarks.push(format!("default: {SEE}")),
        Value::String(text) => remarks.push(format!("default {text}")),
        value => remarks.push(format!("default {value}")),
    }
    remarks.extend(
        parameter
            .label_default
            .map(|value| format!("default for labels {value}")),
    );
    match remarks.is_empty() {
        true => parameter.help.clone(),
        false => format!("{} [{}]", parameter.help, remarks.join("; ")),
    }
}

impl FromArgMatches for MethodOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Vec::new();
        for name in all_parameters().into_keys() {
            let is_given = matches.value_source(name) == Some(clap::parser::ValueSource::CommandLine);
            // A command may have another option of this name.
            let value = matches.try_get_one::<String>(name).ok().flatten();
            if let Some(value) = value.filter(|_| is_given) {
                given.push((name.to_owned(), value.clone()));
            }
        }
        Ok(Self {
            method: matches.get_one::<String>("method").cloned(),
            params: matches.get_one::<PathBuf>("params").cloned(),
            given,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for MethodOptions {
    fn augment_args(command: Command) -> Command {
        let names: Vec<_> = Registry::standard().into_iter().map(|entry| entry.name).collect();
        let method = Arg::new("method")
            .long("method")
            .value_name("METHOD")
            .help(format!(
                "The method, {DEFAULT_METHOD} by default. `rpo help METHOD` lists the options of each: {}",
                names.join(", ")
            ));
        let params = Arg::new("params")
            .long("params")
            .value_name("FILE")
            .value_parser(clap::value_parser!(PathBuf))
            .help(
                "JSON or TOML file with parameters of the method, as written by `rpo inspect --params`; options take \
                 precedence over it",
            );
        let mut parameters = all_parameters();
        // A command's own option takes precedence over that of a method.
        command.get_arguments().for_each(|own| {
            parameters.remove(own.get_id().as_str());
        });
        let options = parameters.into_values().map(|parameter| {
            let is_common = COMMON.contains(&parameter.name.as_str());
            argument(&parameter).hide(!is_common)
        });
        let heading = command
            .get_next_help_heading()
            .map(|heading| clap::builder::Str::from(heading.to_owned()));
        let command = command
            .next_help_heading("Method")
            .arg(method)
            .arg(params)
            .args(options);
        match heading {
            Some(heading) => command.next_help_heading(heading),
            None => command.next_help_heading(None),
        }
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_options_are_parameters() {
        let known = all_parameters();
        assert!(COMMON.iter().all(|name| known.contains_key(name)));
    }
}
