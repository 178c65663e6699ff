//! The score of a setting: a forest fitted to the training part, evaluated on the validation part.

use crate::error::CliError;
use crate::evaluate::{Scoring, inverse_propensities};
use crate::options::ForestOptions;
use crate::train::Method;
use rpo::Model;
use rpo::data::Dataset;
use rpo::metrics::{Metric, Propensity};
use rpo::tune::{Holdout, Trial};

pub(super) struct Objective<'a> {
    pub(super) method: Method,
    pub(super) seed: u64,
    pub(super) metric: Metric,
    pub(super) stop_early: bool,
    pub(super) memory: usize,
    pub(super) holdout: &'a Holdout,
    pub(super) data: &'a str,
}

impl Objective<'_> {
    /// Grows the forest at once, or in parts that merge into the same forest, with a report after each.
    pub(super) fn score(&self, options: &ForestOptions, trial: &mut Trial<'_>) -> Result<f64, CliError> {
        let n_trees = options.n_trees();
        if self.stop_early {
            let mut forest: Option<Model> = None;
            let mut grown = 0;
            for end in [n_trees / 4, n_trees / 2].into_iter().filter(|&end| end > 0) {
                if end == grown {
                    continue;
                }
                let grown_now = self.grow(options, grown..end, &self.holdout.train)?;
                let model = merged(forest, grown_now)?;
                let score = self.evaluate(&model)?;
                if trial.report(end as u64, score).is_break() {
                    return Ok(score);
                }
                (forest, grown) = (Some(model), end);
            }
            let rest = self.grow(options, grown..n_trees, &self.holdout.train)?;
            trial.used(n_trees as u64);
            return self.evaluate(&merged(forest, rest)?);
        }
        let model = self.grow(options, 0..n_trees, &self.holdout.train)?;
        trial.used(n_trees as u64);
        self.evaluate(&model)
    }

    /// The whole model, with its parameters on record.
    pub(super) fn fit(&self, options: &ForestOptions, data: &Dataset) -> Result<Model, CliError> {
        let model = self.grow(options, 0..options.n_trees(), data)?;
        Ok(model.with_parameters(self.method.record(options, self.seed)))
    }

    fn grow(
        &self,
        options: &ForestOptions,
        trees: std::ops::Range<usize>,
        data: &Dataset,
    ) -> Result<Model, CliError> {
        let params = self.method.params(options, self.seed)?;
        let params = params
            .n_trees(trees.len())
            .first_tree(options.first_tree() + trees.start);
        let forest = params.check()?.fit(data.features().view(), data.outputs().view());
        let forest = forest.map_err(|source| CliError::Train {
            data: self.data.to_owned(),
            source,
        })?;
        Ok(Model::new(forest, data)?)
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

fn merged(first: Option<Model>, second: Model) -> Result<Model, CliError> {
    match first {
        None => Ok(second),
        Some(first) => Ok(first.merge(second)?),
    }
}
