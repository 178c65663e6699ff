//! The fitted CRAFTML forest.

use super::hashed::{FeatureMap, HashTable, HashedRows, Hasher};
use super::params::Width;
use super::training_set::{TrainingSet, TreeMembers};
use crate::error::EnsembleError;
use crate::error::check_lengths;
use crate::inference::block::Routed;
use crate::inference::mean::{check_features, check_width, mean_of_trees, top_k};
use ndarray::Array2;
use rpo_core::{CsrMatrix, Matrix, MatrixView, Mismatch, Predictor, Seed, csr_row};
use rpo_projections::LinearMap;
use rpo_tree::centroid::CentroidRule;
use rpo_tree::{ByNode, LeafModel, Leaves, RowBlock, Tree};
use std::ops::Range;
use std::sync::Arc;

/// A tree, and how it sees features.
#[derive(Debug, Clone, PartialEq)]
pub struct CraftmlTree {
    /// `None`: features are seen as they are.
    hasher: Option<Hasher>,
    tree: Tree<CentroidRule>,
    seed: Seed,
    members: Option<TreeMembers>,
}

impl CraftmlTree {
    /// Joins a tree, the map of features its rules are for, and where its randomness came from.
    ///
    /// The rules of hashed features are for their columns: the components or, where features are fewer, those components
    /// that some feature goes to, numbered in order.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] if a rule asks for a column that hashing does not give,
    /// [`EnsembleError::Parameter`] for more components than [`Width`](super::Width) allows.
    pub(crate) fn new(
        features: FeatureMap,
        tree: Tree<CentroidRule>,
        seed: Seed,
    ) -> Result<Self, EnsembleError> {
        let hasher = match features {
            FeatureMap::Identity => None,
            FeatureMap::Hashed(map) => {
                Width::Fixed(map.n_components()).check("feature_width")?;
                Some(Hasher::new(map))
            }
        };
        Self::hashed_by(hasher, tree, seed)
    }

    /// [`new`](Self::new) with the map of features as growing made it.
    pub(super) fn hashed_by(
        hasher: Option<Hasher>,
        tree: Tree<CentroidRule>,
        seed: Seed,
    ) -> Result<Self, EnsembleError> {
        let joined = Self {
            hasher,
            tree,
            seed,
            members: None,
        };
        if let Some(hasher) = &joined.hasher {
            joined.check_width(hasher.n_columns())?;
        }
        Ok(joined)
    }

    /// Keeps the training rows of the tree's leaves and centroids.
    pub(super) fn with_members(self, members: TreeMembers) -> Self {
        let members = Some(members);
        Self { members, ..self }
    }

    pub(super) fn members(&self) -> Option<&TreeMembers> {
        self.members.as_ref()
    }

    /// How the tree sees features.
    pub fn features(&self) -> FeatureMap {
        let map = self.hasher.as_ref().map(Hasher::map);
        map.map_or(FeatureMap::Identity, FeatureMap::Hashed)
    }

    /// Where its randomness came from; tells trees apart.
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// The tree.
    pub fn tree(&self) -> &Tree<CentroidRule> {
        &self.tree
    }

    fn check_width(&self, width: usize) -> Result<(), EnsembleError> {
        let needed = self.tree.structure().n_features();
        if needed > width {
            return Err(EnsembleError::Mismatch(Mismatch {
                what: "columns of the features for the rules of a tree",
                expected: needed,
                given: width,
            }));
        }
        Ok(())
    }
}

/// A fitted CRAFTML forest: predicts the mean of its trees' predictions. Immutable.
#[derive(Debug, Clone, PartialEq)]
pub struct Craftml {
    trees: Vec<CraftmlTree>,
    training: Option<Arc<TrainingSet>>,
    n_train: usize,
    n_features: usize,
    n_outputs: usize,
}

