//! Structured forests as arrays, and back.

use super::{StructuredForest, StructuredTree};
use rpo_core::store::{Reader, Restore, Sizes, Store, StoreError, Writer};
use rpo_tree::store::{restore_trees, store_trees};

impl Store for StructuredForest {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        out.field("rows_per_tree", self.rows_per_tree())?;
        out.field("label_weight", self.label_weight())?;
        store_trees(self.trees().iter().map(|t| (&t.tree, t.seed)), out)?;
        let labels = self.trees().iter().map(|t| &t.labels);
        let sizes: Vec<u32> = labels.clone().map(|labels| labels.len() as u32).collect();
        out.integers("tree.label_count", &sizes)?;
        out.integers("tree.label", &labels.flatten().copied().collect::<Vec<u32>>())
    }
}

impl Restore for StructuredForest {
    fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
        let rows_per_tree = from.field("rows_per_tree")?;
        let label_weight = from.field("label_weight")?;
        let trees = restore_trees(from, sizes)?;
        let counts = from.integers("tree.label_count")?.of_length(trees.len())?;
        let mut labels = from.integers("tree.label")?.of_length(counts.total())?;
        let trees = trees.into_iter().zip(counts.iter()).map(|((tree, seed), count)| {
            let labels = labels.take(count as usize)?;
            Ok(StructuredTree { tree, seed, labels })
        });
        let trees = trees.collect::<Result<_, StoreError>>()?;
        let forest = Self::from_parts(
            trees,
            label_weight,
            rows_per_tree,
            sizes.n_train,
            sizes.n_features,
        );
        forest.map_err(|e| StoreError::part("forest", e))
    }
}
