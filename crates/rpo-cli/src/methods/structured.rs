//! Structured Hellinger forests and their relatives.

use super::parts::TreeRecipe;
use super::{FitContext, Groups, Method, name, record, refuse_idle};
use crate::error::CliError;
use crate::options::Switch;
use clap::{Args, ValueEnum};
use rpo::Model;
use rpo::data::Dataset;
use rpo::ensemble::FitOptions;
use rpo::ensemble::structured::{StructuredForestParams, Variant};
use rpo::tree::oblique::FeatureScaling;
use rpo::tree::structured::WeightMode;
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
    variant: Option<VariantName>,

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
enum VariantName {
    Sf,
    SfCs,
    SfLr,
    SfLrCs,
    SfH,
    SfHCs,
}

impl VariantName {
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

impl From<ModeName> for WeightMode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Scale => Self::Scale,
            ModeName::Sqrt => Self::Sqrt,
        }
    }
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
    fn variant(&self) -> VariantName {
        self.variant.unwrap_or(VariantName::SfHCs)
    }

    /// Refuses options without an effect on the variant.
    fn check(&self) -> Result<(), CliError> {
        use VariantName::{SfH, SfHCs, SfLr, SfLrCs};
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
}

fn params(groups: &Groups, seed: u64) -> StructuredForestParams {
    let Groups {
        ensemble,
        tree,
        shares,
        structured: options,
        ..
    } = groups;
    let base = StructuredForestParams::default();
    StructuredForestParams {
        variant: match options.variant() {
            VariantName::Sf => Variant::Sf,
            VariantName::SfCs => Variant::SfCs,
            VariantName::SfLr => Variant::SfLr,
            VariantName::SfLrCs => Variant::SfLrCs,
            VariantName::SfH => Variant::SfH,
            VariantName::SfHCs => Variant::SfHCs,
        },
        trees: ensemble.trees.unwrap_or(base.trees),
        first_tree: ensemble.first_tree.unwrap_or(base.first_tree),
        row_share: shares.row_share.unwrap_or(base.row_share),
        feature_share: shares.feature_share.unwrap_or(base.feature_share),
        label_share: options.label_share.unwrap_or(base.label_share),
        label_weight: options.label_weight.unwrap_or(base.label_weight),
        min_samples_leaf: tree.min_samples_leaf.unwrap_or(base.min_samples_leaf),
        max_depth: tree.max_depth,
        cluster_starts: options.cluster_starts.unwrap_or(base.cluster_starts),
        beta: options.beta,
        weight_mode: options.weight_mode.map(WeightMode::from),
        fall_back: options.fall_back,
        scaling: options.scaling.map(FeatureScaling::from),
        l2: options.l2,
        rho: options.rho,
        descent_steps: options.descent_steps,
        batch_size: options.batch_size,
        step_size: options.step_size,
        prune: options.prune,
        seed,
    }
}

/// What the model file remembers.
fn described(params: &StructuredForestParams, variant: VariantName) -> Vec<(&'static str, Value)> {
    let mut record = vec![
        ("trees", json!(params.trees)),
        ("first_tree", json!(params.first_tree)),
        ("row_share", json!(params.row_share)),
        ("feature_share", json!(params.feature_share)),
        ("min_samples_leaf", json!(params.min_samples_leaf)),
        ("max_depth", json!(params.max_depth)),
        ("variant", json!(params.variant)),
        ("label_share", json!(params.label_share)),
        ("label_weight", json!(params.label_weight)),
        ("cluster_starts", json!(params.cluster_starts)),
    ];
    if variant.is_cost_sensitive() {
        record.push(("beta", json!(params.beta.unwrap_or(0.5))));
        record.push((
            "weight_mode",
            json!(params.weight_mode.unwrap_or(WeightMode::Scale)),
        ));
    }
    let (lr, h) = (
        matches!(variant, VariantName::SfLr | VariantName::SfLrCs),
        matches!(variant, VariantName::SfH | VariantName::SfHCs),
    );
    if lr || h {
        let scaling = if lr {
            FeatureScaling::Standard
        } else {
            FeatureScaling::BySparsity
        };
        record.push(("fall_back", json!(params.fall_back.unwrap_or(false))));
        record.push(("scaling", json!(params.scaling.unwrap_or(scaling))));
    }
    if lr {
        record.push(("l2", json!(params.l2.unwrap_or(0.001))));
    }
    if h {
        record.extend([
            ("rho", json!(params.rho.unwrap_or(0.4))),
            ("descent_steps", json!(params.descent_steps.unwrap_or(200))),
            ("batch_size", json!(params.batch_size.unwrap_or(1000))),
            ("step_size", json!(params.step_size.unwrap_or(0.05))),
            ("prune", json!(params.prune.unwrap_or(0.01))),
        ]);
    }
    record
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
        let params = params(groups, seed);
        params.check()?;
        Ok(Self {
            trees: params.indices(),
            has_oob: params.row_share < 1.0,
            record: record(method, seed, described(&params, groups.structured.variant())),
            params,
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
        let options = FitOptions {
            on_step: context.on_step,
            ..FitOptions::default()
        };
        let (x, y) = (data.features().view(), data.outputs().view());
        let params = self.params.of_trees(trees);
        let forest = params.fit_with(x, y, options);
        let forest = forest.map_err(|e| context.error(data, e))?;
        Ok(Model::new(forest, data)?.with_parameters(self.record.clone()))
    }
}
