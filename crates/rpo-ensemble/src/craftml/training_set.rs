//! The training set that the trees of a forest refer to.

use crate::error::EnsembleError;
use crate::inputs::check_complete;
use rpo_core::{CsrMatrix, CsrView, Matrix, MatrixView};
use rpo_tree::{LeafBuilder, LeafKind, LeafMembers, Leaves};
use std::sync::Arc;

/// The training samples of a forest, stored once for all trees that refer to them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrainingSet {
    features: CsrMatrix,
    outputs: Arc<Matrix>,
}

impl TrainingSet {
    /// Combines features (n x p) and outputs (n x d), all finite.
    ///
    /// # Errors
    /// [`EnsembleError`] for shapes that do not match, and values that are missing (NaN) or infinite.
    pub(crate) fn new(features: MatrixView<'_>, outputs: Arc<Matrix>) -> Result<Self, EnsembleError> {
        check_complete(features, outputs.view(), None)?;
        features
            .check_values(f32::is_finite)
            .map_err(EnsembleError::Features)?;
        let features = features.to_csr();
        Ok(Self { features, outputs })
    }

    /// Returns the features, without stored zeros.
    pub(crate) fn features(&self) -> CsrView<'_> {
        self.features.view()
    }

    /// Returns the outputs.
    pub(crate) fn outputs(&self) -> &Arc<Matrix> {
        &self.outputs
    }
}

/// Computes the leaves as unweighted means of their members.
pub(super) fn label(
    kind: LeafKind,
    members: &LeafMembers,
    outputs: &Arc<Matrix>,
) -> Result<Leaves, EnsembleError> {
    let weights = vec![1.0; outputs.n_rows()];
    Ok(kind.build(members, &weights, outputs)?)
}
