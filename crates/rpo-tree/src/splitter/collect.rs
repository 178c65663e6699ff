//! Gathering the values of a node's rows in a feature.
//!
//! An entry is `rank << 32 | row` for a row whose value is not zero; the remaining rows hold zero. Both layouts give
//! the same entries, so the search that follows, and the order of every sum in it, is the same, and sparse and dense
//! features grow the same tree.

use super::lists::EntryLists;
use super::subtree::{NodeOfSubtree, Subtrees};
use super::sweep::Entry;
use crate::ranks::{ColumnValues, Ranks, SparseRanks, bits};
use rpo_core::vectorized;

/// Collects the entries of one dense feature, in row order.
#[inline(always)]
pub(super) fn dense_entries<E: Entry>(values: &ColumnValues, ranks: &Ranks, rows: &[u32], out: &mut Vec<E>) {
    // A rank that no row has if no row holds zero.
    let zero = values.zero_rank().unwrap_or(u32::MAX);
    entries_where(ranks, rows, |rank, _| rank != zero, out);
}

/// Collects the entries of those rows of a dense feature for which `is_taken` is true of rank and row, in row order.
#[inline(always)]
pub(super) fn entries_where<E: Entry>(
    ranks: &Ranks,
    rows: &[u32],
    is_taken: impl Fn(u32, u32) -> bool,
    out: &mut Vec<E>,
) {
    match ranks {
        Ranks::U8(ranks) => gather(ranks, rows, is_taken, out),
        Ranks::U16(ranks) => gather(ranks, rows, is_taken, out),
        Ranks::U32(ranks) => gather(ranks, rows, is_taken, out),
    }
}

#[inline(always)]
fn gather<T: Copy + Into<u32>, E: Entry>(
    ranks: &[T],
    rows: &[u32],
    is_taken: impl Fn(u32, u32) -> bool,
    out: &mut Vec<E>,
) {
    // Writing every entry and advancing only past those taken keeps the loop branch-free.
    out.clear();
    out.resize(rows.len(), E::default());
    let mut n = 0;
    for &row in rows {
        let rank = ranks[row as usize].into();
        out[n] = E::new(rank, row);
        n += usize::from(is_taken(rank, row));
    }
    out.truncate(n);
}

/// Collects the entries of several sparse features at once.
#[derive(Debug, Clone)]
pub(super) struct SparseCollector {
    /// Candidates, or features of few rows, as bits; clear between calls.
    is_marked: Vec<u64>,
    /// Per candidate feature: its place among the candidates.
    place: Vec<u32>,
    /// The rows of the node as bits; clear between calls.
    in_node: Vec<u64>,
    /// Places of the candidates that some row holds, in increasing order.
    held: Vec<u32>,
    /// Entries by place, unless they are in the lists; empty except for the places held.
    entries: Vec<Vec<u64>>,
    /// Rows of a node that hold a feature.
    rows: Vec<u32>,
    /// Used if cells are stored as bits; all other fields are for other layouts.
    subtrees: Option<Subtrees>,
    lists: EntryLists,
    /// True if the entries are in the lists.
    in_lists: bool,
    /// Entries read since the chain of nodes began or lists were last made.
    walked: usize,
}

/// Ratio of the time to put an entry into a list to the time to look it up.
const LIST_COST: usize = 3;

impl SparseCollector {
    pub(super) fn new(columns: &SparseRanks) -> Self {
        Self {
            is_marked: vec![0; columns.n_features().div_ceil(64)],
            place: vec![0; columns.n_features()],
            in_node: vec![0; columns.n_rows().div_ceil(64)],
            held: Vec::new(),
            entries: Vec::new(),
            rows: Vec::new(),
            subtrees: columns.holding().map(|_| Subtrees::default()),
            lists: EntryLists::new(columns),
            in_lists: false,
            walked: 0,
        }
    }

    /// Returns the entries of a feature and its place.
    pub(super) fn entries_mut(&mut self, feature: u32, place: usize) -> &mut [u64] {
        if self.in_lists {
            self.lists.list(feature)
        } else {
            &mut self.entries[place]
        }
    }

    /// Returns the lists of the node, if its entries are in lists.
    pub(super) fn lists_mut(&mut self) -> Option<&mut EntryLists> {
        self.in_lists.then_some(&mut self.lists)
    }

    /// Removes rows from the node that is searched next, the rest of the last one.
    pub(super) fn take_out(&mut self, rows: &[u32]) {
        match &mut self.subtrees {
            Some(subtrees) => subtrees.take_out(rows),
            None => self.lists.take_out(rows),
        }
    }

    /// Returns the places of the features that some row of the node holds, increasing.
    pub(super) fn held(&self) -> &[u32] {
        &self.held
    }

