//! Random forests and Extra-Trees, of all outputs or of each by itself.

use super::parts::TreeRecipe;
use super::structured::SHARE;
use super::{FitContext, Groups, Method, name, record};
use crate::error::CliError;
use crate::options::Switch;
use clap::{Args, ValueEnum};
use rpo::Model;
use rpo::data::Dataset;
use rpo::ensemble::{CriterionKind, FitOptions, ForestParams, LeafChoice, MaxFeatures};
use serde_json::{Map, Value, json};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Samples, splits and leaves of forests.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Forest")]
pub(crate) struct ForestOptions {
    /// Whether every tree grows on a bootstrap of the samples, or on all of them: true for random-forest and
    /// single-target-forest, false for extra-trees by default.
    #[arg(long, switch())]
    bootstrap: Option<bool>,

    /// What splits are scored by: variance, gini, which grows the same trees of labels, or entropy. variance by default,
    /// of binary-relevance-forest entropy.
    #[arg(long, value_enum, value_name = "CRITERION")]
    criterion: Option<CriterionName>,

    /// How leaves are stored: auto, the default, refers to training samples where trees are fully grown and keeps
    /// means otherwise.
    #[arg(long, value_enum)]
    leaves: Option<LeafName>,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum CriterionName {
    Variance,
    Gini,
    Entropy,
}

impl From<CriterionName> for CriterionKind {
    fn from(name: CriterionName) -> Self {
        match name {
            CriterionName::Variance => Self::Variance,
            CriterionName::Gini => Self::Gini,
            CriterionName::Entropy => Self::Entropy,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum LeafName {
    Auto,
    Dense,
    Sparse,
    Samples,
}

impl ForestOptions {
    /// How leaves are stored.
    pub(super) fn leaf_choice(&self) -> LeafChoice {
        match self.leaves {
            None | Some(LeafName::Auto) => LeafChoice::Auto,
            Some(LeafName::Dense) => LeafChoice::Dense,
            Some(LeafName::Sparse) => LeafChoice::Sparse,
            Some(LeafName::Samples) => LeafChoice::Samples,
        }
    }
}

/// The options of a forest with the defaults of its method.
struct Resolved {
    trees: usize,
    first_tree: usize,
    max_features: MaxFeatures,
    min_samples_split: usize,
    min_samples_leaf: usize,
    min_impurity_decrease: f64,
    criterion: CriterionKind,
    bootstrap: bool,
    row_share: Option<f64>,
    feature_share: f64,
}

impl Resolved {
    fn new(method: Method, groups: &Groups) -> Result<Self, CliError> {
        let Groups {
            ensemble,
            tree,
            forest,
            shares,
            ..
        } = groups;
        let per_label = method == Method::BinaryRelevanceForest;
        let (bootstrap, row_share) = match (forest.bootstrap, shares.row_share) {
            (Some(true), Some(_)) => {
                let message =
                    "--row-share draws samples without replacement, --bootstrap with it; one of the two";
                return Err(CliError::Usage(message.to_owned()));
            }
            (Some(bootstrap), None) => (bootstrap, None),
            (_, Some(share)) => (false, Some(share)),
            (None, None) => match method {
                Method::ExtraTrees => (false, None),
                Method::BinaryRelevanceForest => (false, Some(SHARE)),
                _ => (true, None),
            },
        };
        let (trees, max_features, leaf, criterion, share) = if per_label {
            (50, MaxFeatures::All, 3, CriterionKind::Entropy, SHARE)
        } else {
            (100, MaxFeatures::Sqrt, 1, CriterionKind::Variance, 1.0)
        };
        Ok(Self {
            trees: ensemble.trees.unwrap_or(trees),
            first_tree: ensemble.first_tree.unwrap_or(0),
            max_features: tree.max_features.unwrap_or(max_features),
            min_samples_split: tree.min_samples_split.unwrap_or(2),
            min_samples_leaf: tree.min_samples_leaf.unwrap_or(leaf),
            min_impurity_decrease: tree.min_impurity_decrease.unwrap_or(0.0),
            criterion: forest.criterion.map_or(criterion, CriterionKind::from),
            bootstrap,
            row_share,
            feature_share: shares.feature_share.unwrap_or(share),
        })
    }

    /// What the model file remembers.
    fn record(&self, method: Method, groups: &Groups) -> Vec<(&'static str, Value)> {
        let mut record = vec![
            ("trees", json!(self.trees)),
            ("first_tree", json!(self.first_tree)),
            ("max_features", json!(self.max_features.to_string())),
            ("max_depth", json!(groups.tree.max_depth)),
            ("max_leaves", json!(groups.tree.max_leaves)),
            ("min_samples_split", json!(self.min_samples_split)),
            ("min_samples_leaf", json!(self.min_samples_leaf)),
            ("min_impurity_decrease", json!(self.min_impurity_decrease)),
            ("criterion", json!(self.criterion)),
            ("bootstrap", json!(self.bootstrap)),
            ("feature_share", json!(self.feature_share)),
        ];
        if let Some(share) = self.row_share {
            record.push(("row_share", json!(share)));
        }
        if !is_single_target(method) {
            record.push((
                "leaves",
                json!(name(&groups.forest.leaves.unwrap_or(LeafName::Auto))),
            ));
            record.extend(groups.projection.record_of_forest());
        }
        record
    }
}

/// Whether a method grows a forest for every output by itself.
fn is_single_target(method: Method) -> bool {
    matches!(method, Method::SingleTargetForest | Method::BinaryRelevanceForest)
}

/// The parameters of a forest.
pub(super) fn params(method: Method, groups: &Groups, seed: u64) -> Result<ForestParams, CliError> {
    let resolved = Resolved::new(method, groups)?;
    let base = match method {
        Method::ExtraTrees => ForestParams::extra_trees(),
        _ => ForestParams::random_forest(),
    };
    groups.projection.check_forest()?;
    let (projection, components, projection_scope) = groups.projection.of_forest();
    Ok(ForestParams {
        trees: resolved.trees,
        first_tree: resolved.first_tree,
        max_features: resolved.max_features,
        max_depth: groups.tree.max_depth,
        max_leaves: groups.tree.max_leaves,
        min_samples_split: resolved.min_samples_split,
        min_samples_leaf: resolved.min_samples_leaf,
        min_impurity_decrease: resolved.min_impurity_decrease,
        criterion: resolved.criterion,
        bootstrap: Some(resolved.bootstrap),
        row_share: resolved.row_share,
        feature_share: resolved.feature_share,
        leaves: groups.forest.leaf_choice(),
        projection,
        components,
        projection_scope,
        seed,
        ..base
    })
}

/// A forest to be grown, or one for every output.
pub(super) struct ForestRecipe {
    params: ForestParams,
    trees: Range<usize>,
    single_target: bool,
    has_oob: bool,
    record: Map<String, Value>,
}

impl ForestRecipe {
    pub(super) fn new(method: Method, groups: &Groups, seed: u64) -> Result<Self, CliError> {
        let params = params(method, groups, seed)?;
        params.check()?;
        let resolved = Resolved::new(method, groups)?;
        Ok(Self {
            trees: params.indices(),
            has_oob: params.has_oob(),
            params,
            single_target: is_single_target(method),
            record: record(method, seed, resolved.record(method, groups)),
        })
    }
}

impl TreeRecipe for ForestRecipe {
    /// Of single targets those of each output.
    fn trees(&self) -> Range<usize> {
        self.trees.clone()
    }

    fn record(&self) -> &Map<String, Value> {
        &self.record
    }

    fn has_oob(&self) -> bool {
        self.has_oob
    }

    fn grow(&self, data: &Dataset, trees: Range<usize>, context: &FitContext<'_>) -> Result<Model, CliError> {
        let params = self.params.of_trees(trees);
        let (x, y) = (data.features().view(), data.outputs().view());
        let options = FitOptions {
            missing_outputs: data.n_missing_outputs() > 0,
            projection: context.wrap.and_then(|wrap| params.projection.family().map(wrap)),
            ..FitOptions::default()
        };
        let model = if self.single_target {
            let grown = AtomicUsize::new(0);
            let on_tree = || {
                // A step for as many trees as there are outputs.
                let before = grown.fetch_add(1, Ordering::Relaxed);
                if (before + 1).is_multiple_of(data.n_outputs()) {
                    context.on_step.iter().for_each(|f| f());
                }
            };
            let on_tree = Some(&on_tree as &(dyn Fn() + Sync));
            let forests = params.fit_single_targets(
                x,
                y,
                FitOptions {
                    on_step: on_tree,
                    ..options
                },
            );
            Model::new(forests.map_err(|e| context.error(data, e))?, data)
        } else {
            let on_tree = context.on_step;
            let forest = params.fit_with(
                x,
                y,
                FitOptions {
                    on_step: on_tree,
                    ..options
                },
            );
            Model::new(forest.map_err(|e| context.error(data, e))?, data)
        };
        Ok(model?.with_parameters(self.record.clone()))
    }
}
