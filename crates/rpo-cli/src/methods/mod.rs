//! What can be fitted, and the options of each method.
//!
//! Command line, `rpo tune`, model files and experiments name methods and their options alike, and all go through
//! [`MethodOptions`]: the options given, as text, which [`recipe`](MethodOptions::recipe) makes the checked
//! parameters of a method. A new method is a variant of [`Method`], the groups of options it takes, and a
//! [`Recipe`] that fits it.

mod boosting;
mod craftml;
mod decision;
mod forest;
mod linear;
mod parts;
mod projection;
mod structured;
mod trees;

pub use boosting::BoostingOptions;
pub use craftml::CraftmlOptions;
pub use decision::DecisionOptions;
pub use forest::ForestOptions;
pub use linear::{DecisionName, EmbeddingOptions, LinearOptions};
pub use projection::ProjectionOptions;
pub use structured::StructuredOptions;
pub use trees::{EnsembleOptions, ShareOptions, TreeOptions};

use crate::error::CliError;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use rpo::Model;
use rpo::data::Dataset;
use rpo::ensemble::ForestParams;
use rpo::projections::Projection;
use rpo::tune::Setting;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// What can be fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// Bootstraps of the samples, best thresholds.
    RandomForest,
    /// All samples, random thresholds.
    ExtraTrees,
    /// A forest for every output by itself.
    SingleTargetForest,
    /// Boosting, every output by itself.
    SingleTargetGbrt,
    /// Boosting with trees of all outputs.
    Gbmort,
    /// Boosting with trees on one projection of the outputs, fitted to each.
    GbrtRpo,
    /// Boosting with trees on projections of the outputs, relabelled with all of them.
    GbrtRelabelRpo,
    /// A randomized label embedding with a flexible link.
    LabelEmbedding,
    /// Least squares with a penalty, output by output.
    Ridge,
    /// Logistic regression, label by label.
    LogisticRegression,
    /// Nodes of many children by clusters of the labels: for very many labels.
    Craftml,
    /// Trees that part clusters of label sets; SOSHF unless --variant says otherwise.
    #[value(alias = "soshf")]
    StructuredForest,
    /// A single-target-forest with other defaults: entropy, 75 % of samples and features, leaves of 3 samples, all
    /// features in a node, 50 trees.
    BinaryRelevanceForest,
}

/// The options of all methods. A method takes those of some groups.
#[derive(Debug, Clone, Args)]
pub struct Groups {
    /// How many trees.
    #[command(flatten)]
    pub ensemble: EnsembleOptions,
    /// How a tree grows.
    #[command(flatten)]
    pub tree: TreeOptions,
    /// Bootstraps and leaves of forests.
    #[command(flatten)]
    pub forest: ForestOptions,
    /// What trees grow on.
    #[command(flatten)]
    pub projection: ProjectionOptions,
    /// Steps of boosting.
    #[command(flatten)]
    pub boosting: BoostingOptions,
    /// Penalty and decisions of linear models and links.
    #[command(flatten)]
    pub linear: LinearOptions,
    /// The embedding and the link.
    #[command(flatten)]
    pub embedding: EmbeddingOptions,
    /// Nodes of centroids.
    #[command(flatten)]
    pub craftml: CraftmlOptions,
    /// What a tree sees.
    #[command(flatten)]
    pub shares: ShareOptions,
    /// Clusters and hyperplanes.
    #[command(flatten)]
    pub structured: StructuredOptions,
    /// Label sets.
    #[command(flatten)]
    pub decision: DecisionOptions,
}

/// Options of trees that mean nothing where a node looks at all features of its tree until none parts it.
const EXHAUSTIVE: [&str; 4] = [
    "max-features",
    "max-leaves",
    "min-samples-split",
    "min-impurity-decrease",
];

impl Method {
    /// Its name on the command line.
    pub fn name(self) -> String {
        name(&self)
    }

    /// Names of the options it takes.
    pub fn option_names(self) -> Vec<String> {
        let groups = match self {
            Self::RandomForest | Self::ExtraTrees => [
                arguments::<EnsembleOptions>(),
                arguments::<TreeOptions>(),
                arguments::<ForestOptions>(),
                arguments::<ShareOptions>(),
                arguments::<ProjectionOptions>(),
            ]
            .concat(),
            Self::StructuredForest => [
                arguments::<EnsembleOptions>(),
                arguments::<TreeOptions>(),
                arguments::<ShareOptions>(),
                arguments::<StructuredOptions>(),
            ]
            .concat(),
            Self::SingleTargetForest | Self::BinaryRelevanceForest => [
                arguments::<EnsembleOptions>(),
                arguments::<TreeOptions>(),
                arguments::<ForestOptions>(),
                arguments::<ShareOptions>(),
            ]
            .concat(),
            Self::SingleTargetGbrt | Self::Gbmort => {
                [arguments::<BoostingOptions>(), arguments::<TreeOptions>()].concat()
            }
            Self::GbrtRpo | Self::GbrtRelabelRpo => [
                arguments::<BoostingOptions>(),
                arguments::<TreeOptions>(),
                arguments::<ProjectionOptions>(),
            ]
            .concat(),
            Self::LabelEmbedding => [arguments::<LinearOptions>(), arguments::<EmbeddingOptions>()].concat(),
            Self::Ridge | Self::LogisticRegression => arguments::<LinearOptions>(),
            Self::Craftml => {
                let mut groups = [
                    arguments::<EnsembleOptions>(),
                    arguments::<TreeOptions>(),
                    arguments::<ForestOptions>(),
                    arguments::<CraftmlOptions>(),
                ];
                for shared in &mut groups[1..3] {
                    shared.retain(|a| a.get_long().is_some_and(|name| craftml::SHARED.contains(&name)));
                }
                groups.concat()
            }
        };
        let is_taken = |name: &str| match self {
            Self::RandomForest | Self::ExtraTrees => true,
            Self::SingleTargetForest | Self::BinaryRelevanceForest => name != "leaves",
            Self::StructuredForest => !EXHAUSTIVE.contains(&name),
            _ => name != "min-impurity-decrease",
        };
        let groups = groups.into_iter().chain(arguments::<DecisionOptions>());
        let names = groups.filter_map(|a| a.get_long().map(str::to_owned));
        names.filter(|name| is_taken(name)).collect()
    }