    /// Collects the entries of all features of a node, which may be the rest of the last one.
    ///
    /// If cells are stored as bits, it looks the features up in a subtree. Otherwise it walks the rows and looks the
    /// features up, or walks the features' columns and looks the rows up, whichever is expected to read less. Once a
    /// chain of nodes has read as much as making lists takes, which happens only if it is long, lists are made.
    pub(super) fn collect(&mut self, columns: &SparseRanks, features: &[u32], rows: &[u32], is_rest: bool) {
        for place in self.held.drain(..) {
            if let Some(entries) = self.entries.get_mut(place as usize) {
                entries.clear();
            }
        }
        if self.entries.len() < features.len() {
            self.entries.resize_with(features.len(), Vec::new);
        }
        if let (Some(holding), Some(subtrees)) = (columns.holding(), &mut self.subtrees) {
            let subtree = subtrees.enter((columns, holding), rows, features.len(), is_rest);
            let (buffers, entries) = ((&mut self.held, &mut self.rows), &mut self.entries);
            vectorized(
                #[inline(always)]
                || look_up(subtree, columns, features, buffers, entries),
            );
            return;
        }
        if !is_rest {
            self.lists.clear();
            self.walked = 0;
        }
        let per_row = columns.n_entries() / columns.n_rows();
        if is_rest && !self.lists.suit(rows.len()) && self.walked > LIST_COST * per_row * rows.len() {
            self.lists.make(columns, rows);
            self.walked = 0;
        }
        self.in_lists = self.lists.suit(rows.len());
        if self.in_lists {
            /// Lists whose loads are in flight at the same time.
            const AHEAD: usize = 16;
            marked(features, self.lists.has_list(), &mut self.held);
            let mut n = 0;
            for first in (0..self.held.len()).step_by(AHEAD) {
                let places = first..self.held.len().min(first + AHEAD);
                let feature = |&place: &u32| features[place as usize];
                self.lists
                    .read_ahead(self.held[places.clone()].iter().map(feature));
                for i in places {
                    let place = self.held[i];
                    self.held[n] = place;
                    n += usize::from(!self.lists.cut(feature(&place)).is_empty());
                }
            }
            self.held.truncate(n);
            return;
        }
        let per_column = match features {
            // The feature that a small node continues to is often one that many rows hold.
            &[feature] => columns.column(feature).len(),
            _ => columns.n_entries() / columns.n_features(),
        };
        let (by_row, by_column) = (rows.len() * per_row, features.len() * per_column + rows.len());
        self.walked += by_row.min(by_column);
        if by_row <= features.len() {
            self.walk_few_rows(columns, features, rows);
        } else if by_row <= by_column {
            self.walk_rows(columns, features, rows);
        } else {
            self.walk_columns(columns, features, rows);
        }
    }

    /// For fewer entries than candidates: marks what the rows hold, in place of the candidates.
    fn walk_few_rows(&mut self, columns: &SparseRanks, features: &[u32], rows: &[u32]) {
        for &row in rows {
            for &feature in columns.features_of(row) {
                bits::set(&mut self.is_marked, feature as usize);
            }
        }
        marked(features, &self.is_marked, &mut self.held);
        for &row in rows {
            for &feature in columns.features_of(row) {
                self.is_marked[feature as usize / 64] = 0;
            }
        }
        for &place in &self.held {
            let (feature, out) = (features[place as usize], &mut self.entries[place as usize]);
            for &row in rows {
                if let Ok(i) = columns.features_of(row).binary_search(&feature) {
                    out.push(u64::new(columns.ranks_of(row)[i], row));
                }
            }
        }
    }

    fn walk_rows(&mut self, columns: &SparseRanks, features: &[u32], rows: &[u32]) {
        for (i, &feature) in features.iter().enumerate() {
            self.place[feature as usize] = i as u32;
            bits::set(&mut self.is_marked, feature as usize);
        }
        for &row in rows {
            for (i, &feature) in columns.features_of(row).iter().enumerate() {
                if bits::is_set(&self.is_marked, feature as usize) {
                    let place = self.place[feature as usize];
                    let entries = &mut self.entries[place as usize];
                    if entries.is_empty() {
                        self.held.push(place);
                    }
                    entries.push(u64::new(columns.ranks_of(row)[i], row));
                }
            }
        }
        self.held.sort_unstable();
        for &feature in features {
            self.is_marked[feature as usize / 64] = 0;
        }
    }

    fn walk_columns(&mut self, columns: &SparseRanks, features: &[u32], rows: &[u32]) {
        rows.iter()
            .for_each(|&row| bits::set(&mut self.in_node, row as usize));
        for (place, (&feature, out)) in (0..).zip(features.iter().zip(&mut self.entries)) {
            keep_marked(columns.column(feature), &self.in_node, out);
            if !out.is_empty() {
                self.held.push(place);
            }
        }
        rows.iter().for_each(|&row| self.in_node[row as usize / 64] = 0);
    }
}

