//! Random forests and Extra-Trees.

use super::projection::bound;
use super::{FitContext, Groups, Method, Recipe, Show, name, record};
use crate::error::CliError;
use clap::{Args, ValueEnum};
use rpo::Model;
use rpo::data::Dataset;
use rpo::ensemble::{FitOptions, ForestParams, MaxFeatures};
use rpo::tree::LeafKind;
use serde_json::{Map, Value, json};
use std::ops::Range;

/// How many trees.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Ensemble")]
pub struct EnsembleOptions {
    /// Number of trees; of forests 100 by default.
    #[arg(long, value_name = "N")]
    pub trees: Option<usize>,

    /// Index of the first tree: forests grown apart with the same seed and successive indices are merged by
    /// `rpo merge` into exactly the forest that one run would have grown.
    #[arg(long, value_name = "I")]
    pub first_tree: Option<usize>,
}

/// Samples and leaves of forests.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Forest")]
pub struct ForestOptions {
    /// Whether every tree grows on a bootstrap of the samples, or on all of them: true for random-forest, false for
    /// extra-trees by default.
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        default_missing_value = "true",
        require_equals = true
    )]
    bootstrap: Option<bool>,

    /// How leaves are stored: auto, the default, refers to training samples where trees are fully grown and keeps
    /// means otherwise.
    #[arg(long, value_enum)]
    leaves: Option<LeafName>,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum LeafName {
    Auto,
    Dense,
    Sparse,
    Samples,
}

impl ForestOptions {
    /// How leaves are stored, if it is said.
    pub(super) fn leaf_kind(&self) -> Option<LeafKind> {
        match self.leaves? {
            LeafName::Auto => None,
            LeafName::Dense => Some(LeafKind::Dense),
            LeafName::Sparse => Some(LeafKind::Sparse),
            LeafName::Samples => Some(LeafKind::Samples),
        }
    }
}

/// Trees of a forest if their number is not given.
const TREES: usize = 100;

fn bootstraps(method: Method, groups: &Groups) -> bool {
    groups.forest.bootstrap.unwrap_or(method == Method::RandomForest)
}

/// The parameters of a forest.
pub(super) fn params(method: Method, groups: &Groups, seed: u64) -> Result<ForestParams, CliError> {
    let Groups {
        ensemble,
        tree,
        forest,
        projection,
        ..
    } = groups;
    let base = match method {
        Method::ExtraTrees => ForestParams::extra_trees(),
        _ => ForestParams::random_forest(),
    };
    Ok(base
        .n_trees(ensemble.trees.unwrap_or(TREES))
        .first_tree(ensemble.first_tree.unwrap_or(0))
        .max_features(tree.max_features.unwrap_or(MaxFeatures::Sqrt))
        .max_depth(tree.max_depth)
        .max_leaves(tree.max_leaves)
        .min_samples_split(tree.min_samples_split.unwrap_or(2))
        .min_samples_leaf(tree.min_samples_leaf.unwrap_or(1))
        .min_impurity_decrease(tree.min_impurity_decrease.unwrap_or(0.0))
        .bootstrap(bootstraps(method, groups))
        .leaves(forest.leaf_kind())
        .projection(projection.of_forest()?)
        .seed(seed))
}

/// A forest to be grown.
pub(super) struct ForestRecipe {
    params: ForestParams,
    first_tree: usize,
    n_trees: usize,
    bootstraps: bool,
    learns_from_features: bool,
    record: Map<String, Value>,
}

impl ForestRecipe {
    pub(super) fn new(method: Method, groups: &Groups, seed: u64) -> Result<Self, CliError> {
        let params = params(method, groups, seed)?;
        params.clone().check()?;
        let tree = &groups.tree;
        let first_tree = groups.ensemble.first_tree.unwrap_or(0);
        let n_trees = groups.ensemble.trees.unwrap_or(TREES);
        let mut parameters = vec![
            ("trees", json!(n_trees)),
            ("first_tree", json!(first_tree)),
            (
                "max_features",
                json!(tree.max_features.unwrap_or(MaxFeatures::Sqrt).to_string()),
            ),
            ("max_depth", json!(tree.max_depth)),
            ("max_leaves", json!(tree.max_leaves)),
            ("min_samples_split", json!(tree.min_samples_split.unwrap_or(2))),
            ("min_samples_leaf", json!(tree.min_samples_leaf.unwrap_or(1))),
            (
                "min_impurity_decrease",
                json!(tree.min_impurity_decrease.unwrap_or(0.0)),
            ),
            ("bootstrap", json!(bootstraps(method, groups))),
            (
                "leaves",
                json!(name(&groups.forest.leaves.unwrap_or(LeafName::Auto))),
            ),
        ];
        parameters.extend(groups.projection.forest_record());
        Ok(Self {
            params,
            first_tree,
            n_trees,
            bootstraps: bootstraps(method, groups),
            learns_from_features: groups.projection.learns_from_features(),
            record: record(method, seed, parameters),
        })
    }

    fn grow(&self, data: &Dataset, trees: Range<usize>, context: &FitContext<'_>) -> Result<Model, CliError> {
        let mut params = self
            .params
            .clone()
            .n_trees(trees.len())
            .first_tree(self.first_tree + trees.start);
        if self.learns_from_features {
            let family = bound(data.features()).map_err(|e| context.error(data, e))?;
            params = params.map_projection(|_| family);
        }
        if let Some(wrap) = context.wrap {
            params = params.map_projection(wrap);
        }
        let options = FitOptions {
            on_tree: context.on_step,
            missing_outputs: data.n_missing_outputs() > 0,
            ..FitOptions::default()
        };
        let forest = params
            .check()?
            .fit_with(data.features().view(), data.outputs().view(), options);
        let forest = forest.map_err(|e| context.error(data, e))?;
        Ok(Model::new(forest, data)?.with_parameters(self.record()))
    }
}

impl Recipe for ForestRecipe {
    fn n_steps(&self) -> usize {
        self.n_trees
    }

    fn record(&self) -> Map<String, Value> {
        self.record.clone()
    }

    fn has_oob(&self) -> bool {
        self.bootstraps
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, CliError> {
        self.grow(data, 0..self.n_trees, context)
    }

    fn fit_in_parts(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        show: &mut Show<'_>,
    ) -> Result<Model, CliError> {
        let grow = |trees| self.grow(data, trees, context);
        Ok(grow_in_parts(self.n_trees, steps, grow, show)?.with_parameters(self.record()))
    }
}

/// Grows a forest whose parts merge into exactly the whole, so that nothing is grown twice, and shows it after each of
/// the given numbers of trees, and whole.
pub(super) fn grow_in_parts(
    n_trees: usize,
    steps: &[usize],
    grow: impl Fn(Range<usize>) -> Result<Model, CliError>,
    show: &mut Show<'_>,
) -> Result<Model, CliError> {
    let mut grown: Option<(usize, Model)> = None;
    let before = steps.iter().copied().filter(|&end| end < n_trees);
    for end in before.chain([n_trees]) {
        let start = grown.as_ref().map_or(0, |(n, _)| *n);
        if end <= start {
            continue;
        }
        let part = grow(start..end)?;
        let model = match grown.take() {
            None => part,
            Some((_, earlier)) => earlier.merge(part)?,
        };
        let stop = show(end, &model)?.is_break();
        grown = Some((end, model));
        if stop {
            break;
        }
    }
    let (_, model) = grown.expect("a forest has at least one tree, so that one part is grown");
    Ok(model)
}
