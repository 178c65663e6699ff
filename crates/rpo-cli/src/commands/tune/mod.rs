//! `rpo tune`.

mod history;
mod journal;

use crate::commands::evaluate::parse_metric;
use crate::csv_file;
use crate::doubts::note_copies;
use crate::error::CliError;
use crate::files;
use crate::interrupt;
use crate::options::{FitOptions, MemoryOptions, WithheldOptions};
use crate::output::{note, note_fitted};
use crate::progress;
use crate::resources::Stopwatch;
use clap::Args;
use history::Report;
use journal::Journal;
use rpo::core::Domain;
use rpo::data::{Dataset, Task};
use rpo::metrics::Metric;
use rpo::tune::{
    RANDOM_TRIALS, Record, Refit, SearchError, SearchLimit, SearchOrder, Space, TuneError, Tuned, Tuning,
};
use rpo::{EvaluateOptions, FitContext, ModelError};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Search for the parameters of a method that score best on samples withheld from training.
///
/// Every setting is fitted to the training samples with the same seed and scored on the validation samples. Prints the
/// settings, best first; with --json one object with metric, best, trials (each with index, parameters, score, steps,
/// seconds, status and, if it failed, error), n_train, n_validation, search_seconds, and model_bytes if a model was
/// saved. Ctrl-C ends the search with the best setting so far ("interrupted": true); a second one, or another signal, ends
/// the command at once.
#[derive(Debug, Args)]
pub(crate) struct Tune {
    /// A parameter and its values; repeat for each parameter: NAME=V1,V2,... where NAME is an option of the method
    /// without its dashes, or a distribution: NAME=integers:LOW:HIGH, uniform:LOW:HIGH or log-uniform:LOW:HIGH. If
    /// projection is none, components and projection-scope are omitted.
    #[arg(long, value_name = "NAME=VALUES", required = true, help_heading = "Search")]
    space: Vec<String>,

    /// Metric to optimize, as in `rpo evaluate`; by default lrap for labels, macro-auc for up to four labels, r2 for
    /// numbers, pinball for quantiles, and for boosting with the losses poisson, tweedie, absolute and huber their
    /// deviance or mae.
    #[arg(long, value_name = "NAME", help_heading = "Search", value_parser = parse_metric)]
    metric: Option<Metric>,

    /// Fraction of the samples on which settings are scored, between 0 and 1; each label keeps its frequency, unless
    /// groups or the latest samples are withheld.
    #[arg(long, value_name = "FRACTION", default_value_t = 0.2, help_heading = "Search")]
    hold_out: f64,

    #[command(flatten)]
    withheld: WithheldOptions,

    /// Grid: all combinations, the last parameter varying fastest; or random: random settings without repetition.
    #[arg(long, value_name = "ORDER", default_value_t = SearchOrder::Grid, help_heading = "Search")]
    search: SearchOrder,

    /// Number of settings to try; by default the whole grid, or 20 random settings. A longer search begins with the
    /// settings of a shorter one.
    #[arg(long, value_name = "N", help_heading = "Search", conflicts_with_all = ["time", "steps"])]
    trials: Option<usize>,

    /// Try settings for this many seconds; a trial that is under way then is finished. The result depends on the machine.
    #[arg(
        long,
        value_name = "SECONDS",
        help_heading = "Search",
        conflicts_with = "steps"
    )]
    time: Option<f64>,

    /// Try settings until they have used this many steps: trees, or boosting iterations, including those after the best
    /// one; for methods without steps, each setting counts as one. The setting that reaches the limit is finished.
    #[arg(long, value_name = "STEPS", help_heading = "Search")]
    steps: Option<u64>,

    /// Score models at a quarter and at half of their steps, and stop those that are worse than the median of earlier
    /// models.
    #[arg(long, help_heading = "Search")]
    stop_early: bool,

    /// Fit the saved model to all samples, not only to the training samples.
    #[arg(long, requires = "model", help_heading = "Search")]
    refit: bool,

    /// File to save the best model to.
    #[arg(long, value_name = "FILE", value_parser = files::written())]
    model: Option<PathBuf>,

    /// CSV file for the trials; with tabs if its name ends in .tsv, compressed by gzip if it ends in .gz. Lines are
    /// appended as trials end, and in the end sorted by index.
    #[arg(long, value_name = "FILE", value_parser = files::written())]
    history: Option<PathBuf>,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    fit: FitOptions,

    #[command(flatten)]
    memory: MemoryOptions,
}

