//! A fitted model with what serving it needs.

use crate::{Decision, ModelError, Schema, TrainingSummary};
use ndarray::{Array2, ArrayView2};
use rpo_core::store::Store;
use rpo_core::{CsrMatrix, MatrixError, MatrixView, Seed};
use rpo_data::preprocess::Pipeline;
use rpo_data::{Dataset, Names, Task};
use rpo_ensemble::boosting::Boosted;
use rpo_ensemble::craftml::CraftmlTree;
use rpo_ensemble::structured::{StructuredForest, StructuredTree};
use rpo_ensemble::thresholds::{self, ThresholdRule};
use rpo_ensemble::{Craftml, DEFAULT_BUDGET, EnsembleError, Forest, ForestTree, SingleTargetForest};
use rpo_linear::{LinearError, LinearModel, LinkModel};
use rpo_tree::TreeError;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What writes model files.
pub(crate) const SOFTWARE: &str = concat!("rpo ", env!("CARGO_PKG_VERSION"));

/// A fitted predictor of any method.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Predictor {
    /// Random forests, Extra-Trees and single trees.
    Forest(Forest),
    /// Gradient boosting.
    Boosted(Boosted),
    /// A forest for every output by itself.
    SingleTargetForest(SingleTargetForest),
    /// Label embeddings with a link, and links on the features themselves.
    LabelEmbedding(LinkModel),
    /// One linear model per output.
    Linear(LinearModel),
    /// CRAFTML forests.
    Craftml(Craftml),
    /// Structured Hellinger forests and their relatives.
    StructuredForest(StructuredForest),
}

/// What every fitted predictor can do, whatever its method: the one place where methods meet a [`Model`].
pub(crate) trait Predict: Store {
    /// The kind of model, by which a file is restored.
    fn kind(&self) -> &'static str;
    /// Number of features p it was fitted to.
    fn n_features(&self) -> usize;
    /// Number of outputs d it predicts.
    fn n_outputs(&self) -> usize;
    /// Number of samples n it was fitted to.
    fn n_train(&self) -> usize;
    /// Predictions (rows x d) of at most `budget` bytes; of labels, numbers of which 0.5 is the natural threshold.
    fn predict_within(&self, x: MatrixView<'_>, budget: usize) -> Result<Array2<f32>, ModelError>;
    /// The k largest predictions of each row that are not 0, as CSR.
    fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, ModelError>;
    /// Predictions for the training samples, each by the parts of the model that did not see it, and the number
    /// of those parts; `None` if the method has no such thing.
    fn oob_predictions(&self, _x: MatrixView<'_>) -> Result<Option<OobPredictions>, ModelError> {
        Ok(None)
    }
}

/// Predictions for the training samples (n x d), and for each sample how many parts of the model they come from.
pub type OobPredictions = (Array2<f32>, Vec<u32>);

/// The predictors: the variants that hold them, and their own functions, which are those of [`Predict`] by name; `oob`
/// marks those that predict for samples out of their parts' bags.
macro_rules! predictors {
    ($($variant:ident($method:ty) = $kind:literal $($oob:ident)?),* $(,)?) => {
        impl Predictor {
            pub(crate) fn inner(&self) -> &dyn Predict {
                match self {
                    $(Self::$variant(method) => method,)*
                }
            }
        }

        $(
            impl From<$method> for Predictor {
                fn from(method: $method) -> Self {
                    Self::$variant(method)
                }
            }

            impl Predict for $method {
                fn kind(&self) -> &'static str {
                    $kind
                }

                fn n_features(&self) -> usize {
                    self.n_features()
                }

                fn n_outputs(&self) -> usize {
                    self.n_outputs()
                }

                fn n_train(&self) -> usize {
                    self.n_train()
                }

                fn predict_within(&self, x: MatrixView<'_>, budget: usize) -> Result<Array2<f32>, ModelError> {
                    Ok(self.predict_within(x, budget)?)
                }

                fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, ModelError> {
                    Ok(self.predict_top_k(x, k)?)
                }

                $(predictors!(@$oob);)?
            }
        )*
    };
    (@oob) => {
        fn oob_predictions(&self, x: MatrixView<'_>) -> Result<Option<OobPredictions>, ModelError> {
            Ok(Some(self.oob_predictions(x)?))
        }
    };
}

