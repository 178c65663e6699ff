#![doc = include_str!("../README.md")]
#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        reason = "tests compare with the standard library"
    )
)]

mod bins;
pub mod boosting;
pub mod craftml;
mod error;
mod explain;
mod forest;
mod inference;
mod inputs;
#[cfg(feature = "linfa")]
pub mod linfa;
mod list;
mod missing;
mod observers;
mod projection;
mod sampling;
mod scaling;
pub mod structured;
pub mod thresholds;

/// The crate of the types in the signatures of this crate: matrices, parameters, and what errors hold.
pub use rpo_core as core;
/// The crate of projections, for custom ones.
pub use rpo_projections as projections;
/// The crate of trees, for custom criteria, splitters and leaves.
pub use rpo_tree as tree;

/// Traits of parameters and models.
pub use rpo_core::{
    Apply, CheckParams, Contributions, Explain, FeatureImportances, ForestLearner, Learner, Merge, Predictor,
    TreeEnsemble,
};
/// Types of features and outputs, the observers of fits, and the seed.
pub use rpo_core::{CsrMatrix, DEFAULT_MEMORY_LIMIT, Matrix, MatrixView, Observers, Seed};
/// Projections of the outputs.
pub use rpo_projections::{Components, Projection, ProjectionKind};
/// Storage of leaves.
pub use rpo_tree::LeafKind;

pub use bins::Bins;
pub use craftml::{Craftml, CraftmlParams, CraftmlVariant};
pub use error::EnsembleError;
pub use forest::{
    CriterionKind, Forest, ForestOptions, ForestParams, ForestPreset, ForestTree, Grower, LeafChoice,
    LeafSamples, RelabelOptions, SingleTargetForest, SingleTargetOptions, SingleTargetParams, Splitting,
    TreeInput,
};
pub use inputs::MAX_OUTPUTS;
pub use list::{List, ListItem};
pub use projection::{ProjectionChoice, ProjectionScope};
pub use sampling::{Bag, MaxFeatures, OutOfBagPredictor};
pub use scaling::OutputScaling;

#[cfg(test)]
#[path = "../tests/unit/parts.rs"]
mod tests;

#[cfg(test)]
extern crate self as rpo_ensemble;

#[cfg(test)]
#[path = "../tests/suite/mod.rs"]
mod suite;
