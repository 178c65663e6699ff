//! Growers, which decide the order in which nodes are split. They use splitters only through their trait.

mod best_first;
mod copies;
mod parallel;
mod subtree;
mod team;

pub use parallel::grow_parallel;
pub use subtree::Subtree;
pub(crate) use team::threads;
pub use team::{Team, grow_together, undivided};

use crate::leaves::LeafMembers;
use crate::partition::{partition, partition_in_two};
use crate::rule::Rule;
use crate::splitter::{NodeRows, ProposedSplit, Splitter, check_increasing};
use crate::structure::{Node, Structure};
use crate::{CheckParams, TreeError};
use rpo_core::{Domain, Seed, TooFew};
use serde::{Deserialize, Serialize};

/// Limits on growth, independent of the splitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GrowParams {
    /// Largest depth of a leaf; the root has depth 0. Default none: trees are fully developed, as in the
    /// forests of Breiman (2001) and of Joly, Geurts, Wehenkel (2014).
    pub max_depth: Option<u32>,
    /// Fewest distinct samples of a node that is split; values below 2 mean 2, as a single sample cannot be
    /// split. Default 2. (The papers' `n_min = 1` with "nodes of at least `n_min`" reads the same.)
    pub min_samples_split: usize,
    /// Largest number of leaves. If set, growth is best-first: the leaf whose split has the largest gain
    /// is split next. Default none: depth-first.
    pub max_leaves: Option<usize>,
}

impl Default for GrowParams {
    fn default() -> Self {
        Self {
            max_depth: None,
            min_samples_split: 2,
            max_leaves: None,
        }
    }
}

impl GrowParams {
    /// Returns true if a node of this many rows at this depth may be split.
    pub(crate) fn allow(&self, n_rows: usize, depth: u32) -> bool {
        n_rows >= self.min_samples_split.max(2) && self.max_depth.is_none_or(|max| depth < max)
    }
}

impl CheckParams for GrowParams {
    type Error = TreeError;

    fn check(&self) -> Result<(), TreeError> {
        Ok(Domain::Count.check("max_leaves", self.max_leaves)?)
    }
}

/// The result of growing: a structure, and the gains and training samples of its nodes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Grown<R> {
    /// The structure.
    pub structure: Structure<R>,
    /// The gain of each node's split, 0 for leaves, in node order.
    pub gains: Vec<f64>,
    /// The training samples of each leaf; every sample used for growth is in one leaf.
    pub members: LeafMembers,
}

/// Grows a structure on the given rows of the training set, which are increasing and should have positive weight.
///
/// Growth is depth-first without [`max_leaves`](GrowParams::max_leaves), otherwise best-first: the open node whose
/// split has the largest gain is split next (among equal gains the node created first) as long as the number of leaves
/// allows. Node seeds follow the path from the root, so the result does not depend on the order of growth: depth-first
/// and best-first growth without a binding limit find the same tree, with nodes and leaves numbered depth-first, child
/// 0 first, or in the order of growth.
///
/// # Errors
/// [`TreeError::NoRows`], [`TreeError::TooFew`] for a row that the splitter does not have, and
/// [`TreeError::Parameter`] for rows that are not increasing or a limit out of range.
///
/// # Panics
/// If a split has fewer than two children, a child without rows, or a row in a child that its rule does not have.
pub fn grow<S: Splitter>(
    splitter: &S,
    workspace: &mut S::Workspace,
    rows: Vec<u32>,
    params: &GrowParams,
    seed: Seed,
) -> Result<Grown<S::Rule>, TreeError> {
    check(splitter, &rows, params)?;
    if params.max_leaves.is_some() {
        let alone = std::slice::from_mut(workspace);
        return Ok(best_first::grow(splitter, alone, || false, rows, params, seed));
    }
    let mut growth = Growth::new(splitter, workspace, params, rows);
    let end = growth.rows.len();
    growth.depth_first(Pending {
        node: 0,
        start: 0,
        end,
        depth: 0,
        seed,
    });
    Ok(growth.into_subtree().into_grown())
}

/// Refuses rows that a tree cannot be grown on and limits out of range.
fn check(splitter: &impl Splitter, rows: &[u32], params: &GrowParams) -> Result<(), TreeError> {
    params.check()?;
    let Some(&last) = rows.last() else {
        return Err(TreeError::NoRows);
    };
    check_increasing("rows", rows)?;
    Ok(TooFew::check("rows", last as usize + 1, splitter.n_rows())?)
}

