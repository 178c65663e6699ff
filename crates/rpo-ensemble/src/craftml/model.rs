//! The fitted CRAFTML forest.

use super::hashed::{FeatureMap, HashTable, HashedRows, Hasher};
use super::training_set::TrainingSet;
use crate::error::EnsembleError;
use crate::inference::block::Routed;
use crate::inference::mean::{check_features, check_leaves, check_width, mean_of_trees, top_k};
use ndarray::Array2;
use rayon::prelude::*;
use rpo_core::{
    Apply, CsrMatrix, Matrix, MatrixView, Merge, Mismatch, Predictor, Seed, TooFew, TreeEnsemble,
};
use rpo_projections::LinearMap;
use rpo_tree::centroid::{CentroidRule, RecordedTree, RouteBuffers};
use rpo_tree::{ByNode, LeafModel, Leaves, RowBlock, Structure, Tree};
use std::ops::Range;
use std::sync::Arc;

/// A tree and its map of features.
#[derive(Debug, Clone, PartialEq)]
pub struct CraftmlTree {
    /// Map from features to the columns that the rules use.
    pub features: FeatureMap,
    /// Number of nodes, splits and leaves.
    pub n_nodes: usize,
    /// Largest depth of a leaf.
    pub depth: usize,
    /// The hashing of features; `None` if rules use the features themselves. Recorded trees always have one.
    hasher: Option<Hasher>,
    nodes: Nodes,
    seed: Seed,
}

/// The nodes of a tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Nodes {
    /// Nodes with their centroids.
    Rules(Tree<CentroidRule>),
    /// Nodes with the training samples that their centroids are computed from.
    Recorded { nodes: RecordedTree, leaves: Leaves },
}

impl CraftmlTree {
    /// Combines a tree, the map of features that its rules use, and its seed.
    ///
    /// Rules on hashed features refer to columns: the components or, if there are fewer features, the components that
    /// some feature is mapped to, numbered in order.
    ///
    /// # Errors
    /// [`EnsembleError::TooFew`] if a rule refers to a column that hashing does not have.
    pub(super) fn new(
        hasher: Option<Hasher>,
        tree: Tree<CentroidRule>,
        seed: Seed,
    ) -> Result<Self, EnsembleError> {
        let width = hasher.as_ref().map(Hasher::n_columns);
        let map = hasher.as_ref().map(Hasher::map);
        let joined = Self {
            features: map.map_or(FeatureMap::Identity, FeatureMap::Hashed),
            n_nodes: tree.structure().nodes().len(),
            depth: tree.structure().depth(),
            hasher,
            nodes: Nodes::Rules(tree),
            seed,
        };
        width.map_or(Ok(()), |width| joined.check_width(width))?;
        Ok(joined)
    }

    /// Combines the record of a tree, the hasher of its features, and its leaves.
    ///
    /// # Errors
    /// [`EnsembleError::Mismatch`] for another number of leaves.
    pub(super) fn recorded(
        hasher: Hasher,
        nodes: RecordedTree,
        leaves: Leaves,
        seed: Seed,
    ) -> Result<Self, EnsembleError> {
        Mismatch::check("leaves of a tree", nodes.members().n_leaves(), leaves.n_leaves())?;
        Ok(Self {
            features: FeatureMap::Hashed(hasher.map()),
            n_nodes: nodes.n_nodes,
            depth: nodes.depth,
            hasher: Some(hasher),
            nodes: Nodes::Recorded { nodes, leaves },
            seed,
        })
    }

    pub(super) fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Returns the seed of the tree, which identifies it.
    pub(super) fn seed(&self) -> Seed {
        self.seed
    }

    /// Returns the rules, if the tree stores its centroids.
    pub fn structure(&self) -> Option<&Structure<CentroidRule>> {
        match &self.nodes {
            Nodes::Rules(tree) => Some(tree.structure()),
            Nodes::Recorded { .. } => None,
        }
    }

    /// Returns the leaves.
    pub fn leaves(&self) -> &Leaves {
        match &self.nodes {
            Nodes::Rules(tree) => tree.leaves(),
            Nodes::Recorded { leaves, .. } => leaves,
        }
    }

    /// Makes the leaves refer to shared training outputs, which must equal their own.
    fn with_shared_outputs(self, outputs: &Arc<Matrix>) -> Result<Self, EnsembleError> {
        let nodes = match self.nodes {
            Nodes::Rules(tree) => {
                let (structure, leaves) = tree.into_parts();
                Nodes::Rules(Tree::new(structure, leaves.with_shared_outputs(outputs)?)?)
            }
            Nodes::Recorded { nodes, leaves } => {
                let leaves = leaves.with_shared_outputs(outputs)?;
                Nodes::Recorded { nodes, leaves }
            }
        };
        Ok(Self { nodes, ..self })
    }

