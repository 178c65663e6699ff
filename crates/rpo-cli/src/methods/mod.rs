//! What can be fitted, and the options of each method.
//!
//! Command line, `rpo tune`, model files and experiments name methods and their options alike, and all go through
//! [`MethodOptions`]: the options given, as text, which [`recipe`](MethodOptions::recipe) makes the checked
//! parameters of a method. A new method is a variant of [`Method`], the groups of options it takes, and a
//! [`Recipe`] that fits it.

mod boosting;
mod craftml;
mod decision;
mod features;
mod forest;
mod given;
mod linear;
mod names;
mod parts;
mod projection;
mod recipe;
mod structured;
mod trees;

pub(crate) use features::note_unknown;
pub use given::MethodOptions;
pub(crate) use linear::DecisionName;
pub use recipe::{FitContext, Recipe, Show, Stepwise, WrapProjection};

use crate::error::CliError;
use boosting::BoostingOptions;
use clap::{Arg, Args, Command, ValueEnum};
use craftml::CraftmlOptions;
use decision::DecisionOptions;
use features::FeatureOptions;
use forest::ForestOptions;
use linear::{EmbeddingOptions, LinearOptions};
use projection::ProjectionOptions;
use serde_json::{Map, Value, json};
use structured::StructuredOptions;
use trees::{EnsembleOptions, ShareOptions, TreeOptions};

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
pub(crate) struct Groups {
    /// How many trees.
    #[command(flatten)]
    ensemble: EnsembleOptions,
    /// How a tree grows.
    #[command(flatten)]
    tree: TreeOptions,
    /// Bootstraps and leaves of forests.
    #[command(flatten)]
    forest: ForestOptions,
    /// What trees grow on.
    #[command(flatten)]
    projection: ProjectionOptions,
    /// Steps of boosting.
    #[command(flatten)]
    boosting: BoostingOptions,
    /// Penalty and decisions of linear models and links.
    #[command(flatten)]
    linear: LinearOptions,
    /// The embedding and the link.
    #[command(flatten)]
    embedding: EmbeddingOptions,
    /// Nodes of centroids.
    #[command(flatten)]
    craftml: CraftmlOptions,
    /// What a tree sees.
    #[command(flatten)]
    shares: ShareOptions,
    /// Clusters and hyperplanes.
    #[command(flatten)]
    structured: StructuredOptions,
    /// Label sets.
    #[command(flatten)]
    decision: DecisionOptions,
    /// Features before a method sees them.
    #[command(flatten)]
    features: FeatureOptions,
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
            // Their trees have no leaf vectors.
            Self::SingleTargetGbrt | Self::GbrtRpo => {
                !matches!(name, "min-impurity-decrease" | "leaf-values")
            }
            _ => name != "min-impurity-decrease",
        };
        let of_all = [arguments::<DecisionOptions>(), arguments::<FeatureOptions>()];
        let groups = groups.into_iter().chain(of_all.concat());
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
        decision::decided(features::prepared(recipe, self, groups), groups, seed)
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
