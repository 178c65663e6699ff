//! The fitted forest.

use crate::error::EnsembleError;
use crate::inference::label_sets::LabelSets;
use crate::inference::traversal::Traversal;
use crate::sampling::bag::Bag;
use rpo_core::{FeatureImportances, Matrix, Merge, Mismatch, Seed, TooFew, TreeEnsemble};
use rpo_tree::leaves::SampleLeaves;
use rpo_tree::{AxisRule, LeafModel, Leaves, Rule, Structure, Tree};
use std::sync::Arc;

/// A tree of a forest with the seed that it was grown from.
#[derive(Debug, Clone, PartialEq)]
pub struct ForestTree<R = AxisRule, L = Leaves> {
    /// The tree.
    pub tree: Tree<R, L>,
    /// Seed of the tree, which determines its out-of-bag samples.
    pub seed: Seed,
}

/// Sums of impurity importances over trees, in units of 2⁻⁴⁰.
///
/// They are integers, so that a sum does not depend on the order in which trees were added or forests merged.
///
/// Features beyond the last one here have none: trees on hyperplanes split no single feature, and a file of such trees
/// says nothing that is as long as the number of features.
#[derive(Debug, Clone, Eq)]
pub(crate) struct Importances(Vec<u64>);

impl PartialEq for Importances {
    fn eq(&self, other: &Self) -> bool {
        self.without_last_zeros() == other.without_last_zeros()
    }
}

impl Importances {
    const UNIT: f64 = (1_u64 << 40) as f64;

    pub(crate) fn zero(n_features: usize) -> Self {
        Self(vec![0; n_features])
    }

    /// Converts the importances of one tree, in [0, 1].
    pub(crate) fn new(values: &[f64]) -> Self {
        Self(values.iter().map(|v| (v * Self::UNIT).round() as u64).collect())
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0
            .iter_mut()
            .zip(&other.0)
            .for_each(|(a, b)| *a = a.saturating_add(*b));
    }

    /// Creates importances from stored units.
    pub(crate) fn from_units(units: Vec<u64>) -> Self {
        Self(units)
    }

    fn without_last_zeros(&self) -> &[u64] {
        let last = self.0.iter().rposition(|units| *units > 0);
        &self.0[..last.map_or(0, |last| last + 1)]
    }

    /// Returns the units, for storage.
    pub(crate) fn units(&self) -> &[u64] {
        &self.0
    }
}

/// A fitted forest, which predicts the mean over its trees. Immutable.
///
/// Trees have splits on single features and leaves in one of the storages of [`Leaves`], unless they were grown by a
/// custom [`Grower`](crate::Grower).
#[derive(Debug, Clone, PartialEq)]
pub struct Forest<R = AxisRule, L = Leaves> {
    trees: Vec<ForestTree<R, L>>,
    traversal: Traversal,
    /// The label sets that leaves predict, if most leaves predict one.
    label_sets: Option<LabelSets>,
    importances: Importances,
    bag: Bag,
    pub(super) n_train: usize,
    pub(super) n_features: usize,
    pub(super) n_outputs: usize,
}

impl<R, L> TreeEnsemble for Forest<R, L> {
    type Tree = ForestTree<R, L>;

    fn trees(&self) -> &[ForestTree<R, L>] {
        &self.trees
    }
}

/// Impurity importances: the mean over trees of each tree's normalised decrease of impurity.
impl<R, L> FeatureImportances for Forest<R, L> {
    fn importances(&self) -> Vec<(u32, f64)> {
        let units = &self.importances.0;
        let total: f64 = units.iter().map(|&u| u as f64).sum();
        let positive = (0..).zip(units).filter(|(_, u)| **u > 0);
        let scale = 1.0 / total;
        positive
            .map(|(feature, &u)| (feature, u as f64 * scale))
            .collect()
    }
}

