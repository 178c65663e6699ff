//! Routing of samples through a recorded tree: the centroids of a node are computed when samples reach it.

use super::{Child, RecordedTree};
use crate::centroid::gather::{Centroid, Gather};
use crate::centroid::means::{Means, total_of_child};
use crate::centroid::member_rows::MemberRows;
use crate::centroid::table::Table;
use crate::centroid::{CentroidRule, Cosine};
use crate::partition::ByChild;
use std::ops::Range;

/// Buffers for routing samples through trees; reusable.
#[derive(Debug, Default)]
pub struct RouteBuffers {
    /// Samples, with those of a node adjacent.
    order: Vec<u32>,
    by_child: ByChild,
    table: Table,
    scores: Vec<f32>,
}

/// A node, and the samples that reached it.
type Reached = (Child, Range<usize>);

/// Passes the columns and values of the requested training rows, one after the other.
type Load<'l> = dyn Fn(&[u32], &mut dyn FnMut(&[u32], &[f32])) + 'l;

impl RouteBuffers {
    /// Routes the samples of a node to its children.
    fn send<'x>(
        &mut self,
        centroids: &[Centroid],
        n_columns: usize,
        children: &[Child],
        range: &Range<usize>,
        sample: &impl Fn(usize) -> (&'x [u32], &'x [f32]),
        reached: &mut Vec<Reached>,
    ) {
        let Self {
            order,
            by_child,
            table,
            scores,
        } = self;
        let rows = &mut order[range.clone()];
        if Table::is_small(centroids.len(), n_columns) {
            table.fill(centroids, n_columns);
            by_child.sort(rows, children.len(), |row| {
                let (columns, values) = sample(row as usize);
                table.nearest(columns, values, scores)
            });
            table.clear(centroids);
        } else {
            let rule = CentroidRule::gather(centroids.iter(), &mut Gather::new(n_columns));
            by_child.sort(rows, children.len(), |row| {
                let (columns, values) = sample(row as usize);
                rule.nearest(columns, values)
            });
        }
        reached.extend(by_child.reached().map(|(child, reached)| {
            let reached = range.start + reached.start..range.start + reached.end;
            (children[child], reached)
        }));
    }

    fn write(&self, samples: Range<usize>, leaf: u32, leaves: &mut [u32]) {
        let samples = self.order[samples].iter();
        samples.for_each(|&row| leaves[row as usize] = leaf);
    }
}

impl RecordedTree {
    /// Writes the leaf of each of `leaves.len()` samples. `sample(i)` returns the columns, below `n_columns`, and the
    /// values of sample i. `load` passes the columns and values of the requested ones among the `n_train` training
    /// samples, one after the other.
    ///
    /// All samples of a node are routed before any goes further, so that its centroids are computed once for all of
    /// them: many samples at a time cost far less than one at a time.
    pub fn leaves<'x>(
        &self,
        n_columns: usize,
        n_train: usize,
        load: &Load<'_>,
        sample: impl Fn(usize) -> (&'x [u32], &'x [f32]),
        work: &mut RouteBuffers,
        leaves: &mut [u32],
    ) {
        work.order.clear();
        work.order.extend(0..leaves.len() as u32);
        let mut waiting = vec![(self.children[0], 0..leaves.len())];
        while let Some((node, range)) = waiting.pop() {
            let split = match node {
                Child::Leaf(leaf) => {
                    work.write(range, leaf, leaves);
                    continue;
                }
                Child::Split(split) => split as usize,
            };
            if let Some(centroids) = self.kept(split).and_then(|kept| kept.get()) {
                let children = self.children_of(split);
                work.send(centroids, n_columns, children, &range, &sample, &mut waiting);
            } else if !range.is_empty() {
                let below = Below::new(self, split, n_columns, n_train, load);
                below.leaves(split, range, &sample, work, leaves);
            }
        }
    }
}

/// A split with its subtree and its training rows.
struct Below<'t> {
    tree: &'t RecordedTree,
    /// The training rows, identified by their position here: by increasing number or, if they are many, leaf by leaf,
    /// so that those of a node are adjacent in memory.
    rows: MemberRows<'static>,
    /// The leaf of each training row.
    leaf_of: Vec<u32>,
    /// The training rows of each node, adjacent and by increasing number.
    order: Vec<u32>,
    n_columns: usize,
    means: Means,
    centroids: Vec<Centroid>,
    codes: Vec<u16>,
    /// The child of each leaf below a node.
    child_of: Vec<u16>,
    by_child: ByChild,
}

/// A split at which samples are waiting.
struct Waiting {
    split: usize,
    samples: Range<usize>,
    /// Start of its training rows.
    first: usize,
    /// The sums of its training rows, if available.
    total: Option<Vec<f64>>,
}

