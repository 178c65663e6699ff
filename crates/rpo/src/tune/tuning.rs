//! Searches the parameters of a method, scored on samples withheld from training.

use super::{
    Holdout, ParamDistribution, Pruner, Record, Refit, Search, SearchError, SearchLimit, SearchResult,
    Setting, Space, SpaceError, Trial,
};
use crate::evaluate::EvaluateOptions;
use crate::method::{Estimator, FitContext, Method, MethodError};
use crate::{Model, ModelError};
use rpo_core::{ParameterError, Seed};
use rpo_data::Dataset;
use rpo_data::split::Withheld;
use rpo_metrics::{Metric, Score};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of trials of a random search if no limit is given.
pub const RANDOM_TRIALS: usize = 20;

/// Number of settings checked before the first trial.
const CHECKED: usize = 1000;

/// The order of the settings of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchOrder {
    /// All combinations: the first parameter varies slowest, the last fastest, each in the given order of values.
    /// Settings that differ only in a parameter that does not apply are tried once. A space without parameters has one
    /// empty setting.
    Grid,
    /// Random settings without repetition, without end. Ends when every setting of a finite space (up to 2^16
    /// combinations) has been drawn, or after 1000 consecutive repetitions, as between two bounds with few
    /// floating-point numbers.
    Random,
}

impl fmt::Display for SearchOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Grid => "grid",
            Self::Random => "random",
        })
    }
}

impl FromStr for SearchOrder {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<Self, ParameterError> {
        match text {
            "grid" => Ok(Self::Grid),
            "random" => Ok(Self::Random),
            _ => Err(ParameterError::out_of_range(
                "search",
                text,
                "one of grid, random",
            )),
        }
    }
}

/// A search over the parameters of a method.
///
/// ```
/// use rpo::data::generate::MultiLabelSet;
/// use rpo::prelude::*;
/// use rpo::tune::Tuning;
///
/// let data = MultiLabelSet::new(200, 30, 20).generate(Seed::new(1))?;
/// let method = Method::named("random-forest")?.with("trees", "10")?;
/// let tuning = Tuning::new(method, ["max_features=sqrt,0.5", "min_samples_leaf=1,3"], 7);
/// let tuned = tuning.run(&data, &|| ())?;
/// assert_eq!(tuned.result.history.len(), 4);
/// let model = tuning.fit_best(&tuned, &data, Refit::Everything, &FitContext::default())?;
/// # assert_eq!(model.training().n_samples, 200);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tuning {
    /// The method, with the parameters that do not vary.
    pub method: Method,
    /// The parameters that vary, each as `NAME=V1,V2,...` or `NAME=DISTRIBUTION:LOW:HIGH`.
    pub space: Vec<String>,
    /// The order of the settings.
    pub order: SearchOrder,
    /// The limit of the search.
    pub limit: SearchLimit,
    /// Scores models after a quarter and a half of their steps and stops those that are worse than the median of
    /// earlier models.
    pub stop_early: bool,
    /// The metric to optimize; `None` for that of the method ([`Estimator::default_metric`]).
    pub metric: Option<Arc<dyn Score>>,
    /// Fraction of the samples withheld to score settings.
    pub validation: f64,
    /// The samples that are withheld: stratified by default, which keeps the frequencies of labels, or the latest ones, so
    /// that scores hold for the future. Of data with groups ([`Dataset::with_groups`]) whole groups are withheld, so that
    /// scores hold for new groups.
    pub withheld: Withheld,
    /// Seed of the withheld samples, of the drawn settings, and of every fit.
    pub seed: u64,
    /// Options of the evaluation of settings.
    pub evaluation: EvaluateOptions,
}

/// The result of a [`Tuning`].
#[derive(Debug)]
#[non_exhaustive]
pub struct Tuned {
    /// The metric that was optimized.
    pub metric: Arc<dyn Score>,
    /// The trials.
    pub result: SearchResult<ModelError>,
    /// The samples to which settings were fitted and on which they were scored.
    pub holdout: Holdout,
}