impl Craftml {
    /// Puts a forest together from its parts, as a trainer makes them or a model file holds them: trees, and the training
    /// set if any of them has a record.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] if there is no tree, or a tree or the training set does not fit the numbers of training
    /// rows n, features p and outputs d.
    pub fn from_parts(
        trees: Vec<CraftmlTree>,
        training: Option<Arc<TrainingSet>>,
        n_train: usize,
        n_features: usize,
        n_outputs: usize,
    ) -> Result<Self, EnsembleError> {
        let same = |what, expected, given| {
            let mismatch = EnsembleError::Mismatch(Mismatch {
                what,
                expected,
                given,
            });
            (expected == given).then_some(()).ok_or(mismatch)
        };
        if trees.is_empty() {
            return Err(EnsembleError::Mismatch(Mismatch {
                what: "number of trees of at least",
                expected: 1,
                given: 0,
            }));
        }
        if let Some(training) = &training {
            same("training samples", n_train, training.features().rows())?;
            same(
                "features of the training samples",
                n_features,
                training.features().cols(),
            )?;
            same(
                "outputs of the training samples",
                n_outputs,
                training.outputs().n_cols(),
            )?;
        }
        for tree in &trees {
            let n_sets = usize::from(training.is_some() || tree.members.is_none());
            same("training sets that a tree refers to", 1, n_sets)?;
            same("outputs of a tree", n_outputs, tree.tree.leaves().n_outputs())?;
            match tree.features() {
                FeatureMap::Identity => tree.check_width(n_features)?,
                FeatureMap::Hashed(map) => same("features that a tree hashes", n_features, map.n_outputs())?,
            }
            if let Leaves::Samples(leaves) = tree.tree.leaves() {
                let given = leaves.outputs().n_rows();
                same("training samples that a tree refers to", n_train, given)?;
            }
        }
        Ok(Self {
            trees,
            training,
            n_train,
            n_features,
            n_outputs,
        })
    }

    /// The trees.
    pub fn trees(&self) -> &[CraftmlTree] {
        &self.trees
    }

    /// The training set, if trees refer to it.
    pub fn training(&self) -> Option<&Arc<TrainingSet>> {
        self.training.as_ref()
    }

    /// The training outputs that trees share, if any refers to them.
    pub(super) fn training_outputs(&self) -> Option<&Arc<Matrix>> {
        let of_set = self.training.as_ref().map(|training| training.outputs());
        of_set.or_else(|| self.outputs_of_leaves())
    }

    fn outputs_of_leaves(&self) -> Option<&Arc<Matrix>> {
        self.trees.iter().find_map(|t| match t.tree.leaves() {
            Leaves::Samples(leaves) => Some(leaves.outputs()),
            _ => None,
        })
    }

    /// The leaf of each row in each tree (n x trees).
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn apply(&self, x: MatrixView<'_>) -> Result<Array2<u32>, EnsembleError> {
        self.check(x)?;
        let n = x.n_rows();
        let mut leaves = vec![0; n * self.trees.len()];
        self.route(&mut self.scratch(x), 0..n, &mut leaves);
        Ok(Array2::from_shape_fn((n, self.trees.len()), |(row, tree)| {
            leaves[tree * n + row]
        }))
    }

    /// One forest of the trees of both, in order.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] or [`EnsembleError::Merge`] if they were not fitted to data of the same shape and
    /// outputs.
    pub fn merge(mut self, other: Self) -> Result<Self, EnsembleError> {
        let (n, p, d) = (self.n_train, self.n_features, self.n_outputs);
        check_lengths([
            ("features of the other forest", p, other.n_features),
            ("outputs of the other forest", d, other.n_outputs),
            ("training samples of the other forest", n, other.n_train),
        ])?;
        let differ = Err(EnsembleError::Merge("they refer to different training samples"));
        self.training = match (self.training, other.training) {
            (Some(mine), Some(theirs)) if !Arc::ptr_eq(&mine, &theirs) && mine != theirs => return differ,
            (mine, theirs) => mine.or(theirs),
        };
        let mine = self.training_outputs().cloned();
        if mine
            .as_ref()
            .is_some_and(|mine| self.outputs_of_leaves().is_some_and(|outputs| outputs != mine))
        {
            return differ;
        }
        for other in other.trees {
            let (structure, leaves) = other.tree.into_parts();
            let leaves = match (leaves, &mine) {
                (Leaves::Samples(leaves), Some(outputs)) => {
                    if leaves.outputs() != outputs {
                        return Err(EnsembleError::Merge("they refer to different training outputs"));
                    }
                    // Keep one copy of the training outputs.
                    Leaves::Samples(leaves.with_outputs(Arc::clone(outputs))?)
                }
                (leaves, _) => leaves,
            };
            let tree = Tree::new(structure, leaves)?;
            self.trees.push(CraftmlTree { tree, ..other });
        }
        Ok(self)
    }

