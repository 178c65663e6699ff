//! Structures of trees as arrays, and back, whatever their rules.
//!
//! Nodes come tree by tree in preorder. A grower that works depth-first stores them so that the k-th split in
//! preorder has its children at 1 + 2k and leaves are numbered as they come; only trees grown otherwise need
//! to say where children and leaves are.

use super::arrays::{ArrayReader, ArrayWriter, check_length, check_values};
use super::error::ModelFileErrorKind as Kind;
use rpo_tree::{Node, Rule, Structure, TreeError};

/// The rules of all trees on their way into arrays.
pub(super) trait RuleWriter<R>: Default {
    /// Takes a rule of two children, and gives what says in `node.kind` how the node is split.
    fn push(&mut self, rule: &R) -> u32;
    /// Writes the arrays.
    fn write(self, out: &mut ArrayWriter) -> Result<(), Kind>;
}

/// The rules of all trees on their way out of arrays.
pub(super) trait RuleReader<R>: Sized {
    /// What `node.kind` may say of a split.
    fn is_kind(kind: u32) -> bool;
    /// All of that, in words.
    const KINDS: &'static str;
    /// Takes the arrays that splits of these kinds have, and checks them.
    fn new(arrays: &mut ArrayReader<'_>, splits: &[u32], n_features: usize) -> Result<Self, Kind>;
    /// The next rule, of a split of this kind.
    fn next(&mut self, kind: u32) -> Result<R, TreeError>;
}

/// Collects the structures of all trees.
pub(super) struct StructureWriter<W> {
    counts: Vec<u32>,
    kinds: Vec<u32>,
    rules: W,
    first_children: Vec<u32>,
    leaves: Vec<u32>,
    /// Whether every tree so far was stored as a depth-first grower does.
    depth_first: bool,
}

impl<W: Default> Default for StructureWriter<W> {
    fn default() -> Self {
        Self {
            counts: Vec::new(),
            kinds: Vec::new(),
            rules: W::default(),
            first_children: Vec::new(),
            leaves: Vec::new(),
            depth_first: true,
        }
    }
}

impl<W> StructureWriter<W> {
    pub(super) fn push<R: Rule>(&mut self, structure: &Structure<R>)
    where
        W: RuleWriter<R>,
    {
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
                    self.kinds.push(self.rules.push(rule));
                    self.first_children.push(*first_child);
                    self.depth_first &= *first_child == 1 + 2 * n_splits;
                    n_splits += 1;
                    let first = *first_child as usize;
                    stack.extend([first + 1, first]);
                }
            }
        }
    }

    pub(super) fn write<R>(self, out: &mut ArrayWriter) -> Result<(), Kind>
    where
        W: RuleWriter<R>,
    {
        out.integers("tree.nodes", &self.counts);
        out.integers("node.kind", &self.kinds);
        self.rules.write(out)?;
        if !self.depth_first {
            out.integers("split.child", &self.first_children);
            out.integers("leaf.number", &self.leaves);
        }
        Ok(())
    }
}

/// Hands out the structures of one tree after the other.
pub(super) struct StructureReader<D> {
    counts: Vec<u32>,
    kinds: Vec<u32>,
    rules: D,
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

impl<D> StructureReader<D> {
    /// Takes the arrays and checks whatever concerns all trees together.
    pub(super) fn new<R>(arrays: &mut ArrayReader<'_>, n_features: usize) -> Result<Self, Kind>
    where
        D: RuleReader<R>,
    {
        let counts = arrays.integers("tree.nodes")?;
        let kinds = arrays.integers("node.kind")?;
        let n_nodes = counts.iter().map(|&n| u64::from(n)).sum::<u64>();
        check_length("node.kind", &kinds, n_nodes as usize)?;
        check_values("node.kind", &kinds, D::KINDS, |kind| {
            kind == 0 || D::is_kind(kind)
        })?;
        let splits: Vec<u32> = kinds.iter().copied().filter(|kind| *kind != 0).collect();
        let n_splits = splits.len();
        let n_leaves = kinds.len() - n_splits;
        let rules = D::new(arrays, &splits, n_features)?;
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
            rules,
            places,
            n_leaves,
            cursor: Cursor::default(),
        })
    }

    /// Number of trees.
    pub(super) fn n_trees(&self) -> usize {
        self.counts.len()
    }

    /// Number of splits of all trees.
    pub(super) fn n_splits(&self) -> usize {
        self.kinds.len() - self.n_leaves
    }

    /// Number of leaves of all trees.
    pub(super) fn n_leaves(&self) -> usize {
        self.n_leaves
    }

    /// The next tree.
    ///
    /// # Panics
    /// After the last one.
    pub(super) fn next<R: Rule>(&mut self) -> Result<Structure<R>, Kind>
    where
        D: RuleReader<R>,
    {
        let Self {
            counts,
            kinds,
            rules,
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
                let first = first_child as usize;
                stack.extend([first + 1, first]);
                Node::Split {
                    rule: rules.next(kind).map_err(|e| fail(e.to_string()))?,
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
