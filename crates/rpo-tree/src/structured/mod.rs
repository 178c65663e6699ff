//! Structured splits: the label sets of a node are turned into a binary problem, which a binary splitter solves.
//!
//! Structured forests (Kontschieder, Bulò, Bischof, Pelillo, ICCV 2011; for label sets Daniels and Metaxas, *Addressing
//! Imbalance in Multi-Label Classification Using Structured Hellinger Forests*, AAAI 2017) take at each node
//!
//! 1. weights of the labels, so that rare ones count ([`LabelWeighting`], eq. 1), or 1,
//! 2. two clusters of the weighted label sets ([`kmeans`](crate::cluster)),
//! 3. a split of the features that separates the clusters ([`BinarySplitter`](crate::splitter::BinarySplitter)): by one
//!    feature and information gain ([`InformationGain`]), or by a hyperplane
//!    ([`ObliqueSplitter`](crate::oblique::ObliqueSplitter)).
//!
//! Two kinds of clusters and three of splits make the paper's variants:
//!
//! | | all labels alike | cost-sensitive |
//! | --- | --- | --- |
//! | information gain | SF | SF-CS |
//! | logistic regression | SF-LR | SF-LR-CS |
//! | Hellinger distance | SF-H | SF-H-CS, called SOSHF |

mod information_gain;
mod label_weighting;
mod splitter;

pub use information_gain::{InformationGain, InformationGainWorkspace};
pub use label_weighting::{LabelWeighting, WeightMode};
pub use splitter::{LabelClusteringParams, StructuredSplitter};
