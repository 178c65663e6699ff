//! Evaluates a model on a data set: all scores at once, or in blocks of samples if memory is limited.

mod best_labels;
mod by_frequency;
mod cross_validation;
mod kinds;
mod out_of_bag;
mod per_output;
mod permutation;

pub use by_frequency::FrequencyScores;
pub(crate) use cross_validation::fit_without_test;
pub use cross_validation::{
    CrossValScores, CrossValidation, Fold, Folds, OnFold, cross_val_scores, cross_validate,
};
use kinds::MetricInputs;
pub(crate) use kinds::{OutputKinds, is_of_numbers};
pub use out_of_bag::OobScore;
pub use per_output::OutputScores;
pub use permutation::{ColumnImportance, PermutationOptions};

use crate::blocks::{dense_bytes, for_each_block};
use crate::predict::BY_PROPENSITY;
use crate::{DEFAULT_MEMORY_LIMIT, Estimator, Method, Model, ModelError};
use ndarray::{Array2, ArrayView2};
use rpo_core::{Matrix, MatrixView, MemoryLimit, Predictor};
use rpo_data::{Dataset, Task};
use rpo_metrics::{
    EmptySamples, Evaluation, EvaluationOptions, LabelSets, Metric, MetricError, MissingTruth,
    PredictionForm, Propensity, Ranking, Score, TopK, largest_k, ranking,
};
use std::time::Instant;

/// The largest number of labels that are scored one by one by default, and not ranked against each other.
const FEW_LABELS: usize = 4;

/// The default metric of predictions for a number of outputs of a task, or for quantiles of them
/// ([`Model::quantile_levels`], [`Estimator::quantile_levels`](crate::Estimator::quantile_levels)): the pinball loss for
/// quantiles, on which means of squared errors are uninformative; otherwise LRAP for labels, R² for numbers, and for up
/// to four labels the area under the ROC curve, averaged over the labels.
///
/// LRAP ranks the labels of a sample against each other. Of a few labels, one ranking may be right for most samples
/// whatever their features, and of a single label for all.
pub fn default_metric(task: Task, n_outputs: usize, quantile_levels: &[f64]) -> Metric {
    match task {
        _ if !quantile_levels.is_empty() => Metric::Pinball,
        Task::MultiLabel if n_outputs <= FEW_LABELS => Metric::MacroAuc,
        Task::MultiLabel => Metric::Lrap,
        Task::Regression => Metric::R2,
    }
}

/// Options of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EvaluateOptions {
    /// The propensity model of metrics that weight rare labels (Jain, Prabhu, Varma 2016).
    pub propensity: Propensity,
    /// Ranks labels by score / p with the propensities p of this model ([`Model::predict_top_k_ranked`]), for metrics
    /// of the best k labels. Default none: ranks by score.
    pub rerank: Option<Propensity>,
    /// Largest size in bytes of dense scores; larger ones are computed in blocks of samples if the metrics allow it. A
    /// model of labels and numbers is never evaluated in blocks, and counts its copies of scores and outputs. Default 4
    /// GiB.
    pub memory_limit: usize,
}

impl EvaluateOptions {
    /// Refuses metrics that would ignore the requested ranking.
    ///
    /// # Errors
    /// [`ModelError::MetricNotOfBest`].
    pub fn check<S: Score>(&self, metrics: &[S]) -> Result<(), ModelError> {
        let of_best = |metric: &&S| matches!(metric.needs(), PredictionForm::TopK(_));
        match metrics.iter().find(|metric| !of_best(metric)) {
            Some(metric) if self.rerank.is_some() => Err(ModelError::MetricNotOfBest {
                metric: metric.name(),
            }),
            _ => Ok(()),
        }
    }
}

impl Default for EvaluateOptions {
    fn default() -> Self {
        Self {
            propensity: Propensity::default(),
            rerank: None,
            memory_limit: DEFAULT_MEMORY_LIMIT,
        }
    }
}

/// The result of an evaluation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Evaluated {
    /// The value of each metric, NaN where it is undefined.
    pub values: Vec<f64>,
    /// The seconds that prediction took.
    pub predict_seconds: f64,
}

impl Model {
    /// The metric by which the method compares its models ([`Estimator::default_metric`]): the [`default_metric`] of
    /// the outputs, also for models of methods that are not [standard](crate::Registry::standard), unless a loss such
    /// as that of counts calls for another.
    pub fn default_metric(&self) -> Metric {
        let (task, n_outputs, levels) = (self.schema().task, self.n_outputs(), self.quantile_levels());
        match Method::try_from(&self.parameters) {
            Ok(method) if method.quantile_levels() == levels => method.default_metric(task, n_outputs),
            _ => default_metric(task, n_outputs, levels),
        }
    }

