//! Label embeddings with a linear or kernel link back to all labels.

mod estimate;
mod feature_map;
mod fit;
pub(crate) mod loss;
mod model;
mod normal;
mod params;
mod sgd;
mod store;
mod terms;

pub use feature_map::FeatureMap;
pub use fit::History;
pub use model::LabelEmbeddingModel;
pub use params::{EmbeddingMode, LabelEmbeddingParams, LinkLoss};
