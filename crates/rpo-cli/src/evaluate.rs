//! `rpo evaluate`.

use crate::blocks::{dense_bytes, for_each_block};
use crate::error::CliError;
use crate::options::{DataOptions, MemoryOptions, ThreadOptions};
use crate::output::{Report, note};
use crate::resources::Stopwatch;
use clap::Args;
use rpo::Model;
use rpo::core::{Matrix, MatrixView};
use rpo::data::Task;
use rpo::metrics::{
    EmptyRows, Evaluation, LabelSets, Metric, MetricError, Needs, Propensity, Scores, Thresholds, TopK,
    coverage_error, lrap, ranking_loss,
};
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
    /// average-precision, hamming, subset-accuracy, jaccard, micro-f1, macro-f1, example-f1; r2, arrmse, mse, mae.
    /// By default lrap,p@1,p@3,p@5,ndcg@5,hamming,micro-f1,macro-f1 for labels and r2,arrmse,mse,mae for numbers.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    metrics: Vec<Metric>,

    /// Exponent A of the propensity model of psp@K and psndcg@K (0.5 for Wikipedia, 0.6 for Amazon).
    #[arg(long, value_name = "A", default_value_t = Propensity::default().a)]
    propensity_a: f64,

    /// Offset B of the propensity model (0.4 for Wikipedia, 2.6 for Amazon).
    #[arg(long, value_name = "B", default_value_t = Propensity::default().b)]
    propensity_b: f64,

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
        let model = Model::load(&self.model)?;
        let metrics = self.metrics(model.schema().task());
        let propensity = Propensity {
            a: self.propensity_a,
            b: self.propensity_b,
        };
        let inverse = inverse_propensities(&model, &metrics, propensity, self.data.name())?;
        let data = self.data.load_evaluation(model.schema())?;
        let x = self.data.align_features(model.schema(), &data)?;
        let truth = self.data.align_outputs(model.schema(), &data)?;
        let load_seconds = clock.wall_seconds();

        let train_means = model.training().output_means();
        let scoring = Scoring {
            model: &model,
            x: x.as_ref().into(),
            truth: truth.as_ref(),
            inverse: inverse.as_deref(),
            train_means: &train_means,
            memory: self.memory.bytes(),
            data: self.data.name(),
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

/// 1/p per label by the label counts of the training set, if a metric asks for it.
pub(crate) fn inverse_propensities(
    model: &Model,
    metrics: &[Metric],
    propensity: Propensity,
    data: &str,
) -> Result<Option<Vec<f64>>, CliError> {
    let Some(metric) = metrics.iter().find(|m| m.needs_propensities()) else {
        return Ok(None);
    };
    let training = model.training();
    let Some(counts) = training.label_counts() else {
        let message = format!("{metric} is for labels; the model predicts numbers");
        return Err(CliError::Usage(message));
    };
    let inverse = propensity.inverse(counts, training.n_samples());
    inverse.map(Some).map_err(|source| CliError::Metric {
        data: data.to_owned(),
        source,
    })
}

/// A model, the data it is scored on, and what metrics need besides.
pub(crate) struct Scoring<'a> {
    pub(crate) model: &'a Model,
    pub(crate) x: MatrixView<'a>,
    pub(crate) truth: &'a Matrix,
    pub(crate) inverse: Option<&'a [f64]>,
    pub(crate) train_means: &'a [f64],
    pub(crate) memory: usize,
    pub(crate) data: &'a str,
}

