//! Structured Hellinger forests and their relatives.

use super::parts::TreeRecipe;
use super::{FitContext, Groups, Method, name, record};
use crate::error::CliError;
use clap::{Args, ValueEnum};
use rpo::Model;
use rpo::data::Dataset;
use rpo::ensemble::structured::{NodeSplit, StructuredForestParams};
use rpo::tree::oblique::{FeatureScaling, HellingerParams, LogisticParams};
use rpo::tree::structured::{LabelWeighting, WeightMode};
use serde_json::{Map, Value, json};
use std::ops::Range;

/// What a tree sees of the data.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Shares")]
pub struct ShareOptions {
    /// Share of the samples that a tree grows on, drawn without replacement, in (0, 1]; 0.75 of structured-forest and
    /// binary-relevance-forest by default, in place of the bootstrap of others.
    #[arg(long, value_name = "SHARE")]
    pub(super) row_share: Option<f64>,

    /// Share of the features that a tree uses, in (0, 1]; 0.75 of structured-forest and binary-relevance-forest by
    /// default, 1 of others.
    #[arg(long, value_name = "SHARE")]
    pub(super) feature_share: Option<f64>,
}

/// Clusters and hyperplanes of structured forests.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Structured forest")]
pub struct StructuredOptions {
    /// What parts the two clusters of a node, and with -cs that rare labels count more in clustering: sf, one feature
    /// by information gain; sf-lr, logistic regression; sf-h, a sparse hyperplane of large Hellinger distance. sf-h-cs,
    /// SOSHF, by default.
    #[arg(long, value_enum, value_name = "VARIANT")]
    variant: Option<Variant>,

    /// Share of the labels that a tree clusters, in (0, 1]; 0.75 by default.
    #[arg(long, value_name = "SHARE")]
    label_share: Option<f64>,

    /// How much more a tree counts for the labels it clustered, at least 1; 5 by default.
    #[arg(long, value_name = "WEIGHT")]
    label_weight: Option<f64>,

    /// How much the labels' frequencies in the whole tree count beside those in the node, in [0, 1]; 0.5 by default. Of the
    /// -cs variants.
    #[arg(long, value_name = "BETA")]
    beta: Option<f64>,

    /// What a label's weight multiplies: the label (scale, the default) or its squared difference (sqrt). Of the -cs
    /// variants.
    #[arg(long, value_enum, value_name = "MODE")]
    weight_mode: Option<ModeName>,

    /// Starts of k-means; 5 by default.
    #[arg(long, value_name = "N")]
    cluster_starts: Option<usize>,

    /// Whether a node without a hyperplane is split by one feature; false by default. Of sf-lr and sf-h.
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        default_missing_value = "true",
        require_equals = true
    )]
    fall_back: Option<bool>,

    /// Units of features in hyperplanes: as they are, of mean 0 and deviation 1 (the default of sf-lr), or that only of
    /// features that are seldom 0 and others divided by their largest magnitude (the default of sf-h).
    #[arg(long, value_enum, value_name = "UNITS")]
    scaling: Option<ScalingName>,

    /// Penalty of logistic regression per sample; 0.001 by default. Of sf-lr.
    #[arg(long, value_name = "L2")]
    l2: Option<f64>,

    /// Largest share of the Hellinger distance that the penalty of weights begins with, in [0, 1); 0.4 by default. Of
    /// sf-h.
    #[arg(long, value_name = "RHO")]
    rho: Option<f64>,

    /// Descent steps of each of the two stages; 200 by default. Of sf-h.
    #[arg(long, value_name = "N")]
    descent_steps: Option<usize>,

    /// Samples of a mini-batch; 1000 by default. Of sf-h.
    #[arg(long, value_name = "N")]
    batch_size: Option<usize>,

    /// Step size of the descent; 0.05 by default. Of sf-h.
    #[arg(long, value_name = "RATE")]
    step_size: Option<f64>,

    /// Size up to which weights become 0 where no sample changes its side by it; 0.01 by default, 0 keeps all. Of sf-h.
    #[arg(long, value_name = "SIZE")]
    prune: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum Variant {
    Sf,
    SfCs,
    SfLr,
    SfLrCs,
    SfH,
    SfHCs,
}

