//! Searching the parameters of a method on samples withheld from training.

use crate::error::CliError;
use crate::methods::{FitContext, MethodOptions, Recipe};
use crate::scoring::Scoring;
use clap::ValueEnum;
use rpo::Model;
use rpo::core::Seed;
use rpo::data::{Dataset, Task};
use rpo::metrics::Metric;
use rpo::tune::{
    Budget, Found, Holdout, Law, Refit, Search, SearchError, Setting, Space, SpaceError, Stopping, Trial,
};
use std::ops::ControlFlow;

/// Trials of a random search if no budget is given.
pub const RANDOM_TRIALS: usize = 20;

/// Settings that are checked before the data is read.
const CHECKED: usize = 1000;

/// In which order settings come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// All combinations, the last parameter varying fastest.
    Grid,
    /// Random ones, none twice.
    Random,
}

/// A search.
#[derive(Debug, Clone)]
pub struct Tuning {
    /// The method, with the options that do not vary.
    pub method: MethodOptions,
    /// A parameter and its values each: `NAME=V1,V2,...`, or `NAME=LAW:LOW:HIGH`.
    pub space: Vec<String>,
    /// In which order settings come.
    pub order: Order,
    /// When the search ends.
    pub budget: Budget,
    /// Whether models are scored at a quarter and at half of their steps, and given up if they are then worse than
    /// the median of earlier ones.
    pub stop_early: bool,
    /// Metric to choose by; LRAP for labels, r2 for numbers by default.
    pub metric: Option<Metric>,
    /// Share of the samples that settings are scored on.
    pub validation: f64,
    /// Seed of the validation part, of the settings drawn, and of every fit.
    pub seed: u64,
    /// Most bytes of dense scores.
    pub memory: usize,
}

/// What a search found.
#[derive(Debug)]
pub struct Tuned {
    /// The metric it chose by.
    pub metric: Metric,
    /// The trials.
    pub found: Found<CliError>,
    /// The parts of the data.
    pub holdout: Holdout,
}

impl Tuning {
    /// A full grid, scored on 20 % of the samples.
    pub fn new(method: MethodOptions, space: Vec<String>, seed: u64) -> Self {
        Self {
            method,
            space,
            order: Order::Grid,
            budget: Budget::Everything,
            stop_early: false,
            metric: None,
            validation: 0.2,
            seed,
            memory: 4 << 30,
        }
    }

    /// Runs the search on the current rayon pool; `on_trial` is called after every trial.
    ///
    /// # Errors
    /// [`CliError`] if the space is wrong, the data leaves nothing to validate on, or no setting can be scored.
    pub fn run(&self, data: &Dataset, name: &str, on_trial: &(dyn Fn() + Sync)) -> Result<Tuned, CliError> {
        let space = self.space()?;
        let first = self.settings(&space)?.next();
        let options = first.map_or_else(|| Ok(self.method.clone()), |setting| self.options(&setting))?;
        options.check_data(data, name)?;
        let metric = self.metric.unwrap_or(match data.task() {
            Task::MultiLabel => Metric::Lrap,
            Task::Regression => Metric::R2,
        });
        let holdout = Holdout::new(data, self.validation, Seed::new(self.seed));
        let holdout = holdout.map_err(|source| CliError::Holdout {
            data: name.to_owned(),
            source,
        })?;
        let objective = Objective {
            metric,
            stop_early: self.stop_early,
            memory: self.memory,
            holdout: &holdout,
            data: name,
        };
        let mut search = Search::new(metric).budget(self.budget);
        if self.stop_early {
            search = search.stopping(Stopping::Median {
                warm_up: 0,
                min_trials: 4,
            });
        }
        let found = search.run(self.settings(&space)?, |setting, trial| {
            let recipe = self.recipe(setting);
            let score = recipe.and_then(|recipe| objective.score(recipe.as_ref(), trial));
            on_trial();
            score
        });
        let found = found.map_err(|e| match e {
            SearchError::NoTrial => CliError::Usage("no setting was tried: the budget is spent".to_owned()),
            e => CliError::Search(Box::new(e)),
        })?;
        Ok(Tuned {
            metric,
            found,
            holdout,
        })
    }

    /// A model of the best parameters that were found, fitted to the training part or again to everything. A number
    /// of steps that was chosen on the validation part is kept.
    ///
    /// # Errors
    /// None that the search would not have met.
    pub fn fit_best(
        &self,
        tuned: &Tuned,
        everything: &Dataset,
        refit: Refit,
        context: &FitContext<'_>,
    ) -> Result<Model, CliError> {
        let options = self.options(tuned.found.best_setting())?;
        let (options, validation) = match refit {
            Refit::No => (options, Some(&tuned.holdout.validation)),
            // Its own part of the same share and seed is the search's.
            Refit::Everything if chooses_steps(&options) => {
                let options = options.with("validation", &self.validation.to_string())?;
                (options.with("refit-all", "true")?, None)
            }
            Refit::Everything => (options, None),
        };
        let context = FitContext {
            validation,
            ..*context
        };
        let data = refit.samples(everything, &tuned.holdout);
        options.recipe(self.seed)?.fit(data, &context)
    }

