//! Projection families that are learned from the training samples.

mod label_embedding;
mod pca;
mod rank;

pub use label_embedding::{Embedding, LabelEmbedding};
pub use pca::{Pca, PrincipalComponents};
pub use rank::Rank;