    fn recipe(self, groups: &Groups, seed: u64) -> Result<Box<dyn Recipe>, CliError> {
        let recipe: Box<dyn Recipe> = match self {
            Self::RandomForest
            | Self::ExtraTrees
            | Self::SingleTargetForest
            | Self::BinaryRelevanceForest => Box::new(forest::ForestRecipe::new(self, groups, seed)?),
            Self::SingleTargetGbrt | Self::Gbmort | Self::GbrtRpo | Self::GbrtRelabelRpo => {
                Box::new(boosting::BoostingRecipe::new(self, groups, seed)?)
            }
            Self::LabelEmbedding | Self::Ridge | Self::LogisticRegression => {
                Box::new(linear::LinearRecipe::new(self, groups, seed)?)
            }
            Self::Craftml => Box::new(craftml::CraftmlRecipe::new(groups, seed)?),
            Self::StructuredForest => Box::new(structured::StructuredRecipe::new(self, groups, seed)?),
        };
        decision::decided(recipe, groups, seed)
    }
}

/// The checked parameters of a method.
pub trait Recipe: Send + Sync {
    /// Number of steps of a fit: trees, or iterations.
    fn n_steps(&self) -> usize;

    /// What the parameters are, for the record in the model file.
    fn record(&self) -> Map<String, Value>;

    /// Whether its models predict for training samples out of their bags.
    fn has_oob(&self) -> bool {
        false
    }

    /// Fits to a data set.
    ///
    /// # Errors
    /// Data that the method cannot be fitted to.
    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, CliError>;

    /// The way to save a model part by part, if the method has one.
    fn stepwise(&self) -> Option<&dyn Stepwise> {
        None
    }

    /// Fits in parts and shows the model after each of the given numbers of steps, and whole; ends where it is
    /// told to. A method that cannot be had in parts shows the whole.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and what `show` returns.
    fn fit_in_parts(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        show: &mut Show<'_>,
    ) -> Result<Model, CliError> {
        let _ = steps;
        let model = self.fit(data, context)?;
        let _ = show(self.n_steps(), &model)?;
        Ok(model)
    }
}

/// A method whose models can be saved part by part.
pub trait Stepwise {
    /// Fits to a data set and saves the model as it grows, so that memory never holds it whole; returns the number of
    /// bytes written. The file is that of a model that was fitted and then saved.
    ///
    /// # Errors
    /// As [`Recipe::fit`], and a file that cannot be written.
    fn fit_to_file(&self, data: &Dataset, context: &FitContext<'_>, path: &Path) -> Result<u64, CliError>;
}

/// What surrounds a fit. Nothing in it but samples withheld changes the model.
#[derive(Clone, Copy, Default)]
pub struct FitContext<'a> {
    /// What messages call the data; by its own name if not given.
    pub data: Option<&'a str>,
    /// Called after every step, from any thread.
    pub on_step: Option<&'a (dyn Fn() + Sync)>,
    /// Wraps the family of output projections, to time it.
    pub wrap: Option<&'a WrapProjection<'a>>,
    /// Samples withheld from the data already, to choose among settings on. A method that withholds some to choose
    /// its number of steps takes these instead: steps are a setting like any other.
    pub validation: Option<&'a Dataset>,
}

impl FitContext<'_> {
    /// A failure of training on the data.
    pub fn error(&self, data: &Dataset, source: impl Into<Box<dyn Error + Send + Sync>>) -> CliError {
        CliError::Train {
            data: self.data.unwrap_or(data.name()).to_owned(),
            source: source.into(),
        }
    }
}

/// What looks at a model after so many steps, and says whether to go on.
pub type Show<'a> = dyn FnMut(usize, &Model) -> Result<ControlFlow<()>, CliError> + 'a;

/// Another projection family around one.
pub type WrapProjection<'a> = dyn Fn(Arc<dyn Projection>) -> Arc<dyn Projection> + Sync + 'a;

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
        self.method.recipe(&self.groups()?, seed)
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

/// The arguments of a group.
fn arguments<A: Args>() -> Vec<Arg> {
    let command = A::augment_args(Command::new("group"));
    command.get_arguments().cloned().collect()
}

/// The name of a value on the command line.
fn name(value: &impl ValueEnum) -> String {
    let possible = value.to_possible_value();
    possible.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Refuses an option that was given and has no effect, as another option says.
fn refuse_idle<const N: usize>(because: &str, idle: [(&str, bool); N]) -> Result<(), CliError> {
    match idle.into_iter().find(|(_, is_idle)| *is_idle) {
        None => Ok(()),
        Some((option, _)) => Err(CliError::Usage(format!(
            "--{option} has no effect with {because}"
        ))),
    }
}

/// A record with the method and the seed.
fn record(method: Method, seed: u64, parameters: Vec<(&str, Value)>) -> Map<String, Value> {
    let head = [("method", json!(method.name())), ("seed", json!(seed))];
    let all = head.into_iter().chain(parameters);
    all.map(|(key, value)| (key.to_owned(), value)).collect()
}