impl<'t> Below<'t> {
    fn new(tree: &'t RecordedTree, split: usize, n_columns: usize, n_train: usize, load: &Load<'_>) -> Self {
        /// Number of stored values beyond which rows of a node should be adjacent in memory, as reading them otherwise
        /// waits.
        const FAR_APART: usize = 1 << 19;
        let (below, start) = (tree.splits[split].leaves.clone(), tree.start_of(split));
        let rows = &tree.members.all_rows()[start..start + tree.n_rows(split)];
        let leaves = below.flat_map(|leaf| {
            let n_rows = tree.members[leaf as usize].len();
            std::iter::repeat_n(leaf, n_rows)
        });
        let mut leaf_of: Vec<u32> = leaves.collect();
        let mut order = places_by_number(rows, n_train);
        // Loaded by increasing number, the order in which they are stored in the training set.
        let by_number: Vec<u32> = order.iter().map(|&place| rows[place as usize]).collect();
        let mut rows = MemberRows::collect(n_train, |push| load(&by_number, push));
        if rows.n_stored() > FAR_APART {
            rows = rows.renumbered(&order);
        } else {
            leaf_of = order.iter().map(|&place| leaf_of[place as usize]).collect();
            order = (0..order.len() as u32).collect();
        }
        Self {
            tree,
            rows,
            leaf_of,
            order,
            n_columns,
            means: Means::new(n_columns),
            centroids: Vec::new(),
            codes: Vec::new(),
            child_of: Vec::new(),
            by_child: ByChild::default(),
        }
    }

    /// Writes the leaves of the samples of the split.
    fn leaves<'x>(
        mut self,
        split: usize,
        samples: Range<usize>,
        sample: &impl Fn(usize) -> (&'x [u32], &'x [f32]),
        work: &mut RouteBuffers,
        leaves: &mut [u32],
    ) {
        let (tree, mut reached) = (self.tree, Vec::new());
        let mut waiting = vec![Waiting {
            split,
            samples,
            first: 0,
            total: None,
        }];
        while let Some(node) = waiting.pop() {
            let kept = tree.kept(node.split);
            let made = kept.and_then(|kept| kept.get());
            if made.is_none() {
                self.make_centroids(&node);
                if let Some(kept) = kept {
                    kept.get_or_init(|| self.centroids.as_slice().into());
                }
            }
            let centroids = made.map_or(&self.centroids[..], |made| made);
            let children = tree.children_of(node.split);
            work.send(
                centroids,
                self.n_columns,
                children,
                &node.samples,
                sample,
                &mut reached,
            );
            let first = waiting.len();
            for (child, samples) in reached.drain(..) {
                match child {
                    Child::Leaf(leaf) => work.write(samples, leaf, leaves),
                    Child::Split(split) => waiting.push(Waiting {
                        split: split as usize,
                        samples,
                        first: node.first + tree.start_of(split as usize) - tree.start_of(node.split),
                        total: None,
                    }),
                }
            }
            if first < waiting.len() {
                self.open(node, &mut waiting[first..]);
            }
        }
    }

    /// Computes the centroids of a node.
    fn make_centroids(&mut self, node: &Waiting) {
        let tree = self.tree;
        tree.codes_of(node.split, &mut self.codes);
        let rows = &self.order[node.first..][..self.codes.len()];
        let members = self.codes.iter().zip(rows);
        self.means.compute(
            &self.rows,
            members.map(|(&code, &row)| (usize::from(code), row)),
            tree.arity(node.split),
            node.total.as_deref(),
            tree.max_entries,
            &Cosine,
            &mut self.centroids,
        );
    }

    /// Distributes the training rows of a node to its children. Among the children that samples reached, moves the one
    /// with the most training rows to the end, to be taken next, with the sums of its rows if they are useful.
    fn open(&mut self, node: Waiting, reached: &mut [Waiting]) {
        let tree = self.tree;
        let (first_leaf, n_rows) = (tree.splits[node.split].leaves.start, tree.n_rows(node.split));
        self.child_of.clear();
        for (number, child) in (0_u16..).zip(tree.children_of(node.split)) {
            let n_leaves = match child {
                Child::Leaf(_) => 1,
                Child::Split(child) => tree.splits[*child as usize].leaves.len(),
            };
            self.child_of.extend(std::iter::repeat_n(number, n_leaves));
        }
        let rows = &mut self.order[node.first..][..n_rows];
        let child_of = |row: u32| self.child_of[(self.leaf_of[row as usize] - first_leaf) as usize];
        self.by_child
            .sort(rows, tree.arity(node.split), |row| child_of(row).into());
        reached.sort_by_key(|child| tree.n_rows(child.split));
        let Some(largest) = reached.last_mut() else { return };
        let (before, others) = rows.split_at(largest.first - node.first);
        let (own, behind) = others.split_at(tree.n_rows(largest.split));
        let others = [before, behind].into_iter();
        largest.total = total_of_child(node.total, &self.rows, own, others, self.n_columns);
    }
}

/// Returns the positions of rows by increasing row number; row numbers are distinct and below `n_train`.
fn places_by_number(rows: &[u32], n_train: usize) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let mut places: Vec<u32> = (0..rows.len() as u32).collect();
    if rows.len() < n_train / 16 {
        places.sort_unstable_by_key(|&place| rows[place as usize]);
        return places;
    }
    let mut place_of = vec![NONE; n_train];
    for (&row, &place) in rows.iter().zip(&places) {
        place_of[row as usize] = place;
    }
    places.clear();
    places.extend(place_of.iter().filter(|place| **place != NONE));
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rows_and_few_are_put_in_order() {
        let rows = [7, 2, 9, 3];
        for n_train in [10, 1000] {
            assert_eq!(places_by_number(&rows, n_train), [1, 3, 0, 2]);
        }
        assert!(places_by_number(&[], 0).is_empty());
    }
}
