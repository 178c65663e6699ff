//! `rpo evaluate`.

mod by_frequency;
mod importances;
mod left_out;

use crate::csv_file;
use crate::error::CliError;
use crate::files;
use crate::options::{BeamOptions, DataOptions, MemoryOptions, RerankOptions, ThreadOptions, UnseenOptions};
use crate::output::{Output, Report, figure, note, print};
use crate::progress;
use crate::resources::Stopwatch;
use clap::Args;
use rpo::core::Observers;
use rpo::core::text::did_you_mean;
use rpo::data::{Names, Task};
use rpo::metrics::{Metric, PredictionForm, Score};
use rpo::{Decision, EvaluateOptions, Model, OutputScores, PermutationOptions, Predictor};
use std::iter;
use std::path::{Path, PathBuf};

/// The reason why a deviance is infinite.
pub(super) const INFINITE: &str = "a number is predicted to be below 0, or 0 where it is not";

/// Score a model on a data set.
///
/// Prints a value for each metric; with --json one object with the value of each metric under its name (null if
/// undefined or infinite), predict_seconds, load_seconds and n_samples. Means leave out what a metric is undefined for:
/// lrap the samples without labels (n_unlabelled), macro-auc, mcc, g-mean and balanced-accuracy the labels of no sample or
/// of all (n_labels_without_positives, n_labels_without_negatives), average-precision those of none. These counts are
/// printed if they are not 0.
#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    /// The model.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,

    /// Metrics: lrap, lrap-all (samples without labels count as 1), coverage, ranking-loss, one-error, p@K, ndcg@K,
    /// psp@K, psndcg@K, macro-p@K, macro-r@K, macro-f1@K (means over labels, for the best K labels), macro-auc,
    /// micro-auc, average-precision, hamming, subset-accuracy, jaccard, micro-f1, macro-f1, example-f1, mcc, g-mean,
    /// balanced-accuracy; log-loss, brier and ece (expected calibration error) for methods whose scores are
    /// probabilities (means over labels); r2, half-r2 (of the first half of the outputs), arrmse, mse, rmse, mae (of
    /// quantiles, that of the medians), pinball (for quantiles), poisson-deviance (of counts), tweedie-deviance (of
    /// amounts that are often 0; with another power than 1.5 tweedie-deviance@P), interval-coverage and interval-width
    /// (for models trained with --intervals). Deviances are infinite for predictions below 0, or of 0 where the true
    /// value is not. By default lrap,p@1,p@3,p@5,ndcg@5,hamming,micro-f1,macro-f1 for labels,
    /// macro-auc,average-precision,hamming,micro-f1,mcc for a single label,
    /// macro-auc,average-precision,lrap,p@1,hamming,micro-f1,macro-f1 for two to four, r2,arrmse,mse,mae for numbers
    /// (first the deviance or mae if boosting minimized it), macro-auc,average-precision,hamming,r2,arrmse,mse,mae for
    /// labels and numbers in one model, pinball,mae for quantiles (mae if the median is one),
    /// interval-coverage,interval-width beside those of numbers for models with intervals, and subset-accuracy before
    /// the others for models with classes. With --rerank, which is only for metrics of the best K labels,
    /// p@1,p@3,p@5,psp@1,psp@3,psp@5. Labels with equal scores, also of 0, are ranked in the order of the outputs.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = parse_metric)]
    metrics: Vec<Metric>,

    #[command(flatten)]
    ranking: RerankOptions,

    #[command(flatten)]
    beam: BeamOptions,

    /// How labels are decided from scores, by default as the model is set: threshold, or f1 for all samples at once by
    /// the expected F1 of each label, which requires probabilities. Either way one class of a column is predicted.
    #[arg(long, value_name = "RULE")]
    decide: Option<Decision>,

    /// CSV file for the scores of each output: for labels support, precision, recall, F1, MCC, G-mean, balanced
    /// accuracy, AUC, average precision, logarithmic loss, Brier score, calibration error and threshold (empty where
    /// labels are decided without thresholds); for numbers r2, MAE and RMSE; for quantiles also the pinball loss and
    /// the coverage, and for other models with intervals their coverage and width. It has tabs if its name ends in
    /// .tsv, and is compressed by gzip if it ends in .gz.
    #[arg(long, value_name = "FILE", value_parser = files::written(), conflicts_with = "rerank")]
    per_output: Option<PathBuf>,

    /// Also score frequent and rare labels separately. Labels are sorted from the most to the least frequent in
    /// training and split into this many groups with about equal numbers of positives (10 for deciles). For each group,
    /// the recall of the best K labels, r@K, and its contribution to p@K, for the K of the metrics (1, 3 and 5 if no
    /// metric has a K); with --json as the list by_frequency.
    #[arg(long, value_name = "GROUPS")]
    by_frequency: Option<usize>,

    /// CSV file for the permutation importance of each column of features, the largest first: how much worse the first of
    /// the metrics gets when the values of the column are shuffled among the samples, the mean and the standard deviation
    /// over --repeats shuffles (Breiman 2001). For any method; each shuffle of a column takes as long as an evaluation.
    /// Names are as for --per-output; numbered features count from 0, also those of svmlight files.
    #[arg(long, value_name = "FILE", value_parser = files::written(), conflicts_with = "rerank")]
    importances: Option<PathBuf>,

    /// How often each column is shuffled for its importance.
    #[arg(long, value_name = "N", default_value_t = PermutationOptions::default().repeats, requires = "importances")]
    repeats: usize,

    /// Seed of these shuffles.
    #[arg(long, value_name = "N", default_value_t = PermutationOptions::default().seed, requires = "importances")]
    seed: u64,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    data: DataOptions,

    #[command(flatten)]
    unseen: UnseenOptions,

    #[command(flatten)]
    threads: ThreadOptions,

    #[command(flatten)]
    memory: MemoryOptions,
}

