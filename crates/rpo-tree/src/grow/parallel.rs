//! Growing the subtrees of a tree on several threads.
//!
//! Every large node, and every subtree below a small one, is its own task, which produces one part; the parts are
//! joined at the end. No task waits for another, so no stack grows with the depth of the tree, which can be as large as
//! the number of rows.

use super::{GrowParams, Grown, Growth, Pending, Subtree, check, grow};
use crate::TreeError;
use crate::rule::Rule;
use crate::splitter::{ProposedSplit, Splitter};
use rayon::Scope;
use rpo_core::Seed;
use std::sync::{Mutex, MutexGuard};

/// Fewest rows of a node whose children grow as separate tasks.
const WORTH_IT: usize = 4096;

/// Like [`grow`], but with subtrees in parallel on the current rayon pool: the result is the same for any number of
/// threads.
///
/// It is meant for few trees on many samples; an ensemble of many trees grows faster with one thread per tree.
/// Best-first growth stays on one thread; [`grow_together`](super::grow_together) divides it.
///
/// # Errors
/// See [`grow`].
///
/// # Panics
/// See [`grow`].
pub fn grow_parallel<S: Splitter>(
    splitter: &S,
    rows: Vec<u32>,
    params: &GrowParams,
    seed: Seed,
) -> Result<Grown<S::Rule>, TreeError> {
    if params.max_leaves.is_some() || rows.len() < WORTH_IT {
        return grow(splitter, &mut splitter.workspace(), rows, params, seed);
    }
    check(splitter, &rows, params)?;
    let tasks = Tasks {
        splitter,
        params,
        free: Mutex::new(Vec::new()),
        parts: Mutex::new(vec![None]),
    };
    let whole = Task {
        part: 0,
        rows,
        depth: 0,
        seed,
    };
    rayon::scope(|scope| tasks.run(whole, scope));
    Ok(put_together(tasks.into_parts()))
}

/// A node whose subtree is to be grown.
struct Task {
    /// Index of the part that the task produces.
    part: usize,
    rows: Vec<u32>,
    depth: u32,
    seed: Seed,
}

/// Result of a task.
enum Part<R> {
    /// A split; the parts of its children are `first_child` and the following ones.
    Split { rule: R, gain: f64, first_child: usize },
    /// A subtree.
    Whole(Subtree<R>),
}

/// Data shared by tasks.
struct Tasks<'s, S: Splitter> {
    splitter: &'s S,
    params: &'s GrowParams,
    /// Unused workspaces; there are as many workspaces as threads ever work at once.
    free: Mutex<Vec<S::Workspace>>,
    parts: Mutex<Vec<Option<Part<S::Rule>>>>,
}

const UNHARMED: &str = "no thread panics while it holds the list";

fn lock<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().expect(UNHARMED)
}

impl<S: Splitter> Tasks<'_, S> {
    fn into_parts(self) -> Vec<Option<Part<S::Rule>>> {
        self.parts.into_inner().expect(UNHARMED)
    }

    fn run<'t>(&'t self, task: Task, scope: &Scope<'t>) {
        let Task {
            part: place,
            rows,
            depth,
            seed,
        } = task;
        let taken = lock(&self.free).pop();
        let mut workspace = taken.unwrap_or_else(|| self.splitter.workspace());
        let is_small = rows.len() < WORTH_IT;
        let root = Pending {
            node: 0,
            start: 0,
            end: rows.len(),
            depth,
            seed,
        };
        let mut growth = Growth::new(self.splitter, &mut workspace, self.params, rows);
        let split = if is_small {
            growth.depth_first(root);
            None
        } else {
            let split = growth.split(root);
            if split.is_none() {
                growth.close(root);
            }
            split
        };
        let part = match split {
            None => Part::Whole(growth.into_subtree()),
            Some(found) => {
                let ProposedSplit { rule, gain } = growth.partition(root, found);
                let first_child = self.make_room(growth.ends.len());
                let mut start = 0;
                for (i, &end) in growth.ends.iter().enumerate() {
                    let child = Task {
                        part: first_child + i,
                        rows: growth.rows[start..end].to_vec(),
                        depth: depth + 1,
                        seed: seed.child(i as u64),
                    };
                    scope.spawn(|scope| self.run(child, scope));
                    start = end;
                }
                Part::Split {
                    rule,
                    gain,
                    first_child,
                }
            }
        };
        lock(&self.free).push(workspace);
        lock(&self.parts)[place] = Some(part);
    }

    /// Makes room for `n` more parts; returns the index of the first.
    fn make_room(&self, n: usize) -> usize {
        let mut parts = lock(&self.parts);
        let first = parts.len();
        parts.resize_with(first + n, || None);
        first
    }
}

/// Numbers the nodes and leaves of all parts in the order of depth-first growth.
fn put_together<R: Rule>(mut parts: Vec<Option<Part<R>>>) -> Grown<R> {
    let mut all = Subtree::default();
    let mut stack = vec![(0, 0)];
    while let Some((node, part)) = stack.pop() {
        match parts[part].take().expect("every task leaves its part") {
            Part::Whole(subtree) => all.adopt(node, subtree),
            Part::Split {
                rule,
                gain,
                first_child,
            } => {
                let arity = rule.arity();
                let first = all.split(node, rule, gain);
                // Child 0 comes next.
                stack.extend((0..arity).rev().map(|i| (first + i, first_child + i)));
            }
        }
    }
    all.into_grown()
}
