//! Splits by a sparse hyperplane.
//!
//! A node's rows x carry a binary surrogate u ∈ {−1, +1}; a hyperplane w sends a row right if `a·w ≥ 0`, a being the
//! row's features and a last 1. [`HellingerParams`] learns w by maximising the soft Hellinger distance of Daniels and
//! Metaxas (*Addressing Imbalance in Multi-Label Classification Using Structured Hellinger Forests*, AAAI 2017),
//! [`ObliqueLogisticParams`] by maximum likelihood; an [`ObliqueSplitter`] splits nodes with either. They work on the
//! [node's matrix](NodeDesign), so that nearly all of the time goes into its products with vectors.
//!
//! Features are [scaled](FeatureScaling) on the way in, and the scaling is folded into the stored weights: a
//! [`rule`](ObliqueRule) reads raw features, and one function of it decides the side for growing and predicting.
//!
//! What the solvers need of a matrix is a [`DesignMatrix`]; what they do in `f32` can be done in `f64` too
//! ([`Real`]), which is how their tests compare them with reference values.

mod adam;
mod batches;
mod design;
mod gather;
mod hellinger;
mod least_squares;
mod logistic;
mod loss;
mod penalty;
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