predictors! {
    Forest(Forest) = "forest" oob,
    Boosted(Boosted) = "boosting",
    SingleTargetForest(SingleTargetForest) = "single-target-forest" oob,
    LabelEmbedding(LinkModel) = "label-embedding",
    Linear(LinearModel) = "linear",
    Craftml(Craftml) = "craftml",
    StructuredForest(StructuredForest) = "structured-forest" oob,
}

impl Predictor {
    /// Number of features it was fitted to.
    pub fn n_features(&self) -> usize {
        self.inner().n_features()
    }

    /// Number of outputs it predicts.
    pub fn n_outputs(&self) -> usize {
        self.inner().n_outputs()
    }

    /// Number of samples it was fitted to.
    pub fn n_train(&self) -> usize {
        self.inner().n_train()
    }
}

/// A predictor with the names and kinds of its columns, a summary of its training set, and how it was made.
///
/// A predictor may have been fitted to what a [`Pipeline`] made of the features: missing values filled in, indicators in
/// place of nominal features, numbers standardized. The model then keeps the pipeline
/// ([`with_pipeline`](Self::with_pipeline)) and takes features as they were before it, everywhere.
///
/// [`save`](Self::save) and [`load`](Self::load) keep it in a file (see [`model_file`](crate::model_file)).
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    predictor: Predictor,
    schema: Schema,
    pipeline: Option<Pipeline>,
    training: TrainingSummary,
    parameters: Map<String, Value>,
    thresholds: Option<Vec<f64>>,
    decision: Decision,
    software: String,
}

impl Model {
    /// A predictor fitted to a data set.
    ///
    /// # Errors
    /// [`ModelError::Mismatch`] if it was fitted to data of another shape.
    pub fn new(predictor: impl Into<Predictor>, training: &Dataset) -> Result<Self, ModelError> {
        Self::from_parts(
            predictor.into(),
            Schema::of(training),
            None,
            TrainingSummary::of(training),
            SOFTWARE.to_owned(),
        )
    }

    pub(crate) fn from_parts(
        predictor: Predictor,
        schema: Schema,
        pipeline: Option<Pipeline>,
        training: TrainingSummary,
        software: String,
    ) -> Result<Self, ModelError> {
        let n_features = schema.feature_names().len();
        let n_columns = pipeline.as_ref().map_or(n_features, Pipeline::n_columns);
        let n_outputs = schema.output_names().len();
        for (what, expected, given) in [
            ("features of the data", predictor.n_features(), n_columns),
            ("outputs of the data", predictor.n_outputs(), n_outputs),
            (
                "outputs of the summary",
                predictor.n_outputs(),
                training.n_outputs(),
            ),
            ("training samples", predictor.n_train(), training.n_samples()),
        ] {
            if expected != given {
                return Err(ModelError::Mismatch {
                    what,
                    expected,
                    given,
                });
            }
        }
        Ok(Self {
            predictor,
            schema,
            pipeline,
            training,
            parameters: Map::new(),
            thresholds: None,
            decision: Decision::default(),
            software,
        })
    }

