//! Gradient boosting.

use super::projection::bound;
use super::{FitContext, Groups, Method, Recipe, Show, record};
use crate::error::CliError;
use crate::resources::Stopwatch;
use clap::Args;
use ndarray::ArrayView2;
use rpo::core::Seed;
use rpo::data::{Dataset, Task};
use rpo::ensemble::boosting::{
    Algorithm, Boosted, BoostingOptions as FitOptions, BoostingParams, LeafStorage, LineSearch, LossKind,
    Progress, StepScope, Validation,
};
use rpo::ensemble::{MaxFeatures, OutputProjection};
use rpo::metrics::{Evaluation, Metric, Scores};
use rpo::tune::Holdout;
use rpo::{Model, ModelError};
use serde_json::{Map, Value, json};
use std::ops::ControlFlow;

/// Steps of boosting.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Boosting")]
pub struct BoostingOptions {
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
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        default_missing_value = "true",
        require_equals = true
    )]
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

/// Boosting to be done.
pub(super) struct BoostingRecipe {
    params: BoostingParams,
    /// As given; by default what suits the task.
    loss: Option<LossKind>,
    iterations: usize,
    time_limit: Option<f64>,
    validation: Option<WithheldShare>,
    seed: u64,
    learns_from_features: bool,
    record: Map<String, Value>,
}

/// Samples withheld to choose the number of steps.
#[derive(Clone, Copy)]
struct WithheldShare {
    share: f64,
    patience: Option<usize>,
    metric: Option<Metric>,
    refit: bool,
}

impl BoostingRecipe {
    pub(super) fn new(method: Method, groups: &Groups, seed: u64) -> Result<Self, CliError> {
        let (options, tree) = (&groups.boosting, &groups.tree);
        let validation = options.withheld()?;
        let iterations = options.iterations.unwrap_or(100);
        let learning_rate = options.learning_rate.unwrap_or(0.1);
        let max_features = tree.max_features.unwrap_or(MaxFeatures::All);
        let max_leaves = tree.max_leaves.or(Some(8).filter(|_| tree.max_depth.is_none()));
        let mut params = BoostingParams::new(algorithm(method))
            .iterations(iterations)
            .learning_rate(learning_rate)
            .max_features(max_features)
            .max_depth(tree.max_depth)
            .max_leaves(max_leaves)
            .min_samples_split(tree.min_samples_split.unwrap_or(2))
            .min_samples_leaf(tree.min_samples_leaf.unwrap_or(1))
            .subsample(options.subsample.unwrap_or(1.0))
            .seed(seed);
        let mut parameters = vec![
            ("iterations", json!(iterations)),
            ("learning_rate", json!(learning_rate)),
            ("max_features", json!(max_features.to_string())),
            ("max_depth", json!(tree.max_depth)),
            ("max_leaves", json!(max_leaves)),
            ("min_samples_split", json!(tree.min_samples_split.unwrap_or(2))),
            ("min_samples_leaf", json!(tree.min_samples_leaf.unwrap_or(1))),
            ("subsample", json!(options.subsample.unwrap_or(1.0))),
        ];
        if algorithm(method).projects() {
            let projection = groups.projection.of_boosting()?;
            parameters.extend(groups.projection.record(Some(&projection)));
            let OutputProjection {
                family,
                components,
                scope,
            } = projection;
            params = params
                .custom_projection(family, components)
                .projection_scope(scope);
        }
        if options.line_search == Some(LineSearchName::Newton) {
            params = params.line_search(LineSearch::Newton);
            parameters.push(("line_search", json!("newton")));
        }
        if options.step_scope == Some(ScopeName::Leaf) {
            params = params.step_scope(StepScope::Leaf);
            parameters.push(("step_scope", json!("leaf")));
        }
        if let Some(k) = options.leaf_values {
            params = params.leaf_storage(LeafStorage::Largest(k));
            parameters.push(("leaf_values", json!(k)));
        }
        if let Some(limit) = options.time_limit {
            if !(limit > 0.0 && limit.is_finite()) {
                return Err(usage(&format!(
                    "--time-limit is {limit}; a positive number of seconds expected"
                )));
            }
            parameters.push(("time_limit", json!(limit)));
        }
        if let Some(validation) = validation {
            parameters.push(("validation", json!(validation.share)));
            parameters.push(("early_stopping", json!(validation.patience)));
            parameters.push(("refit_all", json!(validation.refit)));
        }
        let recipe = Self {
            params,
            loss: options.loss,
            iterations,
            time_limit: options.time_limit,
            validation,
            seed,
            learns_from_features: groups.projection.learns_from_features(),
            record: record(method, seed, parameters),
        };
        // With the loss that fits every step, so that what is wrong is the rest.
        let loss = options.loss.unwrap_or(LossKind::Logistic);
        recipe.params.clone().loss(loss).check()?;
        Ok(recipe)
    }

    fn params(&self, task: Task) -> BoostingParams {
        self.params.clone().loss(self.loss(task))
    }

    fn loss(&self, task: Task) -> LossKind {
        self.loss.unwrap_or(match task {
            Task::MultiLabel => LossKind::Logistic,
            Task::Regression => LossKind::Square,
        })
    }

    fn model(&self, boosted: Boosted, data: &Dataset) -> Result<Model, ModelError> {
        let mut record = self.record();
        record.insert("loss".to_owned(), json!(self.loss(data.task())));
        record.insert("steps".to_owned(), json!(boosted.n_steps()));
        Ok(Model::new(boosted, data)?.with_parameters(record))
    }

