//! Fits boosting: withholds samples, stops early, and refits.

use super::losses::{default_metric_of, quantile_levels, with_losses_of};
use super::params::{Boosting, Withholding};
use super::scorer::Scorer;
use crate::method::{Estimator, FitContext, Needs, OnCheckpoint, categorical, parameters_of};
use crate::tune::Holdout;
use crate::{Model, ModelError};
use ndarray::{ArrayBase, ArrayView2};
use rpo_core::{CheckParams, Learner, ParameterError, Seed};
use rpo_data::{Dataset, Task};
use rpo_ensemble::EnsembleError;
use rpo_ensemble::boosting::{
    Algorithm, Boosted, BoostingOptions, BoostingParams, LossKind, Progress, Validation,
};
use rpo_metrics::Metric;
use rpo_projections::ProjectionKind;
use serde_json::{Map, Value};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

/// The time of one or two fits.
#[derive(Clone, Copy)]
struct Clock {
    start: Instant,
    /// In seconds; `None` is no limit.
    limit: Option<f64>,
}

impl Clock {
    fn start(limit: Option<f64>, context: &FitContext<'_>) -> Self {
        Self {
            start: Instant::now(),
            limit: limit.map(|limit| context.share_of(limit)),
        }
    }

    /// Returns a callback that stops a fit when a share of the time is over.
    fn until(self, share: f64) -> impl FnMut(&Progress<'_>) -> ControlFlow<()> + use<> {
        move |_| match self.limit {
            Some(limit) if self.start.elapsed().as_secs_f64() >= share * limit => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Fits to `data`, scores steps on the withheld samples, if any, and calls `observe` after every step.
fn boost(
    params: &BoostingParams,
    data: &Dataset,
    withheld: Option<(&Dataset, Withholding)>,
    context: &FitContext<'_>,
    observe: &mut (dyn FnMut(&Progress<'_>) -> ControlFlow<()> + Send),
) -> Result<Boosted, ModelError> {
    let scorer = withheld.map(|(samples, how)| Scorer::new(samples, how.metric, params));
    scorer.as_ref().map_or(Ok(()), Scorer::check)?;
    let score = |predictions: ArrayView2<'_, f32>| {
        scorer
            .as_ref()
            .map_or(f64::NAN, |scorer| scorer.score(predictions))
    };
    let validation = withheld.map(|(samples, how)| Validation {
        x: samples.features().view(),
        metric: &score,
        patience: how.patience,
        every: 1,
    });
    let family = match params.projection {
        Some(projection) => projection.family(),
        None => params
            .algorithm
            .projects()
            .then(|| Arc::new(ProjectionKind::Gaussian) as _),
    };
    let mut observe = |progress: &Progress<'_>| {
        if let (Some(on_score), Some(score)) = (context.on_score, progress.validation) {
            on_score(progress.step, score);
        }
        observe(progress)
    };
    let cell_weights = data.cell_weights()?;
    let options = BoostingOptions {
        weights: data.weights(),
        cell_weights: cell_weights.as_ref().map(ArrayBase::view),
        validation,
        observers: context.observers(),
        on_progress: Some(&mut observe),
        missing_outputs: data.outputs().view().has_missing(),
        categorical: &categorical(data),
        projection: context.wrapped(family),
        ..BoostingOptions::default()
    };
    let (x, y) = (data.features().view(), data.outputs().view());
    let boosted = match context.start {
        None => params.fit_with(x, y, options),
        Some(start) => {
            let start = started(start, params)?;
            let more = BoostingParams {
                iterations: params.iterations - start.n_steps(),
                ..params.clone()
            };
            let options = BoostingOptions {
                start: Some(start),
                ..options
            };
            more.fit_with(x, y, options)
        }
    };
    boosted.map_err(|e| with_name(e, data))
}

/// Names the target that the loss refuses.
fn with_name(e: EnsembleError, data: &Dataset) -> ModelError {
    match e {
        EnsembleError::Target {
            sample,
            output,
            value,
            expected,
        } => ModelError::Target {
            name: data.output_names().get(output).unwrap_or_default().into_owned(),
            row: sample,
            value,
            expected,
        },
        e => e.into(),
    }
}

/// Returns the boosted model to continue, which must have fewer steps than requested.
fn started<'a>(start: &'a Model, params: &BoostingParams) -> Result<&'a Boosted, ModelError> {
    let Some(start) = start.predictor().downcast_ref::<Boosted>() else {
        return Err(EnsembleError::Continue("the model is not a boosting model").into());
    };
    let n_steps = start.n_steps();
    if params.iterations <= n_steps {
        let reason = "does not exceed the number of steps of the model to continue";
        return Err(ParameterError::conflict("iterations", params.iterations, reason).into());
    }
    Ok(start)
}

/// Wraps boosted outputs, or levels of them, in a model.
fn model(boosted: Boosted, data: &Dataset, params: &BoostingParams) -> Result<Model, ModelError> {
    Model::of_levels(boosted, data, quantile_levels(params))
}

/// Refuses quantiles of classes, and of numbers beside labels or other losses, whose levels a model could not tell.
fn check_levels(params: &BoostingParams, data: &Dataset) -> Result<(), ParameterError> {
    let of_quantiles = |kind: &LossKind| *kind == LossKind::Quantile;
    if let Some(losses) = &params.output_losses
        && losses.iter().any(of_quantiles)
        && !losses.iter().all(of_quantiles)
    {
        let reason = "has quantiles beside other losses: train a model of the quantiles";
        return Err(ParameterError::conflict("output_losses", losses, reason));
    }
    let has_several = params.quantile.as_ref().is_some_and(|levels| levels.len() > 1);
    if (has_several || !quantile_levels(params).is_empty()) && data.has_declared_labels() {
        let reason = "predicts quantiles of numbers, but some targets are classes or labels: train a model of the numbers";
        return Err(ParameterError::conflict("loss", "quantile", reason));
    }
    Ok(())
}

impl Estimator for Boosting {
    fn method(&self) -> &str {
        Estimator::method(&self.params)
    }