    /// Evaluates the model on a data set, whose columns are found by name. Returns the value of each metric, NaN if
    /// undefined. Missing outputs are left out. Of a model of labels and numbers ([`labels`](Self::labels)), metrics of
    /// labels are those of its labels, and metrics of numbers those of its other outputs.
    ///
    /// ```
    /// use rpo::data::generate::MultiLabelSet;
    /// use rpo::prelude::*;
    ///
    /// let data = MultiLabelSet::new(300, 40, 20).generate(Seed::new(1))?;
    /// let (train, test) = data.split(0.3, Seed::new(2))?;
    /// let model = Model::fit(&ForestParams::default(), &train)?;
    /// let values = model.evaluate(&test, &[Metric::Lrap, Metric::PrecisionAt(1)])?;
    /// assert!(values[0] > 0.4, "{values:?}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Data that lack columns of the model, metrics of labels for a model that predicts numbers
    /// ([`ModelError::MetricForLabels`], [`ModelError::MetricForLabelsAlone`]), and scores that exceed the memory limit
    /// or are unsuitable for a metric.
    pub fn evaluate<S: Score>(&self, data: &Dataset, metrics: &[S]) -> Result<Vec<f64>, ModelError> {
        Ok(self
            .evaluate_with(data, metrics, EvaluateOptions::default())?
            .values)
    }

    /// Like [`evaluate`](Self::evaluate), but with options.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate), and [`EvaluateOptions::check`].
    pub fn evaluate_with<S: Score>(
        &self,
        data: &Dataset,
        metrics: &[S],
        options: EvaluateOptions,
    ) -> Result<Evaluated, ModelError> {
        self.with_work(data, metrics, options, |work, x| work.evaluate(x, metrics))
    }

    /// Prepares an evaluation by these metrics, and calls `f` with the aligned features.
    fn with_work<S: Score, R>(
        &self,
        data: &Dataset,
        metrics: &[S],
        options: EvaluateOptions,
        f: impl FnOnce(Work<'_>, MatrixView<'_>) -> Result<R, ModelError>,
    ) -> Result<R, ModelError> {
        options.check(metrics)?;
        self.check_metrics(metrics)?;
        if options.rerank.is_some() {
            self.label_counts(BY_PROPENSITY)?;
        }
        let x = self.schema().align_features(data)?;
        let truth = self.schema().align_outputs(data)?;
        let kinds = OutputKinds::of_model(self);
        if kinds.is_mixed() {
            // All scores, and the scores and outputs of each part.
            let bytes = dense_bytes(x.n_rows(), 3 * self.n_outputs());
            MemoryLimit::check(bytes, options.memory_limit, || {
                format!("the evaluation of {} samples by labels and numbers", x.n_rows())
            })?;
            if !metrics.iter().all(is_of_numbers) {
                self.check_labels_of(&kinds, truth.as_ref().into())?;
            }
        }
        let inverse = self.inverse_propensities_for(metrics, options.propensity)?;
        let means = self.training().output_means();
        let work = Work {
            model: self,
            kinds,
            truth: truth.as_ref(),
            rerank: options.rerank,
            memory_limit: options.memory_limit,
            inputs: MetricInputs {
                train_means: Some(&means),
                levels: self.quantile_levels(),
                inverse_propensities: inverse.as_deref(),
                ..MetricInputs::default()
            },
        };
        f(work, x.as_ref().into())
    }

    /// Refuses outputs that are labels beside numbers and have other values than 0 and 1.
    fn check_labels_of(&self, kinds: &OutputKinds, truth: MatrixView<'_>) -> Result<(), ModelError> {
        let labels = kinds.labels();
        let is_wrong = |j: usize, value: f32| {
            value != 0.0 && value != 1.0 && !value.is_nan() && labels.binary_search(&j).is_ok()
        };
        match truth.find(is_wrong) {
            None => Ok(()),
            Some((row, j, value)) => {
                let name = self.schema().output_names.get(j).unwrap_or_default();
                Err(ModelError::NotALabel {
                    name: name.into_owned(),
                    row,
                    value,
                })
            }
        }
    }

