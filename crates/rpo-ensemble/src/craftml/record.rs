//! Trees as records of their training samples: a compression for files.

use super::hashed::{FeatureMap, Hasher};
use super::model::CraftmlTree;
use super::params::Width;
use super::training_set::{TrainingSet, TreeMembers, label};
use crate::error::EnsembleError;
use rpo_core::{Mismatch, Seed};
use rpo_projections::{HashingMap, LinearMap};
use rpo_tree::centroid::{TreeRecord, rebuild};
use rpo_tree::{LeafKind, Tree};

/// What a tree can be made of again, given the training set.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CraftmlRecord<'a> {
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

impl CraftmlTree {
    /// What the tree can be made of again, if it [keeps](super::CentroidKind::Rows) that.
    pub(crate) fn record(&self) -> Option<CraftmlRecord<'_>> {
        let (Some(kept), FeatureMap::Hashed(hashing)) = (self.members(), self.features()) else {
            return None;
        };
        Some(CraftmlRecord {
            hashing,
            tree: TreeRecord::of(self.tree().structure(), &kept.members)?,
            max_entries: kept.max_entries,
            leaves: self.tree().leaves().kind(),
            seed: self.seed(),
        })
    }
}

impl CraftmlRecord<'_> {
    /// Makes the tree again, bit for bit: hashes the training rows, averages those that taught each centroid, and labels the
    /// leaves with their members.
    ///
    /// # Errors
    /// [`EnsembleError`] for a record that contradicts itself or is not of this training set.
    pub(crate) fn rebuild(self, training: &TrainingSet) -> Result<CraftmlTree, EnsembleError> {
        let map = self.hashing;
        if map.n_outputs() != training.features().cols() {
            return Err(EnsembleError::Mismatch(Mismatch {
                what: "features that a tree hashes",
                expected: training.features().cols(),
                given: map.n_outputs(),
            }));
        }
        Width::Fixed(map.n_components()).check("feature_width")?;
        let hasher = Hasher::new(map);
        let x = hasher.hash_rows(training.features());
        let structure = rebuild(&self.tree, x.view(), self.max_entries)?;
        let members = self.tree.leaf_members.into_owned();
        let leaves = label(self.leaves, &members, training.outputs())?;
        let tree = Tree::new(structure, leaves)?;
        let members = TreeMembers {
            members,
            max_entries: self.max_entries,
        };
        Ok(CraftmlTree::hashed_by(Some(hasher), tree, self.seed)?.with_members(members))
    }
}
