//! Gradient boosting.

mod options;

pub(super) use options::BoostingOptions;

use super::{FitContext, Groups, Method, Recipe, Show, record};
use crate::error::CliError;
use crate::resources::Stopwatch;
use ndarray::ArrayView2;
use options::{Resolved, WithheldShare};
use rpo::core::Seed;
use rpo::data::{Dataset, Task};
use rpo::ensemble::ProjectionChoice;
use rpo::ensemble::boosting::{
    Boosted, BoostingOptions as FitOptions, BoostingParams, LossKind, Progress, Validation,
};
use rpo::metrics::{Evaluation, Metric, Score, Scores};
use rpo::tune::Holdout;
use rpo::{Model, ModelError};
use serde_json::{Map, Value, json};
use std::ops::ControlFlow;

/// Boosting to be done.
pub(super) struct BoostingRecipe {
    params: BoostingParams,
    /// As given; by default what suits the task.
    loss: Option<LossKind>,
    iterations: usize,
    time_limit: Option<f64>,
    validation: Option<WithheldShare>,
    seed: u64,
    record: Map<String, Value>,
}

impl BoostingRecipe {
    pub(super) fn new(method: Method, groups: &Groups, seed: u64) -> Result<Self, CliError> {
        let resolved = Resolved::new(method, groups)?;
        let recipe = Self {
            params: resolved.params(seed),
            loss: groups.boosting.loss(),
            iterations: resolved.iterations,
            time_limit: resolved.time_limit,
            validation: resolved.validation,
            seed,
            record: record(method, seed, resolved.record(&groups.projection)),
        };
        // With the loss that fits every step, so that what is wrong is the rest.
        let loss = Some(recipe.loss.unwrap_or(LossKind::Logistic));
        let params = BoostingParams {
            loss,
            ..recipe.params.clone()
        };
        params.check()?;
        Ok(recipe)
    }

    fn params(&self, task: Task) -> BoostingParams {
        BoostingParams {
            loss: Some(self.loss(task)),
            ..self.params.clone()
        }
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
        let family = params.projection.and_then(ProjectionChoice::family);
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
            projection: family.zip(context.wrap).map(|(family, wrap)| wrap(family)),
            observer: Some(&mut observer),
            missing_outputs: data.n_missing_outputs() > 0,
            ..FitOptions::default()
        };
        let fit = params.fit_with(data.features().view(), data.outputs().view(), options);
        fit.map_err(|e| context.error(data, e))
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
        let params = BoostingParams {
            iterations: n_steps.max(1),
            ..params
        };
        let again = self.boost(params, data, None, context, go_on)?;
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