/// Collects the places of the features that some row of a subtree's node holds, and their entries.
#[inline(always)]
fn look_up(
    subtree: NodeOfSubtree<'_>,
    columns: &SparseRanks,
    features: &[u32],
    (held, rows): (&mut Vec<u32>, &mut Vec<u32>),
    entries: &mut [Vec<u64>],
) {
    places_where(features, |feature| subtree.has(feature), held);
    for &place in &*held {
        let (feature, entries) = (features[place as usize], &mut entries[place as usize]);
        let rows = subtree.rows(feature, rows);
        match columns.outline(feature).only_rank {
            Some(rank) => entries.extend(rows.map(|row| u64::new(rank, row))),
            None => entries.extend(rows.map(|row| u64::new(columns.rank(row, feature), row))),
        }
    }
}

/// Collects the places of the features that are marked.
fn marked(features: &[u32], marks: &[u64], places: &mut Vec<u32>) {
    places_where(features, |feature| bits::is_set(marks, feature as usize), places);
}

/// Collects the places of some features; branch-free, as which ones they are cannot be predicted.
#[inline(always)]
fn places_where(features: &[u32], is: impl Fn(u32) -> bool, places: &mut Vec<u32>) {
    places.resize(features.len(), 0);
    let mut n = 0;
    for (place, &feature) in (0..).zip(features) {
        places[n] = place;
        n += usize::from(is(feature));
    }
    places.truncate(n);
}

/// Keeps the entries of a column whose rows are marked; branch-free, as which ones are cannot be predicted.
fn keep_marked(column: &[u64], marked: &[u64], out: &mut Vec<u64>) {
    out.resize(column.len(), 0);
    let mut n = 0;
    for &entry in column {
        out[n] = entry;
        n += usize::from(bits::is_set(marked, entry.row() as usize));
    }
    out.truncate(n);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranks::{Layout, RankedFeatures};
    use ndarray::Array2;
    use proptest::prelude::*;
    use rpo_core::{MatrixView, Seed};

    /// Finds the entries of a feature by the definition.
    fn naive(columns: &SparseRanks, feature: u32, rows: &[u32]) -> Vec<u64> {
        let cell = |&row: &u32| {
            let (_, rank) = columns.entries_of(row).find(|entry| entry.0 == feature)?;
            Some(u64::new(rank, row))
        };
        rows.iter().filter_map(cell).collect()
    }

    proptest! {
        /// Subtrees, walks and lists find the same entries, down a chain of nodes and after it.
        #[test]
        fn entries_are_those_of_the_rows(
            seed: u64,
            binary: bool,
            (n, p, share) in prop_oneof![Just((60, 20, 6)), Just((200, 200, 6)), Just((60, 400, 1))],
        ) {
            let draw = |a: usize, b: usize| Seed::new(seed).hash((a * 1000 + b) as u64);
            let x = Array2::from_shape_fn((n, p), |(i, j)| {
                let value = draw(i, j);
                let held = value % 100 < share;
                if held { if binary { 1.0 } else { (value / 100 % 5) as f32 - 2.5 } } else { 0.0 }
            });
            let sparse = MatrixView::from(&x).to_csr();
            let ranked = RankedFeatures::new(MatrixView::Sparse(sparse.view()), &[]).unwrap();
            let Layout::Sparse(columns) = ranked.layout() else { unreachable!("a sparse matrix") };
            let mut collector = SparseCollector::new(columns);
            let mut n_lists = 0;
            for chain in 0..2 {
                let mut rows: Vec<u32> = (0..n as u32).filter(|&row| row % 7 != chain).collect();
                let n_nodes = rows.len() - 5;
                for node in 0..n_nodes {
                    let features: Vec<u32> = (0..p as u32).filter(|&j| draw(5000 + node, j as usize) % 2 == 0).collect();
                    collector.collect(columns, &features, &rows, node > 0);
                    n_lists += usize::from(collector.lists_mut().is_some());
                    let mut held = Vec::new();
                    for (place, &feature) in features.iter().enumerate() {
                        let expected = naive(columns, feature, &rows);
                        if !expected.is_empty() {
                            held.push(place as u32);
                            let entries = collector.entries_mut(feature, place);
                            entries.sort_unstable_by_key(|&entry| entry.row());
                            prop_assert_eq!(&*entries, &expected[..]);
                        }
                    }
                    prop_assert_eq!(collector.held(), &held[..]);
                    let out = rows.remove(draw(9000, node) as usize % rows.len());
                    collector.take_out(&[out]);
                }
            }
            prop_assert!(share > 1 || n_lists > 0);
        }
    }
}
