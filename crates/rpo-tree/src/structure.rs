//! The structure of a tree: rules without predictions.

use crate::error::TreeError;
use crate::input::RowBlock;
use crate::rule::{AxisRule, Row, Rule};
use rpo_core::{MatrixView, TooFew};

/// A node: a rule with children, or a leaf.
#[derive(Debug, Clone, PartialEq)]
pub enum Node<R> {
    /// Routes to `first_child + rule.child(row)`.
    Split {
        /// The rule.
        rule: R,
        /// The node of child 0; the other children follow it.
        first_child: u32,
    },
    /// A leaf, with its index among the leaves.
    Leaf(u32),
}

/// The rules of a tree, which send every sample to a leaf.
///
/// Nodes are stored in one vector, with the children of a node adjacent; node 0 is the root. A structure is immutable;
/// together with leaves it is a [`Tree`](crate::Tree).
#[derive(Debug, Clone, PartialEq)]
pub struct Structure<R> {
    nodes: Vec<Node<R>>,
    n_leaves: u32,
    /// The most features that any rule needs.
    n_features: usize,
}

impl<R: Rule> TryFrom<Vec<Node<R>>> for Structure<R> {
    type Error = TreeError;

    /// Makes a structure from nodes: every node but the root must be the child of exactly one earlier node, and leaves
    /// must be numbered 0, 1, ..., each number once.
    ///
    /// # Errors
    /// [`TreeError::Structure`] with the first invalid node.
    fn try_from(nodes: Vec<Node<R>>) -> Result<Self, TreeError> {
        let fail = |node, why| Err(TreeError::Structure { node, why });
        let mut has_parent = vec![false; nodes.len()];
        let n_leaves = nodes.iter().filter(|n| matches!(n, Node::Leaf(_))).count();
        let mut seen = vec![false; n_leaves];
        if nodes.is_empty() {
            return fail(0, "a tree must have a root");
        }
        has_parent[0] = true;
        for (i, node) in nodes.iter().enumerate() {
            if !has_parent[i] {
                return fail(i, "no earlier node leads here");
            }
            match node {
                Node::Leaf(leaf) => match seen.get_mut(*leaf as usize) {
                    Some(seen @ false) => *seen = true,
                    _ => return fail(i, "leaves must be numbered from 0 without gap or repetition"),
                },
                Node::Split { rule, first_child } => {
                    let first = *first_child as usize;
                    if rule.arity() == 0 || first <= i || first.saturating_add(rule.arity()) > nodes.len() {
                        return fail(i, "children must lie behind their parent and inside the tree");
                    }
                    for child in first..first + rule.arity() {
                        if std::mem::replace(&mut has_parent[child], true) {
                            return fail(child, "a node must have one parent");
                        }
                    }
                }
            }
        }
        Ok(Self {
            n_features: n_features(&nodes),
            nodes,
            n_leaves: n_leaves as u32,
        })
    }
}

/// Returns the most features that any rule needs.
fn n_features<R: Rule>(nodes: &[Node<R>]) -> usize {
    let needed = nodes.iter().map(|node| match node {
        Node::Split { rule, .. } => rule.n_features(),
        Node::Leaf(_) => 0,
    });
    needed.max().unwrap_or(0)
}

impl<R: Rule> Structure<R> {
    /// Creates a structure from the nodes made by a grower.
    pub(crate) fn from_grower(nodes: Vec<Node<R>>, n_leaves: u32) -> Self {
        debug_assert!(Self::try_from(nodes.clone()).is_ok_and(|s| s.n_leaves == n_leaves));
        Self {
            n_features: n_features(&nodes),
            nodes,
            n_leaves,
        }
    }

    /// Returns the nodes, root first.
    pub fn nodes(&self) -> &[Node<R>] {
        &self.nodes
    }

    /// Number of leaves.
    pub fn n_leaves(&self) -> usize {
        self.n_leaves as usize
    }

    /// Returns the nodes with their numbers, in preorder: a node before all nodes below it, and child 0 with its
    /// subtree before child 1.
    pub(crate) fn preorder(&self) -> impl Iterator<Item = (usize, &Node<R>)> {
        let mut stack = vec![0_usize];
        std::iter::from_fn(move || {
            let number = stack.pop()?;
            let node = &self.nodes[number];
            if let Node::Split { rule, first_child } = node {
                let first = *first_child as usize;
                stack.extend((first..first + rule.arity()).rev());
            }
            Some((number, node))
        })
    }

