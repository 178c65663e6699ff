//! Forests of all outputs, or of each output by itself.

mod fit;
mod grow;
mod model;
mod options;
mod params;
mod predict;
mod single_target;
mod store;

pub(crate) use model::check_rules;
pub use model::{Forest, ForestTree, Importances};
pub use options::FitOptions;
pub use params::{CriterionKind, ForestParams, ValidForestParams};
pub use single_target::SingleTargetForest;