    /// Scores predictions by this model as it decides and bounds them, given the other inputs of metrics.
    fn score<S: Score>(
        &self,
        metrics: &[S],
        truth: MatrixView<'_>,
        predictions: ArrayView2<'_, f32>,
        kinds: &OutputKinds,
        inputs: MetricInputs<'_>,
    ) -> Result<Vec<f64>, ModelError> {
        let decided = compares(metrics).then(|| self.decide(predictions));
        let decided = decided.transpose()?;
        let bounds = self.bounds_of_outputs(predictions)?;
        let decided = decided.as_ref().map(|decided| MatrixView::Sparse(decided.view()));
        let inputs = MetricInputs {
            intervals: bounds.as_ref().map(Array2::view),
            ..inputs
        };
        kinds.scores(metrics, truth, predictions, decided, &inputs)
    }

    /// The inverse propensities of the labels, if a metric needs them.
    fn inverse_propensities_for<S: Score>(
        &self,
        metrics: &[S],
        propensity: Propensity,
    ) -> Result<Option<Vec<f64>>, ModelError> {
        let weighted = metrics.iter().find(Score::needs_propensities);
        weighted
            .map(|metric| self.inverse_propensities(&metric.name(), propensity))
            .transpose()
    }

    /// Refuses metrics of labels for a model that predicts numbers alone, whatever the values of the data, metrics of
    /// label frequencies for one that also predicts labels, and those of intervals for one without intervals.
    fn check_metrics<S: Score>(&self, metrics: &[S]) -> Result<(), ModelError> {
        if self.schema().task == Task::MultiLabel {
            return Ok(());
        }
        if self.intervals().is_none() && metrics.iter().any(|m| m.needs() == PredictionForm::Intervals) {
            return Err(ModelError::NoIntervals);
        }
        let has_labels = !self.labels().is_empty();
        let is_other = |metric: &&S| match has_labels {
            true => metric.needs_propensities(),
            false => !is_of_numbers(*metric),
        };
        match metrics.iter().find(is_other) {
            Some(metric) => Err(self.only_for_labels(metric.name())),
            None => Ok(()),
        }
    }

    /// The error of a metric or ranking that the outputs do not allow, as some or all are numbers.
    pub(crate) fn only_for_labels(&self, metric: String) -> ModelError {
        match self.labels().is_empty() {
            true => ModelError::MetricForLabels { metric },
            false => ModelError::MetricForLabelsAlone { metric },
        }
    }
}

/// A model, the aligned outputs, and the other inputs of metrics.
struct Work<'a> {
    model: &'a Model,
    kinds: OutputKinds,
    truth: &'a Matrix,
    rerank: Option<Propensity>,
    memory_limit: usize,
    inputs: MetricInputs<'a>,
}

