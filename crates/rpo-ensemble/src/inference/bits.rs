//! Routing rows through trees that compare every feature with one threshold, as trees on 0/1 features do.
//!
//! Of a row then only one bit per feature matters: whether it lies on the other side of the feature's threshold than zero. 64
//! rows are a word for each feature and go down a tree together. Rows that hold few features follow a chain of nodes on the
//! side of zero for most of their way, so a tree is laid out as its chains: to go on along one is to read the next feature,
//! which waits for nothing. Bench: `forest_speed` of `rpo-benches` on delicious.

use rpo_core::MatrixView;
use rpo_tree::{AxisTest, Node, Rule, Structure};
use std::ops::Range;

/// The trees of a forest in which no feature has two thresholds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BitsetTraversal {
    /// Per feature: its threshold; `None` if no rule asks for it.
    thresholds: Vec<Option<f32>>,
    /// Chains of nodes, each of which is on the side of zero of the one before; the last of a chain is a leaf. Of a
    /// node the feature that it asks for, of a leaf the number of features.
    features: Vec<u32>,
    /// Of a node the place within its tree where the chain on its other side begins, of a leaf its index among the leaves.
    exits: Vec<u32>,
    /// Where the nodes of each tree begin, and where the last end.
    start: Vec<usize>,
}

impl BitsetTraversal {
    /// Lays out trees whose rules ask for features below `n_features`; `None` if a rule compares several features or
    /// two rules compare a feature with two thresholds.
    pub(crate) fn new(structures: &[&Structure<impl Rule>], n_features: usize) -> Option<Self> {
        let mut thresholds = vec![None; n_features];
        for node in structures.iter().flat_map(|structure| structure.nodes()) {
            if let Node::Split { rule, .. } = node {
                let AxisTest {
                    feature, threshold, ..
                } = rule.as_axis()?.test();
                let known = thresholds[feature as usize].get_or_insert(threshold);
                if *known != threshold || !threshold.is_finite() {
                    return None;
                }
            }
        }
        let n_nodes = structures.iter().map(|structure| structure.nodes().len()).sum();
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
        // Where chains begin, and the nodes that lead there.
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

    /// Writes the bits of some rows of `x` into `bits`, by group of 64 rows, then feature; `false` if a value that rules
    /// ask for is missing, as which way it goes may differ from rule to rule.
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
                if let Some(threshold) = self.thresholds[feature as usize] {
                    complete &= !value.is_nan();
                    let leaves_zero = (value > threshold) != (0.0 > threshold);
                    bits[feature as usize] |= u64::from(leaves_zero) << (i % GROUP);
                }
            });
        }
        complete
    }

    /// Writes the leaves of rows with these bits in a tree.
    pub(crate) fn leaves(&self, tree: usize, bits: &[u64], leaves: &mut [u32]) {
        let nodes = self.start[tree]..self.start[tree + 1];
        let (features, exits) = (&self.features[nodes.clone()], &self.exits[nodes]);
        let groups = bits.chunks_exact(self.thresholds.len() + 1);
        for (bits, leaves) in groups.zip(leaves.chunks_mut(GROUP)) {
            descend(features, exits, bits, leaves);
        }
    }
}

/// Rows of a group, one bit each.
const GROUP: usize = u64::BITS as usize;

/// Writes the leaves of a group of rows, given their bits and behind those a word of which all are set.
fn descend(features: &[u32], exits: &[u32], bits: &[u64], leaves: &mut [u32]) {
    let leaf = bits.len() as u32 - 1;
    // Where other rows wait, at least one at each place.
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