    /// The model of the features before a pipeline. It was made for the set that the pipeline gave, and `training` is the
    /// set that it was given; a pipeline without steps leaves features as they are.
    ///
    /// ```
    /// use ndarray::array;
    /// use rpo::data::preprocess::{Fill, Steps, Transform};
    /// use rpo::data::{Dataset, Task};
    /// use rpo::{Model, linear::RidgeParams};
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
    /// [`ModelError::Mismatch`] if the predictor was not fitted to as many as it gives.
    pub fn with_pipeline(self, pipeline: Pipeline, training: &Dataset) -> Result<Self, ModelError> {
        pipeline.check(training)?;
        let (expected, given) = (self.predictor.n_features(), pipeline.n_columns());
        if expected != given {
            return Err(ModelError::Mismatch {
                what: "features that the pipeline gives",
                expected,
                given,
            });
        }
        let schema = self.schema.with_features_of(training);
        let pipeline = Some(pipeline).filter(|pipeline| !pipeline.is_identity());
        Ok(Self {
            schema,
            pipeline,
            ..self
        })
    }

    /// Notes the parameters it was trained with. They are kept for the record; nothing depends on them.
    #[must_use]
    pub fn with_parameters(self, parameters: Map<String, Value>) -> Self {
        Self { parameters, ..self }
    }

    /// Sets from which score on each label is predicted; without, 0.5.
    ///
    /// # Errors
    /// [`ModelError::Mismatch`] if there is not one per output, [`ModelError::Threshold`] for NaN.
    pub fn with_thresholds(self, thresholds: Option<Vec<f64>>) -> Result<Self, ModelError> {
        if let Some(thresholds) = &thresholds {
            let (expected, given) = (self.n_outputs(), thresholds.len());
            if expected != given {
                return Err(ModelError::Mismatch {
                    what: "decision thresholds",
                    expected,
                    given,
                });
            }
            if let Some(output) = thresholds.iter().position(|t| t.is_nan()) {
                return Err(ModelError::Threshold { output });
            }
        }
        Ok(Self { thresholds, ..self })
    }

    /// Sets how labels are decided from scores; without, by thresholds.
    #[must_use]
    pub fn with_decision(self, decision: Decision) -> Self {
        Self { decision, ..self }
    }

    /// What predicts.
    pub fn predictor(&self) -> &Predictor {
        &self.predictor
    }

    /// Task, names and kinds of the columns.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What happens to features before the predictor sees them, if anything.
    pub fn pipeline(&self) -> Option<&Pipeline> {
        self.pipeline.as_ref()
    }

