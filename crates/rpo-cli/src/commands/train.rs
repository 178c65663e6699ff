//! `rpo train`.

use super::out_of_bag::{check_groups, oob_score, report_oob};
use crate::doubts::{note_copies, note_equal_values};
use crate::error::CliError;
use crate::files;
use crate::interrupt;
use crate::options::{FitOptions, GroupOptions};
use crate::output::{Report, note, note_fitted};
use crate::progress;
use crate::resources::{Stopwatch, peak_memory_bytes};
use clap::Args;
use rpo::combine::{Candidate, Ensemble, Selection};
use rpo::data::Dataset;
use rpo::linear::FitEstimate;
use rpo::metrics::Metric;
use rpo::{Estimator, FitContext, Method, Model, ModelError, OobScore};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

/// Processor seconds from which a note announces the expected time of a fit.
const WORTH_A_NOTE: f64 = 20.0;

/// Fit a model to a data set and save it.
///
/// Prints times and sizes; with --json one object with load_seconds, fit_seconds, cpu_seconds (processor time of the
/// fit, all threads), n_samples, n_features, n_outputs, model_bytes and peak_memory_bytes; with --method auto also the
/// numbers of configurations that have a weight and of their models, and the ensemble's score on withheld samples, each
/// scored with weights found on other samples.
///
/// Ctrl-C ends --method auto with the best result so far ("interrupted": true); a second one, or another signal, ends it
/// at once and leaves an earlier model as it is.
#[derive(Debug, Args)]
pub(crate) struct Train {
    /// File to save the model to; an earlier file is replaced when the new one is complete.
    #[arg(long, value_name = "FILE", value_parser = files::written())]
    model: PathBuf,

    /// Also score the model on out-of-bag predictions: LRAP for labels, macro-auc for up to four labels, r2 for
    /// numbers.
    #[arg(long)]
    oob: bool,

    /// Grow and save trees one by one, so that memory holds only one tree at a time; the model is the same. For
    /// craftml.
    #[arg(long, conflicts_with = "oob")]
    low_memory: bool,

    /// A boosted model of the same data and parameters to continue (columns, outputs and weights of samples are compared;
    /// the values of features are taken to be the same): its steps come first, and --iterations is the total number. The
    /// result equals that of a single fit, up to rounding. Parameters that limit the number of steps, and of decisions,
    /// may differ.
    #[arg(long = "continue", value_name = "FILE", conflicts_with = "low_memory")]
    start: Option<PathBuf>,

    #[command(flatten)]
    groups: GroupOptions,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    fit: FitOptions,
}

impl Train {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        // Report all errors that can be found before the data is read.
        let method = self.fit.start(&[])?;
        self.check_options(&method)?;
        // The continued model may be replaced by the longer one, which is complete before the old file goes.
        files::check(self.fit.files(), [("--model", Some(self.model.as_path()))])?;
        let start = self.start.as_ref().map(Model::load).transpose()?;

        let clock = Stopwatch::start();
        let data = self.groups.load(&self.fit)?;
        let load_seconds = clock.wall_seconds();

