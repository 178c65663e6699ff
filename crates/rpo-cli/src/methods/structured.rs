//! Structured Hellinger forests and their relatives.

use super::parts::TreeRecipe;
use super::{FitContext, Groups, Method, name, record, refuse_idle};
use crate::error::CliError;
use crate::options::Switch;
use clap::{Args, ValueEnum};
use rpo::Model;
use rpo::data::Dataset;
use rpo::ensemble::structured::{NodeSplit, StructuredForestParams};
use rpo::tree::oblique::{FeatureScaling, HellingerParams, ObliqueLogisticParams};
use rpo::tree::structured::{LabelWeighting, WeightMode};
use serde_json::{Map, Value, json};
use std::ops::Range;

/// Clusters and hyperplanes of structured forests.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Structured forest")]
pub(crate) struct StructuredOptions {
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
    #[arg(long, switch())]
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
        refuse_idle(
            &format!("--variant {}", name(&variant)),
            [
                ("beta", self.beta.is_some() && !cs),
                ("weight-mode", self.weight_mode.is_some() && !cs),
                ("fall-back", self.fall_back.is_some() && !(lr || h)),
                ("scaling", self.scaling.is_some() && !(lr || h)),
                ("l2", self.l2.is_some() && !lr),
                ("rho", self.rho.is_some() && !h),
                ("descent-steps", self.descent_steps.is_some() && !h),
                ("batch-size", self.batch_size.is_some() && !h),
                ("step-size", self.step_size.is_some() && !h),
                ("prune", self.prune.is_some() && !h),
            ],
        )
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
                let default = ObliqueLogisticParams::default();
                NodeSplit::Logistic(ObliqueLogisticParams {
                    l2: self.l2.unwrap_or(default.l2),
                })
            }
            Variant::SfH | Variant::SfHCs => {
                let default = HellingerParams::default();
                NodeSplit::Hellinger(HellingerParams {
                    rho: self.rho.unwrap_or(default.rho),
                    descent_steps: self.descent_steps.unwrap_or(default.descent_steps),
                    batch_size: self.batch_size.unwrap_or(default.batch_size),
                    step_size: self.step_size.unwrap_or(default.step_size),
                    prune: self.prune.unwrap_or(default.prune),
                    ..default
                })
            }
        }
    }
}

/// The options of a structured forest with their defaults.
struct Resolved {
    variant: Variant,
    trees: usize,
    first_tree: usize,
    row_share: f64,
    feature_share: f64,
    label_share: f64,
    label_weight: f64,
    min_samples_leaf: usize,
    max_depth: Option<u32>,
    weighting: Option<LabelWeighting>,
    cluster_starts: usize,
    split: NodeSplit,
    fall_back: bool,
    scaling: Option<FeatureScaling>,
}

impl Resolved {
    fn new(groups: &Groups) -> Self {
        let Groups {
            ensemble,
            tree,
            shares,
            structured: options,
            ..
        } = groups;
        Self {
            variant: options.variant(),
            trees: ensemble.trees.unwrap_or(50),
            first_tree: ensemble.first_tree.unwrap_or(0),
            row_share: shares.row_share.unwrap_or(SHARE),
            feature_share: shares.feature_share.unwrap_or(SHARE),
            label_share: options.label_share.unwrap_or(SHARE),
            label_weight: options.label_weight.unwrap_or(5.0),
            min_samples_leaf: tree.min_samples_leaf.unwrap_or(3),
            max_depth: tree.max_depth,
            weighting: options.weighting(),
            cluster_starts: options.cluster_starts.unwrap_or(5),
            split: options.split(),
            fall_back: options.fall_back.unwrap_or(false),
            scaling: options.scaling.map(FeatureScaling::from),
        }
    }

    fn params(&self, seed: u64) -> StructuredForestParams {
        StructuredForestParams::soshf()
            .n_trees(self.trees)
            .first_tree(self.first_tree)
            .split(self.split)
            .fall_back(self.fall_back)
            .weighting(self.weighting)
            .clustering(self.cluster_starts, 100)
            .row_share(self.row_share)
            .feature_share(self.feature_share)
            .label_share(self.label_share)
            .label_weight(self.label_weight)
            .min_samples_leaf(self.min_samples_leaf)
            .max_depth(self.max_depth)
            .scaling(self.scaling)
            .seed(seed)
    }

    /// What the model file remembers.
    fn record(&self) -> Vec<(&'static str, Value)> {
        let mut record = vec![
            ("trees", json!(self.trees)),
            ("first_tree", json!(self.first_tree)),
            ("row_share", json!(self.row_share)),
            ("feature_share", json!(self.feature_share)),
            ("min_samples_leaf", json!(self.min_samples_leaf)),
            ("max_depth", json!(self.max_depth)),
            ("variant", json!(name(&self.variant))),
            ("label_share", json!(self.label_share)),
            ("label_weight", json!(self.label_weight)),
            ("cluster_starts", json!(self.cluster_starts)),
        ];
        if let Some(weighting) = self.weighting {
            record.push(("beta", json!(weighting.beta)));
            record.push(("weight_mode", json!(weighting.mode)));
        }
        if self.split != NodeSplit::InformationGain {
            let scaling = self.scaling.or(self.split.default_scaling());
            record.push(("fall_back", json!(self.fall_back)));
            record.push(("scaling", json!(scaling)));
        }
        match self.split {
            NodeSplit::InformationGain => {}
            NodeSplit::Logistic(params) => record.push(("l2", json!(params.l2))),
            NodeSplit::Hellinger(params) => record.extend([
                ("rho", json!(params.rho)),
                ("descent_steps", json!(params.descent_steps)),
                ("batch_size", json!(params.batch_size)),
                ("step_size", json!(params.step_size)),
                ("prune", json!(params.prune)),
            ]),
        }
        record
    }
}

/// A structured forest to be grown.
pub(super) struct StructuredRecipe {
    params: StructuredForestParams,
    trees: Range<usize>,
    has_oob: bool,
    record: Map<String, Value>,
}

impl StructuredRecipe {
    pub(super) fn new(method: Method, groups: &Groups, seed: u64) -> Result<Self, CliError> {
        groups.structured.check()?;
        let resolved = Resolved::new(groups);
        let params = resolved.params(seed);
        params.clone().check()?;
        Ok(Self {
            trees: params.indices(),
            params,
            has_oob: resolved.row_share < 1.0,
            record: record(method, seed, resolved.record()),
        })
    }
}

impl TreeRecipe for StructuredRecipe {
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
        let on_tree = || context.on_step.iter().for_each(|f| f());
        let (x, y) = (data.features().view(), data.outputs().view());
        let params = self.params.clone().first_tree(trees.start).n_trees(trees.len());
        let forest = params.check()?.fit_observed(x, y, on_tree);
        let forest = forest.map_err(|e| context.error(data, e))?;
        Ok(Model::new(forest, data)?.with_parameters(self.record.clone()))
    }
}
