#![doc = include_str!("../README.md")]

mod align;
mod decision;
mod error;
mod model;
pub mod model_file;
mod schema;
mod target;
mod training;
mod tree_size;
pub mod tune;

pub use decision::Decision;
pub use error::ModelError;
pub use model::{Model, OobPredictions, Predictor};
pub use model_file::CraftmlFile;
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

/// What most programs need.
pub mod prelude {
    pub use crate::{Decision, Model, ModelError, Predictor};
    pub use rpo_core::{CsrMatrix, Matrix, MatrixView};
    pub use rpo_data::read::{ReadOptions, Targets, read};
    pub use rpo_data::{Dataset, Task};
    pub use rpo_ensemble::{ForestParams, MaxFeatures, ProjectionChoice};
    pub use rpo_linear::{LabelEmbeddingParams, LogisticRegressionParams, RidgeParams};
    pub use rpo_metrics::{Evaluation, Metric, Scores};
    pub use rpo_projections::{Components, ProjectionKind};
}
