//! Projections of the outputs on which trees grow.

use rpo_projections::{Components, Projection, ProjectionKind};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Whether trees share a projection of the outputs (Joly, Geurts, Wehenkel, ECML-PKDD 2014, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProjectionScope {
    /// One projection for all trees: Algorithm 1 (shared subspace).
    Shared,
    /// One per tree: Algorithm 2 (individual subspaces). In expectation its squared error is never worse, as it
    /// divides the variance due to the projection by the number of trees (section 3.3); that says nothing of
    /// other measures, nor of a single run.
    Tree,
}

/// A projection Z = Y Φᵀ of the outputs, on which trees grow: Y (n x d), Φ (m x d), Z (n x m). Leaves answer in
/// the d outputs all the same.
///
/// The rows of a bootstrap do not matter for it: a learned projection (PCA) sees the whole training set.
#[derive(Debug, Clone)]
pub struct OutputProjection {
    /// The family.
    pub family: Arc<dyn Projection>,
    /// How many components m. About ln d loses little on most multi-label sets (the paper's Table 1).
    pub components: Components,
    /// One for all trees, or one per tree.
    pub scope: ProjectionScope,
}

impl OutputProjection {
    /// A family of this workspace with one draw per tree.
    pub fn new(family: ProjectionKind, components: Components) -> Self {
        Self {
            family: Arc::new(family),
            components,
            scope: ProjectionScope::Tree,
        }
    }

    /// The same with one draw for all trees.
    #[must_use]
    pub fn shared(self) -> Self {
        Self {
            scope: ProjectionScope::Shared,
            ..self
        }
    }
}
