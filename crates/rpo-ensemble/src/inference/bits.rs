//! Routing rows through trees that compare every feature with one threshold, as trees on 0/1 features do.
//!
//! Of a row then only one bit per feature matters: on which side of the feature's threshold it lies. The bits of many
//! rows, and eight bytes per node, stay in a core's cache where values and rules would not. Bench: `forest_speed` of
//! `rpo-benches` on delicious.

use rpo_core::MatrixView;
use rpo_tree::{AxisTest, Node, Rule, Structure};
use std::ops::Range;

/// The trees of a forest in which no feature has two thresholds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BitsetTraversal {
    /// Per feature: its threshold; `None` if no rule asks for it.
    thresholds: Vec<Option<f32>>,
    /// The bits of a row of zeros.
    zero_row: Vec<u64>,
    nodes: Vec<BitNode>,
    /// Where the nodes of each tree begin, and where the last end.
    start: Vec<usize>,
}

/// A rule or a leaf.
#[derive(Debug, Clone, Copy, PartialEq)]
struct BitNode {
    /// The feature whose bit decides; [`BitNode::LEAF`] in a leaf.
    feature: u32,
    /// The node of child 0 within the tree, before that of child 1; in a leaf its index among the leaves.
    next: u32,
}

impl BitNode {
    const LEAF: u32 = u32::MAX;
}

impl BitsetTraversal {
    /// The nodes of trees whose rules ask for features below `n_features`; `None` if a feature has two thresholds or
    /// one that is not finite.
    pub(crate) fn new(structures: &[&Structure<impl Rule>], n_features: usize) -> Option<Self> {
        let all_nodes = || structures.iter().flat_map(|structure| structure.nodes());
        let mut thresholds = vec![None; n_features];
        for node in all_nodes() {
            if let Node::Split { rule, .. } = node {
                let rule = rule.as_axis()?;
                let AxisTest {
                    feature, threshold, ..
                } = rule.test();
                let known = thresholds[feature as usize].get_or_insert(threshold);
                if *known != threshold || !threshold.is_finite() {
                    return None;
                }
            }
        }
        let mut start = vec![0];
        for structure in structures {
            start.push(start[start.len() - 1] + structure.nodes().len());
        }
        let mut nodes = Vec::with_capacity(start[structures.len()]);
        nodes.extend(all_nodes().map(|node| match node {
            Node::Leaf(leaf) => BitNode {
                feature: BitNode::LEAF,
                next: *leaf,
            },
            Node::Split { rule, first_child } => BitNode {
                feature: rule.as_axis().expect("checked above").test().feature,
                next: *first_child,
            },
        }));
        let mut zero_row = vec![0; n_features.div_ceil(64)];
        for (feature, threshold) in thresholds.iter().enumerate() {
            put(&mut zero_row, feature, threshold.is_some_and(|t| 0.0 > t));
        }
        Some(Self {
            thresholds,
            zero_row,
            nodes,
            start,
        })
    }

    /// Writes the bits of some rows of `x` into `bits`; `false` if a value that rules ask for is missing, as which way
    /// it goes may differ from rule to rule.
    pub(crate) fn load(&self, x: MatrixView<'_>, rows: Range<usize>, bits: &mut Vec<u64>) -> bool {
        bits.clear();
        let mut complete = true;
        for row in rows {
            let start = bits.len();
            bits.extend_from_slice(&self.zero_row);
            let bits = &mut bits[start..];
            x.for_each_in_row(row, |feature, value| {
                if let Some(threshold) = self.thresholds[feature as usize] {
                    complete &= !value.is_nan();
                    put(bits, feature as usize, value > threshold);
                }
            });
        }
        complete
    }

    /// Writes the leaves of rows with these bits in a tree.
    ///
    /// As in [`Structure::leaves`](rpo_tree::Structure::leaves) several rows descend side by side.
    pub(crate) fn leaves(&self, tree: usize, bits: &[u64], leaves: &mut [u32]) {
        const LANES: usize = 8;
        let nodes = &self.nodes[self.start[tree]..self.start[tree + 1]];
        let n_words = self.zero_row.len();
        // Per lane: which row descends in it, and at which node it is.
        let mut active = LANES.min(leaves.len());
        let mut waiting = active;
        let mut row: [usize; LANES] = std::array::from_fn(|lane| lane);
        let mut node = [0_u32; LANES];
        while active > 0 {
            let mut lane = 0;
            while lane < active {
                let BitNode { feature, next } = nodes[node[lane] as usize];
                if feature == BitNode::LEAF {
                    leaves[row[lane]] = next;
                    if waiting < leaves.len() {
                        (row[lane], node[lane]) = (waiting, 0);
                        waiting += 1;
                    } else {
                        active -= 1;
                        (row[lane], node[lane]) = (row[active], node[active]);
                    }
                } else {
                    let word = bits[row[lane] * n_words + feature as usize / 64];
                    node[lane] = next + (word >> (feature % 64) & 1) as u32;
                    lane += 1;
                }
            }
        }
    }
}

fn put(bits: &mut [u64], place: usize, bit: bool) {
    let word = &mut bits[place / 64];
    *word = *word & !(1 << (place % 64)) | u64::from(bit) << (place % 64);
}
