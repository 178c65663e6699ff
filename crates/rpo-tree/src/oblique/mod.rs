//! Splits by sparse hyperplanes.
//!
//! The rows x of a node have a binary target u ∈ {−1, +1}; a hyperplane w sends a row right if `a·w ≥ 0`, where a is
//! the features of the row followed by a 1. [`HellingerParams`] learn w by maximising the soft Hellinger distance of
//! Daniels and Metaxas (*Addressing Imbalance in Multi-Label Classification Using Structured Hellinger Forests*, AAAI
//! 2017), [`ObliqueLogisticParams`] by maximum likelihood; an [`ObliqueSplitter`] splits nodes with either, or with
//! custom [`Hyperplanes`]. They work on the [matrix of the node](NodeDesign), and nearly all of the time is spent on
//! its products with vectors.
//!
//! Features are [scaled](FeatureScaling) before learning, and the scaling is folded into the stored weights: a
//! [rule](ObliqueRule) reads raw features, and the same function of the rule decides the side in growing and
//! prediction.
//!
//! Solvers access a matrix through [`DesignMatrix`]; they run in `f32`, and in `f64` ([`Real`]), in which tests compare
//! them with reference values.

mod adam;
mod batches;
mod design;
mod gather;
mod hellinger;
mod least_squares;
mod logistic;
mod loss;
mod penalty;
mod product;
mod real;
mod rule;
mod scaling;
mod sparse_design;
mod splitter;
mod store;
mod two_stage;

pub use design::{Batch, DesignMatrix};
pub use gather::{Features, NodeDesign, check_present};
pub use hellinger::{HellingerParams, Sharpness};
pub use logistic::ObliqueLogisticParams;
pub use real::Real;
pub use rule::{LinearRule, ObliqueRule};
pub use scaling::FeatureScaling;
pub use splitter::{Hyperplanes, ObliqueSplitter};

#[cfg(test)]
#[path = "../../tests/unit/oblique.rs"]
mod tests;
