//! Structured forests as arrays, and back.

use super::arrays::{ArrayReader, ArrayWriter, check_length};
use super::description::Description;
use super::error::ModelFileErrorKind as Kind;
use super::leaves::{LeafReader, LeafWriter, read_outputs, write_outputs};
use super::rules::{LinearReader, LinearWriter};
use super::structures::{TreeReader, TreeWriter};
use crate::ModelError;
use rpo_core::Seed;
use rpo_ensemble::EnsembleError;
use rpo_ensemble::structured::{StructuredForest, StructuredTree};
use rpo_tree::Tree;

pub(super) fn write_forest(
    forest: &StructuredForest,
    out: &mut ArrayWriter,
    description: &mut Description,
) -> Result<(), Kind> {
    description.rows_per_tree = Some(forest.rows_per_tree());
    description.label_weight = Some(forest.label_weight());
    let mut structures = TreeWriter::<LinearWriter>::default();
    let mut leaves = LeafWriter::default();
    let (mut seeds, mut sizes, mut labels) = (Vec::new(), Vec::new(), Vec::new());
    for (i, tree) in forest.trees().iter().enumerate() {
        structures.push(tree.tree.structure());
        leaves.push(i, tree.tree.leaves())?;
        seeds.push(tree.seed.value());
        sizes.push(tree.labels.len() as u32);
        labels.extend_from_slice(&tree.labels);
    }
    out.longs("tree.seed", &seeds);
    out.integers("tree.label_count", &sizes);
    out.integers("tree.label", &labels);
    structures.write(out)?;
    if let Some(outputs) = leaves.write(out)? {
        write_outputs(&outputs, out)?;
    }
    Ok(())
}

pub(super) fn read_forest(
    arrays: &mut ArrayReader<'_>,
    description: &Description,
) -> Result<StructuredForest, Kind> {
    let rows_per_tree = description
        .rows_per_tree
        .ok_or_else(|| missing("rows_per_tree"))?;
    let label_weight = description.label_weight.ok_or_else(|| missing("label_weight"))?;
    let mut structures = TreeReader::<LinearReader>::new(arrays, description.n_features)?;
    let seeds = arrays.longs("tree.seed")?;
    check_length("tree.seed", &seeds, structures.n_trees())?;
    let sizes = arrays.integers("tree.label_count")?;
    check_length("tree.label_count", &sizes, seeds.len())?;
    let labels = arrays.integers("tree.label")?;
    let total = sizes.iter().map(|&n| u64::from(n)).sum::<u64>();
    check_length("tree.label", &labels, total as usize)?;
    let mut labels = labels.into_iter();
    let n_outputs = description.n_outputs;
    let outputs = read_outputs(arrays, n_outputs)?;
    let mut leaves = LeafReader::new(
        arrays,
        outputs.as_ref(),
        seeds.len(),
        structures.n_leaves(),
        n_outputs,
    )?;
    let mut trees = Vec::with_capacity(seeds.len());
    for (i, (&seed, &size)) in seeds.iter().zip(&sizes).enumerate() {
        let tree_error = |e: rpo_tree::TreeError| Kind::Tree {
            tree: i,
            problem: e.to_string(),
        };
        let structure = structures.next()?;
        let leaves = leaves.next(structure.n_leaves())?.map_err(tree_error)?;
        trees.push(StructuredTree {
            tree: Tree::new(structure, leaves).map_err(tree_error)?,
            seed: Seed::new(seed),
            labels: labels.by_ref().take(size as usize).collect(),
        });
    }
    let (n_train, n_features) = (description.n_train, description.n_features);
    StructuredForest::from_parts(trees, label_weight, rows_per_tree, n_train, n_features).map_err(invalid)
}

fn missing(field: &str) -> Kind {
    Kind::Description {
        message: format!("missing field `{field}`"),
    }
}

fn invalid(e: EnsembleError) -> Kind {
    ModelError::from(e).into()
}
