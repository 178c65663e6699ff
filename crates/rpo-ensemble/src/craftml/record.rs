//! Trees as records of how they were taught, and the training set that the records refer to.

use super::hashed::Hasher;
use super::model::CraftmlTree;
use super::params::Width;
use crate::EnsembleError;
use crate::inputs::check;
use rpo_core::{CsrMatrix, CsrView, Matrix, MatrixView, Seed};
use rpo_projections::{HashingMap, LinearMap};
use rpo_tree::centroid::{TreeRecord, recall};
use rpo_tree::{LeafKind, LeafMembers, Leaves, Tree};
use std::sync::Arc;

/// The rows that a forest was fitted to, once for all trees that refer to them.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainingSet {
    features: CsrMatrix,
    outputs: Arc<Matrix>,
}

impl TrainingSet {
    /// Joins features (n x p) and outputs (n x d), finite.
    ///
    /// # Errors
    /// [`EnsembleError`] for shapes that do not fit, and values that are missing (NaN) or infinite.
    pub fn new(features: MatrixView<'_>, outputs: Arc<Matrix>) -> Result<Self, EnsembleError> {
        check(features, outputs.view(), None)?;
        features.check_finite().map_err(EnsembleError::Features)?;
        let features = features.to_csr();
        Ok(Self { features, outputs })
    }

    /// The features, without stored zeros.
    pub fn features(&self) -> CsrView<'_> {
        self.features.view()
    }

    /// The outputs.
    pub fn outputs(&self) -> &Arc<Matrix> {
        &self.outputs
    }
}

/// What is kept of a tree's growing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Taught {
    /// The training rows of each leaf.
    pub(super) members: LeafMembers,
    /// Largest number of entries of a centroid.
    pub(super) max_entries: Option<usize>,
}

/// What a tree can be made of again, given the training set.
#[derive(Debug, Clone, PartialEq)]
pub struct CraftmlRecord<'a> {
    /// How features are hashed.
    pub hashing: HashingMap,
    /// Nodes, and which rows are in which leaf and taught which centroid.
    pub tree: TreeRecord<'a>,
    /// Largest number of entries of a centroid.
    pub max_entries: Option<usize>,
    /// How leaves are stored.
    pub leaves: LeafKind,
    /// Where the tree's randomness came from.
    pub seed: Seed,
}

impl CraftmlRecord<'_> {
    /// Makes the tree again, bit for bit: hashes the training rows, averages those that taught each centroid, and labels the
    /// leaves with their members.
    ///
    /// # Errors
    /// [`EnsembleError`] for a record that contradicts itself or is not of this training set.
    pub fn recall(self, training: &TrainingSet) -> Result<CraftmlTree, EnsembleError> {
        let map = self.hashing;
        if map.n_outputs() != training.features.cols() {
            return Err(EnsembleError::Mismatch {
                what: "features that a tree hashes",
                expected: training.features.cols(),
                given: map.n_outputs(),
            });
        }
        Width::Fixed(map.n_components()).check("feature_width")?;
        let hasher = Hasher::new(map);
        let x = hasher.hash_rows(training.features.view());
        let structure = recall(&self.tree, x.view(), self.max_entries)?;
        let members = self.tree.members.into_owned();
        let leaves = label(self.leaves, &members, &training.outputs)?;
        let tree = Tree::new(structure, leaves)?;
        let taught = Taught {
            members,
            max_entries: self.max_entries,
        };
        Ok(CraftmlTree::hashed_by(Some(hasher), tree, self.seed)?.taught(taught))
    }
}

/// Labels leaves with the plain means of their members.
pub(super) fn label(
    kind: LeafKind,
    members: &LeafMembers,
    outputs: &Arc<Matrix>,
) -> Result<Leaves, EnsembleError> {
    let weights = vec![1.0; outputs.n_rows()];
    Ok(Leaves::label(kind, members, &weights, outputs)?)
}