impl Work<'_> {
    fn evaluate<S: Score>(&self, x: MatrixView<'_>, metrics: &[S]) -> Result<Evaluated, ModelError> {
        let needs_dense = self.kinds.is_mixed()
            || metrics
                .iter()
                .any(|m| !matches!(m.needs(), PredictionForm::TopK(_)));
        let bytes = dense_bytes(x.n_rows(), self.model.n_outputs());
        if needs_dense && bytes > self.memory_limit {
            return self.evaluate_in_blocks(x, metrics, bytes);
        }
        let clock = Instant::now();
        if !needs_dense {
            let top = self.best_labels(x, metrics)?;
            let predict_seconds = clock.elapsed().as_secs_f64();
            let evaluation = Evaluation::new(self.truth.view(), &top, self.inputs.options());
            return Ok(Evaluated {
                values: evaluation.evaluate(metrics)?,
                predict_seconds,
            });
        }
        let scores = self.model.predict_with_limit(x, self.memory_limit)?;
        let predict_seconds = clock.elapsed().as_secs_f64();
        let truth = self.truth.view();
        Ok(Evaluated {
            values: self
                .model
                .score(metrics, truth, scores.view(), &self.kinds, self.inputs)?,
            predict_seconds,
        })
    }

    /// Evaluates without holding all dense scores: computes means over samples and label sets block by block, and finds
    /// the best labels without dense scores.
    fn evaluate_in_blocks<S: Score>(
        &self,
        x: MatrixView<'_>,
        metrics: &[S],
        bytes: usize,
    ) -> Result<Evaluated, ModelError> {
        let at_once = self.model.decision.is_joint();
        let whole = metrics
            .iter()
            .find(|m| !in_blocks(*m) || at_once && matches!(m.needs(), PredictionForm::LabelSets));
        if let Some(metric) = whole {
            let name = metric.name();
            let limit = MemoryLimit {
                what: format!("{name}, which needs the scores of all samples at once,").into(),
                bytes,
                limit: self.memory_limit,
            };
            return Err(limit.into());
        }
        let clock = Instant::now();
        let top = self.best_labels(x.reborrow(), metrics)?;
        let mut predict_seconds = clock.elapsed().as_secs_f64();
        let compares = compares(metrics);
        let mut sets: Vec<Vec<u32>> = Vec::new();
        let mut sums = SampleSums::default();
        for_each_block(x, self.model.n_outputs(), self.memory_limit, |samples, block| {
            let clock = Instant::now();
            let start = samples.start;
            let scores = self.model.predict_with_limit(block, usize::MAX);
            let scores = scores.map_err(|e| e.in_block(start))?;
            predict_seconds += clock.elapsed().as_secs_f64();
            let truth = self.truth.view().select_rows(&samples.collect::<Vec<_>>());
            let truth = LabelSets::new(truth.view(), MissingTruth::Skip)?;
            if compares {
                let decided = self.model.decide(scores.view())?;
                let predicted = LabelSets::new(MatrixView::Sparse(decided.view()), MissingTruth::Refuse)?;
                sets.extend((0..predicted.n_samples()).map(|i| predicted.labels(i).to_vec()));
            }
            sums.add(&truth, scores.view()).map_err(ModelError::from)
        })?;
        let sets = compares.then(|| LabelSets::from_lists(self.model.n_outputs(), &sets));
        let sets = sets.transpose()?;
        let options = EvaluationOptions {
            label_sets: sets.as_ref(),
            ..self.inputs.options()
        };
        let evaluation = Evaluation::new(self.truth.view(), &top, options);
        let value = |metric: &S| match metric.built_in().and_then(|metric| sums.mean(metric)) {
            Some(mean) => Ok(mean),
            None => metric.evaluate(&evaluation),
        };
        Ok(Evaluated {
            values: metrics.iter().map(value).collect::<Result<_, MetricError>>()?,
            predict_seconds,
        })
    }

    /// The best labels for the largest k of the metrics; empty lists, for which nothing is predicted, if no metric
    /// compares best labels.
    fn best_labels<S: Score>(&self, x: MatrixView<'_>, metrics: &[S]) -> Result<TopK, ModelError> {
        let Some(k) = largest_k(metrics) else {
            let none: Vec<Vec<(u32, f32)>> = vec![Vec::new(); x.n_rows()];
            return Ok(TopK::from_lists(self.model.n_outputs(), 1, &none)?);
        };
        best_labels::of(self.model, x, self.truth.view(), k, self.rerank)
    }
}

/// Returns true if a metric compares label sets.
fn compares<S: Score>(metrics: &[S]) -> bool {
    metrics
        .iter()
        .any(|m| matches!(m.needs(), PredictionForm::LabelSets))
}

/// Returns true if a metric can be computed from the scores of one block of samples at a time.
fn in_blocks(metric: &impl Score) -> bool {
    let is_mean = |metric| SampleSums::default().mean(metric).is_some();
    match metric.needs() {
        PredictionForm::TopK(_) | PredictionForm::LabelSets => true,
        _ => metric.built_in().is_some_and(is_mean),
    }
}

/// Sums over samples, for the metrics that are means over samples.
#[derive(Default)]
struct SampleSums {
    lrap: f64,
    coverage: f64,
    ranking_loss: f64,
    observed: usize,
    labelled: usize,
}

impl SampleSums {
    fn add(
        &mut self,
        truth: &LabelSets<'_>,
        scores: ndarray::ArrayView2<'_, f32>,
    ) -> Result<(), MetricError> {
        let precision = ranking(truth, scores, Ranking::Lrap(EmptySamples::Skip))?;
        self.lrap += precision.sum();
        self.labelled += precision.n_used;
        let coverage = ranking(truth, scores, Ranking::Coverage)?;
        self.coverage += coverage.sum();
        self.observed += coverage.n_used;
        // Of the same samples as the coverage.
        self.ranking_loss += ranking(truth, scores, Ranking::Loss)?.sum();
        Ok(())
    }

    /// The mean of a metric over samples; `None` if the metric is not such a mean.
    fn mean(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Lrap => Some(self.lrap / self.labelled as f64),
            // Samples without labels count as 1.
            Metric::LrapAll => {
                Some((self.lrap + (self.observed - self.labelled) as f64) / self.observed as f64)
            }
            Metric::Coverage => Some(self.coverage / self.observed as f64),
            Metric::RankingLoss => Some(self.ranking_loss / self.observed as f64),
            _ => None,
        }
    }
}
