//! A label embedding as a projection for trees.

use std::sync::Arc;

use rpo_core::{Matrix, MatrixView, Seed};

use super::{LabelEmbedding, Rank, check_stored};
use crate::outputs::check_csr;
use crate::{LinearMap, Projection, ProjectionError};

/// A [`LabelEmbedding`] with the features that it learns from: a [`Projection`], so that forests and boosting grow on
/// the directions of the outputs that can be predicted.
///
/// To be fitted to the outputs of the same rows, in the same order.
#[derive(Debug, Clone)]
pub struct BoundEmbedding {
    embedding: LabelEmbedding,
    features: Arc<Matrix>,
}

impl BoundEmbedding {
    /// Binds an embedding to features (n x p).
    ///
    /// # Errors
    /// [`ProjectionError::FactorValue`] if a feature is not finite, [`ProjectionError::NotCsr`].
    pub fn new(embedding: LabelEmbedding, features: Arc<Matrix>) -> Result<Self, ProjectionError> {
        check_csr(features.view())?;
        check_stored(&features.view(), "the feature matrix")?;
        Ok(Self { embedding, features })
    }
}

/// Stands for what [`BoundEmbedding`] is, where a family must be named before there are features; fitting it fails.
impl Projection for LabelEmbedding {
    fn fit(
        &self,
        _y: MatrixView<'_>,
        _n_components: usize,
        _seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        Err(ProjectionError::NoFeatures)
    }
}

impl Projection for BoundEmbedding {
    fn fit(
        &self,
        y: MatrixView<'_>,
        n_components: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        check_csr(y)?;
        let x = self.features.view();
        let ridge = self.embedding.ridge(&x)?;
        let rank = Rank::Exact(n_components);
        self.embedding.fit_on(&ridge, &y, rank, seed)?.map()
    }
}