impl Evaluate {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        let read = self.data.files().into_iter();
        let read = read.chain([("--model", Some(self.model.as_path()))]);
        let written = [
            ("--per-output", self.per_output.as_deref()),
            ("--importances", self.importances.as_deref()),
        ];
        files::check(read, written)?;
        written.into_iter().try_for_each(csv_file::check)?;
        self.threads.start()?;
        let clock = Stopwatch::start();
        let mut model = self.beam.apply(Model::load(&self.model)?)?;
        if let Some(decide) = self.decide {
            model.decision = decide;
        }
        let metrics = self.metrics(&model);
        self.check_effect(&model, &metrics)?;
        let options = EvaluateOptions {
            propensity: self.ranking.propensity.model(),
            rerank: self.ranking.model(),
            memory_limit: self.memory.bytes(),
        };
        options.check(&metrics)?;
        let data = self.data.load_evaluation(model.schema())?;
        self.unseen.check(&model, &data, self.data.name())?;
        let load_seconds = clock.wall_seconds();

        let evaluated = model.evaluate_with(&data, &metrics, options);
        let evaluated = evaluated.map_err(|e| CliError::of_data(e, self.data.name()))?;
        if let Some(path) = &self.per_output {
            let scores = model.evaluate_outputs_with(&data, options.memory_limit);
            let scores = scores.map_err(|e| CliError::of_data(e, self.data.name()))?;
            write_outputs(&model, &scores, path)?;
        }
        if let (Some(path), Some(first)) = (&self.importances, metrics.first()) {
            let bar = progress::bar(model.schema().columns().len(), "shuffling columns");
            let on_step = || bar.inc(1);
            let options = PermutationOptions {
                repeats: self.repeats,
                seed: self.seed,
                evaluate: options,
                observers: Observers {
                    on_step: Some(&on_step),
                    ..Observers::default()
                },
            };
            let found = model.permutation_importances(&data, first, options);
            let found = found.map_err(|e| CliError::of_data(e, self.data.name()))?;
            bar.finish_and_clear();
            importances::write(found, path)?;
        }
        let ks = by_frequency::ks(&metrics);
        let groups = self
            .by_frequency
            .map(|n_groups| model.evaluate_by_frequency(&data, n_groups, &ks, options.rerank))
            .transpose()
            .map_err(|e| CliError::of_data(e, self.data.name()))?;
        let mut report = Report::default();
        for (metric, &value) in metrics.iter().zip(&evaluated.values) {
            match value {
                _ if value.is_nan() => note(&format!("{metric} is undefined on this data")),
                f64::INFINITY => note(&format!("{metric} is infinite: {INFINITE}")),
                _ => {}
            }
            match value.is_infinite() && !self.json {
                true => report.set(metric.to_string(), figure(value)),
                false => report.set(metric.to_string(), value),
            }
        }
        report.set("n_samples", data.n_samples());
        left_out::report(&data, &metrics, &mut report);
        report.set("load_seconds", load_seconds);
        report.set("predict_seconds", evaluated.predict_seconds);
        match groups {
            Some(groups) if self.json => {
                report.set("by_frequency", by_frequency::json(&groups, &ks));
                report.print(true)
            }
            Some(groups) => {
                report.print(false)?;
                print(&by_frequency::table(&groups, &ks))
            }
            None => report.print(self.json),
        }
    }

    /// Refuses options that do not affect any metric.
    fn check_effect(&self, model: &Model, metrics: &[Metric]) -> Result<(), CliError> {
        let (task, n_outputs) = (model.schema().task, model.n_outputs());
        let refuse = |message: &str| Err(CliError::Usage(message.to_owned()));
        if self.ranking.model().is_some() && model.labels().is_empty() {
            return refuse("--rerank is for labels; the model predicts numbers");
        }
        self.ranking.check_effect(metrics)?;
        if self.by_frequency.is_some() && task == Task::Regression {
            return refuse(match model.labels().is_empty() {
                true => "--by-frequency is for labels; the model predicts numbers",
                false => "--by-frequency is for models of labels alone; this one also predicts numbers",
            });
        }
        if self
            .by_frequency
            .is_some_and(|n_groups| !(1..=n_outputs).contains(&n_groups))
        {
            return refuse(&format!(
                "--by-frequency takes 1 to {n_outputs} groups, at most one per label"
            ));
        }
        if self.decide.is_some() && model.labels().is_empty() {
            return refuse("--decide is for labels; the model predicts numbers");
        }
        let compares_sets = metrics
            .iter()
            .any(|m| matches!(m.needs(), PredictionForm::LabelSets));
        if self.decide.is_some() && !compares_sets && self.per_output.is_none() {
            return refuse(
                "--decide is for metrics of label sets (such as hamming or micro-f1) and --per-output, but none was requested",
            );
        }
        Ok(())
    }

    fn metrics(&self, model: &Model) -> Vec<Metric> {
        match self.metrics.as_slice() {
            [] if self.ranking.model().is_some() => {
                let at = |of: fn(usize) -> Metric| [1, 3, 5].map(of);
                [at(Metric::PrecisionAt), at(Metric::PspAt)].concat()
            }
            [] => {
                let schema = model.schema();
                default_metrics(&Predicted {
                    first: model.default_metric(),
                    n_outputs: model.n_outputs(),
                    has_labels: !model.labels().is_empty(),
                    has_classes: !schema.class_columns.is_empty(),
                    has_intervals: model.intervals().is_some(),
                    has_median: model.quantile_levels().contains(&0.5),
                })
            }
            given => given.to_vec(),
        }
    }
}

