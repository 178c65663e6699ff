//! `rpo evaluate`.

use crate::error::CliError;
use crate::methods::DecisionName;
use crate::options::{DataOptions, MemoryOptions, ThreadOptions};
use crate::output::{Report, note};
use crate::resources::Stopwatch;
use crate::scoring::Scoring;
use clap::Args;
use rpo::Model;
use rpo::data::Task;
use rpo::metrics::{Metric, Propensity};
use std::path::PathBuf;

/// Score a model on a data set.
///
/// Prints a value for each metric; with --json one object with the value of each metric under its name (null
/// where it is undefined), predict_seconds, load_seconds and n_samples.
#[derive(Debug, Args)]
pub(crate) struct Evaluate {
    /// The model.
    #[arg(long, value_name = "FILE")]
    model: PathBuf,

    /// Metrics: lrap, coverage, ranking-loss, one-error, p@K, ndcg@K, psp@K, psndcg@K, macro-auc, micro-auc,
    /// average-precision, hamming, subset-accuracy, jaccard, micro-f1, macro-f1, example-f1; r2, half-r2 (of the first
    /// half of the outputs), arrmse, mse, mae.
    /// By default lrap,p@1,p@3,p@5,ndcg@5,hamming,micro-f1,macro-f1 for labels and r2,arrmse,mse,mae for numbers.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    metrics: Vec<Metric>,

    /// Exponent A of the propensity model of psp@K and psndcg@K (0.5 for Wikipedia, 0.6 for Amazon).
    #[arg(long, value_name = "A", default_value_t = Propensity::default().a)]
    propensity_a: f64,

    /// Offset B of the propensity model (0.4 for Wikipedia, 2.6 for Amazon).
    #[arg(long, value_name = "B", default_value_t = Propensity::default().b)]
    propensity_b: f64,

    /// How labels are decided from scores, if not as the model says: threshold, or f1 for all samples at once by the
    /// expected F1 of each label. Scores must be probabilities for that.
    #[arg(long, value_enum)]
    decide: Option<DecisionName>,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    data: DataOptions,

    #[command(flatten)]
    threads: ThreadOptions,

    #[command(flatten)]
    memory: MemoryOptions,
}

impl Evaluate {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        self.threads.start()?;
        let clock = Stopwatch::start();
        let mut model = Model::load(&self.model)?;
        if let Some(decide) = self.decide {
            model = model.with_decision(decide.into());
        }
        let metrics = self.metrics(model.schema().task());
        let propensity = Propensity {
            a: self.propensity_a,
            b: self.propensity_b,
        };
        let data = self.data.load_evaluation(model.schema())?;
        let x = self.data.align_features(model.schema(), &data)?;
        let truth = self.data.align_outputs(model.schema(), &data)?;
        let load_seconds = clock.wall_seconds();

        let scoring = Scoring {
            propensity,
            memory: self.memory.bytes(),
            ..Scoring::new(&model, x.as_ref().into(), truth.as_ref(), self.data.name())
        };
        let (values, predict_seconds) = scoring.evaluate(&metrics)?;
        let mut report = Report::default();
        for (metric, &value) in metrics.iter().zip(&values) {
            if value.is_nan() {
                note(&format!("{metric} is undefined on this data"));
            }
            report.set(metric.to_string(), value);
        }
        report.set("n_samples", data.n_samples());
        report.set("load_seconds", load_seconds);
        report.set("predict_seconds", predict_seconds);
        report.print(self.json)
    }

    fn metrics(&self, task: Task) -> Vec<Metric> {
        if !self.metrics.is_empty() {
            return self.metrics.clone();
        }
        match task {
            Task::MultiLabel => vec![
                Metric::Lrap,
                Metric::PrecisionAt(1),
                Metric::PrecisionAt(3),
                Metric::PrecisionAt(5),
                Metric::NdcgAt(5),
                Metric::Hamming,
                Metric::MicroF1,
                Metric::MacroF1,
            ],
            Task::Regression => vec![Metric::R2, Metric::Arrmse, Metric::Mse, Metric::Mae],
        }
    }
}