    fn parameters(&self) -> Map<String, Value> {
        parameters_of(self)
    }

    fn check(&self) -> Result<(), ModelError> {
        CheckParams::check(&self.params)?;
        Ok(self.check_stopping()?)
    }

    fn needs(&self) -> Needs {
        self.params.needs()
    }

    fn quantile_levels(&self) -> Vec<f64> {
        self.params.quantile_levels()
    }

    fn default_metric(&self, task: Task, n_outputs: usize) -> Metric {
        self.params.default_metric(task, n_outputs)
    }

    fn has_unit_of_weights(&self) -> bool {
        self.params.has_unit_of_weights()
    }

    fn n_steps(&self) -> usize {
        self.most_steps()
    }

    fn continues(&self) -> bool {
        self.params.continues()
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError> {
        let clock = Clock::start(self.time_limit, context);
        let mut until_limit = clock.until(1.0);
        check_levels(&self.params, data)?;
        let params = with_losses_of(&self.params, data);
        let Some(how) = self.withholding() else {
            let boosted = boost(&params, data, None, context, &mut until_limit)?;
            return model(boosted, data, &params);
        };
        if context.start.is_some() {
            let reason = "cannot be combined with a model to continue, which was fitted to all samples";
            return Err(match (self.validation, self.early_stopping) {
                (Some(fraction), _) => ParameterError::conflict("validation", fraction, reason),
                (None, Some(steps)) => ParameterError::conflict("early_stopping", steps, reason),
                (None, None) => ParameterError::conflict("find_iterations", true, reason),
            }
            .into());
        }
        let searched = BoostingParams {
            iterations: self.most_steps(),
            ..params.clone()
        };
        if let Some(samples) = context.validation {
            // The caller who withheld these samples decides on the final fit.
            let withheld = Some((samples, how));
            let boosted = boost(&searched, data, withheld, context, &mut until_limit)?;
            return model(boosted, data, &params);
        }
        let holdout = Holdout::new(data, how.fraction, Seed::new(self.params.seed))?;
        let withheld = Some((&holdout.validation, how));
        let share = match how.refit {
            // The second fit has more samples, and at most as many steps.
            true => {
                let ratio = data.n_samples() as f64 / holdout.train.n_samples() as f64;
                1.0 / (1.0 + ratio)
            }
            false => 1.0,
        };
        let boosted = boost(
            &searched,
            &holdout.train,
            withheld,
            context,
            &mut clock.until(share),
        )?;
        if !how.refit {
            return model(boosted, &holdout.train, &params);
        }
        let n_steps = boosted.n_steps();
        let found = BoostingParams {
            iterations: n_steps.max(1),
            ..params
        };
        let again = boost(&found, data, None, context, &mut until_limit)?;
        model(again.truncate(n_steps), data, &found)
    }

    /// Fits once, with checkpoints in between; if samples are withheld to choose the number of steps, there is only one
    /// checkpoint, at the end.
    fn fit_in_parts(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        on_checkpoint: &mut OnCheckpoint<'_>,
    ) -> Result<Model, ModelError> {
        if self.withholding().is_some() {
            let model = self.fit(data, context)?;
            let _ = on_checkpoint(self.n_steps(), &model)?;
            return Ok(model);
        }
        check_levels(&self.params, data)?;
        let mut failure = None;
        let mut until_limit = Clock::start(self.time_limit, context).until(1.0);
        let params = with_losses_of(&self.params, data);
        let mut observe = |progress: &Progress<'_>| {
            let at_limit = until_limit(progress);
            let is_last = progress.step == self.params.iterations || at_limit.is_break();
            if !is_last && !steps.contains(&progress.step) {
                return at_limit;
            }
            let model = model(progress.model.clone(), data, &params);
            match model.and_then(|model| on_checkpoint(progress.step, &model)) {
                Ok(ControlFlow::Continue(())) => at_limit,
                Ok(stop) => stop,
                Err(error) => {
                    failure = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let boosted = boost(&params, data, None, context, &mut observe)?;
        failure.map_or(Ok(()), Err)?;
        model(boosted, data, &params)
    }
}

/// By default the loss is logistic for labels and square for numbers; if the outputs contain both, each output gets its
/// own.
impl Estimator for BoostingParams {
    fn method(&self) -> &str {
        match self.algorithm {
            Algorithm::SingleTarget => "single-target-gbrt",
            Algorithm::Gbmort => "gbmort",
            Algorithm::GbrtRpo => "gbrt-rpo",
            Algorithm::GbrtRelabelRpo => "gbrt-relabel-rpo",
        }
    }

    fn parameters(&self) -> Map<String, Value> {
        parameters_of(self)
    }

    fn check(&self) -> Result<(), ModelError> {
        Ok(CheckParams::check(self)?)
    }

    fn needs(&self) -> Needs {
        Needs {
            equal_outputs: false,
            ..Needs::FEW
        }
    }

    fn quantile_levels(&self) -> Vec<f64> {
        quantile_levels(self).to_vec()
    }

    fn default_metric(&self, task: Task, n_outputs: usize) -> Metric {
        default_metric_of(self, task, n_outputs)
    }

    fn has_unit_of_weights(&self) -> bool {
        self.is_penalized()
    }

    fn n_steps(&self) -> usize {
        self.iterations
    }

    fn continues(&self) -> bool {
        true
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError> {
        for_data(self, data, context)?.fit(data, context)
    }

    fn fit_in_parts(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        on_checkpoint: &mut OnCheckpoint<'_>,
    ) -> Result<Model, ModelError> {
        for_data(self, data, context)?.fit_in_parts(data, context, steps, on_checkpoint)
    }
}

/// The method with the default loss of the task, if it may continue the model of the context.
fn for_data(
    params: &BoostingParams,
    data: &Dataset,
    context: &FitContext<'_>,
) -> Result<Boosting, ModelError> {
    // A model of a `Method` records the task's defaults for parameters that are not set.
    let of_method = |start: &Model| start.parameters.contains_key("method");
    let compared = match context.start.is_some_and(of_method) {
        true => Map::from_iter([("method".to_owned(), Estimator::method(params).into())]),
        false => parameters_of(params),
    };
    context.check_start_parameters(&compared)?;
    let mut params = params.clone();
    if data.task() == Task::MultiLabel && params.output_losses.is_none() {
        params.loss.get_or_insert(LossKind::Logistic);
    }
    Ok(Boosting::new(params))
}