/// Writes a row for each output; undefined values are empty cells.
fn write_outputs(model: &Model, scores: &OutputScores, path: &Path) -> Result<(), CliError> {
    let mut out = Output::new(Some(path))?;
    let delimiter = csv_file::delimiter(Some(path));
    let measures = scores.measures.iter().map(|measure| (*measure).to_owned());
    let header = iter::once("output".to_owned()).chain(measures);
    out.put(csv_file::line(header, delimiter).as_bytes())?;
    for (name, values) in model.schema().output_names.iter().zip(&scores.values) {
        let name = iter::once(csv_file::field(&name, delimiter));
        let line = name.chain(values.iter().map(|value| csv_file::number(*value)));
        out.put(csv_file::line(line, delimiter).as_bytes())?;
    }
    out.finish()
}

/// Parses the name of a metric; the error for a misspelt name suggests the most similar one.
pub(crate) fn parse_metric(text: &str) -> Result<Metric, String> {
    let text = text.trim();
    text.parse::<Metric>().map_err(|e| {
        // The k of a metric is ignored when similarity is computed.
        let (word, k) = text
            .split_once('@')
            .map_or((text, None), |(word, k)| (word, Some(k)));
        let names: Names = Metric::names()
            .filter(|name| name.contains('@') == k.is_some())
            .map(|name| name.replace("@K", ""))
            .collect();
        match names.nearest(word).filter(|nearest| nearest != word) {
            Some(nearest) => {
                let k = k.map_or_else(String::new, |k| format!("@{k}"));
                format!("{e}{}", did_you_mean(Some(format!("{nearest}{k}"))))
            }
            None => e.to_string(),
        }
    })
}

