//! Routing rows without missing values through trees.
//!
//! The depth that a row reaches is unpredictable, and a branch misprediction at the end of every descent costs as much
//! time as the descent itself. Here, therefore, leaves lead to themselves, and several rows take steps together until
//! none of them moves. Bench: `forest_speed` of `rpo-benches` on sets with numeric features.

use rpo_core::MatrixView;
use rpo_tree::{Node, RowBlock, Rule, Structure};
use std::ops::Range;

/// The nodes of the trees of a forest for rows without missing values, 12 bytes per node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BranchlessTraversal {
    nodes: Vec<ValueNode>,
    /// Start of the nodes of each tree, followed by the end of the last.
    start: Vec<usize>,
}

/// A rule or a leaf.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ValueNode {
    /// The bits of an `f32`; larger values go to child 1. For a leaf, [`LEAF`] combined with its index, which is a NaN,
    /// so that no value is larger.
    threshold: u32,
    feature: u32,
    /// The position of child 0 within the tree, followed by child 1. For a leaf, its own position.
    next: u32,
}

/// The bits of a quiet NaN without payload.
const LEAF: u32 = 0x7fc0_0000;
/// Number of leaves that the payload of a NaN can distinguish.
const MOST_LEAVES: usize = 1 << 22;

impl BranchlessTraversal {
    /// Lays out trees. Returns `None` if a tree has more than 2²² leaves, a rule on several features, or a threshold
    /// that is NaN.
    pub(crate) fn new(structures: &[&Structure<impl Rule>]) -> Option<Self> {
        let (mut nodes, mut start) = (Vec::new(), vec![0]);
        for structure in structures {
            if structure.n_leaves() > MOST_LEAVES {
                return None;
            }
            for (node, place) in structure.nodes().iter().zip(0..) {
                nodes.push(match node {
                    Node::Split { rule, first_child } => {
                        let test = rule.as_axis()?.test();
                        if test.threshold.is_nan() {
                            return None;
                        }
                        ValueNode {
                            threshold: test.threshold.to_bits(),
                            feature: test.feature,
                            next: *first_child,
                        }
                    }
                    Node::Leaf(leaf) => ValueNode {
                        threshold: LEAF | leaf,
                        feature: 0,
                        next: place,
                    },
                });
            }
            start.push(nodes.len());
        }
        Some(Self { nodes, start })
    }

    /// Returns true if no value of the rows is missing, as this layout requires.
    pub(crate) fn fits(x: MatrixView<'_>, mut rows: Range<usize>) -> bool {
        rows.all(|row| {
            let mut complete = true;
            x.for_each_in_row(row, |_, value| complete &= !value.is_nan());
            complete
        })
    }

    /// Writes the leaves of the rows of a block in a tree.
    pub(crate) fn leaves(&self, tree: usize, block: &RowBlock<'_>, leaves: &mut [u32]) {
        const LANES: usize = 8;
        let nodes = &self.nodes[self.start[tree]..self.start[tree + 1]];
        let values = block.values();
        let n_features = values.len() / leaves.len().max(1);
        let last = leaves.len().saturating_sub(1);
        for (i, leaves) in leaves.chunks_mut(LANES).enumerate() {
            // Lanes without a row of their own follow the last one.
            let rows: [usize; LANES] = std::array::from_fn(|lane| (i * LANES + lane).min(last) * n_features);
            let mut places = [0_u32; LANES];
            loop {
                let mut moved = 0;
                for (place, row) in places.iter_mut().zip(&rows) {
                    let node = nodes[*place as usize];
                    let value = values[row + node.feature as usize];
                    let next = node.next + u32::from(value > f32::from_bits(node.threshold));
                    moved |= *place ^ next;
                    *place = next;
                }
                if moved == 0 {
                    break;
                }
            }
            for (leaf, place) in leaves.iter_mut().zip(places) {
                *leaf = nodes[place as usize].threshold & !LEAF;
            }
        }
    }
}
