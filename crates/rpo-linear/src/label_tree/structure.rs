//! The structure of a tree and the positions of labels in it.

use rayon::prelude::*;
use rpo_core::Seed;

use super::cluster::LabelPoints;

/// A node, by the targets of its classifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    /// `n` children, consecutive nodes starting at `first`.
    Split { first: u32, n: u32 },
    /// `n` labels, consecutive entries of the tree's list starting at `first`.
    Leaf { first: u32, n: u32 },
}

impl Node {
    /// Number of classifiers.
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Split { n, .. } | Self::Leaf { n, .. } => n as usize,
        }
    }
}

/// The nodes of a tree, depth by depth, the root first. The children of a node are adjacent.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Structure {
    pub(crate) nodes: Vec<Node>,
    /// The labels of the leaves, in leaf order.
    pub(crate) labels: Vec<u32>,
    /// Start of each depth in `nodes`, and the end of the last.
    pub(crate) depths: Vec<u32>,
}

impl Structure {
    /// Clusters labels until at most `leaf_labels` are left.
    pub(crate) fn grow(
        points: &LabelPoints,
        labels: Vec<u32>,
        clusters: usize,
        leaf_labels: usize,
        seed: Seed,
    ) -> Self {
        let mut tree = Self {
            depths: vec![0],
            ..Self::default()
        };
        let mut level = vec![labels];
        while !level.is_empty() {
            let first_node = tree.nodes.len();
            let split = |(index, labels): (usize, &Vec<u32>)| {
                let k = clusters.min(labels.len().div_ceil(leaf_labels));
                let seed = seed.child((first_node + index) as u64);
                (k > 1).then(|| points.split(labels, k, seed))
            };
            let parts: Vec<Option<Vec<Vec<u32>>>> = level.par_iter().enumerate().map(split).collect();
            let mut next = Vec::new();
            let n_level = level.len();
            for (labels, parts) in level.into_iter().zip(parts) {
                match parts {
                    Some(parts) => {
                        let first = (first_node + n_level + next.len()) as u32;
                        let n = parts.len() as u32;
                        tree.nodes.push(Node::Split { first, n });
                        next.extend(parts);
                    }
                    None => {
                        let (first, n) = (tree.labels.len() as u32, labels.len() as u32);
                        tree.nodes.push(Node::Leaf { first, n });
                        tree.labels.extend(labels);
                    }
                }
            }
            tree.depths.push(tree.nodes.len() as u32);
            level = next;
        }
        tree
    }

    /// Rebuilds a tree from the kind and the number of classifiers of each node, and the labels of the leaves.
    pub(crate) fn of_sizes(sizes: impl Iterator<Item = (bool, u32)>, labels: Vec<u32>) -> Option<Self> {
        let mut tree = Self {
            depths: vec![0],
            ..Self::default()
        };
        let (mut next_node, mut next_label) = (1_usize, 0_usize);
        for (node, (is_leaf, n)) in sizes.enumerate() {
            // A child comes after its parent.
            if node >= next_node {
                return None;
            }
            if node == tree.depths[tree.depths.len() - 1] as usize {
                tree.depths.push(next_node as u32);
            }
            let next = if is_leaf { &mut next_label } else { &mut next_node };
            let first = u32::try_from(*next).ok()?;
            *next += n as usize;
            tree.nodes.push(match is_leaf {
                true => Node::Leaf { first, n },
                false => Node::Split { first, n },
            });
        }
        let whole = tree.nodes.len() == next_node && labels.len() == next_label;
        tree.labels = labels;
        whole.then_some(tree)
    }

    /// Iterates over the ranges of nodes at each depth.
    pub(crate) fn levels(&self) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
        self.depths
            .windows(2)
            .map(|range| range[0] as usize..range[1] as usize)
    }

    pub(crate) fn n_leaves(&self) -> usize {
        let leaves = self.nodes.iter().filter(|node| matches!(node, Node::Leaf { .. }));
        leaves.count()
    }

    /// Returns the path of each of `d` labels from the root down, as nodes with the classifier that leads on. Empty for
    /// labels that are not in the tree.
    pub(crate) fn paths(&self, d: usize) -> Vec<Vec<(u32, u32)>> {
        let mut parent = vec![(u32::MAX, 0); self.nodes.len()];
        let mut paths = vec![Vec::new(); d];
        for (index, node) in self.nodes.iter().enumerate() {
            match *node {
                Node::Split { first, n } => {
                    (0..n).for_each(|lane| parent[(first + lane) as usize] = (index as u32, lane));
                }
                Node::Leaf { first, n } => {
                    for lane in 0..n {
                        let path = &mut paths[self.labels[(first + lane) as usize] as usize];
                        path.push((index as u32, lane));
                        let mut at = index;
                        while parent[at].0 != u32::MAX {
                            path.push(parent[at]);
                            at = parent[at].0 as usize;
                        }
                        path.reverse();
                    }
                }
            }
        }
        paths
    }
}