/// What is predicted, as far as metrics depend on it.
pub(crate) struct Predicted {
    /// The default metric.
    pub(crate) first: Metric,
    pub(crate) n_outputs: usize,
    /// True if some outputs are labels, also beside numbers.
    pub(crate) has_labels: bool,
    /// True if some labels are the classes of a column.
    pub(crate) has_classes: bool,
    /// True if numbers have prediction intervals.
    pub(crate) has_intervals: bool,
    /// True if one of several quantiles of each number is the median.
    pub(crate) has_median: bool,
}

/// The default metrics.
pub(crate) fn default_metrics(of: &Predicted) -> Vec<Metric> {
    let mut metrics = match of.first {
        // Means of squared errors are not informative for quantiles, and ranks not for a single label.
        Metric::Pinball if of.has_median => vec![Metric::Pinball, Metric::Mae],
        Metric::Pinball => vec![Metric::Pinball],
        Metric::PoissonDeviance | Metric::TweedieDeviance(_) if !of.has_labels => {
            vec![of.first, Metric::R2, Metric::Mse, Metric::Mae]
        }
        Metric::Mae if !of.has_labels => vec![Metric::Mae, Metric::R2, Metric::Arrmse, Metric::Mse],
        Metric::MacroAuc if of.n_outputs > 1 => vec![
            Metric::MacroAuc,
            Metric::AveragePrecision,
            Metric::Lrap,
            Metric::PrecisionAt(1),
            Metric::Hamming,
            Metric::MicroF1,
            Metric::MacroF1,
        ],
        Metric::MacroAuc => vec![
            Metric::MacroAuc,
            Metric::AveragePrecision,
            Metric::Hamming,
            Metric::MicroF1,
            Metric::Mcc,
        ],
        Metric::Lrap => vec![
            Metric::Lrap,
            Metric::PrecisionAt(1),
            Metric::PrecisionAt(3),
            Metric::PrecisionAt(5),
            Metric::NdcgAt(5),
            Metric::Hamming,
            Metric::MicroF1,
            Metric::MacroF1,
        ],
        _ if of.has_labels => vec![
            Metric::MacroAuc,
            Metric::AveragePrecision,
            Metric::Hamming,
            Metric::R2,
            Metric::Arrmse,
            Metric::Mse,
            Metric::Mae,
        ],
        _ => vec![Metric::R2, Metric::Arrmse, Metric::Mse, Metric::Mae],
    };
    if of.has_intervals {
        metrics.extend([Metric::IntervalCoverage, Metric::IntervalWidth]);
    }
    if of.has_classes {
        // The share of samples whose classes are all right; the accuracy, if there is one column.
        metrics.insert(0, Metric::SubsetAccuracy);
    }
    metrics
}