/// A node that holds rows `start..end` and is waiting to be split.
#[derive(Debug, Clone, Copy)]
struct Pending {
    node: usize,
    start: usize,
    end: usize,
    depth: u32,
    seed: Seed,
}

impl Pending {
    /// Returns true if the size and depth of the node allow a split.
    fn may_split(&self, params: &GrowParams) -> bool {
        params.allow(self.end - self.start, self.depth)
    }

    /// Returns the node in the form passed to splitters.
    fn of<'r>(&self, rows: &'r [u32]) -> NodeRows<'r> {
        NodeRows {
            number: self.node,
            rows: &rows[self.start..self.end],
            depth: self.depth,
            seed: self.seed,
        }
    }
}

/// A split that was found. The rows of the node are still in their order: a node that is searched but never split costs
/// no sorting.
struct Found<R> {
    split: ProposedSplit<R>,
    /// The child of each row.
    children: Vec<u16>,
}

/// Searches the split of a node, with an unused vector for the child of each row.
fn search<S: Splitter>(
    splitter: &S,
    node: NodeRows<'_>,
    workspace: &mut S::Workspace,
    spare: &mut Vec<Vec<u16>>,
) -> Option<Found<S::Rule>> {
    let mut children = spare.pop().unwrap_or_default();
    children.clear();
    children.resize(node.rows.len(), 0);
    match splitter.split(node, workspace, &mut children) {
        Some(split) => Some(Found { split, children }),
        None => {
            spare.push(children);
            None
        }
    }
}

/// Sorts the rows of a node by child, keeping their order, and writes the end of the rows of each child.
fn sort_by_child(
    rows: &mut [u32],
    children: &[u16],
    arity: usize,
    ends: &mut Vec<usize>,
    buffer: &mut Vec<u32>,
) {
    ends.clear();
    ends.resize(arity, rows.len());
    if let [left, _] = &mut ends[..] {
        *left = partition_in_two(rows, children, buffer);
    } else {
        let by_child = children.iter().map(|&child| usize::from(child));
        partition(by_child.zip(rows.iter().copied()), ends, buffer);
        rows.copy_from_slice(&buffer[..rows.len()]);
    }
    // Without this, nodes that are their own child would be split without end.
    assert!(
        ends.len() > 1 && ends[0] > 0 && ends.is_sorted_by(|a, b| a < b),
        "a splitter makes at least two children and leaves none empty"
    );
}

/// Notifies the splitter of the children of a node that was split, and whether each will be searched.
fn announce<'r, S: Splitter>(
    splitter: &S,
    parent: usize,
    mut children: impl ExactSizeIterator<Item = (NodeRows<'r>, bool)>,
    workspace: &mut S::Workspace,
) {
    // Without an allocation for two children, as most nodes have.
    if children.len() == 2
        && let (Some(left), Some(right)) = (children.next(), children.next())
    {
        splitter.opened(parent, &[left, right], workspace);
    } else {
        splitter.opened(parent, &children.collect::<Vec<_>>(), workspace);
    }
}

/// Growth depth by depth, without a limit on the number of leaves.
struct Growth<'s, S: Splitter> {
    splitter: &'s S,
    workspace: &'s mut S::Workspace,
    params: &'s GrowParams,
    rows: Vec<u32>,
    buffer: Vec<u32>,
    /// Unused vectors of children.
    spare: Vec<Vec<u16>>,
    /// The end of the rows of each child of the node that was split last.
    ends: Vec<usize>,
    nodes: Vec<Node<S::Rule>>,
    gains: Vec<f64>,
    leaves: Vec<(usize, usize)>,
    /// Buffer for subtrees that splitters grow themselves; empty in between.
    below: Subtree<S::Rule>,
}

impl<'s, S: Splitter> Growth<'s, S> {
    fn new(splitter: &'s S, workspace: &'s mut S::Workspace, params: &'s GrowParams, rows: Vec<u32>) -> Self {
        splitter.begin(workspace);
        Self {
            splitter,
            workspace,
            params,
            buffer: Vec::new(),
            spare: Vec::new(),
            ends: Vec::new(),
            nodes: vec![Node::Leaf(0)],
            gains: vec![0.0],
            leaves: Vec::new(),
            below: Subtree::default(),
            rows,
        }
    }

    /// Grows the tree below `root` depth-first. The largest child of a node comes right after it, as its statistics may
    /// be computed as the node's minus those of the other children.
    fn depth_first(&mut self, root: Pending) {
        self.grow_below(root);
        self.renumber();
    }

