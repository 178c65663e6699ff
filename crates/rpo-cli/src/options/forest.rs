//! Options of forests.

use clap::builder::Resettable;
use clap::{Args, Command, FromArgMatches, ValueEnum};
use rpo::ensemble::{ForestParams, MaxFeatures, OutputProjection};
use rpo::projections::{Components, ProjectionError, ProjectionKind};
use rpo::tree::LeafKind;
use rpo::tune::{Setting, Value as Tuned};
use serde_json::{Map, Value, json};
use std::str::FromStr;

use crate::error::CliError;

/// How a forest grows.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Forest")]
pub(crate) struct ForestOptions {
    /// Number of trees.
    #[arg(long, value_name = "N", default_value_t = 100)]
    trees: usize,

    /// Index of the first tree: forests grown apart with the same seed and successive indices are merged by
    /// `rpo merge` into exactly the forest that one run would have grown.
    #[arg(long, value_name = "I", default_value_t = 0)]
    first_tree: usize,

    /// Features drawn at a node: sqrt, log2, all, a number, or a share such as 0.1.
    #[arg(long, value_name = "K", default_value_t = MaxFeatures::Sqrt)]
    max_features: MaxFeatures,

    /// Largest depth of a leaf.
    #[arg(long, value_name = "DEPTH")]
    max_depth: Option<u32>,

    /// Largest number of leaves of a tree; trees then grow best split first.
    #[arg(long, value_name = "N")]
    max_leaves: Option<usize>,

    /// Fewest samples of a node that is split.
    #[arg(long, value_name = "N", default_value_t = 2)]
    min_samples_split: usize,

    /// Fewest samples of a leaf.
    #[arg(long, value_name = "N", default_value_t = 1)]
    min_samples_leaf: usize,

    /// Smallest decrease of the mean variance of the targets, weighted by the node's share of the samples, that
    /// a split must bring.
    #[arg(long, value_name = "GAIN", default_value_t = 0.0)]
    min_impurity_decrease: f64,

    /// Grow every tree on a bootstrap of the samples: the default of random-forest.
    #[arg(long, overrides_with = "no_bootstrap")]
    bootstrap: bool,

    /// Grow every tree on all samples: the default of extra-trees.
    #[arg(long, overrides_with = "bootstrap")]
    no_bootstrap: bool,

    /// How leaves are stored: auto refers to training samples where trees are fully grown and keeps means
    /// otherwise.
    #[arg(long, value_enum, default_value_t = LeafName::Auto)]
    leaves: LeafName,

    #[command(flatten)]
    projection: ProjectionOptions,
}

/// What trees grow on.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Projection of the outputs")]
struct ProjectionOptions {
    /// Random projection of the outputs that trees grow on; leaves answer in the original outputs whatever it
    /// is. One of none, gaussian, rademacher, rademacher:S, achlioptas, sparse, hadamard, subsample,
    /// subsample-replace, hashing, pca, identity.
    #[arg(long, value_name = "FAMILY", default_value_t = ProjectionName(None))]
    projection: ProjectionName,

    /// Number of components to project to, or ln for round(ln d); ln by default.
    #[arg(long, value_name = "M|ln")]
    components: Option<Components>,

    /// Whether each tree has a projection of its own or all share one.
    #[arg(long, value_enum, value_name = "SCOPE")]
    projection_scope: Option<ScopeName>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct ProjectionName(Option<ProjectionKind>);

impl FromStr for ProjectionName {
    type Err = ProjectionError;

