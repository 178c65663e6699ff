//! The score of a setting: a model fitted to the training part, evaluated on the validation part.

use crate::error::CliError;
use crate::evaluate::{Scoring, inverse_propensities};
use crate::methods::{FitContext, Recipe};
use rpo::Model;
use rpo::metrics::{Metric, Propensity};
use rpo::tune::{Holdout, Trial};
use std::ops::ControlFlow;

pub(super) struct Objective<'a> {
    pub(super) metric: Metric,
    pub(super) stop_early: bool,
    pub(super) memory: usize,
    pub(super) holdout: &'a Holdout,
    pub(super) data: &'a str,
}

impl Objective<'_> {
    /// Fits at once, or in parts with a report after each.
    pub(super) fn score(&self, recipe: &dyn Recipe, trial: &mut Trial<'_>) -> Result<f64, CliError> {
        let n_steps = recipe.n_steps();
        let train = &self.holdout.train;
        let context = FitContext {
            data: Some(self.data),
            ..FitContext::default()
        };
        if !self.stop_early {
            let model = recipe.fit(train, &context)?;
            trial.used(n_steps as u64);
            return self.evaluate(&model);
        }
        let mut score = f64::NAN;
        recipe.fit_in_parts(
            train,
            &context,
            &[n_steps / 4, n_steps / 2],
            &mut |steps, model| {
                score = self.evaluate(model)?;
                if steps < n_steps {
                    return Ok(trial.report(steps as u64, score));
                }
                trial.used(n_steps as u64);
                Ok(ControlFlow::Continue(()))
            },
        )?;
        Ok(score)
    }

    fn evaluate(&self, model: &Model) -> Result<f64, CliError> {
        let validation = &self.holdout.validation;
        let metrics = [self.metric];
        let inverse = inverse_propensities(model, &metrics, Propensity::default(), self.data)?;
        let scoring = Scoring {
            model,
            x: validation.features().view(),
            truth: validation.outputs(),
            inverse: inverse.as_deref(),
            train_means: &model.training().output_means(),
            memory: self.memory,
            data: self.data,
        };
        Ok(scoring.evaluate(&metrics)?.0[0])
    }
}
