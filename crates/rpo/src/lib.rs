#![doc = include_str!("../README.md")]

mod align;
mod blocks;
pub mod combine;
mod decision;
mod error;
mod evaluate;
mod explain;
mod intervals;
mod merging;
mod method;
mod methods;
mod model;
pub mod model_file;
mod predict;
mod relabel;
mod schema;
mod target;
mod training;
mod tree_size;
pub mod tune;

pub use align::{MissingName, UnseenValues};
pub use blocks::{BLOCK_BYTES, for_each_block};
pub use decision::{Decision, TargetValue, ThresholdSource};
pub use error::ModelError;
pub use evaluate::{
    ColumnImportance, CrossValScores, CrossValidation, EvaluateOptions, Evaluated, Fold, Folds,
    FrequencyScores, OnFold, OobScore, OutputScores, PermutationOptions, cross_val_scores, cross_validate,
    default_metric,
};
pub use intervals::{IntervalSource, Intervals};
pub use merging::{Merging, MergingError};
pub use method::{
    DataProblem, DecisionParams, Difference, Estimator, FeatureParams, FitContext, Method, MethodEntry,
    MethodError, Needs, NominalEncoding, OnCheckpoint, OutputNeed, ParameterInfo, Parameters, Registry,
    SmallWeights, StandardizedBy, StreamDestination, StreamingFit, WrapProjection, parameters_of,
};
pub use methods::{auto, baseline, blend};
pub use model::Model;
pub use predict::{OobPredictions, Predict, Stages};
pub use rpo_core as core;
pub use rpo_data as data;
pub use rpo_ensemble as ensemble;
pub use rpo_linear as linear;
pub use rpo_metrics as metrics;
pub use rpo_projections as projections;
pub use rpo_tree as tree;
pub use schema::Schema;
pub use target::{FileTarget, TargetError};
pub use training::{OutputSummary, TrainingSummary};
pub use tree_size::TreeSize;

pub use rpo_core::{DEFAULT_MEMORY_LIMIT, Predictor};

/// The types and functions that most programs need.
pub mod prelude {
    pub use crate::auto::AutoParams;
    pub use crate::baseline::BaselineParams;
    pub use crate::blend::BlendParams;
    pub use crate::tune::{Holdout, Refit};
    pub use crate::{
        Decision, EvaluateOptions, FitContext, Folds, Method, Model, ModelError, cross_validate,
    };
    pub use rpo_core::{CsrMatrix, Matrix, MatrixView, Predictor, Seed};
    pub use rpo_data::generate::Generator;
    pub use rpo_data::read::{ReadOptions, Targets};
    pub use rpo_data::{Dataset, Task};
    pub use rpo_ensemble::boosting::BoostingParams;
    pub use rpo_ensemble::structured::StructuredForestParams;
    pub use rpo_ensemble::{CraftmlParams, CraftmlVariant, ForestParams, ForestPreset, MaxFeatures};
    pub use rpo_linear::{
        LabelEmbeddingParams, LabelTreeParams, LogisticRegressionParams, OneVsRestParams, RidgeParams,
    };
    pub use rpo_metrics::Metric;
    pub use rpo_projections::{Components, ProjectionKind};
}