    fn check_width(&self, width: usize) -> Result<(), EnsembleError> {
        let needed = self.structure().map_or(0, Structure::n_features);
        Ok(TooFew::check("features for the rules of a tree", needed, width)?)
    }

    /// Writes the leaf of each row of `x`.
    fn route(&self, x: MatrixView<'_>, training: Option<&TrainingSet>, leaves: &mut [u32]) {
        /// Number of rows routed together through stored rules, so that each rule is brought to the cache once.
        const BLOCK: usize = 1024;
        /// Number of rows routed together if rules have to be computed for them.
        const LARGE_BLOCK: usize = 1 << 16;
        match (&self.nodes, &self.hasher) {
            (Nodes::Recorded { nodes, .. }, Some(hasher)) => {
                let training = training.expect("a forest with recorded trees has its training set");
                let x_train = training.features();
                let load = |rows: &[u32], push: &mut dyn FnMut(&[u32], &[f32])| {
                    hasher.for_each_row(x_train, rows, push);
                };
                let mut work = RouteBuffers::default();
                let (mut table, mut hashed) = (HashTable::default(), HashedRows::default());
                for (leaves, first) in leaves.chunks_mut(LARGE_BLOCK).zip((0..).step_by(LARGE_BLOCK)) {
                    hasher.load(x, first..first + leaves.len(), &mut table, &mut hashed);
                    let sample = |i| hashed.row(i);
                    nodes.leaves(
                        hasher.n_columns(),
                        x_train.rows(),
                        &load,
                        sample,
                        &mut work,
                        leaves,
                    );
                }
            }
            (Nodes::Rules(tree), Some(hasher)) => {
                let parts = leaves.par_chunks_mut(BLOCK).enumerate();
                parts.for_each_init(
                    || (HashTable::default(), HashedRows::default(), ByNode::default()),
                    |(table, hashed, work), (part, leaves)| {
                        let first = part * BLOCK;
                        hasher.load(x, first..first + leaves.len(), table, hashed);
                        let child = |rule: &CentroidRule, i| {
                            let (columns, values) = hashed.row(i);
                            rule.nearest(columns, values)
                        };
                        tree.structure().leaves_by_node(child, work, leaves);
                    },
                );
            }
            (Nodes::Rules(tree), None) => {
                let size = RowBlock::good_size(x);
                let parts = leaves.par_chunks_mut(size).enumerate();
                parts.for_each_init(
                    || RowBlock::new(x),
                    |block, (part, leaves)| {
                        block.load(part * size..part * size + leaves.len());
                        tree.structure().leaves(&block.rows(), leaves);
                    },
                );
            }
            (Nodes::Recorded { .. }, None) => unreachable!("recorded trees hash features"),
        }
    }
}

/// A fitted CRAFTML forest, which predicts the mean over its trees. Immutable.
#[derive(Debug, Clone, PartialEq)]
pub struct Craftml {
    trees: Vec<CraftmlTree>,
    training: Option<Arc<TrainingSet>>,
    n_train: usize,
    n_features: usize,
    n_outputs: usize,
}

impl TreeEnsemble for Craftml {
    type Tree = CraftmlTree;

    fn trees(&self) -> &[CraftmlTree] {
        &self.trees
    }
}

impl Apply for Craftml {
    fn apply(&self, x: MatrixView<'_>) -> Result<Array2<u32>, EnsembleError> {
        self.check(x)?;
        check_leaves(x.n_rows(), self.trees.len())?;
        let (n, leaves) = (x.n_rows(), self.route(x).leaves);
        Ok(Array2::from_shape_fn((n, self.trees.len()), |(row, tree)| {
            leaves[tree * n + row]
        }))
    }
}

