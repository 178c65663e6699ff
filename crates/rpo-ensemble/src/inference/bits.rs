//! Routing rows through trees that compare each feature with a single threshold, as trees on 0/1 features do.
//!
//! Only one bit per feature of a row then matters: whether its value lies on the other side of the feature's threshold
//! than zero. The bits of 64 rows form one word per feature, and these rows descend a tree together. Rows with few
//! nonzero features mostly follow a chain of nodes on the side of zero, so a tree is laid out as its chains. To
//! continue along a chain is to read the next feature, which does not depend on earlier results. Bench: `forest_speed`
//! of `rpo-benches` on delicious.

use rpo_core::MatrixView;
use rpo_tree::{AxisTest, Node, Rule, Structure};
use std::ops::Range;

/// The trees of a forest in which each feature has at most one threshold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BitsetTraversal {
    /// The threshold of each feature up to the last one that a rule uses; `None` if no rule uses the feature.
    thresholds: Vec<Option<f32>>,
    /// Chains of nodes, in which each node is the child on the side of zero of the one before, and the last node is a
    /// leaf. Stores the feature tested by a node; for a leaf, the number of thresholds.
    features: Vec<u32>,
    /// For a node, the position in its tree of the chain of its other child; for a leaf, its index among the leaves.
    exits: Vec<u32>,
    /// Start of the nodes of each tree, followed by the end of the last.
    start: Vec<usize>,
}

/// Number of features that no rule uses from which their bits are not worth their memory: a small file may say that it has
/// billions.
const MOST_UNUSED: usize = 1 << 20;

impl BitsetTraversal {
    /// Lays out trees. Returns `None` if a rule uses several features, if two rules compare a feature with different
    /// thresholds, or if far fewer features are used than lie before the last one used.
    pub(crate) fn new(structures: &[&Structure<impl Rule>]) -> Option<Self> {
        let n_nodes: usize = structures.iter().map(|structure| structure.nodes().len()).sum();
        let most_features = MOST_UNUSED + n_nodes;
        let mut thresholds: Vec<Option<f32>> = Vec::new();
        for node in structures.iter().flat_map(|structure| structure.nodes()) {
            if let Node::Split { rule, .. } = node {
                let AxisTest {
                    feature, threshold, ..
                } = rule.as_axis()?.test();
                let feature = feature as usize;
                if feature >= most_features {
                    return None;
                }
                thresholds.resize(thresholds.len().max(feature + 1), None);
                let known = thresholds[feature].get_or_insert(threshold);
                if *known != threshold || !threshold.is_finite() {
                    return None;
                }
            }
        }
        let mut traversal = Self {
            thresholds,
            features: Vec::with_capacity(n_nodes),
            exits: Vec::with_capacity(n_nodes),
            start: vec![0],
        };
        for structure in structures {
            traversal.add(structure.nodes());
        }
        Some(traversal)
    }

    /// Adds a tree.
    fn add<R: Rule>(&mut self, nodes: &[Node<R>]) {
        let first = self.features.len();
        // First nodes of chains, and the nodes that lead to them.
        let mut begins = vec![(0, None)];
        while let Some((mut node, from)) = begins.pop() {
            if let Some(from) = from {
                self.exits[from] = (self.features.len() - first) as u32;
            }
            loop {
                match &nodes[node] {
                    Node::Split { rule, first_child } => {
                        let test = rule.as_axis().expect("checked before").test();
                        let zero_child = usize::from(0.0 > test.threshold);
                        let first_child = *first_child as usize;
                        begins.push((first_child + 1 - zero_child, Some(self.exits.len())));
                        self.features.push(test.feature);
                        self.exits.push(0);
                        node = first_child + zero_child;
                    }
                    Node::Leaf(leaf) => {
                        self.features.push(self.thresholds.len() as u32);
                        self.exits.push(*leaf);
                        break;
                    }
                }
            }
        }
        self.start.push(self.features.len());
    }

    /// Writes the bits of some rows of `x` into `bits`, by group of 64 rows, then feature. Returns `false` if a value
    /// used by rules is missing, since its direction may differ from rule to rule.
    pub(crate) fn load(&self, x: MatrixView<'_>, rows: Range<usize>, bits: &mut Vec<u64>) -> bool {
        let n_features = self.thresholds.len();
        bits.clear();
        let mut complete = true;
        for (i, row) in rows.enumerate() {
            if i % GROUP == 0 {
                bits.resize(bits.len() + n_features, 0);
                // All rows stop at a leaf.
                bits.push(u64::MAX);
            }
            let start = bits.len() - (n_features + 1);
            let bits = &mut bits[start..];
            x.for_each_in_row(row, |feature, value| {
                if let Some(&Some(threshold)) = self.thresholds.get(feature as usize) {
                    complete &= !value.is_nan();
                    let leaves_zero = (value > threshold) != (0.0 > threshold);
                    bits[feature as usize] |= u64::from(leaves_zero) << (i % GROUP);
                }
            });
        }
        complete
    }

    /// Writes the leaves that rows with these bits reach in a tree.
    pub(crate) fn leaves(&self, tree: usize, bits: &[u64], leaves: &mut [u32]) {
        let nodes = self.start[tree]..self.start[tree + 1];
        let (features, exits) = (&self.features[nodes.clone()], &self.exits[nodes]);
        let groups = bits.chunks_exact(self.thresholds.len() + 1);
        for (bits, leaves) in groups.zip(leaves.chunks_mut(GROUP)) {
            descend(features, exits, bits, leaves);
        }
    }
}

/// Number of rows of a group, one bit each.
const GROUP: usize = u64::BITS as usize;

/// Writes the leaves of a group of rows, given their bits followed by a word in which all bits are set.
fn descend(features: &[u32], exits: &[u32], bits: &[u64], leaves: &mut [u32]) {
    let leaf = bits.len() as u32 - 1;
    // Positions at which other rows wait, at least one row each.
    let (mut waiting, mut n_waiting) = ([(0, 0); GROUP], 0);
    let (mut node, mut rows) = (0, u64::MAX >> (GROUP - leaves.len()));
    loop {
        let mut exiting = 0;
        let is_exit = |&feature: &u32| {
            exiting = rows & bits[feature as usize];
            exiting != 0
        };
        node += features[node..]
            .iter()
            .position(is_exit)
            .expect("a chain ends in a leaf");
        let exit = exits[node];
        if features[node] != leaf {
            rows ^= exiting;
            if rows == 0 {
                (node, rows) = (exit as usize, exiting);
            } else {
                waiting[n_waiting] = (exit, exiting);
                n_waiting += 1;
                node += 1;
            }
            continue;
        }
        while rows != 0 {
            leaves[rows.trailing_zeros() as usize] = exit;
            rows &= rows - 1;
        }
        let Some(last) = n_waiting.checked_sub(1) else {
            return;
        };
        n_waiting = last;
        (node, rows) = (waiting[last].0 as usize, waiting[last].1);
    }
}