    fn check(&self, x: MatrixView<'_>) -> Result<(), EnsembleError> {
        check_features(x, self.n_features)?;
        if self.trees.iter().any(|tree| tree.hasher.is_none()) {
            check_width(x)?;
        }
        x.check_finite().map_err(EnsembleError::Features)
    }
}

/// Predictions are means over the trees. For 0/1 labels they are values in [0, 1] that rank the labels. A sample of zeros
/// goes to child 0 everywhere; missing or infinite features are an error ([`EnsembleError::Features`]).
impl Predictor for Craftml {
    type Error = EnsembleError;

    fn n_features(&self) -> usize {
        self.n_features
    }

    fn n_outputs(&self) -> usize {
        self.n_outputs
    }

    fn n_train(&self) -> usize {
        self.n_train
    }

    fn predict_with_limit(&self, x: MatrixView<'_>, budget: usize) -> Result<Array2<f32>, EnsembleError> {
        self.check(x)?;
        mean_of_trees(self, x, budget)
    }

    fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, EnsembleError> {
        self.check(x)?;
        top_k(self, x, k)
    }
}

/// What routing works in.
pub(crate) struct Scratch<'x> {
    x: MatrixView<'x>,
    table: HashTable,
    hashed: HashedRows,
    by_node: ByNode,
    /// Rows as trees that do not hash see them.
    block: RowBlock<'x>,
}

impl Routed for Craftml {
    type Leaves = Leaves;
    type Scratch<'x> = Scratch<'x>;

    fn n_trees(&self) -> usize {
        self.trees.len()
    }

    fn leaves(&self, tree: usize) -> &Leaves {
        self.trees[tree].tree.leaves()
    }

    fn block_size(&self, x: MatrixView<'_>) -> usize {
        /// Rows that share what a node brings to the cache.
        const HASHED: usize = 1024;
        if self.trees.iter().all(|tree| tree.hasher.is_some()) {
            HASHED
        } else {
            RowBlock::good_size(x)
        }
    }

    fn scratch<'x>(&self, x: MatrixView<'x>) -> Scratch<'x> {
        Scratch {
            x,
            table: HashTable::default(),
            hashed: HashedRows::default(),
            by_node: ByNode::default(),
            block: RowBlock::new(x),
        }
    }

    fn route(&self, scratch: &mut Scratch<'_>, rows: Range<usize>, leaves: &mut [u32]) {
        if rows.is_empty() {
            return;
        }
        let Scratch {
            x,
            table,
            hashed,
            by_node,
            block,
        } = scratch;
        let n_stored = match x {
            MatrixView::Sparse(x) => rows.clone().map(|row| csr_row(x, row).0.len()).sum(),
            MatrixView::Dense(x) => rows.len() * x.ncols(),
        };
        let mut loaded = false;
        for (tree, leaves) in self.trees.iter().zip(leaves.chunks_mut(rows.len())) {
            let structure = tree.tree.structure();
            if let Some(hasher) = &tree.hasher {
                hashed.load(
                    hasher.n_columns(),
                    &hasher.columns(n_stored, table),
                    *x,
                    rows.clone(),
                );
                let child = |rule: &CentroidRule, i| {
                    let (columns, values) = hashed.row(i);
                    rule.nearest(columns, values)
                };
                structure.leaves_by_node(child, by_node, leaves);
            } else {
                if !loaded {
                    block.load(rows.clone());
                    loaded = true;
                }
                structure.leaves(&block.rows(), leaves);
            }
        }
    }
}
