//! `rpo train`.

use crate::error::CliError;
use crate::options::{DataOptions, ForestOptions, ThreadOptions};
use crate::output::{Report, note};
use crate::progress;
use crate::resources::{Stopwatch, peak_memory_bytes};
use clap::{Args, ValueEnum};
use ndarray::Axis;
use rpo::core::MatrixView;
use rpo::data::{Dataset, Task};
use rpo::ensemble::{FitOptions, Forest, ForestParams, ValidForestParams};
use rpo::metrics::{Evaluation, Metric, Scores};
use rpo::{FileTarget, Model};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Fit a model to a data set and save it.
///
/// Prints times and sizes; with --json one object with load_seconds, fit_seconds, cpu_seconds (processor time
/// of the fit, all threads), n_samples, n_features, n_outputs, model_bytes and peak_memory_bytes.
#[derive(Debug, Args)]
pub(crate) struct Train {
    /// What to fit.
    #[arg(long, value_enum, default_value_t = Method::RandomForest)]
    method: Method,

    /// File to save the model to; an earlier one is replaced when the new one is whole.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,

    /// Seed of all randomness: the same seed gives the same model.
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,

    /// Also score the forest on samples out of the trees' bags: LRAP of labels, r2 in regression.
    #[arg(long)]
    oob: bool,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    data: DataOptions,

    /// What the outputs are, where the file leaves it open: labels are 0 or 1.
    #[arg(long, value_enum, help_heading = "Data")]
    task: Option<TaskName>,

    #[command(flatten)]
    forest: ForestOptions,

    #[command(flatten)]
    threads: ThreadOptions,
}

/// What can be fitted.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum Method {
    /// Bootstraps of the samples, best thresholds.
    RandomForest,
    /// All samples, random thresholds.
    ExtraTrees,
}

impl Method {
    /// Whether trees see bootstraps.
    pub(crate) fn bootstraps(self, forest: &ForestOptions) -> bool {
        forest.bootstraps(self == Self::RandomForest)
    }

    /// The parameters that options make of the method's.
    pub(crate) fn params(self, forest: &ForestOptions, seed: u64) -> Result<ForestParams, CliError> {
        let params = match self {
            Self::RandomForest => ForestParams::random_forest(),
            Self::ExtraTrees => ForestParams::extra_trees(),
        };
        forest.params(params, self.bootstraps(forest), seed)
    }

    /// The parameters that the model file remembers.
    pub(crate) fn record(self, forest: &ForestOptions, seed: u64) -> Map<String, Value> {
        let mut record = forest.record(self.bootstraps(forest));
        let method = self.to_possible_value();
        let method = method.map_or(Value::Null, |value| json!(value.get_name()));
        record.insert("method".to_owned(), method);
        record.insert("seed".to_owned(), json!(seed));
        record
    }
}

/// What outputs can be.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
pub(crate) enum TaskName {
    MultiLabel,
    Regression,
}

impl From<TaskName> for Task {
    fn from(name: TaskName) -> Self {
        match name {
            TaskName::MultiLabel => Self::MultiLabel,
            TaskName::Regression => Self::Regression,
        }
    }
}

impl Train {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        self.threads.start()?;
        // Whatever can be found wrong before the data is read is found now.
        if self.oob && !self.method.bootstraps(&self.forest) {
            let message = "--oob needs bootstraps: without them no sample is out of a tree's bag";
            return Err(CliError::Usage(message.to_owned()));
        }
        let params = self.method.params(&self.forest, self.seed)?.check()?;
        FileTarget::check(&self.model)?;

        let clock = Stopwatch::start();
        let data = self.data.load_training(self.task.map(Task::from))?;
        let load_seconds = clock.wall_seconds();

        let clock = Stopwatch::start();
        let forest = self.fit(&params, &data)?;
        let (fit_seconds, cpu_seconds) = (clock.wall_seconds(), clock.cpu_seconds());
        let oob = if self.oob {
            Some(self.oob_score(&forest, &data)?)
        } else {
            None
        };

        let model = Model::new(forest, &data)?.with_parameters(self.method.record(&self.forest, self.seed));
        let model_bytes = model.save(&self.model)?;
        let mut report = Report::default();
        report.set("load_seconds", load_seconds);
        report.set("fit_seconds", fit_seconds);
        report.set_known("cpu_seconds", cpu_seconds);
        report.set("n_samples", data.n_samples());
        report.set("n_features", data.n_features());
        report.set("n_outputs", data.n_outputs());
        report.set("model_bytes", model_bytes);
        report.set_known("peak_memory_bytes", peak_memory_bytes());
        if let Some(oob) = oob {
            report.set(oob.key, oob.value);
            report.set("oob_samples", oob.n_samples);
        }
        report.print(self.json)
    }

    fn fit(&self, params: &ValidForestParams, data: &Dataset) -> Result<Forest, CliError> {
        let bar = progress::bar(self.forest.n_trees(), "growing trees");
        let on_tree = || bar.inc(1);
        let options = FitOptions {
            on_tree: Some(&on_tree),
            ..FitOptions::default()
        };
        let forest = params.fit_with(data.features().view(), data.outputs().view(), options);
        bar.finish_and_clear();
        forest.map_err(|source| CliError::Train {
            data: self.data.name().to_owned(),
            source,
        })
    }

    /// The score of predictions for each sample by the trees that did not see it.
    fn oob_score(&self, forest: &Forest, data: &Dataset) -> Result<OobScore, CliError> {
        let (scores, counts) = forest.oob_predictions(data.features().view())?;
        let rows: Vec<usize> = (0..counts.len()).filter(|&i| counts[i] > 0).collect();
        let (key, metric) = match data.task() {
            Task::MultiLabel => ("oob_lrap", Metric::Lrap),
            Task::Regression => ("oob_r2", Metric::R2),
        };
        let mut value = f64::NAN;
        if !rows.is_empty() {
            let truth = MatrixView::from(data.outputs()).select_rows(&rows);
            let scores = scores.select(Axis(0), &rows);
            let evaluation = Evaluation::new(truth.view(), Scores::Dense(scores.view()));
            let evaluated = metric.evaluate(&evaluation);
            value = evaluated.map_err(|source| CliError::Metric {
                data: "samples out of bag".to_owned(),
                source,
            })?;
        }
        if rows.len() < counts.len() {
            note(&format!(
                "{} of {} samples are in every tree's bag and have no out-of-bag prediction",
                counts.len() - rows.len(),
                counts.len()
            ));
        }
        Ok(OobScore {
            key,
            value,
            n_samples: rows.len(),
        })
    }
}

struct OobScore {
    key: &'static str,
    value: f64,
    n_samples: usize,
}
