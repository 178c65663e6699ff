//! Storing structures of trees as arrays, and restoring them, for any type of rule.
//!
//! Nodes are stored tree by tree in preorder. In depth-first growth, the children of a split are numbered after those
//! of the splits before it in preorder, and leaves are numbered in order; only trees grown otherwise need arrays with
//! the positions of children and leaves.

use super::{StoreRule, StoreTrees, of_tree};
use crate::structure::{Node, Structure};
use rpo_core::store::{Entries, Reader, Sizes, StoreError, Writer};

impl<R: StoreRule> StoreTrees for Structure<R> {
    fn store_all<'a>(all: impl Iterator<Item = &'a Self> + Clone, out: &mut Writer) -> Result<(), StoreError>
    where
        Self: 'a,
    {
        let (mut counts, mut kinds, mut rules) = (Vec::new(), Vec::new(), Vec::new());
        let (mut children, mut leaves) = (Vec::new(), Vec::new());
        let mut depth_first = true;
        for structure in all {
            counts.push(structure.nodes().len() as u32);
            let (mut next_child, mut next_leaf) = (1, 0);
            for (_, node) in structure.preorder() {
                match node {
                    Node::Leaf(leaf) => {
                        kinds.push(0);
                        leaves.push(*leaf);
                        depth_first &= *leaf == next_leaf;
                        next_leaf += 1;
                    }
                    Node::Split { rule, first_child } => {
                        kinds.push(rule.kind());
                        rules.push(rule);
                        children.push(*first_child);
                        depth_first &= *first_child == next_child;
                        next_child += rule.arity() as u32;
                    }
                }
            }
        }
        out.array("tree.nodes", &counts)?;
        out.array("node.kind", &kinds)?;
        R::store_all(&rules, out)?;
        if !depth_first {
            out.array("split.child", &children)?;
            out.array("leaf.number", &leaves)?;
        }
        Ok(())
    }

    fn restore_all(from: &mut Reader<'_>, sizes: Sizes) -> Result<Vec<Self>, StoreError> {
        let counts = from.array::<u32>("tree.nodes")?;
        let kinds = from.array::<u32>("node.kind")?.of_length(counts.total())?;
        let kinds = kinds.where_all(R::KINDS, |kind| kind == 0 || R::arity_of(kind).is_some())?;
        let splits: Vec<u32> = kinds.clone().filter(|kind| *kind != 0).collect();
        let n_leaves = kinds.len() - splits.len();
        // Every node except the roots is a child. Checking this first bounds the children of rules by the stored bytes.
        let n_children: u64 = splits
            .iter()
            .filter_map(|&kind| R::arity_of(kind))
            .map(u64::from)
            .sum();
        if n_children + counts.len() as u64 != kinds.len() as u64 {
            let problem = format!(
                "has {} nodes; expected {n_children} children and {} roots",
                kinds.len(),
                counts.len()
            );
            return Err(kinds.wrong(problem));
        }
        let rules = R::restore_all(&splits, from, sizes.n_features)?;
        let mut places = None;
        if from.has("split.child") {
            let children = from.array::<u32>("split.child")?.of_length(splits.len())?;
            places = Some((children, from.array::<u32>("leaf.number")?.of_length(n_leaves)?));
        }
        let mut nodes = Nodes {
            kinds,
            rules: rules.into_iter(),
            places,
        };
        let structure = |(tree, count)| nodes.next(count).map_err(|problem| of_tree(tree, problem));
        counts.enumerate().map(structure).collect()
    }
}

/// The nodes of trees not yet restored.
struct Nodes<'a, R> {
    kinds: Entries<'a, u32>,
    rules: std::vec::IntoIter<R>,
    /// The first child of each split and the number of each leaf, if not as in depth-first growth.
    places: Option<(Entries<'a, u32>, Entries<'a, u32>)>,
}

impl<R: StoreRule> Nodes<'_, R> {
    /// Restores the next tree, with `count` nodes.
    fn next(&mut self, count: u32) -> Result<Structure<R>, String> {
        let text = |e: StoreError| e.to_string();
        let kinds = self.kinds.part(count as usize).map_err(text)?;
        let n_splits = kinds.iter().filter(|kind| **kind != 0).count();
        let places = match &mut self.places {
            Some((children, leaves)) => {
                let leaves = leaves.part(kinds.len() - n_splits).map_err(text)?;
                Some((children.part(n_splits).map_err(text)?, leaves))
            }
            None => None,
        };
        let mut nodes = vec![Node::Leaf(0); kinds.len()];
        let (mut split, mut leaf, mut next_child) = (0, 0, 1);
        let mut stack = vec![0_usize];
        for kind in kinds {
            let place = stack.pop().ok_or("nodes follow after its last leaf")?;
            let node = if kind == 0 {
                let number = places.as_ref().map_or(leaf as u32, |(_, numbers)| numbers[leaf]);
                leaf += 1;
                Node::Leaf(number)
            } else {
                let arity = R::arity_of(kind).unwrap_or(0);
                let first_child = places
                    .as_ref()
                    .map_or(next_child, |(children, _)| children[split]);
                split += 1;
                // There are at most as many children as nodes, so the stack is no larger than the tree.
                next_child = next_child
                    .checked_add(arity)
                    .filter(|next| *next <= count)
                    .ok_or("its last nodes are missing")?;
                let first = first_child as usize;
                stack.extend((first..first + arity as usize).rev());
                let rule = self.rules.next().ok_or("a split has no rule")?;
                Node::Split { rule, first_child }
            };
            *nodes.get_mut(place).ok_or("a child lies outside the tree")? = node;
        }
        if !stack.is_empty() {
            return Err("its last nodes are missing".to_owned());
        }
        Structure::try_from(nodes).map_err(|e| e.to_string())
    }
}