    /// Returns the splits in preorder: the number of the node and its rule.
    pub fn splits(&self) -> impl Iterator<Item = (usize, &R)> {
        self.preorder().filter_map(|(number, node)| match node {
            Node::Split { rule, .. } => Some((number, rule)),
            Node::Leaf(_) => None,
        })
    }

    /// Number of features that a sample must have to reach its leaf: the most that any rule needs.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Writes the leaf that each sample reaches into `leaves`.
    ///
    /// Several samples descend side by side: each step waits for its node to be loaded from memory, and the waits of
    /// different samples overlap.
    ///
    /// # Panics
    /// If `leaves` and `rows` differ in length.
    pub fn leaves(&self, rows: &[Row<'_>], leaves: &mut [u32]) {
        const LANES: usize = 8;
        assert_eq!(rows.len(), leaves.len(), "one leaf per row");
        let Some(&any) = rows.first() else { return };
        // Per lane: the row that descends in it, and its current node.
        let mut active = LANES.min(rows.len());
        let mut next = active;
        let mut place: [usize; LANES] = std::array::from_fn(|lane| lane);
        let mut row: [Row<'_>; LANES] = std::array::from_fn(|lane| rows.get(lane).copied().unwrap_or(any));
        let mut node = [0_u32; LANES];
        while active > 0 {
            let mut lane = 0;
            while lane < active {
                match &self.nodes[node[lane] as usize] {
                    Node::Split { rule, first_child } => {
                        node[lane] = first_child + rule.child(row[lane]) as u32;
                        lane += 1;
                    }
                    Node::Leaf(leaf) => {
                        leaves[place[lane]] = *leaf;
                        let from = if next < rows.len() {
                            (next, rows[next], 0)
                        } else {
                            active -= 1;
                            (place[active], row[active], node[active])
                        };
                        (place[lane], row[lane], node[lane]) = from;
                        next += 1;
                    }
                }
            }
        }
    }

    /// Returns the leaf that each sample of `x` (samples x features, NaN for missing) reaches.
    ///
    /// # Errors
    /// [`TreeError::NotCsr`], and [`TreeError::TooFew`] if `x` has fewer [features](Self::n_features) than the rules
    /// read.
    pub fn apply(&self, x: MatrixView<'_>) -> Result<Vec<u32>, TreeError> {
        x.check_csr("features")?;
        TooFew::check("features", self.n_features, x.n_cols())?;
        let mut leaves = vec![0; x.n_rows()];
        let (mut block, size) = (RowBlock::new(x), RowBlock::good_size(x));
        for (i, leaves) in leaves.chunks_mut(size).enumerate() {
            block.load(i * size..i * size + leaves.len());
            self.leaves(&block.rows(), leaves);
        }
        Ok(leaves)
    }

    /// Depth of each node; the root has depth 0.
    pub(crate) fn depths(&self) -> Vec<u32> {
        let mut depths = vec![0; self.nodes.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            if let Node::Split { rule, first_child } = node {
                let first = *first_child as usize;
                let depth = depths[i] + 1;
                depths[first..first + rule.arity()].fill(depth);
            }
        }
        depths
    }

    /// Largest depth of a leaf.
    pub fn depth(&self) -> usize {
        self.depths().into_iter().max().unwrap_or(0) as usize
    }
}

impl Structure<AxisRule> {
    /// Returns the leaf of a sample given only its stored values: those of `features`, which are increasing; the other
    /// values are 0. Looks features up instead of expanding the sample.
    ///
    /// # Panics
    /// If there are not as many values as features.
    pub fn leaf_of_stored(&self, features: &[u32], values: &[f32]) -> u32 {
        assert_eq!(features.len(), values.len(), "a value for each feature");
        let mut node = 0;
        loop {
            match &self.nodes[node] {
                Node::Split { rule, first_child } => {
                    let place = features.binary_search(&rule.feature());
                    let value = place.map_or(0.0, |place| values[place]);
                    node = *first_child as usize + rule.child_of(value);
                }
                Node::Leaf(leaf) => return *leaf,
            }
        }
    }
}