impl Craftml {
    /// Creates a forest from its parts, as grown by a trainer or stored in a model file: trees, and the training set if
    /// any tree has a record.
    ///
    /// # Errors
    /// [`EnsembleError::TooFew`] or [`EnsembleError::Mismatch`] if there is no tree, or a tree or the training set does
    /// not match the numbers of training samples n, features p and outputs d; [`EnsembleError::NoTrainingSamples`] if a
    /// tree has a record but there is no training set.
    pub(crate) fn from_parts(
        trees: Vec<CraftmlTree>,
        training: Option<Arc<TrainingSet>>,
        n_train: usize,
        n_features: usize,
        n_outputs: usize,
    ) -> Result<Self, EnsembleError> {
        TooFew::check("trees", 1, trees.len())?;
        if let Some(training) = &training {
            Mismatch::check("training samples", n_train, training.features().rows())?;
            Mismatch::check(
                "features of the training samples",
                n_features,
                training.features().cols(),
            )?;
            Mismatch::check(
                "outputs of the training samples",
                n_outputs,
                training.outputs().n_cols(),
            )?;
        }
        for tree in &trees {
            if training.is_none() && matches!(tree.nodes, Nodes::Recorded { .. }) {
                return Err(EnsembleError::NoTrainingSamples);
            }
            Mismatch::check("outputs of a tree", n_outputs, tree.leaves().n_outputs())?;
            match tree.features {
                FeatureMap::Identity => tree.check_width(n_features)?,
                FeatureMap::Hashed(map) => {
                    Mismatch::check("features that a tree hashes", n_features, map.n_outputs())?;
                }
            }
            if let Leaves::Samples(leaves) = tree.leaves() {
                let given = leaves.outputs().n_rows();
                Mismatch::check("training samples that a tree refers to", n_train, given)?;
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

    /// Returns the training set, if trees refer to it.
    pub(crate) fn training(&self) -> Option<&Arc<TrainingSet>> {
        self.training.as_ref()
    }

    /// Returns the training outputs, if any tree refers to them.
    pub(super) fn training_outputs(&self) -> Option<&Arc<Matrix>> {
        let of_set = self.training.as_ref().map(|training| training.outputs());
        of_set.or_else(|| self.outputs_of_leaves())
    }

    fn outputs_of_leaves(&self) -> Option<&Arc<Matrix>> {
        self.trees.iter().find_map(|t| match t.leaves() {
            Leaves::Samples(leaves) => Some(leaves.outputs()),
            _ => None,
        })
    }

    /// Routes rows to their leaves in all trees.
    fn route(&self, x: MatrixView<'_>) -> RoutedRows<'_> {
        let (n_rows, mut leaves) = (x.n_rows(), vec![0; x.n_rows() * self.trees.len()]);
        let training = self.training.as_deref();
        let of_trees = leaves.par_chunks_mut(n_rows.max(1)).zip(&self.trees);
        of_trees.for_each(|(leaves, tree)| tree.route(x, training, leaves));
        RoutedRows {
            forest: self,
            n_rows,
            leaves,
        }
    }

    fn check(&self, x: MatrixView<'_>) -> Result<(), EnsembleError> {
        check_features(x, self.n_features)?;
        if self.trees.iter().any(|tree| tree.hasher.is_none()) {
            check_width(x)?;
        }
        x.check_values(f32::is_finite).map_err(EnsembleError::Features)
    }
}

/// The errors are [`EnsembleError::Mismatch`] and [`EnsembleError::Merge`].
impl Merge for Craftml {
    fn seeds(&self) -> Vec<Seed> {
        self.trees.iter().map(|tree| tree.seed).collect()
    }

    fn merge(mut self, other: Self) -> Result<Self, EnsembleError> {
        self.check_shape(&other)?;
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
            // Keep one copy of the training outputs.
            self.trees.push(match &mine {
                Some(outputs) => other.with_shared_outputs(outputs)?,
                None => other,
            });
        }
        Ok(self)
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

    fn predict_with_limit(
        &self,
        x: MatrixView<'_>,
        memory_limit: usize,
    ) -> Result<Array2<f32>, EnsembleError> {
        self.check(x)?;
        mean_of_trees(&self.route(x), x, memory_limit)
    }

    fn predict_top_k(&self, x: MatrixView<'_>, k: usize) -> Result<CsrMatrix, EnsembleError> {
        self.check(x)?;
        top_k(&self.route(x), x, k)
    }
}

/// The leaves of routed rows, by tree, then row.
struct RoutedRows<'f> {
    forest: &'f Craftml,
    n_rows: usize,
    leaves: Vec<u32>,
}

impl Routed for RoutedRows<'_> {
    type Leaves = Leaves;
    type Scratch<'x> = ();

    fn n_outputs(&self) -> usize {
        self.forest.n_outputs
    }

    fn n_trees(&self) -> usize {
        self.forest.trees.len()
    }

    fn leaves(&self, tree: usize) -> &Leaves {
        self.forest.trees[tree].leaves()
    }

    fn block_size(&self, _: MatrixView<'_>) -> usize {
        1024
    }

    fn scratch<'x>(&self, _: MatrixView<'x>) {}

    fn route(&self, (): &mut (), rows: Range<usize>, leaves: &mut [u32]) {
        let of_trees = self.leaves.chunks_exact(self.n_rows);
        for (all, leaves) in of_trees.zip(leaves.chunks_exact_mut(rows.len())) {
            leaves.copy_from_slice(&all[rows.clone()]);
        }
    }
}