    fn from_str(name: &str) -> Result<Self, ProjectionError> {
        match name {
            "none" => Ok(Self(None)),
            name => name.parse().map(|kind| Self(Some(kind))),
        }
    }
}

impl std::fmt::Display for ProjectionName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            None => f.write_str("none"),
            Some(kind) => kind.fmt(f),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum ScopeName {
    Tree,
    Shared,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum LeafName {
    Auto,
    Dense,
    Sparse,
    Samples,
}

/// The name of a value on the command line.
fn name(value: &impl ValueEnum) -> String {
    let possible = value.to_possible_value();
    possible.map_or_else(String::new, |value| value.get_name().to_owned())
}

impl ForestOptions {
    /// Whether trees see bootstraps, given the method's default.
    pub(crate) fn bootstraps(&self, default: bool) -> bool {
        self.bootstrap || (default && !self.no_bootstrap)
    }

    /// The parameters, starting from those of the method.
    pub(crate) fn params(
        &self,
        method: ForestParams,
        bootstrap: bool,
        seed: u64,
    ) -> Result<ForestParams, CliError> {
        let leaves = match self.leaves {
            LeafName::Auto => None,
            LeafName::Dense => Some(LeafKind::Dense),
            LeafName::Sparse => Some(LeafKind::Sparse),
            LeafName::Samples => Some(LeafKind::Samples),
        };
        Ok(method
            .n_trees(self.trees)
            .first_tree(self.first_tree)
            .max_features(self.max_features)
            .max_depth(self.max_depth)
            .max_leaves(self.max_leaves)
            .min_samples_split(self.min_samples_split)
            .min_samples_leaf(self.min_samples_leaf)
            .min_impurity_decrease(self.min_impurity_decrease)
            .bootstrap(bootstrap)
            .leaves(leaves)
            .projection(self.projection.outputs()?)
            .seed(seed))
    }

    /// The parameters for the record.
    pub(crate) fn record(&self, bootstrap: bool) -> Map<String, Value> {
        let mut record = Map::new();
        let mut note = |key: &str, value: Value| record.insert(key.to_owned(), value);
        note("trees", json!(self.trees));
        note("first_tree", json!(self.first_tree));
        note("max_features", json!(self.max_features.to_string()));
        note("max_depth", json!(self.max_depth));
        note("max_leaves", json!(self.max_leaves));
        note("min_samples_split", json!(self.min_samples_split));
        note("min_samples_leaf", json!(self.min_samples_leaf));
        note("min_impurity_decrease", json!(self.min_impurity_decrease));
        note("bootstrap", json!(bootstrap));
        note("leaves", json!(name(&self.leaves)));
        let projection = &self.projection;
        note("projection", json!(projection.projection.to_string()));
        if projection.projection.0.is_some() {
            note("components", json!(projection.components().to_string()));
            note("projection_scope", json!(name(&projection.scope())));
        }
        record
    }

    /// These options with those of a setting in their place, each value read as on the command line.
    pub(crate) fn with(&self, setting: &Setting) -> Result<Self, CliError> {
        let options = bare();
        let names = tunable(&options);
        let mut arguments = Vec::new();
        for (name, value) in setting.iter() {
            if !names.contains(&name) {
                return Err(CliError::Usage(format!(
                    "--space {name}: there is no such parameter; expected one of {}",
                    names.join(", ")
                )));
            }
            arguments.push(format!("--{name}={value}"));
        }
        let mut changed = self.clone();
        let matches = options.try_get_matches_from(arguments);
        matches
            .and_then(|mut matches| changed.update_from_arg_matches_mut(&mut matches))
            .map_err(|e| {
                // The first line says what is wrong with which value; the others are about a command line.
                let text = e.to_string();
                let line = text.lines().next().unwrap_or_default();
                let line = line.strip_prefix("error: ").unwrap_or(line);
                CliError::Usage(format!("--space: {line}"))
            })?;
        // Flags cannot be tuned, and reading none of them is no word against them.
        (changed.bootstrap, changed.no_bootstrap) = (self.bootstrap, self.no_bootstrap);
        if setting.value("projection") == Some(&Tuned::from("none")) {
            (changed.projection.components, changed.projection.projection_scope) = (None, None);
        }
        Ok(changed)
    }

    /// Index of the first tree.
    pub(crate) fn first_tree(&self) -> usize {
        self.first_tree
    }

    /// Number of trees.
    pub(crate) fn n_trees(&self) -> usize {
        self.trees
    }
}

/// The options without defaults, so that only those given have a value.
fn bare() -> Command {
    let all = ForestOptions::augment_args_for_update(Command::new("--space"));
    all.no_binary_name(true)
        .mut_args(|argument| argument.default_value(Resettable::Reset))
}

/// Names of the options that can be tuned: those that take a value. Where a forest begins is no matter of how good
/// it is.
fn tunable(options: &Command) -> Vec<&str> {
    let valued = options.get_arguments().filter(|a| a.get_action().takes_values());
    let names = valued.filter_map(|a| a.get_long());
    names.filter(|name| *name != "first-tree").collect()
}

impl ProjectionOptions {
    fn components(&self) -> Components {
        self.components.unwrap_or(Components::LnOutputs)
    }

    fn scope(&self) -> ScopeName {
        self.projection_scope.unwrap_or(ScopeName::Tree)
    }

    fn outputs(&self) -> Result<Option<OutputProjection>, CliError> {
        let Some(kind) = self.projection.0 else {
            if self.components.is_some() || self.projection_scope.is_some() {
                let message = "--components and --projection-scope need a --projection other than none";
                return Err(CliError::Usage(message.to_owned()));
            }
            return Ok(None);
        };
        let projection = OutputProjection::new(kind, self.components());
        Ok(Some(match self.scope() {
            ScopeName::Tree => projection,
            ScopeName::Shared => projection.shared(),
        }))
    }
}
