//! `rpo tune`.

mod history;
mod objective;

use crate::error::CliError;
use crate::methods::{FitContext, MethodOptions};
use crate::options::{DataOptions, MemoryOptions, ThreadOptions};
use crate::progress;
use crate::resources::Stopwatch;
use crate::train::TaskName;
use clap::{Args, ValueEnum};
use history::Report;
use objective::Objective;
use rpo::FileTarget;
use rpo::core::Seed;
use rpo::data::Task;
use rpo::metrics::Metric;
use rpo::tune::{Budget, Holdout, Law, Refit, Search, SearchError, Setting, Space, SpaceError, Stopping};
use std::path::PathBuf;
use std::time::Duration;

/// Search the parameters of a method that score best on samples withheld from training.
///
/// Every setting is fitted to the training part with the same seed and scored on the validation part. Prints the
/// settings, best first; with --json one object with metric, best, trials (each with index, parameters, score,
/// steps, seconds, status and, if it failed, error), n_train, n_validation, search_seconds, and model_bytes if a
/// model was saved.
#[derive(Debug, Args)]
pub(crate) struct Tune {
    /// A parameter and its values, once for each: NAME=V1,V2,... where NAME is an option of the method without its
    /// dashes, or a law to draw from: NAME=integers:LOW:HIGH, uniform:LOW:HIGH or log-uniform:LOW:HIGH. Where
    /// projection is none, components and projection-scope are left out.
    #[arg(long, value_name = "NAME=VALUES", required = true, help_heading = "Search")]
    space: Vec<String>,

    /// Metric to choose by, as in `rpo evaluate`; lrap for labels, r2 for numbers by default.
    #[arg(long, value_name = "NAME", help_heading = "Search")]
    metric: Option<Metric>,

    /// Share of the samples that settings are scored on; of labels, each keeps its frequency.
    #[arg(long, value_name = "SHARE", default_value_t = 0.2, help_heading = "Search")]
    validation: f64,

    /// All combinations, the last parameter varying fastest, or random ones, none twice.
    #[arg(long, value_enum, default_value_t = Order::Grid, help_heading = "Search")]
    search: Order,

    /// Try so many settings; by default a grid is tried in full, and 20 random settings. The first settings of a
    /// longer search are those of a shorter one.
    #[arg(long, value_name = "N", help_heading = "Search", conflicts_with_all = ["time", "steps"])]
    trials: Option<usize>,

    /// Try settings for so many seconds: the result then depends on the machine.
    #[arg(
        long,
        value_name = "SECONDS",
        help_heading = "Search",
        conflicts_with = "steps"
    )]
    time: Option<f64>,

    /// Try settings until they have taken so many steps: trees, or iterations.
    #[arg(long, value_name = "STEPS", help_heading = "Search")]
    steps: Option<u64>,

    /// Score models at a quarter and at half of their steps, and give up those that are then worse than the
    /// median of earlier ones.
    #[arg(long, help_heading = "Search")]
    stop_early: bool,

    /// Fit the model that is saved to all samples, not to the training part alone.
    #[arg(long, requires = "model", help_heading = "Search")]
    refit: bool,

    /// File to save the best model to.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,

    /// CSV file to write the trials to, in their order.
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,

    /// Seed of all randomness: of the validation part, of the settings drawn, and of every fit.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    data: DataOptions,

    /// What the outputs are, where the file leaves it open: labels are 0 or 1.
    #[arg(long, value_enum, help_heading = "Data")]
    task: Option<TaskName>,

    #[command(flatten)]
    method: MethodOptions,

    #[command(flatten)]
    threads: ThreadOptions,

    #[command(flatten)]
    memory: MemoryOptions,
}

/// In which order settings come.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum Order {
    Grid,
    Random,
}

/// Trials of a random search if no budget is given.
const RANDOM_TRIALS: usize = 20;

/// Settings that are checked before the data is read.
const CHECKED: usize = 1000;

