//! Forests for all outputs together, and single-target forests.

mod choices;
mod fit;
mod grow;
mod grower;
mod model;
mod options;
mod params;
mod predict;
mod preset;
mod relabel;
mod single_target;
mod store;
mod targets;
mod weights;

pub use choices::{CriterionKind, LeafChoice, Splitting};
pub use grower::{Grower, TreeInput};
pub use model::{Forest, ForestTree};
pub(crate) use model::{Importances, check_rules};
pub use options::{ForestOptions, SingleTargetOptions};
pub use params::ForestParams;
pub use preset::ForestPreset;
pub use relabel::{LeafSamples, RelabelOptions};
pub use single_target::{SingleTargetForest, SingleTargetParams};
