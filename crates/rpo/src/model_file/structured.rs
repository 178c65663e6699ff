//! Structured forests as arrays, and back.

use super::arrays::{ArrayReader, ArrayWriter, check_length};
use super::description::{Description, required};
use super::error::ModelFileErrorKind as Kind;
use super::rules::{LinearReader, LinearWriter};
use super::trees;
use crate::ModelError;
use rpo_ensemble::structured::{StructuredForest, StructuredTree};

pub(super) fn write(
    forest: &StructuredForest,
    out: &mut ArrayWriter,
    description: &mut Description,
) -> Result<(), Kind> {
    description.rows_per_tree = Some(forest.rows_per_tree());
    description.label_weight = Some(forest.label_weight());
    let of_forest = forest.trees().iter().map(|t| (&t.tree, t.seed));
    trees::write::<LinearWriter, _>(of_forest, out)?;
    let labels = forest.trees().iter().map(|t| &t.labels);
    let sizes: Vec<u32> = labels.clone().map(|labels| labels.len() as u32).collect();
    out.integers("tree.label_count", &sizes);
    out.integers("tree.label", &labels.flatten().copied().collect::<Vec<u32>>());
    Ok(())
}

pub(super) fn read(
    arrays: &mut ArrayReader<'_>,
    description: &Description,
    n_features: usize,
) -> Result<StructuredForest, Kind> {
    let rows_per_tree = required("rows_per_tree", description.rows_per_tree)?;
    let label_weight = required("label_weight", description.label_weight)?;
    let n_train = description.n_train;
    let trees = trees::read::<LinearReader, _>(arrays, n_features, description.n_outputs)?;
    let sizes = arrays.integers("tree.label_count")?;
    check_length("tree.label_count", &sizes, trees.len())?;
    let labels = arrays.integers("tree.label")?;
    let total = sizes.iter().map(|&n| u64::from(n)).sum::<u64>();
    check_length("tree.label", &labels, total as usize)?;
    let mut labels = labels.into_iter();
    let trees = trees
        .into_iter()
        .zip(sizes)
        .map(|((tree, seed), size)| StructuredTree {
            tree,
            seed,
            labels: labels.by_ref().take(size as usize).collect(),
        });
    let forest =
        StructuredForest::from_parts(trees.collect(), label_weight, rows_per_tree, n_train, n_features);
    Ok(forest.map_err(ModelError::from)?)
}
