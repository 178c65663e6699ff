//! Forests as arrays, and back.

use super::arrays::{ArrayReader, ArrayWriter, check_length};
use super::description::Description;
use super::error::ModelFileErrorKind as Kind;
use super::leaves::{LeafReader, LeafWriter, read_outputs, write_outputs};
use super::structures::{StructureReader, StructureWriter};
use crate::ModelError;
use rpo_core::Seed;
use rpo_ensemble::{Bag, EnsembleError, Forest, ForestTree, Importances};
use rpo_tree::{Tree, TreeError};

pub(super) fn write(
    forest: &Forest,
    out: &mut ArrayWriter,
    description: &mut Description,
) -> Result<(), Kind> {
    description.bootstrap = Some(forest.bag() == Bag::Bootstrap);
    if let Bag::Subsample(rows) = forest.bag() {
        description.rows_per_tree = Some(rows);
    }
    let mut structures = StructureWriter::default();
    let mut leaves = LeafWriter::default();
    for (i, ForestTree { tree, .. }) in forest.trees().iter().enumerate() {
        structures.push(tree.structure());
        leaves.push(i, tree.leaves())?;
    }
    let seeds: Vec<u64> = forest.trees().iter().map(|t| t.seed.value()).collect();
    out.longs("tree.seed", &seeds);
    structures.write(out)?;
    if let Some(outputs) = leaves.write(out)? {
        write_outputs(&outputs, out)?;
    }
    out.longs("importance", forest.importance_sums().units());
    Ok(())
}

pub(super) fn read(
    arrays: &mut ArrayReader<'_>,
    description: &Description,
    n_outputs: usize,
) -> Result<Forest, Kind> {
    let (n_train, n_features) = (description.n_train, description.n_features);
    let bag = match (description.bootstrap, description.rows_per_tree) {
        (Some(true), None) => Bag::Bootstrap,
        (Some(false), None) => Bag::All,
        (Some(false), Some(rows)) => Bag::Subsample(rows),
        (Some(true), Some(_)) => {
            let message = "both `bootstrap` and `rows_per_tree` are there".to_owned();
            return Err(Kind::Description { message });
        }
        (None, _) => {
            let message = "missing field `bootstrap`".to_owned();
            return Err(Kind::Description { message });
        }
    };
    let mut structures = StructureReader::new(arrays, n_features)?;
    let seeds = arrays.longs("tree.seed")?;
    check_length("tree.seed", &seeds, structures.n_trees())?;
    let outputs = read_outputs(arrays, n_outputs)?;
    let mut leaves = LeafReader::new(
        arrays,
        outputs.as_ref(),
        seeds.len(),
        structures.n_leaves(),
        n_outputs,
    )?;
    let units = arrays.longs("importance")?;
    let mut trees = Vec::with_capacity(seeds.len());
    for (i, &seed) in seeds.iter().enumerate() {
        let tree_error = |e: TreeError| Kind::Tree {
            tree: i,
            problem: e.to_string(),
        };
        let structure = structures.next()?;
        let leaves = leaves.next(structure.n_leaves())?.map_err(tree_error)?;
        trees.push(ForestTree {
            tree: Tree::new(structure, leaves).map_err(tree_error)?,
            seed: Seed::new(seed),
        });
    }
    let importances = Importances::from_units(units);
    Forest::from_parts(trees, importances, bag, n_train, n_features, n_outputs)
        .map_err(|e: EnsembleError| ModelError::from(e).into())
}