    /// Grows a subtree whose nodes are numbered in the order of creation.
    fn grow_below(&mut self, root: Pending) {
        let mut stack = vec![root];
        while let Some(pending) = stack.pop() {
            if self.grow_on_copy(pending) || self.grow_whole(pending) {
                continue;
            }
            match self.split(pending) {
                Some(found) => {
                    let first = stack.len();
                    self.open(pending, found, |child| stack.push(child));
                    let (rows, params) = (&self.rows[..], self.params);
                    let children = stack[first..].iter();
                    let children = children.map(|child| (child.of(rows), child.may_split(params)));
                    announce(self.splitter, pending.node, children, self.workspace);
                    let size = |child: &Pending| child.end - child.start;
                    let next = (first..stack.len()).max_by_key(|&i| size(&stack[i]));
                    let last = stack.len() - 1;
                    stack.swap(next.unwrap_or(last), last);
                }
                None => self.close(pending),
            }
        }
    }

    /// Numbers nodes and leaves depth-first, child 0 first, regardless of the order of growth.
    fn renumber(&mut self) {
        let mut grown: Vec<_> = std::mem::take(&mut self.nodes).into_iter().map(Some).collect();
        let gains = std::mem::take(&mut self.gains);
        let leaves = std::mem::take(&mut self.leaves);
        (self.nodes, self.gains) = (vec![Node::Leaf(0)], vec![0.0]);
        let mut stack = vec![(0, 0)];
        while let Some((old, new)) = stack.pop() {
            self.gains[new] = gains[old];
            self.nodes[new] = match grown[old].take().expect("a node has one parent") {
                Node::Leaf(leaf) => {
                    self.leaves.push(leaves[leaf as usize]);
                    Node::Leaf(self.leaves.len() as u32 - 1)
                }
                Node::Split { rule, first_child } => {
                    let (first, arity) = (self.nodes.len(), rule.arity());
                    self.nodes.resize_with(first + arity, || Node::Leaf(0));
                    self.gains.resize(first + arity, 0.0);
                    stack.extend((0..arity).rev().map(|i| (first_child as usize + i, first + i)));
                    Node::Split {
                        rule,
                        first_child: first as u32,
                    }
                }
            };
        }
    }

    /// Searches for a split.
    fn split(&mut self, pending: Pending) -> Option<Found<S::Rule>> {
        let node = pending.of(&self.rows);
        pending
            .may_split(self.params)
            .then(|| search(self.splitter, node, self.workspace, &mut self.spare))?
    }

    /// Sorts the rows of a node by child and writes the end of the rows of each child; returns the split.
    fn partition(&mut self, node: Pending, found: Found<S::Rule>) -> ProposedSplit<S::Rule> {
        let Found { split, children } = found;
        let rows = &mut self.rows[node.start..node.end];
        sort_by_child(
            rows,
            &children,
            split.rule.arity(),
            &mut self.ends,
            &mut self.buffer,
        );
        self.ends.iter_mut().for_each(|end| *end += node.start);
        self.spare.push(children);
        split
    }

    /// Turns a node into a split and passes its children to `child`.
    fn open(&mut self, pending: Pending, found: Found<S::Rule>, mut child: impl FnMut(Pending)) {
        let Pending {
            node,
            mut start,
            depth,
            seed,
            ..
        } = pending;
        let ProposedSplit { rule, gain } = self.partition(pending, found);
        let first_child = self.nodes.len();
        self.nodes[node] = Node::Split {
            rule,
            first_child: first_child as u32,
        };
        self.gains[node] = gain;
        for (i, &end) in self.ends.iter().enumerate() {
            self.nodes.push(Node::Leaf(0));
            self.gains.push(0.0);
            child(Pending {
                node: first_child + i,
                start,
                end,
                depth: depth + 1,
                seed: seed.child(i as u64),
            });
            start = end;
        }
    }

    fn close(&mut self, pending: Pending) {
        self.nodes[pending.node] = Node::Leaf(self.leaves.len() as u32);
        self.leaves.push((pending.start, pending.end));
    }

    fn into_subtree(self) -> Subtree<S::Rule> {
        let mut rows = Vec::with_capacity(self.rows.len());
        let mut leaf_start = Vec::with_capacity(self.leaves.len() + 1);
        leaf_start.push(0);
        for &(start, end) in &self.leaves {
            rows.extend_from_slice(&self.rows[start..end]);
            leaf_start.push(rows.len() as u32);
        }
        Subtree {
            nodes: self.nodes,
            gains: self.gains,
            rows,
            leaf_start,
        }
    }
}
