//! Random choice of the samples and features of trees.

pub(crate) mod bag;
pub(crate) mod max_features;
pub(crate) mod subset;

pub use bag::{Bag, OutOfBagPredictor};
pub use max_features::MaxFeatures;