impl Tune {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        self.threads.start()?;
        // Whatever can be found wrong before the data is read is found now.
        let budget = self.budget()?;
        let space = self.space()?;
        let settings = || self.settings(&space);
        for setting in settings()?.take(CHECKED) {
            self.method
                .with_setting(&setting)
                .and_then(|m| m.recipe(self.seed))
                .map_err(of_space)?;
        }
        for path in [&self.model, &self.history].into_iter().flatten() {
            FileTarget::check(path)?;
        }

        let data = self.data.load_training(self.task.map(Task::from))?;
        let metric = self.metric.unwrap_or(match data.task() {
            Task::MultiLabel => Metric::Lrap,
            Task::Regression => Metric::R2,
        });
        let holdout = Holdout::new(&data, self.validation, Seed::new(self.seed));
        let holdout = holdout.map_err(|source| CliError::Holdout {
            data: self.data.name().to_owned(),
            source,
        })?;
        let objective = Objective {
            metric,
            stop_early: self.stop_early,
            memory: self.memory.bytes(),
            holdout: &holdout,
            data: self.data.name(),
        };

        let clock = Stopwatch::start();
        let bar = match (budget, self.search) {
            (Budget::Trials(n), Order::Random) => progress::bar(n, "trying settings"),
            (Budget::Trials(n), Order::Grid) => progress::bar(settings()?.take(n).count(), "trying settings"),
            (Budget::Everything, _) => progress::bar(settings()?.count(), "trying settings"),
            _ => progress::count("trying settings"),
        };
        let mut search = Search::new(metric).budget(budget);
        if self.stop_early {
            search = search.stopping(Stopping::Median {
                warm_up: 0,
                min_trials: 4,
            });
        }
        let found = search.run(settings()?, |setting, trial| {
            let recipe = self
                .method
                .with_setting(setting)
                .and_then(|m| m.recipe(self.seed));
            let score = recipe.and_then(|recipe| objective.score(recipe.as_ref(), trial));
            bar.inc(1);
            score
        });
        bar.finish_and_clear();
        let found = found.map_err(|e| match e {
            SearchError::NoTrial => CliError::Usage("no setting was tried: the budget is spent".to_owned()),
            e => CliError::Search(Box::new(e)),
        })?;
        let search_seconds = clock.wall_seconds();

        let report = Report {
            metric,
            found: &found,
            holdout: &holdout,
            search_seconds,
        };
        if let Some(path) = &self.history {
            report.write_csv(path, &space)?;
        }
        let model_bytes = match &self.model {
            None => None,
            Some(path) => {
                let recipe = self
                    .method
                    .with_setting(found.best_setting())?
                    .recipe(self.seed)?;
                let refit = if self.refit { Refit::Everything } else { Refit::No };
                let model = recipe.fit(refit.samples(&data, &holdout), &FitContext::default())?;
                Some(model.save(path)?)
            }
        };
        report.print(self.json, model_bytes)
    }

    fn budget(&self) -> Result<Budget, CliError> {
        if let Some(n) = self.trials {
            return Ok(Budget::Trials(n));
        }
        if let Some(steps) = self.steps {
            return Ok(Budget::Steps(steps));
        }
        if let Some(seconds) = self.time {
            let time = Duration::try_from_secs_f64(seconds).map_err(|_| {
                CliError::Usage(format!(
                    "--time {seconds}: a number of seconds of at least 0 is expected"
                ))
            })?;
            return Ok(Budget::WallClock(time));
        }
        Ok(match self.search {
            Order::Grid => Budget::Everything,
            Order::Random => Budget::Trials(RANDOM_TRIALS),
        })
    }

    /// The space: parameters that only mean something with a projection come last, as they depend on it.
    fn space(&self) -> Result<Space, CliError> {
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
        Ok(space)
    }

    fn settings<'a>(&self, space: &'a Space) -> Result<Box<dyn Iterator<Item = Setting> + 'a>, CliError> {
        Ok(match self.search {
            Order::Random => Box::new(space.random(Seed::new(self.seed))),
            Order::Grid => Box::new(space.grid().map_err(|e| space_error(self.space.join(" "), e))?),
        })
    }
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
