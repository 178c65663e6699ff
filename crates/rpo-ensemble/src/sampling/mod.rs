//! Samples and features that a tree sees.

pub(crate) mod bag;
pub(crate) mod max_features;
pub(crate) mod subset;

pub use bag::{Bag, OutOfBagPredictor};
pub use max_features::MaxFeatures;
