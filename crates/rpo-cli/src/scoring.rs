//! Scores of a model on data: all at once, or in blocks of rows where memory is short.

use crate::blocks::{dense_bytes, for_each_block};
use crate::error::CliError;
use crate::resources::Stopwatch;
use rpo::core::{Matrix, MatrixView};
use rpo::metrics::{
    EmptySamples, Evaluation, EvaluationOptions, LabelSets, Metric, MetricError, MissingTruth, Needs,
    Propensity, Score, Scores, Thresholds, TopK, coverage_error, lrap, ranking_loss,
};
use rpo::{Decision, Model};

/// A model and the data it is scored on.
#[derive(Debug, Clone, Copy)]
pub struct Scoring<'a> {
    /// The model. Label sets are those that it decides for: by its thresholds, 0.5 where it has none, or by its rule.
    pub model: &'a Model,
    /// Features in the model's order.
    pub x: MatrixView<'a>,
    /// The outputs as they are. Those that are missing (NaN) take no part.
    pub truth: &'a Matrix,
    /// What messages call the data.
    pub data: &'a str,
    /// The propensity model of metrics that need one.
    pub propensity: Propensity,
    /// Most bytes of dense scores; more are worked on in blocks of rows where the metrics allow it.
    pub memory: usize,
}

impl<'a> Scoring<'a> {
    /// With the usual propensity model and at most 4 GiB of dense scores.
    pub fn new(model: &'a Model, x: MatrixView<'a>, truth: &'a Matrix, data: &'a str) -> Self {
        Self {
            model,
            x,
            truth,
            data,
            propensity: Propensity::default(),
            memory: 4 << 30,
        }
    }

    /// The value of each metric, NaN where it is undefined, and the seconds it took to predict.
    ///
    /// # Errors
    /// [`CliError`] for metrics that are not for such outputs, data that does not fit the model, and scores that need more
    /// memory than allowed.
    pub fn evaluate(&self, metrics: &[Metric]) -> Result<(Vec<f64>, f64), CliError> {
        let inverse = self.inverse_propensities(metrics)?;
        let means = self.model.training().output_means();
        let work = Work {
            scoring: self,
            inverse: inverse.as_deref(),
            train_means: &means,
        };
        work.evaluate(metrics)
    }

