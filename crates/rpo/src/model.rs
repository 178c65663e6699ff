//! A fitted model with everything needed to serve it.

use crate::predict::top_by_blocks;
use crate::{
    Decision, Estimator, FitContext, Intervals, ModelError, OnCheckpoint, OobPredictions, Predict, Schema,
    Stages, StreamDestination, ThresholdSource, TrainingSummary,
};
use ndarray::{Array2, ArrayView2};
use rpo_core::{CsrMatrix, MatrixError, MatrixView, Mismatch, Predictor};
use rpo_data::preprocess::{Pipeline, PreprocessError};
use rpo_data::{ClassColumn, Dataset, DatasetError, Task, check_positions};
use rpo_ensemble::EnsembleError;
use rpo_linear::{LabelForest, LinearError};
use rpo_tree::TreeError;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Name and version of the software, as written to model files.
pub(crate) const SOFTWARE: &str = concat!("rpo ", env!("CARGO_PKG_VERSION"));

/// A predictor with the names and kinds of its columns, a summary of its training set, and a record of how it was made.
///
/// The predictor may have been fitted to features prepared by a [`Pipeline`]: missing values filled in, nominal
/// features encoded as indicators, numbers standardized. The model then keeps the pipeline
/// ([`with_pipeline`](Self::with_pipeline)), and all its functions take unprepared features.
///
/// [`save`](Self::save) and [`load`](Self::load) store the model in a file (see [`model_file`](crate::model_file)).
#[derive(Debug, Clone)]
pub struct Model {
    predictor: Arc<dyn Predict>,
    schema: Schema,
    pipeline: Option<Pipeline>,
    training: TrainingSummary,
    thresholds: Option<Vec<f64>>,
    intervals: Option<Intervals>,
    /// How labels are decided from scores; by thresholds unless another rule is set.
    pub decision: Decision,
    /// The parameters of training, for the record; no prediction or evaluation depends on them.
    pub parameters: Map<String, Value>,
    /// Name and version of the software that made the model.
    pub software: String,
}

impl PartialEq for Model {
    fn eq(&self, other: &Self) -> bool {
        self.predictor.equals(other.predictor.as_ref())
            && self.schema == other.schema
            && self.pipeline == other.pipeline
            && self.training == other.training
            && self.parameters == other.parameters
            && self.thresholds == other.thresholds
            && self.intervals == other.intervals
            && self.decision == other.decision
            && self.software == other.software
    }
}

/// Features (n x p) are unprepared and in the order of the schema (see [`Schema::align_features`]). A value outside a
/// nominal feature's list is an error ([`DatasetError::NotAPosition`](rpo_data::DatasetError::NotAPosition)).
///
/// The probabilities of the classes of a column ([`Schema::class_columns`]) have the sum 1: those of methods that learn
/// every class by itself are divided by their sum, in the samples in which all scores of the column lie in 0 to 1.
impl Predictor for Model {
    type Error = ModelError;

    fn n_features(&self) -> usize {
        self.schema.feature_names.iter().len()
    }

    fn n_outputs(&self) -> usize {
        self.predictor.n_outputs()
    }

    fn n_train(&self) -> usize {
        self.predictor.n_train()
    }

    fn predict_with_limit(&self, x: MatrixView<'_>, memory_limit: usize) -> Result<Array2<f32>, ModelError> {
        let n = x.n_rows();
        let scores = self.with_features(x, |predictor, x| predictor.predict_with_limit(x, memory_limit))?;
        // A custom predictor may return anything.
        Mismatch::check("samples of the predictions", n, scores.nrows())?;
        Mismatch::check("outputs of the predictions", self.n_outputs(), scores.ncols())?;
        Ok(self.with_sums_of_one(scores))
    }

    fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, ModelError> {
        if self.schema.class_columns.is_empty() {
            return self.with_features(x, |predictor, x| predictor.predict_top_k(x, k));
        }
        let predict = |x: MatrixView<'_>| self.predict_with_limit(x, usize::MAX);
        top_by_blocks(x, k, self.n_outputs(), predict)
    }
}