impl Tune {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        // Report all errors that can be found before the data is read.
        let hold_out = Domain::Level.check("hold_out", self.hold_out);
        hold_out.map_err(|e| CliError::Model(e.into()))?;
        let method = self.fit.start(self.metric.as_slice())?;
        let seed = method.seed();
        let mut tuning = Tuning {
            order: self.search,
            limit: self.limit()?,
            stop_early: self.stop_early,
            metric: self.metric.map(|metric| Arc::new(metric) as _),
            validation: self.hold_out,
            evaluation: EvaluateOptions {
                propensity: self.fit.weights.propensity.model(),
                memory_limit: self.memory.bytes(),
                ..EvaluateOptions::default()
            },
            ..Tuning::new(method, &self.space, seed)
        };
        let space = tuning.space()?;
        self.check_space(&space)?;
        let history = ("--history", self.history.as_deref());
        files::check(self.fit.files(), [("--model", self.model.as_deref()), history])?;
        csv_file::check(history)?;

        let data;
        (data, tuning.withheld) = self.withheld.load(&self.fit)?;
        note_copies(&data);
        let refit = if self.refit { Refit::Everything } else { Refit::No };
        tuning.check_refit(refit)?;
        if self.metric.is_none() && data.has_declared_labels() && data.task() == Task::Regression {
            note(
                "settings are scored by r2, which is that of the numbers: --metric macro-auc and the like score labels and classes",
            );
        }
        let clock = Stopwatch::start();
        let bar = match n_trials(&tuning, &space) {
            Some(n) => progress::bar(n, "trying settings"),
            None => progress::count("trying settings"),
        };
        let interrupted = interrupt::finish_with_best();
        let journal = self.history.as_ref().and_then(|path| Journal::new(path, &space));
        let on_record = |record: &Record<ModelError>| {
            bar.inc(1);
            if let Some(journal) = &journal {
                journal.append(record);
            }
        };
        let tuned = tuning.run_until(&data, &on_record, &|| interrupted.load(Ordering::Relaxed));
        interrupt::end_on_signal();
        bar.finish_and_clear();
        let tuned = tuned.map_err(|e| self.failed(e))?;
        let search_seconds = clock.wall_seconds();

        let report = Report {
            tuned: &tuned,
            search_seconds,
            interrupted: interrupted.load(Ordering::Relaxed),
        };
        // What the search found is printed, whatever cannot be written.
        let mut written = Ok(());
        if let Some(path) = &self.history {
            written = report.write_csv(path, &space);
        }
        let model_bytes = written.and_then(|()| self.save_best(&tuning, &tuned, &data, refit));
        let printed = report.print(self.json, *model_bytes.as_ref().unwrap_or(&None));
        model_bytes?;
        printed
    }

    /// The error of a search, which names the data that cannot be searched on.
    fn failed(&self, e: TuneError) -> CliError {
        match e {
            TuneError::Search(e) if matches!(*e, SearchError::Interrupted) => CliError::Interrupted,
            TuneError::Model(source) => self.fit.failed(source),
            e => CliError::Tune(e),
        }
    }

    /// Fits the best setting and saves the model, if there is a file for it. Returns the size of the file in bytes.
    fn save_best(
        &self,
        tuning: &Tuning,
        tuned: &Tuned,
        data: &Dataset,
        refit: Refit,
    ) -> Result<Option<u64>, CliError> {
        let Some(path) = &self.model else { return Ok(None) };
        let model = tuning.fit_best(tuned, data, refit, &FitContext::default())?;
        note_fitted(&model);
        Ok(Some(model.save(path)?))
    }

    /// Refuses a parameter that has both a value and values to search.
    fn check_space(&self, space: &Space) -> Result<(), CliError> {
        for name in space.names() {
            if self.fit.method.is_given(name) {
                let name = name.replace('_', "-");
                let message =
                    format!("--{name} has a value, and --space {name} searches for one: leave one out");
                return Err(CliError::Usage(message));
            }
        }
        Ok(())
    }

    fn limit(&self) -> Result<SearchLimit, CliError> {
        if let Some(n) = self.trials {
            return Ok(SearchLimit::Trials(n));
        }
        if let Some(steps) = self.steps {
            return Ok(SearchLimit::Steps(steps));
        }
        if let Some(seconds) = self.time {
            let time = Duration::try_from_secs_f64(seconds).map_err(|_| {
                CliError::Usage(format!(
                    "--time {seconds}: a number of seconds of at least 0 is expected"
                ))
            })?;
            return Ok(SearchLimit::WallClock(time));
        }
        Ok(match self.search {
            SearchOrder::Grid => SearchLimit::Everything,
            SearchOrder::Random => SearchLimit::Trials(RANDOM_TRIALS),
        })
    }
}

/// The number of trials, if the limit and the order determine it and it is not too large to be counted.
fn n_trials(tuning: &Tuning, space: &Space) -> Option<usize> {
    match (tuning.limit, tuning.order) {
        (SearchLimit::Trials(n), SearchOrder::Random) => Some(n),
        // More combinations than are counted are more than anybody tries.
        (SearchLimit::Trials(n), SearchOrder::Grid) => Some(space.n_settings().map_or(n, |all| all.min(n))),
        (SearchLimit::Everything, SearchOrder::Grid) => space.n_settings(),
        _ => None,
    }
}
