//! Options of boosting, and what they come to.

use crate::error::CliError;
use crate::methods::projection::BoostingProjection;
use crate::methods::{Groups, Method, ProjectionOptions};
use crate::options::Switch;
use clap::Args;
use rpo::ensemble::MaxFeatures;
use rpo::ensemble::boosting::{Algorithm, BoostingParams, LineSearch, LossKind, StepScope};
use rpo::metrics::Metric;
use rpo::projections::ProjectionKind;
use serde_json::{Value, json};

/// Steps of boosting.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Boosting")]
pub(crate) struct BoostingOptions {
    /// Number of steps; 100 by default.
    #[arg(long, value_name = "M")]
    iterations: Option<usize>,

    /// Learning rate in (0, 1]; 0.1 by default.
    #[arg(long, value_name = "RATE")]
    learning_rate: Option<f64>,

    /// What is minimised: square, absolute or logistic (of labels; predictions are then probabilities). By default
    /// logistic for labels, square for numbers.
    #[arg(long, value_name = "LOSS")]
    loss: Option<LossKind>,

    /// How long a step is: exact, the default, minimises the loss; newton is one Newton step, cheaper.
    #[arg(long, value_enum, value_name = "HOW")]
    line_search: Option<LineSearchName>,

    /// What has a step length of its own: every output, the default, or every leaf of every output.
    #[arg(long, value_enum, value_name = "SCOPE")]
    step_scope: Option<ScopeName>,

    /// Share of the samples that each tree grows on, drawn anew; 1 by default.
    #[arg(long, value_name = "SHARE")]
    subsample: Option<f64>,

    /// Keep only the K largest numbers of a leaf; all by default.
    #[arg(long, value_name = "K")]
    leaf_values: Option<usize>,

    /// Stop after so many seconds, but not before a step: the model then depends on the machine.
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<f64>,

    /// Share of the samples to withhold and score every step on; the model ends with the best. By default 0.2 with
    /// --early-stopping, otherwise none. A search scores steps on what it holds out.
    #[arg(long, value_name = "SHARE")]
    validation: Option<f64>,

    /// Stop after so many steps without a better score on the samples withheld.
    #[arg(long, value_name = "N")]
    early_stopping: Option<usize>,

    /// The score: lrap for labels and r2 for numbers by default.
    #[arg(long, value_name = "METRIC")]
    validation_metric: Option<Metric>,

    /// With samples withheld, fit again to all samples, as many steps as were best.
    #[arg(long, switch())]
    refit_all: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, clap::ValueEnum)]
enum LineSearchName {
    Exact,
    Newton,
}

#[derive(Debug, Clone, Copy, PartialEq, clap::ValueEnum)]
enum ScopeName {
    Output,
    Leaf,
}

fn algorithm(method: Method) -> Algorithm {
    match method {
        Method::SingleTargetGbrt => Algorithm::SingleTarget,
        Method::Gbmort => Algorithm::Gbmort,
        Method::GbrtRpo => Algorithm::GbrtRpo,
        _ => Algorithm::GbrtRelabelRpo,
    }
}

impl BoostingOptions {
    /// The loss, if it is said.
    pub(super) fn loss(&self) -> Option<LossKind> {
        self.loss
    }

    /// The samples to withhold, if any are.
    fn withheld(&self) -> Result<Option<WithheldShare>, CliError> {
        if self.validation.is_none() && self.early_stopping.is_none() {
            if self.validation_metric.is_some() || self.refit_all.is_some() {
                return Err(usage("--validation-metric and --refit-all need --validation"));
            }
            return Ok(None);
        }
        let share = self.validation.unwrap_or(0.2);
        if !(share > 0.0 && share < 1.0) {
            return Err(usage(&format!(
                "--validation is {share}; expected a share between 0 and 1"
            )));
        }
        if self.early_stopping == Some(0) {
            return Err(usage("--early-stopping is 0; expected at least 1"));
        }
        Ok(Some(WithheldShare {
            share,
            patience: self.early_stopping,
            metric: self.validation_metric,
            refit: self.refit_all.unwrap_or(false),
        }))
    }
}

/// Samples withheld to choose the number of steps.
#[derive(Clone, Copy)]
pub(super) struct WithheldShare {
    pub(super) share: f64,
    pub(super) patience: Option<usize>,
    pub(super) metric: Option<Metric>,
    pub(super) refit: bool,
}

