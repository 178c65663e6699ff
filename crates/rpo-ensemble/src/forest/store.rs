//! Conversion of forests to and from arrays.

use super::model::{Forest, ForestTree, Importances};
use super::single_target::SingleTargetForest;
use rpo_core::store::{Reader, Restore, Sizes, Store, StoreError, Writer};
use rpo_core::{Seed, TreeEnsemble};
use rpo_tree::store::{StoreLeaves, StoreRule, StoreTrees};
use rpo_tree::{AxisRule, LeafModel, Leaves, Tree};

impl<R: StoreRule, L: LeafModel + StoreLeaves> Store for Forest<R, L> {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        out.field("bag", self.bag())?;
        ForestTree::store_all(self.trees().iter(), out)?;
        out.array("importance", self.importance_sums().units())
    }
}

impl<R: StoreRule, L: LeafModel + StoreLeaves> Restore for Forest<R, L> {
    fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
        let bag = from.field("bag")?;
        let trees = ForestTree::restore_all(from, sizes)?;
        let (n, p, d) = (sizes.n_train, sizes.n_features, sizes.n_outputs);
        let units = from.array::<u64>("importance")?.of_length(p)?;
        let importances = Importances::from_units(units.to_vec());
        let forest = Self::from_parts(trees, importances, bag, n, p, d);
        forest.map_err(|e| StoreError::part("forest", e))
    }
}

impl<R: StoreRule, L: LeafModel + StoreLeaves> StoreTrees for ForestTree<R, L> {
    fn store_all<'a>(all: impl Iterator<Item = &'a Self> + Clone, out: &mut Writer) -> Result<(), StoreError>
    where
        Self: 'a,
    {
        let seeds: Vec<u64> = all.clone().map(|t| t.seed.value()).collect();
        out.array("tree.seed", &seeds)?;
        Tree::store_all(all.map(|t| &t.tree), out)
    }

    fn restore_all(from: &mut Reader<'_>, sizes: Sizes) -> Result<Vec<Self>, StoreError> {
        let trees = Tree::restore_all(from, sizes)?;
        let seeds = from.array::<u64>("tree.seed")?.of_length(trees.len())?;
        let of_tree = |(tree, seed)| Self {
            tree,
            seed: Seed::new(seed),
        };
        Ok(trees.into_iter().zip(seeds).map(of_tree).collect())
    }
}

/// Stored as a forest with a single output.
impl Store for SingleTargetForest {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        self.forest.store(out)
    }
}

impl Restore for SingleTargetForest {
    fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
        let trees = Forest::<AxisRule, Leaves>::restore(
            from,
            Sizes {
                n_outputs: 1,
                ..sizes
            },
        )?;
        let forests = Self::from_forest(trees, sizes.n_outputs);
        forests.map_err(|e| StoreError::part("forest", e))
    }
}
