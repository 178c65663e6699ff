//! Structured forests: Daniels and Metaxas, *Addressing Imbalance in Multi-Label Classification Using Structured
//! Hellinger Forests*, AAAI 2017.
//!
//! Every tree uses a fraction of the samples, of the features and of the labels. A node is split so as to separate two
//! clusters of the label sets of its samples ([`rpo_tree::structured`]). A leaf predicts the mean of **all** labels of
//! its training samples. With leaf_t(x)_j the prediction of tree t for label j,
//!
//! ```text
//! score_j(x) = Σ_t ω_tj leaf_t(x)_j / Σ_t ω_tj,    ω_tj = w if tree t clustered label j, else 1
//! ```
//!
//! in [0, 1], where w is `label_weight`, 5 by default. (The paper does not divide; without the division, labels would
//! be scored on different scales, and out-of-bag scores on another scale than predictions.) Mini-batches of the
//! Hellinger solver contain both classes in proportion, whereas the paper shuffles. Decisions come from
//! [`thresholds`](crate::thresholds) on out-of-bag scores.

mod fit;
mod model;
mod params;
mod predict;
mod store;

pub use model::StructuredForest;
pub use params::{StructuredForestParams, Variant};
pub use rpo_tree::oblique::FeatureScaling;
pub use rpo_tree::structured::WeightMode;