impl Variant {
    fn is_cost_sensitive(self) -> bool {
        matches!(self, Self::SfCs | Self::SfLrCs | Self::SfHCs)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum ModeName {
    Scale,
    Sqrt,
}

#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum ScalingName {
    Raw,
    Standard,
    BySparsity,
}

impl From<ScalingName> for FeatureScaling {
    fn from(name: ScalingName) -> Self {
        match name {
            ScalingName::Raw => Self::Raw,
            ScalingName::Standard => Self::Standard,
            ScalingName::BySparsity => Self::BySparsity,
        }
    }
}

/// Trees of a forest if their number is not given.
const TREES: usize = 50;
/// Fewest samples of a leaf if not given.
const LEAF: usize = 3;
/// Shares that a tree sees if not given.
pub(super) const SHARE: f64 = 0.75;

impl StructuredOptions {
    fn variant(&self) -> Variant {
        self.variant.unwrap_or(Variant::SfHCs)
    }

    /// Refuses options without an effect on the variant.
    fn check(&self) -> Result<(), CliError> {
        use Variant::{SfH, SfHCs, SfLr, SfLrCs};
        let variant = self.variant();
        let (cs, lr, h) = (
            variant.is_cost_sensitive(),
            matches!(variant, SfLr | SfLrCs),
            matches!(variant, SfH | SfHCs),
        );
        let given = [
            ("beta", self.beta.is_some(), cs),
            ("weight-mode", self.weight_mode.is_some(), cs),
            ("fall-back", self.fall_back.is_some(), lr || h),
            ("scaling", self.scaling.is_some(), lr || h),
            ("l2", self.l2.is_some(), lr),
            ("rho", self.rho.is_some(), h),
            ("descent-steps", self.descent_steps.is_some(), h),
            ("batch-size", self.batch_size.is_some(), h),
            ("step-size", self.step_size.is_some(), h),
            ("prune", self.prune.is_some(), h),
        ];
        match given
            .into_iter()
            .find(|(_, given, has_effect)| *given && !has_effect)
        {
            None => Ok(()),
            Some((option, ..)) => Err(CliError::Usage(format!(
                "--{option} has no effect on --variant {}",
                name(&variant)
            ))),
        }
    }

    fn weighting(&self) -> Option<LabelWeighting> {
        let default = LabelWeighting::default();
        self.variant().is_cost_sensitive().then(|| LabelWeighting {
            beta: self.beta.unwrap_or(default.beta),
            mode: match self.weight_mode {
                None | Some(ModeName::Scale) => WeightMode::Scale,
                Some(ModeName::Sqrt) => WeightMode::Sqrt,
            },
        })
    }

    fn split(&self) -> NodeSplit {
        match self.variant() {
            Variant::Sf | Variant::SfCs => NodeSplit::InformationGain,
            Variant::SfLr | Variant::SfLrCs => {
                let default = LogisticParams::default();
                NodeSplit::Logistic(LogisticParams {
                    l2: self.l2.unwrap_or(default.l2),
                })
            }
            Variant::SfH | Variant::SfHCs => {
                let default = HellingerParams::default();
                NodeSplit::Hellinger(HellingerParams {
                    max_rho: self.rho.unwrap_or(default.max_rho),
                    iterations: self.descent_steps.unwrap_or(default.iterations),
                    batch_size: self.batch_size.unwrap_or(default.batch_size),
                    learning_rate: self.step_size.unwrap_or(default.learning_rate),
                    prune: self.prune.unwrap_or(default.prune),
                    ..default
                })
            }
        }
    }

