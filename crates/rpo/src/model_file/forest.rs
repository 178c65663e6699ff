//! Forests as arrays, and back.
//!
//! Nodes come tree by tree in preorder. A grower that works depth-first stores them so that the k-th split in
//! preorder has its children at 1 + 2k and leaves are numbered as they come; only trees grown otherwise need
//! to say where children and leaves are.

use super::arrays::{ArrayReader, ArrayWriter, check_length, check_values};
use super::error::ModelFileErrorKind as Kind;
use super::leaves::{LeafReader, LeafWriter};
use super::thresholds;
use crate::ModelError;
use rpo_core::Seed;
use rpo_ensemble::{EnsembleError, Forest, ForestTree, Importances};
use rpo_tree::{AxisRule, Node, Structure, Tree, TreeError};

/// A node that is split in two.
const SPLIT: u8 = 2;
/// Added to a split that sends missing values to its first child.
const MISSING_LEFT: u8 = 0x80;

/// The nodes of all trees.
#[derive(Default)]
struct Nodes {
    counts: Vec<u32>,
    kinds: Vec<u32>,
    features: Vec<u32>,
    thresholds: Vec<f32>,
    first_children: Vec<u32>,
    leaves: Vec<u32>,
    /// Whether every tree so far was stored as a depth-first grower does.
    depth_first: bool,
}

impl Nodes {
    fn push(&mut self, structure: &Structure<AxisRule>) {
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
}

pub(super) fn write(forest: &Forest, out: &mut ArrayWriter) -> Result<(), Kind> {
    let mut nodes = Nodes {
        depth_first: true,
        ..Nodes::default()
    };
    let mut leaves = LeafWriter::default();
    for (i, ForestTree { tree, .. }) in forest.trees().iter().enumerate() {
        nodes.push(tree.structure());
        leaves.push(i, tree.leaves())?;
    }
    let seeds: Vec<u64> = forest.trees().iter().map(|t| t.seed.value()).collect();
    out.longs("tree.seed", &seeds);
    out.integers("tree.nodes", &nodes.counts);
    out.integers("node.kind", &nodes.kinds);
    out.integers("split.feature", &nodes.features);
    thresholds::write(&nodes.thresholds, out)?;
    if !nodes.depth_first {
        out.integers("split.child", &nodes.first_children);
        out.integers("leaf.number", &nodes.leaves);
    }
    leaves.write(out)?;
    out.longs("importance", forest.importance_sums().units());
    Ok(())
}

pub(super) fn read(
    arrays: &mut ArrayReader<'_>,
    bootstrap: bool,
    n_train: usize,
    n_features: usize,
    n_outputs: usize,
) -> Result<Forest, Kind> {
    let seeds = arrays.longs("tree.seed")?;
    let counts = arrays.integers("tree.nodes")?;
    check_length("tree.nodes", &counts, seeds.len())?;
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
    let mut leaves = LeafReader::new(arrays, seeds.len(), n_leaves, n_outputs)?;
    let units = arrays.longs("importance")?;

    let mut cursor = Cursor::default();
    let mut trees = Vec::with_capacity(seeds.len());
    for (i, (&seed, &count)) in seeds.iter().zip(&counts).enumerate() {
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
                let leaf = match &places {
                    Some((_, numbers)) => numbers[cursor.leaf],
                    None => (cursor.leaf - first_leaf) as u32,
                };
                cursor.leaf += 1;
                Node::Leaf(leaf)
            } else {
                let split = cursor.split;
                cursor.split += 1;
                let first_child = match &places {
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
        let tree_error = |e: TreeError| fail(e.to_string());
        let structure = Structure::new(nodes).map_err(tree_error)?;
        let leaves = leaves.next(structure.n_leaves())?.map_err(tree_error)?;
        trees.push(ForestTree {
            tree: Tree::new(structure, leaves).map_err(tree_error)?,
            seed: Seed::new(seed),
        });
    }
    let importances = Importances::from_units(units);
    Forest::from_parts(trees, importances, bootstrap, n_train, n_features, n_outputs)
        .map_err(|e: EnsembleError| ModelError::from(e).into())
}

/// How much of the arrays is consumed.
#[derive(Default)]
struct Cursor {
    node: usize,
    split: usize,
    leaf: usize,
}