    /// 1/p per label by the label counts of the training set, if a metric asks for it.
    fn inverse_propensities(&self, metrics: &[Metric]) -> Result<Option<Vec<f64>>, CliError> {
        let Some(metric) = metrics.iter().find(|m| m.needs_propensities()) else {
            return Ok(None);
        };
        let training = self.model.training();
        let Some(counts) = training.label_counts() else {
            let message = format!("{metric} is for labels; the model predicts numbers");
            return Err(CliError::Usage(message));
        };
        let inverse = self.propensity.inverse(counts, training.n_samples());
        inverse.map(Some).map_err(|e| self.error(e))
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

/// A scoring with what metrics need besides.
struct Work<'a, 's> {
    scoring: &'a Scoring<'s>,
    inverse: Option<&'a [f64]>,
    train_means: &'a [f64],
}

impl Work<'_, '_> {
    fn evaluate(&self, metrics: &[Metric]) -> Result<(Vec<f64>, f64), CliError> {
        let needs_dense = metrics.iter().any(|m| !matches!(m.needs(), Needs::TopK(_)));
        let bytes = dense_bytes(self.scoring.x.n_rows(), self.scoring.model.n_outputs());
        if needs_dense && bytes > self.scoring.memory {
            return self.evaluate_in_blocks(metrics, bytes);
        }
        let clock = Stopwatch::start();
        if needs_dense {
            let scores = self
                .scoring
                .model
                .predict_within(self.scoring.x, self.scoring.memory)?;
            let seconds = clock.wall_seconds();
            let mut options = self.options();
            let decided;
            let sets;
            if self.decides_at_once(metrics) {
                decided = self.scoring.model.decide(scores.view())?;
                sets = LabelSets::new(MatrixView::Sparse(decided.view()), MissingTruth::Refuse)
                    .map_err(|e| self.scoring.error(e))?;
                options.label_sets = Some(&sets);
            }
            let truth = self.scoring.truth.view();
            let evaluation = Evaluation::with_options(truth, Scores::Dense(scores.view()), options);
            let values = evaluation.evaluate(metrics);
            return Ok((values.map_err(|e| self.scoring.error(e))?, seconds));
        }
        let top = self.best_labels(metrics)?;
        let seconds = clock.wall_seconds();
        let truth = self.scoring.truth.view();
        let evaluation = Evaluation::with_options(truth, Scores::TopK(&top), self.options());
        let values = evaluation.evaluate(metrics);
        Ok((values.map_err(|e| self.scoring.error(e))?, seconds))
    }

    /// Whether a metric is of label sets that are decided for all samples at once.
    fn decides_at_once(&self, metrics: &[Metric]) -> bool {
        self.scoring.model.decision() == Decision::ExpectedF1
            && metrics.iter().any(|m| matches!(m.needs(), Needs::LabelSets))
    }

    /// Metrics that are means over rows from dense scores of some rows at a time, label sets collected from
    /// the same blocks, and the best labels without dense scores.
    fn evaluate_in_blocks(&self, metrics: &[Metric], bytes: usize) -> Result<(Vec<f64>, f64), CliError> {
        let at_once = self.decides_at_once(metrics);
        let whole = metrics
            .iter()
            .find(|m| !in_blocks(**m) || at_once && matches!(m.needs(), Needs::LabelSets));
        if let Some(metric) = whole {
            return Err(CliError::Usage(format!(
                "{metric} needs the scores of all samples at once, {bytes} bytes; --memory allows {}",
                self.scoring.memory
            )));
        }
        let clock = Stopwatch::start();
        let top = self.best_labels(metrics)?;
        let mut seconds = clock.wall_seconds();
        let mut sets: Vec<Vec<u32>> = Vec::with_capacity(self.scoring.x.n_rows());
        let mut sums = RowSums::default();
        for_each_block(
            self.scoring.x,
            self.scoring.model.n_outputs(),
            self.scoring.memory,
            |rows, block| {
                let clock = Stopwatch::start();
                let scores = self.scoring.model.predict_within(block, usize::MAX)?;
                seconds += clock.wall_seconds();
                let truth = self.scoring.truth.view().select_rows(&rows.collect::<Vec<_>>());
                let mut score = || {
                    let truth = LabelSets::new(truth.view(), MissingTruth::Skip)?;
                    let predicted = LabelSets::from_scores(scores.view(), &self.scoring.thresholds())?;
                    sets.extend((0..predicted.n_samples()).map(|i| predicted.labels(i).to_vec()));
                    sums.add(&truth, scores.view())
                };
                score().map_err(|e| self.scoring.error(e))
            },
        )?;
        let evaluate = || {
            let sets = LabelSets::from_lists(self.scoring.model.n_outputs(), &sets)?;
            let options = EvaluationOptions {
                label_sets: Some(&sets),
                ..self.options()
            };
            let truth = self.scoring.truth.view();
            let evaluation = Evaluation::with_options(truth, Scores::TopK(&top), options);
            metrics
                .iter()
                .map(|&metric| match sums.mean(metric) {
                    Some(mean) => Ok(mean),
                    None => metric.evaluate(&evaluation),
                })
                .collect::<Result<_, MetricError>>()
        };
        Ok((evaluate().map_err(|e| self.scoring.error(e))?, seconds))
    }

    fn best_labels(&self, metrics: &[Metric]) -> Result<TopK, CliError> {
        let largest = metrics.iter().filter_map(|m| match m.needs() {
            Needs::TopK(k) => Some(k),
            _ => None,
        });
        // As many more as may have to be skipped.
        let missing = if self.scoring.truth.view().has_missing() {
            LabelSets::new(self.scoring.truth.view(), MissingTruth::Skip)
                .map_err(|e| self.scoring.error(e))?
                .most_missing()
        } else {
            0
        };
        let k = largest.max().unwrap_or(1) + missing;
        let scores = self.scoring.model.predict_top_k(self.scoring.x, k)?;
        TopK::from_csr(scores.view(), k).map_err(|e| self.scoring.error(e))
    }

    fn options(&self) -> EvaluationOptions<'_> {
        EvaluationOptions {
            thresholds: self.scoring.thresholds(),
            train_means: Some(self.train_means),
            missing: MissingTruth::Skip,
            inverse_propensities: self.inverse,
            ..EvaluationOptions::default()
        }
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
        let precision = lrap(truth, scores, EmptySamples::Skip)?;
        if precision.n_used > 0 {
            self.lrap += precision.value * precision.n_used as f64;
            self.labelled += precision.n_used;
        }
        let known = (0..truth.n_samples()).filter(|&i| !truth.all_missing(i)).count();
        if known > 0 {
            self.coverage += coverage_error(truth, scores)? * known as f64;
            self.ranking_loss += ranking_loss(truth, scores)? * known as f64;
            self.rows += known;
        }
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