    /// Names of the features that the predictor sees: those of the schema, after the pipeline.
    pub fn column_names(&self) -> Cow<'_, Names> {
        let names = self.schema.feature_names();
        match &self.pipeline {
            None => Cow::Borrowed(names),
            Some(pipeline) => Cow::Owned(pipeline.feature_names(names)),
        }
    }

    /// What it remembers of its training set.
    pub fn training(&self) -> &TrainingSummary {
        &self.training
    }

    /// The parameters it was trained with, as noted.
    pub fn parameters(&self) -> &Map<String, Value> {
        &self.parameters
    }

    /// From which score on each label is predicted, if the model says.
    pub fn thresholds(&self) -> Option<&[f64]> {
        self.thresholds.as_deref()
    }

    /// How labels are decided from scores.
    pub fn decision(&self) -> Decision {
        self.decision
    }

    /// The labels to predict for samples with these scores (rows x d), as CSR of ones, by the model's rule.
    ///
    /// # Errors
    /// [`ModelError::Task`] if the model predicts numbers; scores of another number of labels, or that are NaN.
    pub fn decide(&self, scores: ArrayView2<'_, f32>) -> Result<CsrMatrix, ModelError> {
        self.decision.labels(scores, self)
    }

    /// Name and version of the software that made it.
    pub fn software(&self) -> &str {
        &self.software
    }

    /// Number of features p: those of the schema, before a pipeline.
    pub fn n_features(&self) -> usize {
        self.schema.feature_names().len()
    }

    /// Number of outputs d.
    pub fn n_outputs(&self) -> usize {
        self.predictor.n_outputs()
    }

    /// Predictions (n x d) for features (n x p) in the model's order (see [`Schema::align_features`]).
    ///
    /// # Errors
    /// Another number of features; predictions of more than 4 GiB; features that the method or the pipeline does not
    /// take: missing ones, or values that are none of a nominal feature's.
    pub fn predict(&self, x: MatrixView<'_>) -> Result<Array2<f32>, ModelError> {
        self.predict_within(x, DEFAULT_BUDGET)
    }

    /// [`predict`](Self::predict) with another limit on the bytes of the result.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predict_within(&self, x: MatrixView<'_>, budget: usize) -> Result<Array2<f32>, ModelError> {
        self.ask(x, |predictor, x| predictor.predict_within(x, budget))
    }

    /// The k largest predictions of each row that are not 0, as CSR (n x d). Never holds all predictions.
    ///
    /// # Errors
    /// As [`predict`](Self::predict), and k = 0.
    pub fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, ModelError> {
        self.ask(x, |predictor, x| predictor.predict_top_k(x, k))
    }

    /// Predictions for the training samples x, each by the parts of the model that did not see it in training,
    /// and from how many of those; rows without any are NaN. `None` if the method has no such thing.
    ///
    /// # Errors
    /// Other samples than those of the training set; predictions of more than 4 GiB.
    pub fn oob_predictions(&self, x: MatrixView<'_>) -> Result<Option<OobPredictions>, ModelError> {
        self.ask(x, |predictor, x| predictor.oob_predictions(x))
    }

    /// Asks the predictor about features as the model takes them.
    fn ask<T>(
        &self,
        x: MatrixView<'_>,
        ask: impl FnOnce(&dyn Predict, MatrixView<'_>) -> Result<T, ModelError>,
    ) -> Result<T, ModelError> {
        let answer = match &self.pipeline {
            None => ask(self.predictor.inner(), x),
            Some(pipeline) => ask(self.predictor.inner(), pipeline.transform(x)?.view()),
        };
        answer.map_err(|e| match e {
            ModelError::Linear(LinearError::Features(_))
            | ModelError::Ensemble(
                EnsembleError::Features(_) | EnsembleError::Tree(TreeError::MissingFeature { .. }),
            ) => self.missing_feature(x).unwrap_or(e),
            e => e,
        })
    }

    /// The first feature that is missing, by the name that the data have for it.
    fn missing_feature(&self, x: MatrixView<'_>) -> Option<ModelError> {
        match x.check_finite() {
            Err(MatrixError::NonFinite { row, column, value }) if value.is_nan() => {
                let name = self.schema.feature_names().get(column)?.into_owned();
                Some(ModelError::MissingFeature { row, name })
            }
            _ => None,
        }
    }

    /// Sets the thresholds that a rule finds on the out-of-bag predictions for the training set, which is given again.
    ///
    /// # Errors
    /// [`ModelError::Task`] if the outputs are no labels; [`ModelError::Ensemble`] if the model has no out-of-bag
    /// predictions, the samples are not those of the training set, or scores would take more than 4 GiB.
    pub fn with_oob_thresholds(self, rule: ThresholdRule, training: &Dataset) -> Result<Self, ModelError> {
        self.check_labels()?;
        let found = self.oob_predictions(training.features().view())?;
        let (scores, _) = found.ok_or(EnsembleError::NoBootstrap)?;
        self.with_thresholds_by(rule, scores.view(), training.outputs().view())
    }

    /// Sets the thresholds that a rule finds on the predictions for samples that the model was not fitted to: features
    /// x (n x p) and labels y (n x d) in the model's order (see [`Schema::align_features`]).
    ///
    /// # Errors
    /// [`ModelError::Task`] if the outputs are no labels; x or y of other shapes; predictions of more than 4 GiB.
    pub fn with_withheld_thresholds(
        self,
        rule: ThresholdRule,
        x: MatrixView<'_>,
        y: MatrixView<'_>,
    ) -> Result<Self, ModelError> {
        self.check_labels()?;
        let scores = self.predict(x)?;
        self.with_thresholds_by(rule, scores.view(), y)
    }

    fn with_thresholds_by(
        self,
        rule: ThresholdRule,
        scores: ArrayView2<'_, f32>,
        y: MatrixView<'_>,
    ) -> Result<Self, ModelError> {
        let found = thresholds::find(rule, scores, y)?;
        self.with_thresholds(Some(found))
    }

    /// That the model predicts labels.
    fn check_labels(&self) -> Result<(), ModelError> {
        match self.schema.task() {
            Task::MultiLabel => Ok(()),
            expected => Err(ModelError::Task {
                expected,
                given: Task::MultiLabel,
            }),
        }
    }

    /// One model of two that were trained on the same data, for instance parts of a forest grown apart; of
    /// forests grown with successive [`first_tree`](rpo_ensemble::ForestParams::first_tree), exactly the
    /// model one training would have given.
    ///
    /// Noted parameters stay where both agree, and `trees` is summed; where they differ the first model's stay.
    ///
    /// # Errors
    /// [`ModelError::Merge`] if columns or training sets differ, decision thresholds are set (they belong to
    /// the scores of one model), or a tree is in both; [`ModelError::Ensemble`] if the forests do not fit.
    pub fn merge(self, other: Self) -> Result<Self, ModelError> {
        let refuse = |why| Err(ModelError::Merge(why));
        if self.schema != other.schema {
            return refuse("they differ in task, features or outputs");
        }
        if self.pipeline != other.pipeline {
            return refuse("features are prepared for them in different ways");
        }
        if self.training != other.training {
            return refuse("they were trained on different data");
        }
        if self.decision != other.decision {
            return refuse("they decide labels by different rules");
        }
        if self.thresholds.is_some() || other.thresholds.is_some() {
            return refuse("decision thresholds belong to the scores of one model");
        }
        let predictor = match (self.predictor, other.predictor) {
            (Predictor::Forest(mine), Predictor::Forest(theirs)) => {
                let seed = |tree: &ForestTree| tree.seed;
                check_apart(mine.trees().iter().map(seed), theirs.trees().iter().map(seed))?;
                Predictor::Forest(mine.merge(theirs)?)
            }
            (Predictor::SingleTargetForest(mine), Predictor::SingleTargetForest(theirs)) => {
                let seed = |tree: &ForestTree| tree.seed;
                let (my_trees, their_trees) = (mine.forest().trees(), theirs.forest().trees());
                check_apart(my_trees.iter().map(seed), their_trees.iter().map(seed))?;
                Predictor::SingleTargetForest(mine.merge(theirs)?)
            }
            (Predictor::Craftml(mine), Predictor::Craftml(theirs)) => {
                check_apart(
                    mine.trees().iter().map(CraftmlTree::seed),
                    theirs.trees().iter().map(CraftmlTree::seed),
                )?;
                Predictor::Craftml(mine.merge(theirs)?)
            }
            (Predictor::StructuredForest(mine), Predictor::StructuredForest(theirs)) => {
                let seed = |tree: &StructuredTree| tree.seed;
                check_apart(mine.trees().iter().map(seed), theirs.trees().iter().map(seed))?;
                Predictor::StructuredForest(mine.merge(theirs)?)
            }
            _ => return refuse("only forests of one method are"),
        };
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
}

/// Refuses a tree that is in both of two ensembles.
fn check_apart(
    mine: impl Iterator<Item = Seed>,
    mut theirs: impl Iterator<Item = Seed>,
) -> Result<(), ModelError> {
    let mut taken: Vec<u64> = mine.map(Seed::value).collect();
    taken.sort_unstable();
    if theirs.any(|seed| taken.binary_search(&seed.value()).is_ok()) {
        let why = "both hold the same tree; grow them with another seed or first tree";
        return Err(ModelError::Merge(why));
    }
    Ok(())
}