impl<R: Rule, L: LeafModel> Forest<R, L> {
    /// Creates a forest from its parts, as stored in a model file.
    ///
    /// # Errors
    /// [`EnsembleError::TooFew`] or [`EnsembleError::Mismatch`] if there is no tree, or a tree, the importances or the
    /// bags do not match the numbers of training samples n, features p and outputs d.
    pub(crate) fn from_parts(
        trees: Vec<ForestTree<R, L>>,
        importances: Importances,
        bag: Bag,
        n_train: usize,
        n_features: usize,
        n_outputs: usize,
    ) -> Result<Self, EnsembleError> {
        TooFew::check("trees", 1, trees.len())?;
        TooFew::check("features for the importances", importances.0.len(), n_features)?;
        if let Bag::Subsample(rows) = bag {
            TooFew::check("training samples of a tree", 1, rows)?;
            TooFew::check("training samples for those of a tree", rows, n_train)?;
        }
        for ForestTree { tree, .. } in &trees {
            Mismatch::check("outputs of a tree", n_outputs, tree.leaves().n_outputs())?;
            if let Some(leaves) = tree.leaves().as_samples() {
                let given = leaves.outputs().n_rows();
                Mismatch::check("training samples that a tree refers to", n_train, given)?;
            }
            check_rules(tree.structure(), n_features)?;
        }
        Ok(Self {
            traversal: traversal(&trees),
            label_sets: label_sets(&trees, n_outputs),
            trees,
            importances,
            bag,
            n_train,
            n_features,
            n_outputs,
        })
    }

    pub(super) fn traversal(&self) -> &Traversal {
        &self.traversal
    }

    pub(super) fn label_sets(&self) -> Option<&LabelSets> {
        self.label_sets.as_ref()
    }

    /// Returns the kind of bag that the trees grew on.
    pub(crate) fn bag(&self) -> Bag {
        self.bag
    }

    /// Returns the sums of importances.
    pub(crate) fn importance_sums(&self) -> &Importances {
        &self.importances
    }

    /// Returns the training outputs that leaves refer to, if the forest has such leaves.
    pub(crate) fn training_outputs(&self) -> Option<&Arc<Matrix>> {
        self.trees
            .iter()
            .find_map(|t| t.tree.leaves().as_samples().map(SampleLeaves::outputs))
    }

    /// [Merges](Merge::merge) forests whose trees form `n_groups` groups of equal size: the result has the first group
    /// of both, then the second group of both, and so on.
    pub(crate) fn merge_groups(mut self, other: Self, n_groups: usize) -> Result<Self, EnsembleError> {
        self.check_shape(&other)?;
        if self.bag != other.bag {
            return Err(EnsembleError::Merge("their trees grew on different samples"));
        }
        let mine = self.training_outputs().cloned();
        if mine
            .as_ref()
            .zip(other.training_outputs())
            .is_some_and(|(a, b)| a != b)
        {
            return Err(EnsembleError::Merge("they refer to different training outputs"));
        }
        self.importances.add(&other.importances);
        let (sizes, n_trees) = (
            [&self.trees, &other.trees].map(|trees| trees.len() / n_groups),
            self.trees.len() + other.trees.len(),
        );
        let (mut first, mut second) = (self.trees.into_iter(), other.trees.into_iter());
        self.trees = Vec::with_capacity(n_trees);
        for _ in 0..n_groups {
            self.trees.extend(first.by_ref().take(sizes[0]));
            for ForestTree { tree, seed } in second.by_ref().take(sizes[1]) {
                // Keep one copy of the training outputs.
                let (structure, leaves) = tree.into_parts();
                let leaves = match &mine {
                    Some(outputs) => leaves.with_shared_outputs(outputs)?,
                    None => leaves,
                };
                let tree = Tree::new(structure, leaves)?;
                self.trees.push(ForestTree { tree, seed });
            }
        }
        self.traversal = traversal(&self.trees);
        self.label_sets = label_sets(&self.trees, self.n_outputs);
        Ok(self)
    }
}

/// The errors are [`EnsembleError::Mismatch`] and [`EnsembleError::Merge`].
impl<R: Rule, L: LeafModel> Merge for Forest<R, L> {
    fn seeds(&self) -> Vec<Seed> {
        self.trees.iter().map(|tree| tree.seed).collect()
    }

    fn merge(self, other: Self) -> Result<Self, EnsembleError> {
        self.merge_groups(other, 1)
    }
}

fn traversal(trees: &[ForestTree<impl Rule, impl LeafModel>]) -> Traversal {
    let structures: Vec<_> = trees.iter().map(|t| t.tree.structure()).collect();
    Traversal::new(&structures)
}

fn label_sets(trees: &[ForestTree<impl Rule, impl LeafModel>], n_outputs: usize) -> Option<LabelSets> {
    let leaves: Vec<_> = trees.iter().map(|t| t.tree.leaves()).collect();
    LabelSets::new(&leaves, n_outputs)
}

/// Checks that rules refer only to existing features.
pub(crate) fn check_rules(structure: &Structure<impl Rule>, n_features: usize) -> Result<(), EnsembleError> {
    let needed = structure.n_features();
    Ok(TooFew::check(
        "features for the rules of a tree",
        needed,
        n_features,
    )?)
}
