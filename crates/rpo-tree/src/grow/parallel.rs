//! Growing the subtrees of a tree on several threads.

use super::{GrowParams, Grown, Growth, Pending, grow};
use crate::leaves::LeafMembers;
use crate::splitter::Splitter;
use crate::structure::{Node, Structure};
use rayon::prelude::*;
use rpo_core::Seed;
use std::sync::Mutex;

/// Fewest rows of a node whose children grow apart from each other.
const WORTH_IT: usize = 4096;

/// [`grow`] with subtrees in parallel on the current rayon pool: the same result, for any number of threads.
///
/// For few trees on many rows; an ensemble of many trees is served better by a thread per tree. Best-first growth
/// has an order to keep and stays on one thread.
///
/// # Panics
/// As [`grow`].
pub fn grow_parallel<S: Splitter>(
    splitter: &S,
    rows: Vec<u32>,
    params: &GrowParams,
    seed: Seed,
) -> Grown<S::Rule> {
    if params.max_leaves.is_some() || rows.len() < WORTH_IT {
        return grow(splitter, &mut splitter.workspace(), rows, params, seed);
    }
    assert!(rows.is_sorted_by(|a, b| a < b), "rows are strictly increasing");
    let pool = WorkspacePool {
        splitter,
        free: Mutex::new(Vec::new()),
    };
    let part = subtree(&pool, rows, params, 0, seed);
    let structure = Structure::from_grower(part.nodes, part.n_leaves);
    Grown {
        structure,
        gains: part.gains,
        members: LeafMembers::new(part.rows, part.leaf_start),
    }
}

/// A subtree: nodes and leaves numbered from 0 and in the order of depth-first growth, the node itself first.
struct Part<R> {
    nodes: Vec<Node<R>>,
    gains: Vec<f64>,
    n_leaves: u32,
    /// Rows leaf by leaf, and where each leaf begins, and the end.
    rows: Vec<u32>,
    leaf_start: Vec<u32>,
}

/// Workspaces that are not in use: they are as many as threads ever work at once.
struct WorkspacePool<'s, S: Splitter> {
    splitter: &'s S,
    free: Mutex<Vec<S::Workspace>>,
}

impl<S: Splitter> WorkspacePool<'_, S> {
    fn with<R>(&self, f: impl FnOnce(&mut S::Workspace) -> R) -> R {
        let lock = || {
            self.free
                .lock()
                .expect("no thread panics while it holds the list")
        };
        let taken = lock().pop();
        let mut workspace = taken.unwrap_or_else(|| self.splitter.workspace());
        let result = f(&mut workspace);
        lock().push(workspace);
        result
    }
}

fn subtree<S: Splitter>(
    pool: &WorkspacePool<'_, S>,
    rows: Vec<u32>,
    params: &GrowParams,
    depth: u32,
    seed: Seed,
) -> Part<S::Rule> {
    let small = rows.len() < WORTH_IT;
    let root = Pending {
        node: 0,
        start: 0,
        end: rows.len(),
        depth,
        seed,
    };
    let (mut part, children) = pool.with(|workspace| {
        let mut growth = Growth::new(pool.splitter, workspace, params, rows);
        if small {
            growth.depth_first(root);
            return (growth.into_part(), Vec::new());
        }
        let mut children = Vec::new();
        match growth.split(root) {
            Some(ready) => growth.open(ready, |child| children.push(child)),
            None => growth.close(root),
        }
        let children: Vec<(Vec<u32>, Seed)> = children
            .iter()
            .map(|c| (growth.rows[c.start..c.end].to_vec(), c.seed))
            .collect();
        (growth.into_part(), children)
    });
    let grown: Vec<Part<S::Rule>> = children
        .into_par_iter()
        .map(|(rows, seed)| subtree(pool, rows, params, depth + 1, seed))
        .collect();
    for (child, grown) in grown.into_iter().enumerate() {
        part.adopt(1 + child, grown);
    }
    part
}

impl<R> Part<R> {
    /// Puts a subtree in the place of a node, behind the nodes and leaves that are there.
    fn adopt(&mut self, place: usize, grown: Self) {
        // The subtree's first node takes the place; its second follows those that are there.
        let (nodes, leaves) = (self.nodes.len() as u32 - 1, self.n_leaves);
        let renumbered = grown.nodes.into_iter().map(|node| match node {
            Node::Leaf(leaf) => Node::Leaf(leaf + leaves),
            Node::Split { rule, first_child } => Node::Split {
                rule,
                first_child: first_child + nodes,
            },
        });
        let mut renumbered = renumbered.zip(grown.gains);
        let (node, gain) = renumbered.next().expect("a subtree has a first node");
        (self.nodes[place], self.gains[place]) = (node, gain);
        for (node, gain) in renumbered {
            self.nodes.push(node);
            self.gains.push(gain);
        }
        let rows = self.rows.len() as u32;
        self.rows.extend(grown.rows);
        self.leaf_start
            .extend(grown.leaf_start.iter().skip(1).map(|start| start + rows));
        self.n_leaves += grown.n_leaves;
    }
}

impl<S: Splitter> Growth<'_, S> {
    fn into_part(self) -> Part<S::Rule> {
        let (rows, leaf_start) = self.leaf_rows();
        Part {
            n_leaves: self.leaves.len() as u32,
            nodes: self.nodes,
            gains: self.gains,
            rows,
            leaf_start,
        }
    }
}
