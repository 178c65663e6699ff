//! Storing trees as named arrays, and restoring them.
//!
//! The arrays of all trees of a model are concatenated, so that the number of arrays does not grow with that of the
//! trees ([`StoreTrees`]). A rule or leaf model that implements [`StoreRule`] or [`StoreLeaves`] stores all its
//! instances together.

mod axis;
mod leaves;
mod structures;

use crate::leaves::LeafModel;
use crate::rule::Rule;
use crate::structure::Structure;
use crate::tree::Tree;
use rpo_core::store::{Reader, Sizes, StoreError, Writer};

/// A rule that can be stored.
///
/// The array `node.kind` holds a number for each node: 0 for a leaf, for a split the [kind](Self::kind) of its rule.
/// Everything else about a rule goes into arrays of the rule's type.
pub trait StoreRule: Rule {
    /// Description of the numbers that represent a split.
    const KINDS: &'static str;

    /// Returns the number that represents a split by this rule, at least 1.
    fn kind(&self) -> u32;

    /// Returns the number of children of a split of this kind; `None` if no rule has this kind.
    fn arity_of(kind: u32) -> Option<u32>;

    /// Stores the rules of all splits.
    ///
    /// # Errors
    /// [`StoreError`] for values that cannot be restored.
    fn store_all(rules: &[&Self], out: &mut Writer) -> Result<(), StoreError>;

    /// Restores as many rules as there are kinds, in the order in which they were stored; every kind has an arity.
    ///
    /// # Errors
    /// [`StoreError`] for arrays that are missing or invalid, and rules that need a feature of `n_features` or above.
    fn restore_all(kinds: &[u32], from: &mut Reader<'_>, n_features: usize) -> Result<Vec<Self>, StoreError>;
}

/// Leaf models that can be stored.
pub trait StoreLeaves: Sized {
    /// Stores the leaves of all trees.
    ///
    /// # Errors
    /// [`StoreError`] for values that cannot be restored.
    fn store_all(trees: &[&Self], out: &mut Writer) -> Result<(), StoreError>;

    /// Restores the leaves of trees, given the number of leaves of each.
    ///
    /// # Errors
    /// [`StoreError`] for arrays that are missing or invalid.
    fn restore_all(n_leaves: &[usize], from: &mut Reader<'_>, sizes: Sizes) -> Result<Vec<Self>, StoreError>;
}

/// Trees, or structures alone, that can be stored.
///
/// Types that keep further data with a tree implement this trait too: they store the trees, and the rest in further
/// arrays.
pub trait StoreTrees: Sized {
    /// Stores all of them.
    ///
    /// # Errors
    /// [`StoreError`] for values that cannot be restored, and for trees whose leaves refer to different training
    /// outputs.
    fn store_all<'a>(all: impl Iterator<Item = &'a Self> + Clone, out: &mut Writer) -> Result<(), StoreError>
    where
        Self: 'a;

    /// Restores as many as were stored.
    ///
    /// # Errors
    /// [`StoreError`] for arrays that are missing or invalid, or that do not form trees.
    fn restore_all(from: &mut Reader<'_>, sizes: Sizes) -> Result<Vec<Self>, StoreError>;
}

impl<R: StoreRule, L: LeafModel + StoreLeaves> StoreTrees for Tree<R, L> {
    fn store_all<'a>(all: impl Iterator<Item = &'a Self> + Clone, out: &mut Writer) -> Result<(), StoreError>
    where
        Self: 'a,
    {
        Structure::store_all(all.clone().map(Self::structure), out)?;
        let leaves: Vec<&L> = all.map(Self::leaves).collect();
        L::store_all(&leaves, out)
    }

    fn restore_all(from: &mut Reader<'_>, sizes: Sizes) -> Result<Vec<Self>, StoreError> {
        let structures = Structure::<R>::restore_all(from, sizes)?;
        let n_leaves: Vec<usize> = structures.iter().map(Structure::n_leaves).collect();
        let leaves = L::restore_all(&n_leaves, from, sizes)?;
        let parts = structures.into_iter().zip(leaves).enumerate();
        parts
            .map(|(i, (structure, leaves))| Self::new(structure, leaves).map_err(|e| of_tree(i, e)))
            .collect()
    }
}

/// Creates an error about one of the trees.
fn of_tree(tree: usize, problem: impl std::fmt::Display) -> StoreError {
    StoreError::part(format_args!("tree {tree}"), problem)
}
