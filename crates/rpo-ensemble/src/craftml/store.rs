//! Conversion of CRAFTML forests to and from arrays: one part per tree, so that trees can be written as they are grown.
//!
//! A tree is stored with the training samples that its centroids average, if it keeps them, and with its centroids
//! otherwise.

use super::hashed::Hasher;
use super::model::Nodes;
use super::params::Width;
use super::training_set::{TrainingSet, label};
use super::{Craftml, CraftmlTree, FeatureMap};
use crate::error::EnsembleError;
use rayon::prelude::*;
use rpo_core::store::{Reader, Restore, Sharing, Sizes, Store, StoreError, Writer};
use rpo_core::{MatrixView, Seed, TreeEnsemble};
use rpo_projections::{Hashing, HashingMap, LinearMap};
use rpo_tree::centroid::RecordedTree;
use rpo_tree::store::StoreTrees;
use rpo_tree::{LeafKind, Tree};
use std::sync::Arc;

/// The storages of leaves, as numbered in `tree.leaves`.
const LEAF_KINDS: [LeafKind; 3] = [LeafKind::Dense, LeafKind::Sparse, LeafKind::Samples];

impl Store for Craftml {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        let mut trees = TreeByTree::default();
        for tree in self.trees() {
            trees.push(tree, out)?;
        }
        trees.finish_with(self.training().map(AsRef::as_ref), out)
    }
}

/// Stores a forest tree by tree, for callers that do not keep all trees in memory.
#[derive(Debug, Default)]
pub struct TreeByTree {
    n_trees: usize,
    /// True if restoring a tree requires the training set.
    needs_training: bool,
}

impl TreeByTree {
    /// Stores the next tree as a part.
    ///
    /// # Errors
    /// [`StoreError`] if the tree refers to other training outputs than those before it.
    pub fn push(&mut self, tree: &CraftmlTree, out: &mut Writer) -> Result<(), StoreError> {
        out.scoped(self.n_trees, Sharing::Outside, |out| tree.store(out))
            .map_err(|e| StoreError::part(format_args!("tree {}", self.n_trees), e))?;
        self.n_trees += 1;
        self.needs_training |= matches!(tree.nodes(), Nodes::Recorded { .. });
        Ok(())
    }

    /// Stores the data shared by the trees: the features (n x p) and outputs (n x d) that they were grown on, if trees
    /// refer to them.
    ///
    /// # Errors
    /// [`StoreError`] if features and outputs do not match, or a tree refers to other training outputs.
    pub fn finish(self, x: MatrixView<'_>, y: MatrixView<'_>, out: &mut Writer) -> Result<(), StoreError> {
        let mut training = None;
        if self.needs_training {
            let set = TrainingSet::new(x, Arc::new(y.to_owned()));
            training = Some(set.map_err(|e| StoreError::part("training set", e))?);
        }
        self.finish_with(training.as_ref(), out)
    }

    fn finish_with(self, training: Option<&TrainingSet>, out: &mut Writer) -> Result<(), StoreError> {
        out.field("n_trees", self.n_trees)?;
        training.map_or(Ok(()), |training| training.store(out))
    }
}

impl Store for TrainingSet {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        out.sparse("input", &[self.features()])?;
        out.share("output", self.outputs())
    }
}

impl Store for CraftmlTree {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        if let FeatureMap::Hashed(map) = self.features {
            out.array("hash.seed", &[map.seed.value()])?;
            out.array("hash.width", &[map.n_components() as u32])?;
        }
        out.array("tree.seed", &[self.seed().value()])?;
        match self.nodes() {
            Nodes::Rules(tree) => Tree::store_all(std::iter::once(tree), out),
            Nodes::Recorded { nodes, leaves } => {
                let kind = LEAF_KINDS
                    .iter()
                    .take_while(|&&kind| kind != leaves.kind())
                    .count();
                out.array("tree.leaves", &[kind as u32])?;
                nodes.store(out)
            }
        }
    }
}

