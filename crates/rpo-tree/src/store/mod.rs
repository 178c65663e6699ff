//! Trees as named arrays, and back.
//!
//! The arrays of all trees of a model are one behind the other, so that their number does not grow with that of the
//! trees. A rule or a leaf model that implements [`StoreRule`] or [`StoreLeaves`] says how many of it are stored
//! together.

mod axis;
mod leaves;
mod structures;

pub use structures::{restore_structures, store_structures};

use crate::leaves::LeafModel;
use crate::rule::Rule;
use crate::tree::Tree;
use rpo_core::Seed;
use rpo_core::store::{Reader, Sizes, StoreError, Writer};

/// A rule that can be stored.
///
/// The array `node.kind` holds a number for each node: 0 for a leaf, for a split the [kind](Self::kind) of its rule.
/// Everything else about a rule goes into arrays of the rule's type.
pub trait StoreRule: Rule {
    /// The numbers that stand for a split, in words.
    const KINDS: &'static str;

    /// The number that stands for a split by this rule, at least 1.
    fn kind(&self) -> u32;

    /// The number of children of a split of this kind; `None` if no rule is of it.
    fn arity_of(kind: u32) -> Option<u32>;

    /// Stores the rules of all splits.
    ///
    /// # Errors
    /// [`StoreError`] for values that could not be restored.
    fn store_all(rules: &[&Self], out: &mut Writer) -> Result<(), StoreError>;

    /// Restores as many rules as there are kinds, in the order in which they were stored; every kind has an arity.
    ///
    /// # Errors
    /// [`StoreError`] for arrays that are missing or invalid, and rules that need a feature of `n_features` or above.
    fn restore_all(kinds: &[u32], from: &mut Reader<'_>, n_features: usize) -> Result<Vec<Self>, StoreError>;
}

/// The values of a tree's leaves that can be stored.
pub trait StoreLeaves: Sized {
    /// Stores the leaves of all trees.
    ///
    /// # Errors
    /// [`StoreError`] for values that could not be restored.
    fn store_all(trees: &[&Self], out: &mut Writer) -> Result<(), StoreError>;

    /// Restores the leaves of as many trees as `n_leaves` has numbers of leaves.
    ///
    /// # Errors
    /// [`StoreError`] for arrays that are missing or invalid.
    fn restore_all(n_leaves: &[usize], from: &mut Reader<'_>, sizes: Sizes) -> Result<Vec<Self>, StoreError>;
}

/// Stores trees with the seeds they were grown from.
///
/// # Errors
/// [`StoreError`] for values that could not be restored, and trees whose leaves refer to different training outputs.
pub fn store_trees<'t, R: StoreRule + 't, L: LeafModel + StoreLeaves + 't>(
    trees: impl Iterator<Item = (&'t Tree<R, L>, Seed)> + Clone,
    out: &mut Writer,
) -> Result<(), StoreError> {
    let seeds: Vec<u64> = trees.clone().map(|(_, seed)| seed.value()).collect();
    out.array("tree.seed", &seeds)?;
    store_structures(trees.clone().map(|(tree, _)| tree.structure()), out)?;
    let leaves: Vec<&L> = trees.map(|(tree, _)| tree.leaves()).collect();
    L::store_all(&leaves, out)
}

/// Trees with the seeds they were grown from.
type SeededTrees<R, L> = Vec<(Tree<R, L>, Seed)>;

/// Restores trees with their seeds.
///
/// # Errors
/// [`StoreError`] for arrays that are missing or invalid or make no tree.
pub fn restore_trees<R: StoreRule, L: LeafModel + StoreLeaves>(
    from: &mut Reader<'_>,
    sizes: Sizes,
) -> Result<SeededTrees<R, L>, StoreError> {
    let structures = restore_structures(from, sizes.n_features)?;
    let seeds = from.array::<u64>("tree.seed")?.of_length(structures.len())?;
    let n_leaves: Vec<usize> = structures
        .iter()
        .map(|s: &crate::Structure<R>| s.n_leaves())
        .collect();
    let leaves = L::restore_all(&n_leaves, from, sizes)?;
    let parts = structures.into_iter().zip(leaves).zip(seeds);
    let trees = parts.enumerate().map(|(i, ((structure, leaves), seed))| {
        let tree = Tree::new(structure, leaves).map_err(|e| of_tree(i, e))?;
        Ok((tree, Seed::new(seed)))
    });
    trees.collect()
}

/// An error about one of the trees.
fn of_tree(tree: usize, problem: impl std::fmt::Display) -> StoreError {
    StoreError::part(format_args!("tree {tree}"), problem)
}
