//! Conversion of structured forests to and from arrays.

use super::StructuredForest;
use crate::forest::{Forest, ForestTree, Importances};
use crate::sampling::bag::Bag;
use rpo_core::TreeEnsemble;
use rpo_core::store::{Reader, Restore, Sizes, Store, StoreError, Writer};
use rpo_tree::store::StoreTrees;

impl Store for StructuredForest {
    fn store(&self, out: &mut Writer) -> Result<(), StoreError> {
        out.field("rows_per_tree", self.rows_per_tree())?;
        out.field("label_weight", self.label_weight())?;
        ForestTree::store_all(self.trees().iter(), out)?;
        let labels = self.clustered_labels();
        let sizes: Vec<u32> = labels.iter().map(|labels| labels.len() as u32).collect();
        out.array("tree.label_count", &sizes)?;
        out.array("tree.label", &labels.concat())
    }
}

impl Restore for StructuredForest {
    fn restore(from: &mut Reader<'_>, sizes: Sizes) -> Result<Self, StoreError> {
        let rows_per_tree: usize = from.field("rows_per_tree")?;
        let label_weight = from.field("label_weight")?;
        let trees = ForestTree::restore_all(from, sizes)?;
        let counts = from.array::<u32>("tree.label_count")?.of_length(trees.len())?;
        let mut labels = from.array::<u32>("tree.label")?.of_length(counts.total())?;
        let clustered = counts.map(|count| labels.part(count as usize));
        let clustered = clustered.collect::<Result<_, StoreError>>()?;
        let (n, p, d) = (sizes.n_train, sizes.n_features, sizes.n_outputs);
        let bag = match rows_per_tree {
            all if all == n => Bag::All,
            some => Bag::Subsample(some),
        };
        let forest = Forest::from_parts(trees, Importances::zero(0), bag, n, p, d);
        let structured = forest.and_then(|forest| Self::from_forest(forest, clustered, label_weight));
        structured.map_err(|e| StoreError::part("forest", e))
    }
}
