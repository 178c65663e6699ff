#![doc = include_str!("../README.md")]

mod bag;
mod bit_routes;
mod block;
pub mod boosting;
pub mod craftml;
mod error;
mod fit;
mod forest;
mod inputs;
mod label_sets;
mod max_features;
mod missing;
mod params;
mod predict;
mod sampling;
mod single_target;
pub mod structured;
mod sums;
pub mod thresholds;
mod training;
mod value_routes;

/// What features and outputs come in.
pub use rpo_core::{CsrMatrix, Matrix, MatrixView, Seed};
/// What trees grow on.
pub use rpo_projections::{Components, Projection, ProjectionKind};
/// How leaves are stored.
pub use rpo_tree::LeafKind;

pub use bag::{Bag, RowSampling};
pub use craftml::{Craftml, CraftmlParams, CraftmlPreset, ValidCraftmlParams};
pub use error::EnsembleError;
pub use fit::FitOptions;
pub use forest::{Forest, ForestTree, Importances};
pub use inputs::MAX_OUTPUTS;
pub use max_features::MaxFeatures;
pub use params::{CriterionKind, ForestParams, OutputProjection, ProjectionScope, ValidForestParams};
pub use predict::DEFAULT_BUDGET;
pub use single_target::SingleTargetForest;
