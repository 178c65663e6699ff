//! Forests for all outputs together, and single-target forests.

mod fit;
mod grow;
mod grower;
mod model;
mod params;
mod predict;
mod single_target;
mod store;
mod targets;

pub use grower::{Grower, TreeInput};
pub use model::{Forest, ForestTree};
pub(crate) use model::{Importances, check_rules};
pub use params::{CriterionKind, ForestParams, ForestPreset, LeafChoice, Splitting};
pub use single_target::{SingleTargetForest, SingleTargetParams};