        let clock = Stopwatch::start();
        let estimator = self.fit.estimator(&method, &data)?;
        note_part(&estimator.parameters(), &data);
        let trained = match self.low_memory {
            true => self.train_to_file(estimator.as_ref(), &data, &clock)?,
            false => self.train_whole(&method, estimator.as_ref(), start.as_ref(), &data, &clock)?,
        };
        let mut report = Report::default();
        report.set("load_seconds", load_seconds);
        trained.report(&data, &mut report);
        report.print(self.json)
    }

    fn check_options(&self, method: &Method) -> Result<(), CliError> {
        let estimator = method.estimator_for_any_task()?;
        let name = method.entry().name;
        if self.low_memory && estimator.streaming().is_none() {
            let of_the_whole = ["thresholds", "intervals"]
                .into_iter()
                .find(|name| method.is_set(name));
            return Err(CliError::Usage(match (name, of_the_whole) {
                ("craftml", Some(name)) => {
                    format!("--low-memory saves trees as they grow; --{name} needs the whole model")
                }
                (name, _) => format!("--low-memory is for craftml, not for {name}"),
            }));
        }
        if self.oob && !estimator.has_oob() {
            let message = "--oob needs out-of-bag predictions: trees must grow on a part of the samples, without --nominal target";
            return Err(CliError::Usage(message.to_owned()));
        }
        if self.oob {
            check_groups(&self.groups)?;
        }
        if self.start.is_some() && !estimator.continues() {
            return Err(CliError::Usage(format!(
                "--continue is for boosting, not for {name}; extend forests with `rpo merge`"
            )));
        }
        Ok(())
    }

    fn train_to_file(
        &self,
        estimator: &dyn Estimator,
        data: &Dataset,
        clock: &Stopwatch,
    ) -> Result<Trained, CliError> {
        let (bytes, is_interrupted) = self.with_progress(estimator, None, |context| {
            Model::fit_to_file(estimator, data, context, &self.model)
        })?;
        Ok(Trained {
            fit_seconds: clock.wall_seconds(),
            cpu_seconds: clock.cpu_seconds(),
            model_bytes: bytes.expect("checked before the fit, whatever the task"),
            oob: None,
            selection: None,
            n_models: None,
            is_interrupted,
        })
    }

    fn train_whole(
        &self,
        method: &Method,
        estimator: &dyn Estimator,
        start: Option<&Model>,
        data: &Dataset,
        clock: &Stopwatch,
    ) -> Result<Trained, CliError> {
        let (model, is_interrupted) = self.with_progress(estimator, start, |context| {
            Model::fit_with(estimator, data, context)
        })?;
        let (fit_seconds, cpu_seconds) = (clock.wall_seconds(), clock.cpu_seconds());
        let oob = self.oob.then(|| oob_score(&model, data)).transpose()?;
        note_fitted(&model);
        if method.is_set("thresholds") && model.thresholds().is_none() && !data.single_labels().is_empty() {
            note(
                "no thresholds were found, as the scores of the withheld samples take too much memory: labels are \
                 predicted from a score of 0.5 on",
            );
        }
        if let Some(start) = start {
            note_lost(start, &model);
        }
        let ensemble = model.predictor().downcast_ref::<Ensemble>();
        let selection = ensemble.and_then(|ensemble| ensemble.selection.clone());
        let asked = method.given("configurations").and_then(Value::as_u64);
        if let (Some(asked), Some(selection)) = (asked, &selection)
            && !is_interrupted
            && (selection.candidates.len() as u64) < asked
        {
            note(&format!(
                "{} configurations suit these data, and all of them were tried",
                selection.candidates.len()
            ));
        }
        if model.intervals().is_some() {
            note_equal_values(data);
        }
        if model.intervals().is_some() || selection.is_some() {
            note_copies(data);
        }
        Ok(Trained {
            fit_seconds,
            cpu_seconds,
            model_bytes: model.save(&self.model)?,
            oob,
            selection,
            n_models: ensemble.map(|ensemble| ensemble.members().count()),
            is_interrupted,
        })
    }

    /// Fits with a progress bar. Returns true beside the result if Ctrl-C ended the fit with the best so far.
    fn with_progress<T>(
        &self,
        estimator: &dyn Estimator,
        start: Option<&Model>,
        fit: impl FnOnce(&FitContext<'_>) -> Result<T, ModelError>,
    ) -> Result<(T, bool), CliError> {
        let bar = progress::bar(estimator.n_steps(), "fitting");
        let on_step = || bar.inc(1);
        let on_total = |n_steps: usize| bar.set_length(n_steps as u64);
        let on_estimate = |estimate: FitEstimate| {
            if estimate.cpu_seconds >= WORTH_A_NOTE {
                let FitEstimate {
                    cpu_seconds, bytes, ..
                } = estimate;
                let size = bytes / 1e6;
                bar.suspend(|| {
                    note(&format!(
                        "takes about {cpu_seconds:.0} s of processor time and, beside the data, {size:.0} MB of memory"
                    ));
                });
            }
        };
        let best = Mutex::new(f64::NEG_INFINITY);
        let on_candidate = |candidate: &Candidate| match (&candidate.skipped, candidate.score) {
            (Some(reason), _) => bar.suspend(|| note(&format!("{}: {reason}", candidate.method))),
            (None, score) => {
                let mut best = best.lock().unwrap_or_else(PoisonError::into_inner);
                *best = best.max(score.unwrap_or(f64::NAN));
                let score = score.map_or_else(String::new, |score| format!(" {score:.4}"));
                bar.set_message(format!("{}{score}, best {:.4}", candidate.method, *best));
            }
        };
        let interrupted = estimator.keeps_best().then(interrupt::finish_with_best);
        let is_interrupted = || {
            interrupted
                .as_ref()
                .is_some_and(|flag| flag.load(Ordering::Relaxed))
        };
        let context = FitContext {
            on_step: Some(&on_step),
            on_total: Some(&on_total),
            on_estimate: Some(&on_estimate),
            on_candidate: Some(&on_candidate),
            stop: Some(&is_interrupted),
            start,
            ..FitContext::default()
        };
        let fitted = fit(&context);
        interrupt::end_on_signal();
        bar.finish_and_clear();
        match fitted {
            Ok(fitted) => Ok((fitted, is_interrupted())),
            Err(source) if is_interrupted() && source.is_stopped() => Err(CliError::Interrupted),
            Err(source) => Err(self.fit.failed(source)),
        }
    }
}