impl Tuning {
    /// Creates a search over the full grid, scored on 20 % of the samples.
    pub fn new<S: Into<String>>(method: Method, space: impl IntoIterator<Item = S>, seed: u64) -> Self {
        Self {
            method,
            space: space.into_iter().map(Into::into).collect(),
            order: SearchOrder::Grid,
            limit: SearchLimit::Everything,
            stop_early: false,
            metric: None,
            validation: 0.2,
            withheld: Withheld::Stratified,
            seed,
            evaluation: EvaluateOptions::default(),
        }
    }

    /// Runs the search on the current rayon pool and calls `on_trial` after every trial.
    ///
    /// # Errors
    /// A space with parameters or values that the method does not have, too few samples to withhold some, and a search
    /// in which no setting has a score.
    pub fn run(&self, data: &Dataset, on_trial: &(dyn Fn() + Sync)) -> Result<Tuned, TuneError> {
        self.run_until(data, &|_| on_trial(), &|| false)
    }

    /// Like [`run`](Self::run), but once `stop` returns true, no setting is tried and fits that can end early do; these
    /// are recorded as [`TrialError::Interrupted`](super::TrialError::Interrupted). The best of the others is the result.
    /// `on_record` receives the record of each setting when it ends, as [`Search::run_until`] says.
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`SearchError::Interrupted`] if no setting was scored before.
    pub fn run_until(
        &self,
        data: &Dataset,
        on_record: &(dyn Fn(&Record<ModelError>) + Sync),
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Tuned, TuneError> {
        self.check_metric()?;
        let space = self.space()?;
        let first = self.settings(&space)?.next();
        let method = first.map_or_else(|| Ok(self.method.clone()), |setting| self.set(&setting));
        let method = method.map_err(|e| TuneError::Setting(e.into()))?;
        let checked = method.check_data(method.estimator(data.task())?.as_ref(), data);
        checked.map_err(ModelError::from)?;
        let default = || {
            let metric = self.method.default_metric(data.task(), data.n_outputs());
            Arc::new(metric) as Arc<dyn Score>
        };
        let metric = self.metric.clone().unwrap_or_else(default);
        let holdout = self.holdout(data)?;
        let objective = Objective {
            metric: metric.as_ref(),
            stop_early: self.stop_early,
            evaluation: self.evaluation,
            holdout: &holdout,
            stop,
        };
        let pruner = match self.stop_early {
            true => Pruner::Median {
                warm_up: 0,
                min_trials: 4,
            },
            false => Pruner::Never,
        };
        let search = Search {
            limit: self.limit,
            pruner,
            ..Search::new(metric.as_ref())
        };
        let settings = self.settings(&space)?;
        let attempt = |setting: &Setting, trial: &mut Trial<'_>| {
            let estimator = self.set(setting).map_err(ModelError::from);
            let estimator = estimator.and_then(|method| method.estimator(data.task()));
            estimator.and_then(|estimator| objective.score(estimator.as_ref(), trial))
        };
        let result = search.run_until(settings, attempt, on_record, stop)?;
        Ok(Tuned {
            metric,
            result,
            holdout,
        })
    }

    /// Refuses a metric that is not to be as large or as small as can be, and one of intervals if they have no fixed
    /// level, as narrower intervals are better only among those of one level.
    fn check_metric(&self) -> Result<(), ModelError> {
        let Some(metric) = &self.metric else {
            return Ok(());
        };
        if metric.built_in() == Some(Metric::IntervalCoverage) {
            let reason = "should be the level of the intervals, so that a search cannot maximize it: choose interval-width";
            return Err(ParameterError::conflict("metric", metric.name(), reason).into());
        }
        self.method.check_metrics(&[metric.as_ref()])
    }

    /// Withholds samples among those that take part in training.
    fn holdout(&self, data: &Dataset) -> Result<Holdout, ModelError> {
        let withheld = match data.samples_for_training() {
            None => Cow::Borrowed(&self.withheld),
            Some(samples) => Cow::Owned(self.withheld.select(&samples, data.n_samples())?),
        };
        let (data, seed) = (data.for_training(), Seed::new(self.seed));
        Ok(Holdout::withholding(&data, &withheld, self.validation, seed)?)
    }

    /// Fits the best setting to the training samples or to all samples. A number of steps chosen on the withheld
    /// samples is kept.
    ///
    /// # Errors
    /// Those of [`check_refit`](Self::check_refit); none otherwise beyond those of the search.
    pub fn fit_best(
        &self,
        tuned: &Tuned,
        everything: &Dataset,
        refit: Refit,
        context: &FitContext<'_>,
    ) -> Result<Model, ModelError> {
        self.check_refit(refit)?;
        let method = self.set(&tuned.result.best_setting)?;
        let (method, validation) = match refit {
            Refit::No => (method, Some(&tuned.holdout.validation)),
            // Samples that the method withholds itself, with the same fraction and seed, are those of the search.
            Refit::Everything if step_choice(&method).is_some() => {
                let method = method.with_value("validation", &self.validation.into())?;
                (method.with_value("refit_all", &true.into())?, None)
            }
            Refit::Everything => (method, None),
        };
        let context = FitContext {
            validation,
            ..*context
        };
        Model::fit_with(&method, refit.samples(everything, &tuned.holdout), &context)
    }

    /// Refuses to fit the best setting to all samples if the method chooses its number of steps on withheld samples and
    /// these are the latest ones: methods withhold samples by groups, but without regard to time.
    ///
    /// # Errors
    /// [`ModelError::Method`] in this case.
    pub fn check_refit(&self, refit: Refit) -> Result<(), ModelError> {
        if refit == Refit::No || self.withheld == Withheld::Stratified {
            return Ok(());
        }
        let mut searched = self.space.iter().filter_map(|text| parameter(text));
        let of_space = searched.find_map(|(name, values)| {
            let chooses = CHOOSES_STEPS.into_iter().find(|chooses| name == *chooses);
            chooses.map(|name| (name, values.to_owned()))
        });
        let Some((name, given)) = step_choice(&self.method).or(of_space) else {
            return Ok(());
        };
        let reason = "cannot be combined with refitting to all samples if the latest samples are withheld";
        Err(MethodError::from(ParameterError::conflict(name, given, reason)).into())
    }

    /// Applies a setting to the method, removing the components if the setting has no projection. Settings and steps
    /// are chosen on the same samples.
    fn set(&self, setting: &Setting) -> Result<Method, MethodError> {
        let mut method = self.method.clone();
        for (name, value) in &setting.0 {
            method = method.with(name, &value.to_string())?;
        }
        if setting
            .value("projection")
            .is_some_and(|v| v.to_string() == "none")
        {
            method.reset("components");
            method.reset("projection_scope");
        }
        match set_value(&method, "validation") {
            Some(fraction) if *fraction != self.validation => Err(MethodError::Value {
                name: "validation".to_owned(),
                given: fraction.to_string(),
                expected: format!("{}, the fraction that the search withholds", self.validation),
            }),
            _ => Ok(method.with_seed(self.seed)),
        }
    }

    /// Builds the space. Parameters that only apply with a projection come last.
    ///
    /// # Errors
    /// Parameters that the method does not have, and values that are not allowed, as far as the first settings show.
    pub fn space(&self) -> Result<Space, TuneError> {
        let mut parameters: Vec<(String, &str)> = Vec::with_capacity(self.space.len());
        for text in &self.space {
            let refuse = |source| TuneError::space(text, source);
            let (name, values) = parameter(text).ok_or_else(|| refuse(SpaceError::NotAParameter))?;
            if matches!(&*name, "first_tree" | "seed") {
                return Err(refuse(SpaceError::NotTunable));
            }
            if name == "quantile" {
                return Err(refuse(SpaceError::Levels));
            }
            parameters.push((name, values));
        }
        let tuned = parameters.iter().any(|(name, _)| name == "projection");
        let dependent = |name: &str| tuned && matches!(name, "components" | "projection_scope");
        parameters.sort_by_key(|(name, _)| dependent(name));
        let mut space = Space::default();
        for (name, values) in parameters {
            let add = |space: Space| {
                let distribution: ParamDistribution = values.parse()?;
                if dependent(&name) {
                    space.parameter_unless(&name, distribution, "projection", "none")
                } else {
                    space.parameter(&name, distribution)
                }
            };
            space = add(space).map_err(|e| TuneError::space(format!("{name}={values}"), e))?;
        }
        for setting in self.settings(&space)?.take(CHECKED) {
            let method = self.set(&setting).map_err(|e| TuneError::Setting(e.into()))?;
            method.check().map_err(TuneError::Setting)?;
        }
        Ok(space)
    }

    fn settings<'a>(&self, space: &'a Space) -> Result<Box<dyn Iterator<Item = Setting> + 'a>, TuneError> {
        let settings = space.settings(self.order, Seed::new(self.seed));
        settings.map_err(|e| TuneError::space(self.space.join(" "), e))
    }
}

