//! Forests as arrays, and back.

use super::model::{Forest, ForestTree, Importances};
use super::single_target::SingleTargetForest;
use rpo_core::TreeEnsemble;
use rpo_core::store::{Reader, Restore, Sizes, Store, StoreError, Writer};
use rpo_tree::store::{StoreLeaves, StoreRule, restore_trees, store_trees};
use rpo_tree::{AxisRule, LeafModel, Leaves};

impl<R: StoreRule, L: LeafModel + StoreLeaves> Store for Forest<R, L> {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        out.field("bag", self.bag())?;
        store_trees(self.trees().iter().map(|t| (&t.tree, t.seed)), out)?;
        out.array("importance", self.importance_sums().units())
    }
}

impl<R: StoreRule, L: LeafModel + StoreLeaves> Restore for Forest<R, L> {
    fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
        let bag = from.field("bag")?;
        let trees = restore_trees(from, sizes)?.into_iter();
        let trees = trees.map(|(tree, seed)| ForestTree { tree, seed }).collect();
        let importances = Importances::from_units(from.array::<u64>("importance")?.to_vec());
        let (n, p, d) = (sizes.n_train, sizes.n_features, sizes.n_outputs);
        let forest = Self::from_parts(trees, importances, bag, n, p, d);
        forest.map_err(|e| StoreError::part("forest", e))
    }
}

/// Stored as the forest of one output that it is.
impl Store for SingleTargetForest {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        self.forest().store(out)
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
