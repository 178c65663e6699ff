//! A method and the options given for it, as text, wherever they come from.

use super::names::of_option;
use super::{Groups, Method, Recipe, arguments, forest};
use crate::error::CliError;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use rpo::core::{MatrixError, MatrixView};
use rpo::data::{Dataset, Task};
use rpo::ensemble::ForestParams;
use rpo::tune::Setting;
use std::collections::BTreeMap;

/// A method and the options given for it, as text; the others have the method's defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodOptions {
    method: Method,
    given: BTreeMap<String, String>,
}

impl MethodOptions {
    /// A method with its defaults.
    pub fn new(method: Method) -> Self {
        Self {
            method,
            given: BTreeMap::new(),
        }
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// An option with another value, read as on the command line.
    ///
    /// # Errors
    /// [`CliError::Usage`] if the method has no such option.
    pub fn with(mut self, name: &str, value: &str) -> Result<Self, CliError> {
        self.given.insert(name.to_owned(), value.to_owned());
        self.check_names()?;
        Ok(self)
    }

    /// The options with those of a setting in their place. Without a projection there is no number of components.
    ///
    /// # Errors
    /// As [`with`](Self::with).
    pub fn with_setting(&self, setting: &Setting) -> Result<Self, CliError> {
        let mut changed = self.clone();
        for (name, value) in setting.iter() {
            changed = changed.with(name, &value.to_string())?;
        }
        if setting
            .value("projection")
            .is_some_and(|v| v.to_string() == "none")
        {
            changed.given.remove("components");
            changed.given.remove("projection-scope");
        }
        Ok(changed)
    }

    /// The value given for an option.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.given.get(name).map(String::as_str)
    }

    /// The checked parameters.
    ///
    /// # Errors
    /// [`CliError`] for values that an option cannot have, options that the method does not take, and parameters
    /// that do not go together.
    pub fn recipe(&self, seed: u64) -> Result<Box<dyn Recipe>, CliError> {
        let recipe = self.method.recipe(&self.groups()?, seed);
        recipe.map_err(|e| of_option(self.method, e))
    }

    /// Refuses data that the method has no use for: with missing values where it needs all, with numbers as outputs
    /// where it or its options are for labels. `name` is what the message calls the data.
    ///
    /// # Errors
    /// [`CliError::Usage`].
    pub fn check_data(&self, data: &Dataset, name: &str) -> Result<(), CliError> {
        let is_linear_or_clusters = matches!(
            self.method,
            Method::Craftml | Method::LabelEmbedding | Method::Ridge | Method::LogisticRegression
        );
        let needs_outputs = is_linear_or_clusters || self.method == Method::StructuredForest;
        let (features, outputs) = (
            MatrixView::from(data.features()),
            MatrixView::from(data.outputs()),
        );
        let has_hyperplanes =
            self.method == Method::StructuredForest && !matches!(self.value("variant"), Some("sf" | "sf-cs"));
        let is_imputed = !matches!(self.value("impute"), None | Some("none"));
        let needs_features = (is_linear_or_clusters || has_hyperplanes) && !is_imputed;
        for (what, needed, values, names, help) in [
            (
                "features",
                needs_features,
                features,
                data.feature_names(),
                "--impute fills them in, and ",
            ),
            ("outputs", needs_outputs, outputs, data.output_names(), ""),
        ] {
            if needed && let Err(MatrixError::NonFinite { row, column, .. }) = values.check_finite() {
                return Err(CliError::Usage(format!(
                    "{} needs all values of the {what}, but {name} lacks some: the first is {:?} of row {row}; \
                     {help}forests and boosting do without",
                    self.method.name(),
                    names.get(column).unwrap_or_default(),
                )));
            }
        }
        match data.task() {
            Task::MultiLabel => Ok(()),
            Task::Regression => self.check_numbers(name),
        }
    }

    /// Refuses a method or options that are for labels, as the outputs of the data are numbers.
    fn check_numbers(&self, data: &str) -> Result<(), CliError> {
        let about = format!("the outputs of {data} are numbers");
        let refuse = |what: &str| Err(CliError::Usage(format!("{what}; {about}")));
        if let Some(option) = ["decide", "thresholds"]
            .into_iter()
            .find(|o| self.given.contains_key(*o))
        {
            return refuse(&format!("--{option} is for labels"));
        }
        let name = self.method.name();
        match self.method {
            Method::StructuredForest | Method::LogisticRegression => refuse(&format!("{name} is for labels")),
            Method::BinaryRelevanceForest if self.value("criterion") != Some("variance") => {
                refuse(&format!("{name} is for labels but with --criterion variance"))
            }
            Method::LabelEmbedding if self.value("link-loss") != Some("squared") => {
                refuse(&format!("{name} is for labels but with --link-loss squared"))
            }
            _ => Ok(()),
        }
    }

    /// The parameters of the forest that the options describe.
    ///
    /// # Errors
    /// As [`recipe`](Self::recipe); [`CliError::Usage`] if the method is not a forest.
    pub fn forest(&self, seed: u64) -> Result<ForestParams, CliError> {
        let groups = self.groups()?;
        match self.method {
            Method::RandomForest | Method::ExtraTrees => forest::params(self.method, &groups, seed),
            method => Err(CliError::Usage(format!("{} is not a forest", method.name()))),
        }
    }

    fn groups(&self) -> Result<Groups, CliError> {
        self.check_names()?;
        let arguments = self.given.iter().map(|(name, value)| format!("--{name}={value}"));
        let command = Groups::augment_args(Command::new("options")).no_binary_name(true);
        let matches = command.try_get_matches_from(arguments);
        matches
            .and_then(|matches| Groups::from_arg_matches(&matches))
            .map_err(|e| {
                // The first line says what is wrong with which value; the others are about a command line.
                let text = e.to_string();
                let line = text.lines().next().unwrap_or_default();
                CliError::Usage(line.strip_prefix("error: ").unwrap_or(line).to_owned())
            })
    }

    fn check_names(&self) -> Result<(), CliError> {
        let known = self.method.option_names();
        match self.given.keys().find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(name) => Err(CliError::Usage(format!(
                "--{name} is no option of {}; its options are {}",
                self.method.name(),
                known.join(", ")
            ))),
        }
    }
}

impl FromArgMatches for MethodOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let method = matches.get_one("method").copied().unwrap_or(Method::RandomForest);
        let mut options = Self::new(method);
        for argument in arguments::<Groups>() {
            let id = argument.get_id().as_str();
            let given = matches.value_source(id) == Some(clap::parser::ValueSource::CommandLine);
            let values = matches.get_raw(id).filter(|_| given);
            if let (Some(value), Some(name)) = (values.and_then(Iterator::last), argument.get_long()) {
                options
                    .given
                    .insert(name.to_owned(), value.to_string_lossy().into_owned());
            }
        }
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for MethodOptions {
    fn augment_args(command: Command) -> Command {
        let method = Arg::new("method")
            .long("method")
            .value_name("METHOD")
            .value_parser(clap::value_parser!(Method))
            .default_value("random-forest")
            .help("What to fit");
        Groups::augment_args(command.arg(method))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