impl Model {
    /// Fits a method to a data set: parameters such as [`ForestParams`](rpo_ensemble::ForestParams), or a
    /// [`Method`](crate::Method) by name. Samples of weight 0, and those without any output, are left out.
    ///
    /// ```
    /// use rpo::data::generate::MultiLabelSet;
    /// use rpo::prelude::*;
    ///
    /// let data = MultiLabelSet::new(200, 30, 20).generate(Seed::new(1))?;
    /// let forest = Model::fit(&ForestParams { trees: 20, ..ForestParams::default() }, &data)?;
    /// let craftml = Model::fit(&Method::named("craftml")?.with("trees", "5")?, &data)?;
    /// # assert_eq!(forest.n_outputs(), craftml.n_outputs());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Parameters that are out of range or contradict each other, and data that the method cannot fit.
    pub fn fit(estimator: &dyn Estimator, data: &Dataset) -> Result<Self, ModelError> {
        Self::fit_with(estimator, data, &FitContext::default())
    }

    /// Like [`fit`](Self::fit), but with callbacks or withheld samples.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_with(
        estimator: &dyn Estimator,
        data: &Dataset,
        context: &FitContext<'_>,
    ) -> Result<Self, ModelError> {
        let data = Self::checked(estimator, data, context)?;
        Ok(estimator.fit(&data, context)?.recorded(estimator))
    }

    /// Like [`fit_with`](Self::fit_with), but in steps, with the model so far at the checkpoints of
    /// [`Estimator::fit_in_parts`].
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and those of the callback.
    pub fn fit_in_parts(
        estimator: &dyn Estimator,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        on_checkpoint: &mut OnCheckpoint<'_>,
    ) -> Result<Self, ModelError> {
        let data = Self::checked(estimator, data, context)?;
        let model = estimator.fit_in_parts(&data, context, steps, on_checkpoint)?;
        Ok(model.recorded(estimator))
    }

    /// Like [`fit_with`](Self::fit_with), but writes the model to a file while it grows, so that memory never holds it
    /// whole. Returns the number of bytes; `None` if the method has no [`Estimator::streaming`].
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and a file that cannot be written.
    pub fn fit_to_file(
        estimator: &dyn Estimator,
        data: &Dataset,
        context: &FitContext<'_>,
        path: impl AsRef<Path>,
    ) -> Result<Option<u64>, ModelError> {
        let Some(streaming) = estimator.streaming() else {
            return Ok(None);
        };
        let data = Self::checked(estimator, data, context)?;
        let destination = StreamDestination {
            path: path.as_ref(),
            parameters: &estimator.parameters(),
            pipeline: None,
            decision: Decision::default(),
        };
        streaming.fit_to_file(&data, context, &destination).map(Some)
    }

    /// The samples that are fitted, which meet the requirements of the method and suit the context.
    fn checked<'a>(
        estimator: &dyn Estimator,
        data: &'a Dataset,
        context: &FitContext<'_>,
    ) -> Result<Cow<'a, Dataset>, ModelError> {
        estimator.check_samples(data)?;
        let data = data.for_training();
        context.check(estimator, &data)?;
        Ok(data)
    }

    /// Like [`fit_with`](Self::fit_with), but also returns the predictions of [`Estimator::fit_leaving_one_out`] for
    /// some samples.
    pub(crate) fn fit_leaving_one_out(
        estimator: &dyn Estimator,
        data: &Dataset,
        context: &FitContext<'_>,
        samples: &[usize],
    ) -> Result<Option<(Self, Array2<f32>)>, ModelError> {
        estimator.check_samples(data)?;
        context.check(estimator, data)?;
        let fitted = estimator.fit_leaving_one_out(data, context, samples)?;
        Ok(fitted.map(|(model, scores)| (model.recorded(estimator), scores)))
    }

    /// Records the parameters of the estimator, unless parameters are already recorded.
    fn recorded(mut self, estimator: &dyn Estimator) -> Self {
        if self.parameters.is_empty() {
            self.parameters = estimator.parameters();
        }
        self
    }

    /// Wraps a predictor that was fitted to a data set.
    ///
    /// # Errors
    /// [`ModelError::Mismatch`] if the predictor was fitted to data of another shape.
    pub fn new(predictor: impl Predict, training: &Dataset) -> Result<Self, ModelError> {
        Self::of_levels(predictor, training, &[])
    }

    /// Like [`new`](Self::new), for a predictor of quantiles with one output per level of each output of the data. With
    /// a single level the outputs keep their names, otherwise they are called `price@0.1`, `price@0.9`. Without levels
    /// the predictions are no quantiles.
    ///
    /// # Errors
    /// As [`new`](Self::new); [`ModelError::Parameter`] for levels that do not increase or are not between 0 and 1.
    pub fn of_levels(
        predictor: impl Predict,
        training: &Dataset,
        levels: &[f64],
    ) -> Result<Self, ModelError> {
        let schema = Schema::from(training).with_levels(levels)?;
        let summary = TrainingSummary::of(training).repeated(schema.outputs_per_target());
        Self::from_parts(Arc::new(predictor), schema, None, summary, SOFTWARE.to_owned())
    }

    pub(crate) fn from_parts(
        predictor: Arc<dyn Predict>,
        schema: Schema,
        pipeline: Option<Pipeline>,
        training: TrainingSummary,
        software: String,
    ) -> Result<Self, ModelError> {
        let n_features = schema.feature_names.iter().len();
        let n_columns = pipeline.as_ref().map_or(n_features, Pipeline::n_columns);
        let n_outputs = schema.output_names.iter().len();
        for (what, expected, given) in [
            ("features of the data", predictor.n_features(), n_columns),
            ("outputs of the data", predictor.n_outputs(), n_outputs),
            (
                "outputs of the summary",
                predictor.n_outputs(),
                training.n_outputs(),
            ),
            ("training samples", predictor.n_train(), training.n_samples),
        ] {
            Mismatch::check(what, expected, given)?;
        }
        Ok(Self {
            predictor,
            schema,
            pipeline,
            training,
            parameters: Map::new(),
            thresholds: None,
            intervals: None,
            decision: Decision::default(),
            software,
        })
    }

    /// Adds the pipeline that prepared the features of the predictor's training set, so that the model takes unprepared
    /// features. `training` is the data set before the pipeline; a pipeline without steps is dropped.
    ///
    /// ```
    /// use ndarray::array;
    /// use rpo::data::preprocess::{Fill, Steps, Transform};
    /// use rpo::data::{Dataset, Task};
    /// use rpo::{Model, Predictor, core::Learner, linear::RidgeParams};
    /// let (x, y) = (array![[0.0], [1.0], [f32::NAN], [2.0]], array![[1.0], [3.0], [3.0], [5.0]]);
    /// let train = Dataset::new(x.into(), y.into(), Task::Regression)?;
    /// let pipeline = Steps { impute: Some(Fill::Mean), ..Steps::default() }.fit(&train)?;
    /// let filled = pipeline.apply(&train)?;
    /// let ridge = RidgeParams::default().fit(filled.features().view(), filled.outputs().view())?;
    /// let model = Model::new(ridge, &filled)?.with_pipeline(pipeline, &train)?;
    /// let scores = model.predict((&array![[f32::NAN], [1.0]]).into())?;
    /// assert_eq!(scores[[0, 0]], scores[[1, 0]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ModelError::Preprocess`] if the pipeline was fitted to other features than those of `training`,
    /// [`ModelError::Mismatch`] if it does not produce as many features as the predictor expects.
    pub fn with_pipeline(self, pipeline: Pipeline, training: &Dataset) -> Result<Self, ModelError> {
        pipeline.check(training)?;
        Mismatch::check(
            "features after the pipeline",
            self.predictor.n_features(),
            pipeline.n_columns(),
        )?;
        let schema = self.schema.with_features_of(training);
        let summary = self.training.with_features_of(training);
        let pipeline = Some(pipeline).filter(|pipeline| !pipeline.is_identity());
        Ok(Self {
            schema,
            pipeline,
            training: summary,
            ..self
        })
    }

    /// Sets the score from which each label is predicted, to given values or those found by a rule. Numbers beside labels
    /// have a threshold that is not used.
    ///
    /// # Errors
    /// [`ModelError::MetricForLabels`] if no output is a label, [`ModelError::Mismatch`] if there is not one score per
    /// output, [`ModelError::Threshold`] for NaN. For a rule: data without the columns of the model, or other samples than
    /// those of the training set; [`ModelError::Ensemble`] if the model has no out-of-bag predictions, or scores take
    /// more than 4 GiB.
    pub fn with_thresholds<'a>(self, from: impl Into<ThresholdSource<'a>>) -> Result<Self, ModelError> {
        let thresholds = self.thresholds_from(from.into())?;
        if let Some(thresholds) = &thresholds {
            Mismatch::check("decision thresholds", self.n_outputs(), thresholds.len())?;
            if let Some(output) = thresholds.iter().position(|t| t.is_nan()) {
                return Err(ModelError::Threshold { output });
            }
        }
        Ok(Self { thresholds, ..self })
    }

    /// Sets the number of nodes that a prediction of label trees follows at each depth, which training may have set
    /// otherwise: more nodes find more labels, and take longer.
    ///
    /// # Errors
    /// [`ModelError::NoBeam`] for a model of another method, [`ModelError::Linear`] for no node.
    pub fn with_beam(mut self, beam: usize) -> Result<Self, ModelError> {
        let kind = self.predictor.kind();
        let forest = self.predictor.downcast_ref::<LabelForest>().cloned();
        let forest = forest.ok_or(ModelError::NoBeam { kind })?;
        self.predictor = Arc::new(forest.with_beam(beam)?);
        self.parameters.insert("beam".to_owned(), beam.into());
        Ok(self)
    }

    /// The fitted predictor; [`downcast_ref`](trait.Predict.html#method.downcast_ref) returns it as its concrete type.
    pub fn predictor(&self) -> &dyn Predict {
        self.predictor.as_ref()
    }

    /// The task, and the names and kinds of the columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The preparation of features for the predictor, if any.
    pub fn pipeline(&self) -> Option<&Pipeline> {
        self.pipeline.as_ref()
    }

    /// Name of a feature of the predictor, which is a feature of the schema after the pipeline; `None` beyond the last.
    pub fn column_name(&self, column: usize) -> Option<String> {
        let names = &self.schema.feature_names;
        match &self.pipeline {
            None => names.get(column).map(Cow::into_owned),
            Some(pipeline) => pipeline.feature_name(names, column),
        }
    }

    /// The summary of the training set.
    pub fn training(&self) -> &TrainingSummary {
        &self.training
    }

    /// The levels of the predicted quantiles, which repeat for each target; empty if the predictions are not quantiles.
    pub fn quantile_levels(&self) -> &[f64] {
        &self.schema.levels
    }

    /// The score from which each label is predicted, if thresholds are set.
    pub fn thresholds(&self) -> Option<&[f64]> {
        self.thresholds.as_deref()
    }

    /// The prediction intervals of numbers, if they are set.
    pub fn intervals(&self) -> Option<&Intervals> {
        self.intervals.as_ref()
    }

    pub(crate) fn set_intervals(self, intervals: Option<Intervals>) -> Self {
        Self { intervals, ..self }
    }

    /// The outputs that are labels: all, or in a model of numbers the classes of columns, those that the data declare, and
    /// those that boosting learned by a loss of labels.
    pub fn labels(&self) -> Vec<usize> {
        match self.schema.task {
            Task::MultiLabel => (0..self.n_outputs()).collect(),
            Task::Regression => {
                let mut labels = self.predictor.probabilities();
                labels.extend(self.schema.declared_labels());
                labels.sort_unstable();
                labels.dedup();
                labels
            }
        }
    }

    /// The groups of mutually exclusive labels, in order: the classes of columns, and the groups that boosting learned
    /// together.
    pub fn groups(&self) -> Vec<Range<usize>> {
        let columns = self.schema.class_columns.iter().map(ClassColumn::outputs);
        let mut groups: Vec<Range<usize>> = columns.collect();
        let is_new = |group: &Range<usize>| {
            groups
                .iter()
                .all(|g| g.end <= group.start || group.end <= g.start)
        };
        let others: Vec<_> = self.predictor.groups().into_iter().filter(is_new).collect();
        groups.extend(others);
        groups.sort_unstable_by_key(|group| group.start);
        groups
    }

    /// Decides which labels to predict for samples with these scores (rows x d) by the model's rule; returns them as
    /// CSR of ones.
    ///
    /// # Errors
    /// [`ModelError::MetricForLabels`] if the model predicts numbers; scores for another number of labels, or NaN; scores
    /// that are not probabilities ([`MetricError::NotAProbability`](rpo_metrics::MetricError::NotAProbability)), for
    /// [`Decision::ExpectedF1`].
    pub fn decide(&self, scores: ArrayView2<'_, f32>) -> Result<CsrMatrix, ModelError> {
        self.decision.labels(scores, self)
    }

    /// Predicts each of the training samples x with the parts of the model that did not see it in training. Also
    /// returns the number of these parts; samples without any have NaN. `None` if the method has no such predictions
    /// or every part saw all samples, as trees of Extra-Trees do, or if features contain the targets of these samples
    /// ([`Pipeline::target_encoded`]).
    ///
    /// Samples are matched by position; other samples, or another order, go unnoticed, and their predictions are not out
    /// of bag.
    ///
    /// # Errors
    /// Another number of samples than in the training set; predictions larger than 4 GiB.
    pub fn oob_predictions(&self, x: MatrixView<'_>) -> Result<Option<OobPredictions>, ModelError> {
        if self.encodes_targets() {
            return Ok(None);
        }
        match self.with_features(x, Predict::oob_predictions) {
            Err(ModelError::Ensemble(EnsembleError::NoBootstrap)) => Ok(None),
            found => Ok(found?.map(|(mut scores, counts)| {
                let rows = scores.rows_mut().into_iter().zip(&counts);
                for (mut row, _) in rows.filter(|(_, n_parts)| **n_parts == 0) {
                    row.fill(f32::NAN);
                }
                (self.with_sums_of_one(scores), counts)
            })),
        }
    }

    /// Returns true if features of the predictor contain targets of the training samples, so that its trees saw other
    /// values of these samples than it predicts from.
    pub(crate) fn encodes_targets(&self) -> bool {
        let mut encoded = self.pipeline.iter().flat_map(Pipeline::target_encoded);
        encoded.next().is_some()
    }

    /// The leaf that each sample reaches in each tree (n x trees): the trees of boosting in the order of steps and, within
    /// a step, of outputs, those of a forest per output in the order of outputs. `None` for methods without trees and
    /// ensembles.
    ///
    /// # Errors
    /// As [`predict`](Predictor::predict).
    pub fn apply(&self, x: MatrixView<'_>) -> Result<Option<Array2<u32>>, ModelError> {
        self.with_features(x, Predict::apply)
    }

    /// The predictions for samples (n x d) after each step of an additive model such as boosting, computed one after
    /// the other as they are consumed; the last equals that of [`predict`](Predictor::predict). `None` for other
    /// models. The features are copied.
    ///
    /// ```
    /// use rpo::data::generate::MultiLabelSet;
    /// use rpo::prelude::*;
    ///
    /// let data = MultiLabelSet::new(100, 20, 5).generate(Seed::new(1))?;
    /// let model = Model::fit(&Method::named("gbmort")?.with("iterations", "4")?, &data)?;
    /// let stages = model.stages(data.features().view())?.expect("boosting has steps");
    /// let all = stages.collect::<Result<Vec<_>, _>>()?;
    /// assert_eq!((all.len(), &all[3]), (4, &model.predict(data.features().view())?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`predict`](Predictor::predict).
    pub fn stages(&self, x: MatrixView<'_>) -> Result<Option<Stages>, ModelError> {
        let stages = self.with_features(x, |_, x| Arc::clone(&self.predictor).stages(x.to_owned()))?;
        Ok(stages.map(|stages| self.stages_with_sums_of_one(stages)))
    }

    /// Calls the predictor with features prepared by the pipeline. Trees would take any number for a position.
    pub(crate) fn with_features<T>(
        &self,
        x: MatrixView<'_>,
        predict: impl FnOnce(&dyn Predict, MatrixView<'_>) -> Result<T, ModelError>,
    ) -> Result<T, ModelError> {
        check_positions(x, &self.schema.nominal)?;
        let predicted = match &self.pipeline {
            None => predict(self.predictor.as_ref(), x),
            Some(pipeline) => pipeline
                .transform(x)
                .map_err(ModelError::from)
                .and_then(|prepared| predict(self.predictor.as_ref(), prepared.view())),
        };
        predicted.map_err(|e| self.refused_feature(&e, x).unwrap_or(e))
    }

    /// The error for a feature that the pipeline or the predictor refused, with its name and value in the data.
    fn refused_feature(&self, error: &ModelError, x: MatrixView<'_>) -> Option<ModelError> {
        let (row, prepared) = match *error {
            ModelError::Preprocess(PreprocessError::Dataset(DatasetError::InfiniteFeature {
                sample,
                feature,
                ..
            })) => (sample, feature),
            ModelError::Linear(LinearError::Features(MatrixError::NonFinite { row, column, .. }))
            | ModelError::Ensemble(EnsembleError::Features(MatrixError::NonFinite { row, column, .. })) => {
                (row, column)
            }
            ModelError::Ensemble(EnsembleError::Tree(
                TreeError::MissingFeature { sample, column }
                | TreeError::InfiniteFeature { sample, column, .. },
            )) => (sample, column),
            _ => return None,
        };
        let column = match &self.pipeline {
            Some(pipeline) => *pipeline.sources().get(prepared)?,
            None => prepared,
        };
        let name = self.schema.feature_names.get(column)?.into_owned();
        if row >= x.n_rows() {
            // Of other samples, such as a background.
            return None;
        }
        let value = x.select_rows(&[row]).view().to_dense(usize::MAX).ok()?[[0, column]];
        match (value.is_nan(), error) {
            // What fills a missing value in cannot be prepared: the model is wrong, not the data.
            (true, ModelError::Preprocess(_)) => None,
            (true, _) => Some(ModelError::MissingFeature { row, name }),
            (false, _) => Some(ModelError::UnusableFeature { row, name, value }),
        }
    }

    /// Appends the trees of a part that follows.
    pub(crate) fn append(self, other: Self) -> Result<Self, ModelError> {
        let predictor = self.predictor.merge(other.predictor)?;
        let mut parameters = self.parameters;
        let count = |parameters: &Map<String, Value>| parameters.get("trees").and_then(Value::as_u64);
        if let Some(trees) = count(&parameters).zip(count(&other.parameters)) {
            parameters.insert("trees".to_owned(), trees.0.saturating_add(trees.1).into());
        }
        Ok(Self {
            predictor,
            parameters,
            ..self
        })
    }

    /// Checks that some outputs of the model are labels.
    pub(crate) fn check_labels(&self) -> Result<(), ModelError> {
        match self.labels().is_empty() {
            true => Err(ModelError::MetricForLabels {
                metric: "deciding which labels to predict".to_owned(),
            }),
            false => Ok(()),
        }
    }
}