    /// Stops a fit that begins now when its time is up.
    fn until_late(&self) -> impl FnMut(&Progress<'_>) -> ControlFlow<()> + use<> {
        let (clock, limit) = (Stopwatch::start(), self.time_limit);
        move |_| match limit {
            Some(limit) if clock.wall_seconds() >= limit => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    /// Fits to samples, withholding others if there are any, and lets `see` look at every step.
    fn boost(
        &self,
        params: BoostingParams,
        data: &Dataset,
        withheld: Option<(&Dataset, WithheldShare)>,
        context: &FitContext<'_>,
        see: &mut dyn FnMut(&Progress<'_>) -> ControlFlow<()>,
    ) -> Result<Boosted, CliError> {
        let mut params = params;
        if self.learns_from_features {
            let family = bound(data.features()).map_err(|e| context.error(data, e))?;
            params = params.map_projection(|_| family);
        }
        if let Some(wrap) = context.wrap {
            params = params.map_projection(wrap);
        }
        let metric = withheld.map(|(rows, share)| Scorer::new(rows, share.metric));
        let score = |predictions: ArrayView2<'_, f32>| {
            metric
                .as_ref()
                .map_or(f64::NAN, |scorer| scorer.score(predictions))
        };
        let validation = withheld.map(|(rows, share)| Validation {
            x: rows.features().view(),
            metric: &score,
            patience: share.patience,
            every: 1,
        });
        let mut observer = |progress: &Progress<'_>| {
            if let Some(on_step) = context.on_step {
                on_step();
            }
            see(progress)
        };
        let options = FitOptions {
            validation,
            observer: Some(&mut observer),
            missing_outputs: data.n_missing_outputs() > 0,
            ..FitOptions::default()
        };
        let fit = params
            .check()?
            .fit_with(data.features().view(), data.outputs().view(), options);
        Ok(fit.map_err(|e| context.error(data, e))?.model)
    }
}

impl Recipe for BoostingRecipe {
    fn n_steps(&self) -> usize {
        self.iterations
    }

    fn record(&self) -> Map<String, Value> {
        self.record.clone()
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, CliError> {
        let params = self.params(data.task());
        let mut until_late = self.until_late();
        let Some(withheld) = self.validation else {
            let boosted = self.boost(params, data, None, context, &mut until_late)?;
            return Ok(self.model(boosted, data)?);
        };
        if let Some(rows) = context.validation {
            // What is fitted to all samples in the end is for those to say who withheld some.
            let boosted = self.boost(params, data, Some((rows, withheld)), context, &mut until_late)?;
            return Ok(self.model(boosted, data)?);
        }
        let holdout = Holdout::new(data, withheld.share, Seed::new(self.seed));
        let holdout = holdout.map_err(|e| context.error(data, e))?;
        let parts = Some((&holdout.validation, withheld));
        let boosted = self.boost(params.clone(), &holdout.train, parts, context, &mut until_late)?;
        if !withheld.refit {
            return Ok(self.model(boosted, &holdout.train)?);
        }
        let n_steps = boosted.n_steps();
        let go_on = &mut |_: &Progress<'_>| ControlFlow::Continue(());
        let again = self.boost(params.iterations(n_steps.max(1)), data, None, context, go_on)?;
        Ok(self.model(again.truncate(n_steps), data)?)
    }

    /// One fit, of which models up to the steps asked for are shown on the way; without withheld samples.
    fn fit_in_parts(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        show: &mut Show<'_>,
    ) -> Result<Model, CliError> {
        if self.validation.is_some() {
            let model = self.fit(data, context)?;
            let _ = show(self.n_steps(), &model)?;
            return Ok(model);
        }
        let mut failure = None;
        let mut until_late = self.until_late();
        let mut see = |progress: &Progress<'_>| {
            let late = until_late(progress);
            let is_last = progress.step == self.iterations || late.is_break();
            if !is_last && !steps.contains(&progress.step) {
                return late;
            }
            let model = self.model(progress.model.clone(), data).map_err(CliError::from);
            match model.and_then(|model| show(progress.step, &model)) {
                Ok(ControlFlow::Continue(())) => late,
                Ok(stop) => stop,
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let boosted = self.boost(self.params(data.task()), data, None, context, &mut see)?;
        failure.map_or(Ok(()), Err)?;
        Ok(self.model(boosted, data)?)
    }
}

/// Scores predictions for withheld samples; larger is better.
struct Scorer<'a> {
    rows: &'a Dataset,
    metric: Metric,
    sign: f64,
}

impl<'a> Scorer<'a> {
    fn new(rows: &'a Dataset, metric: Option<Metric>) -> Self {
        let metric = metric.unwrap_or(match rows.task() {
            Task::MultiLabel => Metric::Lrap,
            Task::Regression => Metric::R2,
        });
        let sign = if metric.higher_is_better() { 1.0 } else { -1.0 };
        Self { rows, metric, sign }
    }

    /// NaN where the metric is undefined or not for such outputs, which never counts as better.
    fn score(&self, predictions: ArrayView2<'_, f32>) -> f64 {
        let evaluation = Evaluation::new(self.rows.outputs().view(), Scores::Dense(predictions.view()));
        self.metric
            .evaluate(&evaluation)
            .map_or(f64::NAN, |value| self.sign * value)
    }
}

impl BoostingOptions {
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

fn usage(message: &str) -> CliError {
    CliError::Usage(message.to_owned())
}
