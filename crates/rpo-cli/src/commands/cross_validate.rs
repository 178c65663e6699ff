//! `rpo cv`.

use super::evaluate::{INFINITE, Predicted, default_metrics, parse_metric};
use crate::csv_file;
use crate::doubts::{note_copies, note_rare_labels};
use crate::error::CliError;
use crate::files;
use crate::interrupt;
use crate::options::{FitOptions, WithheldOptions};
use crate::output::{Output, figure, note, print};
use crate::progress;
use clap::Args;
use rpo::core::Seed;
use rpo::data::split::Withheld;
use rpo::metrics::{Metric, Score};
use rpo::{CrossValScores, CrossValidation, EvaluateOptions, Fold, Folds, cross_validate};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Score a method by cross-validation: every sample is predicted by a model fitted to the others.
///
/// Folds keep the frequency of each label; for numbers they are random; with --group they consist of whole groups. With
/// --time-column time is cut into one part more than there are folds, and each part but the first is predicted by a
/// model fitted to all earlier ones. Prints the mean and the standard deviation of each metric over the folds, and its
/// value in each; with --json one object with folds, n_samples, and for each metric its mean, deviation and values.
/// Ctrl-C prints those of the finished folds ("interrupted": true) and ends the command.
#[derive(Debug, Args)]
pub(crate) struct CrossValidate {
    /// Number of folds, at least 2.
    #[arg(long, value_name = "K", default_value_t = 5)]
    folds: usize,

    #[command(flatten)]
    withheld: WithheldOptions,

    /// Metrics, as in `rpo evaluate`.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = parse_metric)]
    metrics: Vec<Metric>,

    /// CSV file for the out-of-fold predictions, a row for each sample in the order of the data, empty for samples that
    /// are in no fold; with tabs if its name ends in .tsv, compressed by gzip if it ends in .gz.
    #[arg(long, value_name = "FILE", value_parser = files::written())]
    predictions: Option<PathBuf>,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    fit: FitOptions,
}

impl CrossValidate {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        // The default metrics do not use propensities.
        let method = self.fit.start(&self.metrics)?;
        let predictions = ("--predictions", self.predictions.as_deref());
        files::check(self.fit.files(), [predictions])?;
        csv_file::check(predictions)?;
        let (data, withheld) = self.withheld.load(&self.fit)?;
        note_copies(&data);
        if matches!(withheld, Withheld::Latest(_)) && method.is_set("intervals") {
            note(
                "intervals are found on random samples of the training parts, not on the latest ones: where the outputs \
                 drift in time, they cover less than their level",
            );
        }
        let estimator = self.fit.estimator(&method, &data)?;
        let metrics = match self.metrics.as_slice() {
            [] => {
                let (n_outputs, levels) = (data.n_outputs(), estimator.quantile_levels());
                default_metrics(&Predicted {
                    first: estimator.default_metric(data.task(), n_outputs),
                    n_outputs,
                    has_labels: data.has_labels(),
                    has_classes: !data.class_columns().is_empty(),
                    has_intervals: method.is_set("intervals"),
                    has_median: levels.contains(&0.5),
                })
            }
            given => given.to_vec(),
        };
        note_rare_labels(&data, self.folds, &metrics);
        let names: Vec<String> = metrics.iter().map(Score::name).collect();
        let finished = Arc::new(Mutex::new(Vec::new()));
        self.print_when_interrupted(names, Arc::clone(&finished), data.n_samples());
        let mut kept = self
            .predictions
            .as_ref()
            .map(|_| CrossValScores::new(data.n_samples()));
        let bar = progress::bar(self.folds, "folds");
        let mut on_fold = |fold: Fold<'_>| {
            bar.inc(1);
            let mut finished = finished.lock().unwrap_or_else(PoisonError::into_inner);
            finished.push(fold.values.to_vec());
            kept.as_mut().map_or(Ok(()), |kept| kept.add(&fold))
        };
        let folds = Folds {
            k: self.folds,
            seed: Seed::new(method.seed()),
            withheld,
            evaluation: EvaluateOptions {
                propensity: self.fit.weights.propensity.model(),
                ..EvaluateOptions::default()
            },
            on_fold: Some(&mut on_fold),
        };
        let result = cross_validate(estimator.as_ref(), &data, &metrics, folds);
        interrupt::end_on_signal();
        bar.finish_and_clear();
        let result = result.map_err(|source| self.fit.failed(source))?;
        if let (Some(path), Some(kept)) = (&self.predictions, kept) {
            let ids = data.ids().map(|ids| (self.fit.data.identifying(), ids));
            write_predictions(&kept, ids, path)?;
        }
        for (j, metric) in result.metrics.iter().enumerate() {
            let undefined = result.folds.iter().filter(|fold| fold[j].is_nan()).count();
            match (undefined, result.folds.len()) {
                (0, _) => {}
                (n, all) if n == all => note(&format!("{metric} is undefined on every fold")),
                (n, all) => note(&format!(
                    "{metric} is undefined on {n} of {all} folds, which its mean and deviation leave out"
                )),
            }
            match result
                .folds
                .iter()
                .filter(|fold| fold[j] == f64::INFINITY)
                .count()
            {
                0 => {}
                n => note(&format!(
                    "{metric} is infinite on {n} of {} folds: {INFINITE}",
                    result.folds.len()
                )),
            }
        }
        let text = if self.json {
            format!("{}\n", record(&result, data.n_samples()))
        } else {
            table(&result)
        };
        print(&text)
    }

    /// Makes a signal print the folds that are finished, if there are some, before it ends the process.
    fn print_when_interrupted(&self, names: Vec<String>, finished: Finished, n_samples: usize) {
        let (as_json, k, predictions) = (self.json, self.folds, self.predictions.clone());
        interrupt::finally(move || {
            let folds = std::mem::take(&mut *finished.lock().unwrap_or_else(PoisonError::into_inner));
            note(&format!("interrupted: {} of {k} folds are finished", folds.len()));
            if let Some(path) = predictions {
                note(&format!("{} was not written", path.display()));
            }
            if folds.is_empty() {
                return;
            }
            let result = CrossValidation::new(names, folds);
            let text = if as_json {
                let mut object = record(&result, n_samples);
                object["interrupted"] = json!(true);
                format!("{object}\n")
            } else {
                table(&result)
            };
            // The process ends in any case.
            let _ = print(&text);
        });
    }
}

