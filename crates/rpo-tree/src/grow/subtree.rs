//! Subtrees that were grown separately.

use super::{Grown, Growth, Pending};
use crate::leaves::LeafMembers;
use crate::rule::Rule;
use crate::splitter::Splitter;
use crate::structure::{Node, Structure};

/// A part of a tree: a root, the nodes below, and the training samples of its leaves.
///
/// It is built by a [`Splitter`] that [grows whole subtrees](Splitter::grow_below). It starts with an open root, node
/// 0, and is complete when every node is split or closed.
#[derive(Debug, Clone)]
pub struct Subtree<R> {
    pub(super) nodes: Vec<Node<R>>,
    pub(super) gains: Vec<f64>,
    /// Rows leaf by leaf, and the start of each leaf followed by the end.
    pub(super) rows: Vec<u32>,
    pub(super) leaf_start: Vec<u32>,
}

impl<R> Default for Subtree<R> {
    fn default() -> Self {
        Self {
            nodes: vec![Node::Leaf(0)],
            gains: vec![0.0],
            rows: Vec::new(),
            leaf_start: vec![0],
        }
    }
}

impl<R: Rule> Subtree<R> {
    /// Splits an open node; returns the number of its first child. The other children follow it; all are open.
    pub fn split(&mut self, node: usize, rule: R, gain: f64) -> usize {
        let (first, arity) = (self.nodes.len(), rule.arity());
        self.nodes.resize_with(first + arity, || Node::Leaf(0));
        self.gains.resize(first + arity, 0.0);
        self.gains[node] = gain;
        self.nodes[node] = Node::Split {
            rule,
            first_child: first as u32,
        };
        first
    }
}

impl<R: Rule> Subtree<R> {
    /// Returns the complete subtree as a tree.
    pub(super) fn into_grown(self) -> Grown<R> {
        let n_leaves = self.leaf_start.len() as u32 - 1;
        Grown {
            structure: Structure::from_grower(self.nodes, n_leaves),
            gains: self.gains,
            members: LeafMembers::new(self.rows, self.leaf_start),
        }
    }
}

impl<R> Subtree<R> {
    /// Closes an open node: it becomes a leaf with these rows, which are increasing.
    pub fn close(&mut self, node: usize, rows: impl IntoIterator<Item = u32>) {
        self.nodes[node] = Node::Leaf(self.leaf_start.len() as u32 - 1);
        self.rows.extend(rows);
        self.leaf_start.push(self.rows.len() as u32);
    }

    /// Resets the subtree to an open root.
    fn clear(&mut self) {
        self.nodes.clear();
        self.nodes.push(Node::Leaf(0));
        self.gains.clear();
        self.gains.push(0.0);
        self.rows.clear();
        self.leaf_start.truncate(1);
    }

    /// Puts another subtree in the place of a node, after the existing nodes and leaves.
    pub(super) fn adopt(&mut self, place: usize, other: Self) {
        let n_leaves = self.leaf_start.len() - 1;
        let others = other.nodes.into_iter().zip(other.gains);
        graft(&mut self.nodes, &mut self.gains, place, n_leaves, others);
        let rows = self.rows.len() as u32;
        self.rows.extend(other.rows);
        self.leaf_start
            .extend(other.leaf_start.iter().skip(1).map(|start| start + rows));
    }
}

impl<S: Splitter> Growth<'_, S> {
    /// Lets the splitter grow the whole subtree below a node; returns false if it does not.
    pub(super) fn grow_whole(&mut self, root: Pending) -> bool {
        if !root.may_split(self.params) {
            return false;
        }
        let below = &mut self.below;
        let is_grown = self
            .splitter
            .grow_below(root.of(&self.rows), self.params, self.workspace, below);
        if is_grown {
            self.rows[root.start..root.end].copy_from_slice(&below.rows);
            let n_leaves = self.leaves.len();
            let starts = below.leaf_start.iter().map(|&start| root.start + start as usize);
            self.leaves.extend(starts.clone().zip(starts.skip(1)));
            let nodes = below.nodes.drain(..).zip(below.gains.drain(..));
            graft(&mut self.nodes, &mut self.gains, root.node, n_leaves, nodes);
            below.clear();
        }
        is_grown
    }
}

/// Puts the nodes of a subtree and their gains, numbered from 0, in the place of a node, after the existing nodes and
/// `n_leaves` leaves.
pub(super) fn graft<R>(
    nodes: &mut Vec<Node<R>>,
    gains: &mut Vec<f64>,
    place: usize,
    n_leaves: usize,
    subtree: impl Iterator<Item = (Node<R>, f64)>,
) {
    // The first node takes the place; the second follows the existing nodes.
    let before = nodes.len() as u32 - 1;
    for (i, (node, gain)) in subtree.enumerate() {
        let node = match node {
            Node::Leaf(leaf) => Node::Leaf(leaf + n_leaves as u32),
            Node::Split { rule, first_child } => Node::Split {
                rule,
                first_child: first_child + before,
            },
        };
        if i == 0 {
            (nodes[place], gains[place]) = (node, gain);
        } else {
            nodes.push(node);
            gains.push(gain);
        }
    }
}