/// Error of a search that cannot be run, or that found nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TuneError {
    /// A parameter that cannot vary as described.
    #[error("the search space {text}: {source}")]
    Space {
        /// The description.
        text: String,
        /// The problem.
        source: SpaceError,
    },
    /// A setting that the method refuses.
    #[error("a setting of the search space: {0}")]
    Setting(#[source] ModelError),
    /// Data that cannot be searched on.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// No setting was scored.
    #[error(transparent)]
    Search(Box<SearchError<ModelError>>),
}

impl TuneError {
    fn space(text: impl Into<String>, source: SpaceError) -> Self {
        Self::Space {
            text: text.into(),
            source,
        }
    }
}

impl From<SearchError<ModelError>> for TuneError {
    fn from(e: SearchError<ModelError>) -> Self {
        Self::Search(Box::new(e))
    }
}

/// Scores a setting by fitting a model to the training samples and evaluating it on the withheld ones.
struct Objective<'a> {
    metric: &'a dyn Score,
    stop_early: bool,
    evaluation: EvaluateOptions,
    holdout: &'a Holdout,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl Objective<'_> {
    /// Fits, evaluates, and counts the steps actually made: boosting may stop early, and a fit may fail.
    fn score(&self, estimator: &dyn Estimator, trial: &mut Trial<'_>) -> Result<f64, ModelError> {
        let made = AtomicU64::new(0);
        let count = || {
            made.fetch_add(1, Ordering::Relaxed);
        };
        let context = FitContext {
            validation: Some(&self.holdout.validation),
            on_step: Some(&count),
            stop: Some(self.stop),
            ..FitContext::default()
        };
        let score = self.fit_and_evaluate(estimator, &context, trial);
        trial.used(made.into_inner());
        score
    }

    /// Fits in one go, or in parts with a report after each part.
    fn fit_and_evaluate(
        &self,
        estimator: &dyn Estimator,
        context: &FitContext<'_>,
        trial: &mut Trial<'_>,
    ) -> Result<f64, ModelError> {
        let train = &self.holdout.train;
        if !self.stop_early {
            return self.evaluate(&Model::fit_with(estimator, train, context)?);
        }
        let n_steps = estimator.n_steps();
        let mut score = f64::NAN;
        let checkpoints = [n_steps / 4, n_steps / 2];
        Model::fit_in_parts(estimator, train, context, &checkpoints, &mut |steps, model| {
            score = self.evaluate(model)?;
            match steps < n_steps {
                true => Ok(trial.report(steps as u64, score)),
                false => Ok(ControlFlow::Continue(())),
            }
        })?;
        Ok(score)
    }

    fn evaluate(&self, model: &Model) -> Result<f64, ModelError> {
        let evaluated = model.evaluate_with(&self.holdout.validation, &[self.metric], self.evaluation)?;
        Ok(evaluated.values[0])
    }
}

/// Splits `NAME=VALUES`; hyphens in names count as underscores.
fn parameter(text: &str) -> Option<(String, &str)> {
    let (name, values) = text.split_once('=')?;
    Some((name.replace('-', "_"), values))
}

/// Parameters with which a method chooses its number of steps on withheld samples.
const CHOOSES_STEPS: [&str; 3] = ["validation", "early_stopping", "find_iterations"];

/// Returns the parameter with which a method chooses its number of steps on withheld samples, and its value.
fn step_choice(method: &Method) -> Option<(&'static str, String)> {
    let chooses = |name| Some((name, set_value(method, name)?.to_string()));
    CHOOSES_STEPS.into_iter().find_map(chooses)
}

/// Returns the value of a parameter that is given and not off.
fn set_value<'a>(method: &'a Method, name: &str) -> Option<&'a Value> {
    method.given(name).filter(|_| method.is_set(name))
}
