//! Gathering what a node's rows hold in a feature.
//!
//! An entry is `rank << 32 | row` for a row whose value is not zero; the rows that are left hold zero. Both
//! layouts give the same entries, so that the search that follows, and the order of every sum in it, is the
//! same and sparse and dense features grow the same tree.

use super::sweep::{entry, row_of};
use crate::ranks::bits::CommonBits;
use crate::ranks::{DenseRanks, Ranks, SparseRanks, bits};

/// Collects the entries of one dense feature, in row order.
pub(super) fn dense_entries(columns: &DenseRanks, feature: u32, rows: &[u32], out: &mut Vec<u64>) {
    out.clear();
    // A rank no row holds if no row holds zero.
    let zero = columns.values(feature).zero_rank().unwrap_or(u32::MAX);
    match columns.ranks(feature) {
        Ranks::U8(ranks) => gather(ranks, zero, rows, out),
        Ranks::U16(ranks) => gather(ranks, zero, rows, out),
        Ranks::U32(ranks) => gather(ranks, zero, rows, out),
    }
}

fn gather<T: Copy + Into<u32>>(ranks: &[T], zero: u32, rows: &[u32], out: &mut Vec<u64>) {
    // Writing every entry and moving on only past the non-zero ones keeps the loop free of branches.
    out.resize(rows.len(), 0);
    let mut n = 0;
    for &row in rows {
        let rank: u32 = ranks[row as usize].into();
        out[n] = entry(rank, row);
        n += usize::from(rank != zero);
    }
    out.truncate(n);
}

/// Collects the entries of several sparse features at once.
#[derive(Debug, Clone)]
pub(super) struct SparseCollector {
    /// The candidates as bits; clear between calls.
    is_candidate: Vec<u64>,
    /// Per candidate feature: its place among the candidates.
    place: Vec<u32>,
    /// The rows of the node as bits; clear between calls.
    in_node: Vec<u64>,
    common: CommonBits,
    /// The places of the candidates that some row holds, in increasing order.
    held: Vec<u32>,
    /// Entries by place; empty but for the places held.
    entries: Vec<Vec<u64>>,
}

impl SparseCollector {
    pub(super) fn new(columns: &SparseRanks) -> Self {
        Self {
            is_candidate: vec![0; columns.n_features().div_ceil(64)],
            place: vec![0; columns.n_features()],
            in_node: vec![0; columns.n_rows().div_ceil(64)],
            common: CommonBits::default(),
            held: Vec::new(),
            entries: Vec::new(),
        }
    }

    /// The entries of the feature at a place.
    pub(super) fn entries_mut(&mut self, place: usize) -> &mut Vec<u64> {
        &mut self.entries[place]
    }

    /// The places of the features that some row of the node holds, increasing.
    pub(super) fn held(&self) -> &[u32] {
        &self.held
    }

    /// Collects the entries of all features.
    ///
    /// With few rows it walks the rows and looks the features up; with many it walks the features' columns
    /// and looks the rows up, whichever is expected to read less.
    pub(super) fn collect(&mut self, columns: &SparseRanks, features: &[u32], rows: &[u32]) {
        for place in self.held.drain(..) {
            self.entries[place as usize].clear();
        }
        if self.entries.len() < features.len() {
            self.entries.resize_with(features.len(), Vec::new);
        }
        // Words or entries to read.
        let (per_row, per_column) = match columns.bits() {
            Some(_) => (self.is_candidate.len(), self.in_node.len()),
            None => (
                columns.n_entries() / columns.n_rows(),
                columns.n_entries() / columns.n_features(),
            ),
        };
        if rows.len() * per_row <= features.len() * per_column + rows.len() {
            self.walk_rows(columns, features, rows);
        } else {
            self.walk_columns(columns, features, rows);
        }
    }

    fn walk_rows(&mut self, columns: &SparseRanks, features: &[u32], rows: &[u32]) {
        for (i, &feature) in features.iter().enumerate() {
            self.place[feature as usize] = i as u32;
            bits::set(&mut self.is_candidate, feature as usize);
        }
        let Self {
            is_candidate,
            place,
            common,
            held,
            entries,
            ..
        } = self;
        let mut push = |feature: u32, entry: u64| {
            let place = place[feature as usize];
            let entries = &mut entries[place as usize];
            if entries.is_empty() {
                held.push(place);
            }
            entries.push(entry);
        };
        for &row in rows {
            match columns.bits() {
                Some(cells) => {
                    for &feature in common.find(cells.rows.row(row as usize), is_candidate) {
                        push(feature, entry(columns.rank(row, feature), row));
                    }
                }
                None => {
                    let candidates = columns
                        .row(row)
                        .iter()
                        .filter(|e| bits::is_set(is_candidate, e.feature as usize));
                    candidates.for_each(|e| push(e.feature, entry(e.rank, row)));
                }
            }
        }
        held.sort_unstable();
        for &feature in features {
            is_candidate[feature as usize / 64] = 0;
        }
    }

    fn walk_columns(&mut self, columns: &SparseRanks, features: &[u32], rows: &[u32]) {
        rows.iter()
            .for_each(|&row| bits::set(&mut self.in_node, row as usize));
        for (place, (&feature, out)) in features.iter().zip(&mut self.entries).enumerate() {
            let column = columns.column(feature);
            match columns.bits() {
                // A column that has fewer entries than words is walked by its entries.
                Some(cells) if column.len() > self.in_node.len() => {
                    let rows = self
                        .common
                        .find(cells.columns.row(feature as usize), &self.in_node);
                    match columns.only_rank(feature) {
                        Some(rank) => out.extend(rows.iter().map(|&row| entry(rank, row))),
                        None => out.extend(rows.iter().map(|&row| entry(columns.rank(row, feature), row))),
                    }
                }
                _ => keep_marked(column, &self.in_node, out),
            }
            if !out.is_empty() {
                self.held.push(place as u32);
            }
        }
        rows.iter().for_each(|&row| self.in_node[row as usize / 64] = 0);
    }
}

/// Keeps the entries of a column whose rows are marked; without a branch, as which are cannot be predicted.
fn keep_marked(column: &[u64], marked: &[u64], out: &mut Vec<u64>) {
    out.resize(column.len(), 0);
    let mut n = 0;
    for &entry in column {
        out[n] = entry;
        n += usize::from(bits::is_set(marked, row_of(entry) as usize));
    }
    out.truncate(n);
}