impl Restore for Craftml {
    fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
        let n_trees: usize = from.field("n_trees")?;
        let mut training = None;
        if from.has("input.size") {
            let features = from
                .sparse("input", sizes.n_features, &[sizes.n_train])?
                .remove(0);
            let outputs = from.shared("output", sizes.n_outputs)?;
            let outputs = outputs.ok_or_else(|| StoreError::array("output.size", "is missing"))?;
            let set = TrainingSet::new(MatrixView::Sparse(features.view()), outputs);
            training = Some(Arc::new(set.map_err(|e| StoreError::part("training set", e))?));
        }
        let mut parts = Vec::new();
        for tree in 0..n_trees {
            let part = from.scoped(tree, Sharing::Outside, |from| {
                read_tree(from, training.as_deref(), sizes)
            });
            parts.push(part.map_err(|e| of_tree(tree, e))?);
        }
        let finish = |(tree, part)| match part {
            Part::Whole(whole) => Ok(whole),
            Part::Record(record, training) => record.finish(training).map_err(|e| of_tree(tree, e)),
        };
        let trees = parts.into_par_iter().enumerate().map(finish);
        let trees = trees.collect::<Result<Vec<_>, StoreError>>()?;
        let (n, p, d) = (sizes.n_train, sizes.n_features, sizes.n_outputs);
        let forest = Self::from_parts(trees, training, n, p, d);
        forest.map_err(|e| StoreError::part("forest", e))
    }
}

fn of_tree(tree: usize, problem: impl std::fmt::Display) -> StoreError {
    StoreError::part(format_args!("tree {tree}"), problem)
}

/// A stored tree, and the training set if the tree refers to it.
enum Part<'t> {
    Whole(CraftmlTree),
    Record(Record, &'t TrainingSet),
}

/// A tree whose leaves have yet to be computed from their members.
struct Record {
    hashing: HashingMap,
    nodes: RecordedTree,
    leaves: LeafKind,
    seed: Seed,
}

impl Record {
    fn finish(self, training: &TrainingSet) -> Result<CraftmlTree, EnsembleError> {
        let leaves = label(self.leaves, self.nodes.members(), training.outputs())?;
        CraftmlTree::recorded(hasher_of(self.hashing)?, self.nodes, leaves, self.seed)
    }
}

fn read_tree<'t>(
    from: &mut Reader<'_>,
    training: Option<&'t TrainingSet>,
    sizes: Sizes,
) -> Result<Part<'t>, StoreError> {
    let mut features = FeatureMap::Identity;
    if from.has("hash.seed") {
        let key = Seed::new(from.array::<u64>("hash.seed")?.of_length(1)?.to_vec()[0]);
        let width = from.array::<u32>("hash.width")?.of_length(1)?.to_vec()[0] as usize;
        let map = Hashing::map(sizes.n_features, width, key);
        features = FeatureMap::Hashed(map.map_err(|e| StoreError::part("hashing", e))?);
    }
    if let (FeatureMap::Hashed(hashing), true) = (features, from.has("split.centroid")) {
        let training = training.ok_or_else(|| StoreError::array("input.size", "is missing"))?;
        let n_train = training.features().rows();
        let record = read_record(from, hashing, Sizes { n_train, ..sizes })?;
        return Ok(Part::Record(record, training));
    }
    let mut trees = Tree::restore_all(from, sizes)?;
    let wrong = |e: EnsembleError| StoreError::part("rules", e);
    let hasher = match features {
        FeatureMap::Identity => None,
        FeatureMap::Hashed(map) => Some(hasher_of(map).map_err(wrong)?),
    };
    match (trees.pop(), trees.is_empty()) {
        (Some(tree), true) => {
            let tree = CraftmlTree::new(hasher, tree, restore_seed(from)?);
            Ok(Part::Whole(tree.map_err(wrong)?))
        }
        _ => Err(StoreError::array("tree.nodes", "does not have one entry")),
    }
}

fn restore_seed(from: &mut Reader<'_>) -> Result<Seed, StoreError> {
    let seed = from.array::<u64>("tree.seed")?.of_length(1)?;
    Ok(Seed::new(seed.to_vec()[0]))
}

/// Returns the hasher of a map, which is refused if it is too wide.
fn hasher_of(map: HashingMap) -> Result<Hasher, EnsembleError> {
    Width::Fixed(map.n_components()).check("feature_width")?;
    Ok(Hasher::new(map))
}

fn read_record(from: &mut Reader<'_>, hashing: HashingMap, sizes: Sizes) -> Result<Record, StoreError> {
    let seed = restore_seed(from)?;
    let kind = from.array::<u32>("tree.leaves")?;
    let kind = kind.where_all("0, 1 or 2", |kind| (kind as usize) < LEAF_KINDS.len())?;
    Ok(Record {
        hashing,
        nodes: RecordedTree::restore(from, sizes)?,
        leaves: LEAF_KINDS[kind.of_length(1)?.to_vec()[0] as usize],
        seed,
    })
}
