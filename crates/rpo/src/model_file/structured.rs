//! Structured forests and forests per label as arrays, and back.

use super::arrays::{ArrayReader, ArrayWriter, check_length, check_values};
use super::description::Description;
use super::error::ModelFileErrorKind as Kind;
use super::leaves::{LeafReader, LeafWriter, read_outputs, write_outputs};
use super::rules::{LinearReader, LinearWriter};
use super::structures::{StructureReader, StructureWriter, TreeReader, TreeWriter};
use crate::ModelError;
use rpo_core::Seed;
use rpo_ensemble::EnsembleError;
use rpo_ensemble::binary_relevance::{BinaryRelevanceForest, LabelTree};
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
    let rows_per_tree = rows_per_tree(description)?;
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

pub(super) fn write_per_label(
    forest: &BinaryRelevanceForest,
    out: &mut ArrayWriter,
    description: &mut Description,
) -> Result<(), Kind> {
    description.rows_per_tree = Some(forest.rows_per_tree());
    let mut structures = StructureWriter::default();
    let mut shares = Vec::new();
    for tree in forest.trees() {
        structures.push(tree.structure());
        shares.extend_from_slice(tree.shares());
    }
    let seeds: Vec<u64> = forest.seeds().iter().map(|seed| seed.value()).collect();
    out.longs("tree.seed", &seeds);
    structures.write(out)?;
    out.floats("leaf.value", &shares);
    Ok(())
}

pub(super) fn read_per_label(
    arrays: &mut ArrayReader<'_>,
    description: &Description,
) -> Result<BinaryRelevanceForest, Kind> {
    let rows_per_tree = rows_per_tree(description)?;
    let mut structures = StructureReader::new(arrays, description.n_features)?;
    let seeds = arrays.longs("tree.seed")?.into_iter().map(Seed::new).collect();
    let shares = arrays.numbers("leaf.value")?;
    check_length("leaf.value", &shares, structures.n_leaves())?;
    check_values("leaf.value", &shares, "in [0, 1]", |v: f32| {
        (0.0..=1.0).contains(&v)
    })?;
    let mut shares = shares.into_iter();
    let mut trees = Vec::with_capacity(structures.n_trees());
    for _ in 0..structures.n_trees() {
        let structure = structures.next()?;
        let shares = shares.by_ref().take(structure.n_leaves()).collect();
        trees.push(LabelTree::new(structure, shares).map_err(invalid)?);
    }
    let (n_train, n_features) = (description.n_train, description.n_features);
    BinaryRelevanceForest::from_parts(trees, seeds, rows_per_tree, n_train, n_features).map_err(invalid)
}

fn rows_per_tree(description: &Description) -> Result<usize, Kind> {
    description.rows_per_tree.ok_or_else(|| missing("rows_per_tree"))
}

fn missing(field: &str) -> Kind {
    Kind::Description {
        message: format!("missing field `{field}`"),
    }
}

fn invalid(e: EnsembleError) -> Kind {
    ModelError::from(e).into()
}