impl Scoring<'_> {
    /// The value of each metric, and the seconds it took to predict.
    pub(crate) fn evaluate(&self, metrics: &[Metric]) -> Result<(Vec<f64>, f64), CliError> {
        let needs_dense = metrics.iter().any(|m| !matches!(m.needs(), Needs::TopK(_)));
        let bytes = dense_bytes(self.x.n_rows(), self.model.n_outputs());
        if needs_dense && bytes > self.memory {
            return self.evaluate_in_blocks(metrics, bytes);
        }
        let clock = Stopwatch::start();
        if needs_dense {
            let scores = self.model.predict_within(self.x, self.memory)?;
            let seconds = clock.wall_seconds();
            let values = self.evaluation(Scores::Dense(scores.view())).evaluate(metrics);
            return Ok((values.map_err(|e| self.error(e))?, seconds));
        }
        let top = self.best_labels(metrics)?;
        let seconds = clock.wall_seconds();
        let values = self.evaluation(Scores::TopK(&top)).evaluate(metrics);
        Ok((values.map_err(|e| self.error(e))?, seconds))
    }

    /// Metrics that are means over rows from dense scores of some rows at a time, label sets collected from
    /// the same blocks, and the best labels without dense scores.
    fn evaluate_in_blocks(&self, metrics: &[Metric], bytes: usize) -> Result<(Vec<f64>, f64), CliError> {
        let whole = metrics.iter().find(|m| !in_blocks(**m));
        if let Some(metric) = whole {
            return Err(CliError::Usage(format!(
                "{metric} needs the scores of all samples at once, {bytes} bytes; --memory allows {}",
                self.memory
            )));
        }
        let clock = Stopwatch::start();
        let top = self.best_labels(metrics)?;
        let mut seconds = clock.wall_seconds();
        let mut sets: Vec<Vec<u32>> = Vec::with_capacity(self.x.n_rows());
        let mut sums = RowSums::default();
        for_each_block(self.x, self.model.n_outputs(), self.memory, |rows, block| {
            let clock = Stopwatch::start();
            let scores = self.model.predict_within(block, usize::MAX)?;
            seconds += clock.wall_seconds();
            let truth = self.truth.view().select_rows(&rows.collect::<Vec<_>>());
            let mut score = || {
                let truth = LabelSets::new(truth.view())?;
                let predicted = LabelSets::from_scores(scores.view(), &self.thresholds())?;
                sets.extend((0..predicted.n_rows()).map(|i| predicted.row(i).to_vec()));
                sums.add(&truth, scores.view())
            };
            score().map_err(|e| self.error(e))
        })?;
        let evaluate = || {
            let sets = LabelSets::from_rows(self.model.n_outputs(), &sets)?;
            let evaluation = self.evaluation(Scores::TopK(&top)).label_sets(&sets);
            metrics
                .iter()
                .map(|&metric| match sums.mean(metric) {
                    Some(mean) => Ok(mean),
                    None => metric.evaluate(&evaluation),
                })
                .collect::<Result<_, MetricError>>()
        };
        Ok((evaluate().map_err(|e| self.error(e))?, seconds))
    }

    fn best_labels(&self, metrics: &[Metric]) -> Result<TopK, CliError> {
        let largest = metrics.iter().filter_map(|m| match m.needs() {
            Needs::TopK(k) => Some(k),
            _ => None,
        });
        let k = largest.max().unwrap_or(1);
        let scores = self.model.predict_top_k(self.x, k)?;
        TopK::from_csr(scores.view(), k).map_err(|e| self.error(e))
    }

    fn evaluation<'s>(&'s self, scores: Scores<'s>) -> Evaluation<'s> {
        let evaluation = Evaluation::new(self.truth.view(), scores)
            .thresholds(self.thresholds())
            .train_means(self.train_means);
        match self.inverse {
            Some(inverse) => evaluation.inverse_propensities(inverse),
            None => evaluation,
        }
    }

    fn thresholds(&self) -> Thresholds {
        self.model
            .thresholds()
            .map_or_else(Thresholds::default, |t| Thresholds::PerLabel(t.to_vec()))
    }

    fn error(&self, source: MetricError) -> CliError {
        let data = self.data.to_owned();
        CliError::Metric { data, source }
    }
}

/// Whether a metric can be had from the scores of some rows at a time.
fn in_blocks(metric: Metric) -> bool {
    match metric.needs() {
        Needs::TopK(_) | Needs::LabelSets => true,
        _ => matches!(metric, Metric::Lrap | Metric::Coverage | Metric::RankingLoss),
    }
}

/// Sums over rows of the metrics that are means over rows.
#[derive(Default)]
struct RowSums {
    lrap: f64,
    coverage: f64,
    ranking_loss: f64,
    rows: usize,
    labelled: usize,
}

impl RowSums {
    fn add(
        &mut self,
        truth: &LabelSets<'_>,
        scores: ndarray::ArrayView2<'_, f32>,
    ) -> Result<(), MetricError> {
        let precision = lrap(truth, scores, EmptyRows::Skip)?;
        if precision.n_used > 0 {
            self.lrap += precision.value * precision.n_used as f64;
            self.labelled += precision.n_used;
        }
        let n = truth.n_rows() as f64;
        self.coverage += coverage_error(truth, scores)? * n;
        self.ranking_loss += ranking_loss(truth, scores)? * n;
        self.rows += truth.n_rows();
        Ok(())
    }

    /// The mean, if the metric is one of these.
    fn mean(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Lrap => Some(self.lrap / self.labelled as f64),
            Metric::Coverage => Some(self.coverage / self.rows as f64),
            Metric::RankingLoss => Some(self.ranking_loss / self.rows as f64),
            _ => None,
        }
    }
}