/// A saved model, and what the report says of it.
struct Trained {
    fit_seconds: f64,
    cpu_seconds: Option<f64>,
    model_bytes: u64,
    oob: Option<(Metric, OobScore)>,
    /// What an ensemble was chosen from.
    selection: Option<Selection>,
    /// Number of models of an ensemble.
    n_models: Option<usize>,
    is_interrupted: bool,
}

impl Trained {
    fn report(self, data: &Dataset, report: &mut Report) {
        report.set("fit_seconds", self.fit_seconds);
        report.set_known("cpu_seconds", self.cpu_seconds);
        report.set_sizes(data);
        report.set("model_bytes", self.model_bytes);
        report.set_known("peak_memory_bytes", peak_memory_bytes());
        if let Some(selection) = self.selection {
            let candidates = selection.candidates.iter();
            let weights = candidates.filter_map(|candidate| candidate.weight);
            // A configuration may have several models, of different seeds or folds.
            report.set("configurations", weights.count());
            report.set_known("models", self.n_models);
            // Each sample is scored with weights found on other samples.
            report.set_known(&format!("cross_fitted_{}", selection.metric), selection.score);
        }
        if let Some(oob) = self.oob {
            report_oob(oob, report);
        }
        if self.is_interrupted {
            report.set("interrupted", true);
        }
    }
}

/// Notes what a continued model had and the longer one has not.
fn note_lost(start: &Model, model: &Model) {
    let has_lost = |has: fn(&Model) -> bool| has(start) && !has(model);
    for (what, is_lost) in [
        ("intervals", has_lost(|model| model.intervals().is_some())),
        ("thresholds", has_lost(|model| model.thresholds().is_some())),
    ] {
        if is_lost {
            note(&format!(
                "the model that was continued has {what}, and this one has none: --{what} finds them again"
            ));
        }
    }
}

/// Notes that a part of a forest cannot be merged, if it gets its own thresholds or intervals.
fn note_part(parameters: &Map<String, Value>, data: &Dataset) {
    let first = parameters.get("first_tree").and_then(Value::as_u64);
    let is_set = |name: &str| parameters.get(name).is_some_and(|given| !given.is_null());
    if first.is_none_or(|first| first == 0) {
        return;
    }
    if data.has_labels() && is_set("thresholds") {
        note(
            "`rpo merge` refuses parts of a forest with decision thresholds, which belong to the scores of one model: \
             --thresholds none trains parts without",
        );
    } else if is_set("intervals") {
        note("`rpo merge` refuses parts of a forest with prediction intervals, which belong to one model");
    }
}