/// The options of boosting with their defaults.
pub(super) struct Resolved {
    algorithm: Algorithm,
    pub(super) iterations: usize,
    learning_rate: f64,
    max_features: MaxFeatures,
    max_depth: Option<u32>,
    max_leaves: Option<usize>,
    min_samples_split: usize,
    min_samples_leaf: usize,
    subsample: f64,
    projection: Option<BoostingProjection>,
    kind: ProjectionKind,
    line_search: LineSearch,
    step_scope: StepScope,
    leaf_values: Option<usize>,
    pub(super) time_limit: Option<f64>,
    pub(super) validation: Option<WithheldShare>,
}

impl Resolved {
    pub(super) fn new(method: Method, groups: &Groups) -> Result<Self, CliError> {
        let (options, tree) = (&groups.boosting, &groups.tree);
        let algorithm = algorithm(method);
        if algorithm == Algorithm::GbrtRpo && groups.projection.learns_from_features() {
            return Err(usage(
                "gbrt-rpo grows every tree on one random direction, and a label embedding would always give it the \
                 same; --projection label-embedding is for gbrt-relabel-rpo",
            ));
        }
        if let Some(limit) = options.time_limit
            && !(limit > 0.0 && limit.is_finite())
        {
            return Err(usage(&format!(
                "--time-limit is {limit}; a positive number of seconds expected"
            )));
        }
        Ok(Self {
            algorithm,
            iterations: options.iterations.unwrap_or(100),
            learning_rate: options.learning_rate.unwrap_or(0.1),
            max_features: tree.max_features.unwrap_or(MaxFeatures::All),
            max_depth: tree.max_depth,
            max_leaves: tree.max_leaves.or(Some(8).filter(|_| tree.max_depth.is_none())),
            min_samples_split: tree.min_samples_split.unwrap_or(2),
            min_samples_leaf: tree.min_samples_leaf.unwrap_or(1),
            subsample: options.subsample.unwrap_or(1.0),
            projection: algorithm
                .projects()
                .then(|| groups.projection.of_boosting())
                .transpose()?,
            kind: groups.projection.kind(),
            line_search: match options.line_search {
                None | Some(LineSearchName::Exact) => LineSearch::Exact,
                Some(LineSearchName::Newton) => LineSearch::Newton,
            },
            step_scope: match options.step_scope {
                None | Some(ScopeName::Output) => StepScope::Output,
                Some(ScopeName::Leaf) => StepScope::Leaf,
            },
            leaf_values: options.leaf_values,
            time_limit: options.time_limit,
            validation: options.withheld()?,
        })
    }

    /// The parameters but for the loss.
    pub(super) fn params(&self, seed: u64) -> BoostingParams {
        let projection = self.projection.as_ref();
        BoostingParams {
            iterations: self.iterations,
            learning_rate: self.learning_rate,
            line_search: self.line_search,
            step_scope: self.step_scope,
            subsample: self.subsample,
            max_features: self.max_features,
            max_depth: self.max_depth,
            max_leaves: self.max_leaves,
            min_samples_split: self.min_samples_split,
            min_samples_leaf: self.min_samples_leaf,
            leaf_values: self.leaf_values,
            projection: projection.map(|_| self.kind.into()),
            components: projection.map(|p| p.components),
            projection_scope: projection.map(|p| p.scope),
            seed,
            ..BoostingParams::new(self.algorithm)
        }
    }

    /// What the model file remembers.
    pub(super) fn record(&self, projection: &ProjectionOptions) -> Vec<(&'static str, Value)> {
        let mut record = vec![
            ("iterations", json!(self.iterations)),
            ("learning_rate", json!(self.learning_rate)),
            ("max_features", json!(self.max_features.to_string())),
            ("max_depth", json!(self.max_depth)),
            ("max_leaves", json!(self.max_leaves)),
            ("min_samples_split", json!(self.min_samples_split)),
            ("min_samples_leaf", json!(self.min_samples_leaf)),
            ("subsample", json!(self.subsample)),
        ];
        if self.projection.is_some() {
            record.extend(projection.record(self.projection.as_ref()));
        }
        if self.line_search == LineSearch::Newton {
            record.push(("line_search", json!("newton")));
        }
        if self.step_scope == StepScope::Leaf {
            record.push(("step_scope", json!("leaf")));
        }
        record.extend(self.leaf_values.map(|k| ("leaf_values", json!(k))));
        record.extend(self.time_limit.map(|limit| ("time_limit", json!(limit))));
        if let Some(validation) = self.validation {
            record.push(("validation", json!(validation.share)));
            record.push(("early_stopping", json!(validation.patience)));
            record.push(("refit_all", json!(validation.refit)));
        }
        record
    }
}

fn usage(message: &str) -> CliError {
    CliError::Usage(message.to_owned())
}
