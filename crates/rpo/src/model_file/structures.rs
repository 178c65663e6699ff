//! Structures of axis-aligned trees as arrays, and back.
//!
//! Nodes come tree by tree in preorder. A grower that works depth-first stores them so that the k-th split in
//! preorder has its children at 1 + 2k and leaves are numbered as they come; only trees grown otherwise need
//! to say where children and leaves are.

use super::arrays::{ArrayReader, ArrayWriter, check_length, check_values};
use super::error::ModelFileErrorKind as Kind;
use super::thresholds;
use rpo_tree::{AxisRule, Node, Structure};

/// A node that is split in two.
const SPLIT: u8 = 2;
/// Added to a split that sends missing values to its first child.
const MISSING_LEFT: u8 = 0x80;

/// Collects the structures of all trees.
pub(super) struct StructureWriter {
    counts: Vec<u32>,
    kinds: Vec<u32>,
    features: Vec<u32>,
    thresholds: Vec<f32>,
    first_children: Vec<u32>,
    leaves: Vec<u32>,
    /// Whether every tree so far was stored as a depth-first grower does.
    depth_first: bool,
}

impl Default for StructureWriter {
    fn default() -> Self {
        Self {
            counts: Vec::new(),
            kinds: Vec::new(),
            features: Vec::new(),
            thresholds: Vec::new(),
            first_children: Vec::new(),
            leaves: Vec::new(),
            depth_first: true,
        }
    }
}

impl StructureWriter {
    pub(super) fn push(&mut self, structure: &Structure<AxisRule>) {
        let nodes = structure.nodes();
        self.counts.push(nodes.len() as u32);
        let (mut n_splits, mut n_leaves) = (0, 0);
        let mut stack = vec![0_usize];
        while let Some(node) = stack.pop() {
            match &nodes[node] {
                Node::Leaf(leaf) => {
                    self.kinds.push(0);
                    self.leaves.push(*leaf);
                    self.depth_first &= *leaf == n_leaves;
                    n_leaves += 1;
                }
                Node::Split { rule, first_child } => {
                    let missing = if rule.missing_left() { MISSING_LEFT } else { 0 };
                    self.kinds.push(u32::from(SPLIT | missing));
                    self.features.push(rule.feature());
                    self.thresholds.push(rule.threshold());
                    self.first_children.push(*first_child);
                    self.depth_first &= *first_child == 1 + 2 * n_splits;
                    n_splits += 1;
                    let first = *first_child as usize;
                    stack.extend([first + 1, first]);
                }
            }
        }
    }

    pub(super) fn write(self, out: &mut ArrayWriter) -> Result<(), Kind> {
        out.integers("tree.nodes", &self.counts);
        out.integers("node.kind", &self.kinds);
        out.integers("split.feature", &self.features);
        thresholds::write(&self.thresholds, out)?;
        if !self.depth_first {
            out.integers("split.child", &self.first_children);
            out.integers("leaf.number", &self.leaves);
        }
        Ok(())
    }
}

/// Hands out the structures of one tree after the other.
pub(super) struct StructureReader {
    counts: Vec<u32>,
    kinds: Vec<u32>,
    features: Vec<u32>,
    thresholds: Vec<f32>,
    /// Where children and leaves are, if that is not as a depth-first grower has them.
    places: Option<(Vec<u32>, Vec<u32>)>,
    n_leaves: usize,
    cursor: Cursor,
}

/// How much of the arrays is consumed.
#[derive(Default)]
struct Cursor {
    tree: usize,
    node: usize,
    split: usize,
    leaf: usize,
}

impl StructureReader {
    /// Takes the arrays and checks whatever concerns all trees together.
    pub(super) fn new(arrays: &mut ArrayReader<'_>, n_features: usize) -> Result<Self, Kind> {
        let counts = arrays.integers("tree.nodes")?;
        let kinds = arrays.integers("node.kind")?;
        let n_nodes = counts.iter().map(|&n| u64::from(n)).sum::<u64>();
        check_length("node.kind", &kinds, n_nodes as usize)?;
        check_values("node.kind", &kinds, "0, 2 or 130", |kind| {
            kind & !u32::from(MISSING_LEFT) == u32::from(SPLIT) || kind == 0
        })?;
        let n_leaves = kinds.iter().filter(|kind| **kind == 0).count();
        let n_splits = kinds.len() - n_leaves;
        let features = arrays.integers("split.feature")?;
        check_length("split.feature", &features, n_splits)?;
        check_values("split.feature", &features, "a feature of the model", |feature| {
            (feature as usize) < n_features.min(1 << 31)
        })?;
        let thresholds = thresholds::read(arrays, n_splits)?;
        let places = if arrays.has("split.child") {
            let children = arrays.integers("split.child")?;
            check_length("split.child", &children, n_splits)?;
            let numbers = arrays.integers("leaf.number")?;
            check_length("leaf.number", &numbers, n_leaves)?;
            Some((children, numbers))
        } else {
            None
        };
        Ok(Self {
            counts,
            kinds,
            features,
            thresholds,
            places,
            n_leaves,
            cursor: Cursor::default(),
        })
    }

    /// Number of trees.
    pub(super) fn n_trees(&self) -> usize {
        self.counts.len()
    }

    /// Number of leaves of all trees.
    pub(super) fn n_leaves(&self) -> usize {
        self.n_leaves
    }

    /// The next tree.
    ///
    /// # Panics
    /// After the last one.
    pub(super) fn next(&mut self) -> Result<Structure<AxisRule>, Kind> {
        let Self {
            counts,
            kinds,
            features,
            thresholds,
            places,
            cursor,
            ..
        } = self;
        let i = cursor.tree;
        cursor.tree += 1;
        let count = counts[i];
        let fail = |problem: String| Kind::Tree { tree: i, problem };
        let (first_split, first_leaf) = (cursor.split, cursor.leaf);
        let mut nodes = vec![Node::Leaf(0); count as usize];
        let mut stack = vec![0_usize];
        for _ in 0..count {
            let place = stack
                .pop()
                .ok_or_else(|| fail("nodes follow after its last leaf".to_owned()))?;
            let kind = kinds[cursor.node];
            cursor.node += 1;
            let node = if kind == 0 {
                let leaf = match &*places {
                    Some((_, numbers)) => numbers[cursor.leaf],
                    None => (cursor.leaf - first_leaf) as u32,
                };
                cursor.leaf += 1;
                Node::Leaf(leaf)
            } else {
                let split = cursor.split;
                cursor.split += 1;
                let first_child = match &*places {
                    Some((children, _)) => children[split],
                    None => 1 + 2 * (split - first_split) as u32,
                };
                let missing_left = kind & u32::from(MISSING_LEFT) != 0;
                let first = first_child as usize;
                stack.extend([first + 1, first]);
                Node::Split {
                    rule: AxisRule::new(features[split], thresholds[split], missing_left),
                    first_child,
                }
            };
            *nodes
                .get_mut(place)
                .ok_or_else(|| fail("a child lies outside the tree".to_owned()))? = node;
        }
        if !stack.is_empty() {
            return Err(fail("its last nodes are missing".to_owned()));
        }
        Structure::new(nodes).map_err(|e| fail(e.to_string()))
    }
}