    /// Number of trials, where the budget tells it.
    ///
    /// # Errors
    /// As [`space`](Self::space).
    pub fn n_trials(&self, space: &Space) -> Result<Option<usize>, CliError> {
        Ok(match (self.budget, self.order) {
            (Budget::Trials(n), Order::Random) => Some(n),
            (Budget::Trials(n), Order::Grid) => Some(self.settings(space)?.take(n).count()),
            (Budget::Everything, Order::Grid) => Some(self.settings(space)?.count()),
            _ => None,
        })
    }

    fn recipe(&self, setting: &Setting) -> Result<Box<dyn Recipe>, CliError> {
        self.options(setting)?.recipe(self.seed)
    }

    /// The options of a setting. Settings and steps are chosen on the same samples.
    fn options(&self, setting: &Setting) -> Result<MethodOptions, CliError> {
        let options = self.method.with_setting(setting)?;
        let share: Option<f64> = options.value("validation").and_then(|share| share.parse().ok());
        match share {
            Some(share) if share != self.validation => Err(CliError::Usage(format!(
                "--validation is {share}, but a search scores steps too on the share of {} that it holds out",
                self.validation
            ))),
            _ => Ok(options),
        }
    }

    /// The space: parameters that only mean something with a projection come last, as they depend on it.
    ///
    /// # Errors
    /// [`CliError`] for parameters that the method does not have and values that they cannot have, as far as the first
    /// settings show.
    pub fn space(&self) -> Result<Space, CliError> {
        let mut parameters: Vec<(&str, &str)> = Vec::with_capacity(self.space.len());
        for text in &self.space {
            let Some(parameter) = text.split_once('=') else {
                let message = format!("--space {text}: NAME=VALUES is expected");
                return Err(CliError::Usage(message));
            };
            if parameter.0 == "first-tree" {
                let message = "--space first-tree: where a forest begins is no matter of how good it is";
                return Err(CliError::Usage(message.to_owned()));
            }
            parameters.push(parameter);
        }
        let tuned = parameters.iter().any(|(name, _)| *name == "projection");
        let dependent = |name: &str| tuned && matches!(name, "components" | "projection-scope");
        parameters.sort_by_key(|(name, _)| dependent(name));
        let mut space = Space::default();
        for (name, values) in parameters {
            let add = |space: Space| {
                let law: Law = values.parse()?;
                if dependent(name) {
                    space.parameter_unless(name, law, "projection", "none")
                } else {
                    space.parameter(name, law)
                }
            };
            space = add(space).map_err(|e| space_error(format!("{name}={values}"), e))?;
        }
        for setting in self.settings(&space)?.take(CHECKED) {
            self.recipe(&setting).map_err(of_space)?;
        }
        Ok(space)
    }

    fn settings<'a>(&self, space: &'a Space) -> Result<Box<dyn Iterator<Item = Setting> + 'a>, CliError> {
        Ok(match self.order {
            Order::Random => Box::new(space.random(Seed::new(self.seed))),
            Order::Grid => Box::new(space.grid().map_err(|e| space_error(self.space.join(" "), e))?),
        })
    }
}

/// The score of a setting: a model fitted to the training part, evaluated on the validation part.
struct Objective<'a> {
    metric: Metric,
    stop_early: bool,
    memory: usize,
    holdout: &'a Holdout,
    data: &'a str,
}

impl Objective<'_> {
    /// Fits at once, or in parts with a report after each.
    fn score(&self, recipe: &dyn Recipe, trial: &mut Trial<'_>) -> Result<f64, CliError> {
        let n_steps = recipe.n_steps();
        let train = &self.holdout.train;
        let context = FitContext {
            data: Some(self.data),
            validation: Some(&self.holdout.validation),
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
        let scoring = Scoring {
            memory: self.memory,
            ..Scoring::new(
                model,
                validation.features().view(),
                validation.outputs(),
                self.data,
            )
        };
        Ok(scoring.evaluate(&[self.metric])?.0[0])
    }
}

/// Whether a method chooses its number of steps on samples withheld.
fn chooses_steps(options: &MethodOptions) -> bool {
    ["validation", "early-stopping"]
        .iter()
        .any(|name| options.value(name).is_some())
}

/// Says that what is wrong with the options of a method came from the space.
fn of_space(e: CliError) -> CliError {
    match e {
        CliError::Usage(message) => CliError::Usage(format!("--space: {message}")),
        e => e,
    }
}

fn space_error(text: String, source: SpaceError) -> CliError {
    CliError::Space { text, source }
}