/// The values of metrics on the folds that are finished.
type Finished = Arc<Mutex<Vec<Vec<f64>>>>;

/// Writes the predictions beside identifiers and the name of their column.
fn write_predictions(
    kept: &CrossValScores,
    ids: Option<(&str, &[String])>,
    path: &Path,
) -> Result<(), CliError> {
    let mut out = Output::new(Some(path))?;
    let delimiter = csv_file::delimiter(Some(path));
    let field = |text: &str| csv_file::field(text, delimiter);
    let id = ids.map(|(name, _)| field(name));
    let names = kept.output_names.iter().map(|name| field(&name));
    out.put(csv_file::line(id.into_iter().chain(names), delimiter).as_bytes())?;
    for (sample, row) in kept.scores.rows().into_iter().enumerate() {
        let id = ids.map(|(_, ids)| field(&ids[sample]));
        let cell = |score: &f32| match kept.is_tested[sample] {
            true => score.to_string(),
            false => String::new(),
        };
        let cells = id.into_iter().chain(row.iter().map(cell));
        out.put(csv_file::line(cells, delimiter).as_bytes())?;
    }
    out.finish()
}

fn record(result: &CrossValidation, n_samples: usize) -> Value {
    let mut object = json!({"folds": result.folds.len(), "n_samples": n_samples});
    let (means, deviations) = (&result.means, &result.standard_deviations);
    for (j, name) in result.metrics.iter().enumerate() {
        let values: Vec<f64> = result.folds.iter().map(|fold| fold[j]).collect();
        object[name] = json!({"mean": means[j], "deviation": deviations[j], "values": values});
    }
    object
}

fn table(result: &CrossValidation) -> String {
    let width = result
        .metrics
        .iter()
        .map(String::len)
        .max()
        .unwrap_or(0)
        .max("metric".len());
    let mut text = format!("{:width$}    mean  deviation  folds\n", "metric");
    let summaries = result.means.iter().zip(&result.standard_deviations);
    for (j, (name, (&mean, &deviation))) in result.metrics.iter().zip(summaries).enumerate() {
        let folds: Vec<String> = result.folds.iter().map(|fold| figure(fold[j])).collect();
        let (mean, deviation, folds) = (figure(mean), figure(deviation), folds.join(" "));
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name:width$}  {mean:6}     {deviation:6}  {folds}");
    }
    text
}