    /// What the model file remembers.
    fn record(&self) -> Vec<(&'static str, Value)> {
        let mut record = vec![
            ("variant", json!(name(&self.variant()))),
            ("label_share", json!(self.label_share.unwrap_or(SHARE))),
            ("label_weight", json!(self.label_weight.unwrap_or(5.0))),
            ("cluster_starts", json!(self.cluster_starts.unwrap_or(5))),
        ];
        if let Some(weighting) = self.weighting() {
            record.push(("beta", json!(weighting.beta)));
            record.push(("weight_mode", json!(weighting.mode)));
        }
        let split = self.split();
        let scaling = self.scaling.map(FeatureScaling::from).or(split.default_scaling());
        let oblique = [
            ("fall_back", json!(self.fall_back.unwrap_or(false))),
            ("scaling", json!(scaling)),
        ];
        match split {
            NodeSplit::InformationGain => {}
            NodeSplit::Logistic(params) => {
                record.extend(oblique);
                record.push(("l2", json!(params.l2)));
            }
            NodeSplit::Hellinger(params) => {
                record.extend(oblique);
                record.extend([
                    ("rho", json!(params.max_rho)),
                    ("descent_steps", json!(params.iterations)),
                    ("batch_size", json!(params.batch_size)),
                    ("step_size", json!(params.learning_rate)),
                    ("prune", json!(params.prune)),
                ]);
            }
        }
        record
    }
}

/// A structured forest to be grown.
pub(super) struct StructuredRecipe {
    params: StructuredForestParams,
    n_trees: usize,
    has_oob: bool,
    first_tree: usize,
    record: Map<String, Value>,
}

impl StructuredRecipe {
    pub(super) fn new(method: Method, groups: &Groups, seed: u64) -> Result<Self, CliError> {
        let options = &groups.structured;
        options.check()?;
        let n_trees = groups.ensemble.trees.unwrap_or(TREES);
        let row_share = groups.shares.row_share.unwrap_or(SHARE);
        let first_tree = groups.ensemble.first_tree.unwrap_or(0);
        let params = StructuredForestParams::soshf()
            .n_trees(n_trees)
            .first_tree(first_tree)
            .split(options.split())
            .fall_back(options.fall_back.unwrap_or(false))
            .weighting(options.weighting())
            .clustering(options.cluster_starts.unwrap_or(5), 100)
            .row_share(row_share)
            .feature_share(groups.shares.feature_share.unwrap_or(SHARE))
            .label_share(options.label_share.unwrap_or(SHARE))
            .label_weight(options.label_weight.unwrap_or(5.0))
            .min_samples_leaf(groups.tree.min_samples_leaf.unwrap_or(LEAF))
            .max_depth(groups.tree.max_depth)
            .scaling(options.scaling.map(Into::into))
            .seed(seed);
        params.clone().check()?;
        let (tree, feature_share) = (&groups.tree, groups.shares.feature_share.unwrap_or(SHARE));
        let mut parameters = vec![
            ("trees", json!(n_trees)),
            ("first_tree", json!(first_tree)),
            ("row_share", json!(row_share)),
            ("feature_share", json!(feature_share)),
            ("min_samples_leaf", json!(tree.min_samples_leaf.unwrap_or(LEAF))),
            ("max_depth", json!(tree.max_depth)),
        ];
        parameters.extend(options.record());
        Ok(Self {
            params,
            n_trees,
            has_oob: row_share < 1.0,
            first_tree,
            record: record(method, seed, parameters),
        })
    }
}

impl TreeRecipe for StructuredRecipe {
    fn n_trees(&self) -> usize {
        self.n_trees
    }

    fn record(&self) -> &Map<String, Value> {
        &self.record
    }

    fn has_oob(&self) -> bool {
        self.has_oob
    }

    fn grow(&self, data: &Dataset, trees: Range<usize>, context: &FitContext<'_>) -> Result<Model, CliError> {
        let on_tree = || context.on_step.iter().for_each(|f| f());
        let (x, y) = (data.features().view(), data.outputs().view());
        let params = self.params.clone().n_trees(trees.len());
        let params = params.first_tree(self.first_tree + trees.start).check()?;
        let forest = params.fit_observed(x, y, on_tree);
        let forest = forest.map_err(|e| context.error(data, e))?;
        Ok(Model::new(forest, data)?.with_parameters(self.record.clone()))
    }
}
