//! The trees of a forest as arrays, and back: of each the seed, the structure and the leaves.

use super::arrays::{ArrayReader, ArrayWriter, check_length};
use super::error::ModelFileErrorKind as Kind;
use super::leaves::{LeafReader, LeafWriter, read_outputs, write_outputs};
use super::structures::{RuleReader, RuleWriter, StructureReader, StructureWriter};
use rpo_core::Seed;
use rpo_tree::{Rule, Tree, TreeError};

/// Writes trees with their seeds, and the training outputs that their leaves refer to.
pub(super) fn write<'t, W, R>(
    trees: impl Iterator<Item = (&'t Tree<R>, Seed)>,
    out: &mut ArrayWriter,
) -> Result<(), Kind>
where
    W: RuleWriter<R>,
    R: Rule + 't,
{
    let mut structures = StructureWriter::<W>::default();
    let (mut leaves, mut seeds) = (LeafWriter::default(), Vec::new());
    for (i, (tree, seed)) in trees.enumerate() {
        structures.push(tree.structure());
        leaves.push(i, tree.leaves())?;
        seeds.push(seed.value());
    }
    out.longs("tree.seed", &seeds);
    structures.write(out)?;
    match leaves.write(out)? {
        Some(outputs) => write_outputs(&outputs, out),
        None => Ok(()),
    }
}

/// Reads all trees, whose leaves answer `n_outputs` outputs, with their seeds.
pub(super) fn read<D, R>(
    arrays: &mut ArrayReader<'_>,
    n_features: usize,
    n_outputs: usize,
) -> Result<Vec<(Tree<R>, Seed)>, Kind>
where
    D: RuleReader<R>,
    R: Rule,
{
    let mut structures = StructureReader::<D>::new(arrays, n_features)?;
    let seeds = arrays.longs("tree.seed")?;
    check_length("tree.seed", &seeds, structures.n_trees())?;
    let outputs = read_outputs(arrays, n_outputs)?;
    let n_leaves = structures.n_leaves();
    let mut leaves = LeafReader::new(arrays, outputs.as_ref(), seeds.len(), n_leaves, n_outputs)?;
    let read = |(i, seed): (usize, u64)| {
        let fail = |e: TreeError| Kind::Tree {
            tree: i,
            problem: e.to_string(),
        };
        let structure = structures.next()?;
        let leaves = leaves.next(structure.n_leaves())?.map_err(fail)?;
        Ok((Tree::new(structure, leaves).map_err(fail)?, Seed::new(seed)))
    };
    seeds.into_iter().enumerate().map(read).collect()
}
