//! Binary relevance: a forest for every label by itself.
//!
//! The baseline rf-cost of Daniels and Metaxas (*Addressing Imbalance in Multi-Label Classification Using Structured
//! Hellinger Forests*, AAAI 2017, section 4): for each label 50 trees by entropy on 75 % of the rows and features, leaves of
//! at least 3 rows. Costs grow with the number of labels, as does the model; labels cannot help each other. What makes it
//! sensitive to cost is the decision: [`thresholds`](crate::thresholds) on out-of-bag scores.

mod fit;
mod model;
mod params;

pub use model::{BinaryRelevanceForest, LabelTree};
pub use params::{BinaryRelevanceParams, ValidBinaryRelevanceParams};
