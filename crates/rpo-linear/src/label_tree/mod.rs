//! Label trees: trees of linear classifiers over clusters of the labels.

mod cluster;
mod fit;
mod model;
mod params;
mod search;
mod store;
mod structure;

pub use model::{LabelForest, LabelTree};
pub use params::LabelTreeParams;
