//! Gathering what a node's rows hold in a feature.
//!
//! An entry is `rank << 32 | row` for a row whose value is not zero; the rows that are left hold zero. Both
//! layouts give the same entries, so that the search that follows, and the order of every sum in it, is the
//! same and sparse and dense features grow the same tree.

use super::sweep::rank_of;
use crate::columns::{DenseColumns, Ranks, SparseColumns, bits};

/// Collects the entries of one dense feature, in row order.
pub(super) fn dense_entries(columns: &DenseColumns, feature: u32, rows: &[u32], out: &mut Vec<u64>) {
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
        out[n] = u64::from(rank) << 32 | u64::from(row);
        n += usize::from(rank != zero);
    }
    out.truncate(n);
}

/// Collects the entries of several sparse features at once.
#[derive(Debug, Clone)]
pub(super) struct SparseCollector {
    /// Per feature: 1 + its place among the candidates, or 0.
    place: Vec<u32>,
    /// The candidates as bits; clear between calls.
    is_candidate: Vec<u64>,
    /// The rows of the node as bits; clear between calls.
    in_node: Vec<u64>,
    /// Per candidate: the rank of its non-zero entries if they all have one.
    only_rank: Vec<Option<u32>>,
}

impl SparseCollector {
    pub(super) fn new(columns: &SparseColumns) -> Self {
        Self {
            place: vec![0; columns.n_features()],
            is_candidate: vec![0; columns.n_features().div_ceil(64)],
            in_node: vec![0; columns.n_rows().div_ceil(64)],
            only_rank: Vec::new(),
        }
    }

    /// Collects the entries of `features[i]` into `out[i]`.
    ///
    /// With few rows it walks the rows and looks the features up; with many it walks the features' columns
    /// and looks the rows up, whichever reads less.
    pub(super) fn collect(
        &mut self,
        columns: &SparseColumns,
        features: &[u32],
        rows: &[u32],
        out: &mut Vec<Vec<u64>>,
    ) {
        if out.len() < features.len() {
            out.resize_with(features.len(), Vec::new);
        }
        out.iter_mut().for_each(Vec::clear);
        self.only_rank.clear();
        self.only_rank
            .extend(features.iter().map(|&f| only_rank(columns, f)));
        let (by_row, by_column) = match columns.bits() {
            // In words; a column that is shorter than its bits is walked by its entries.
            Some(_) => {
                let words = self.in_node.len();
                let by_column = features
                    .iter()
                    .map(|&f| columns.column(f).len().min(words))
                    .sum::<usize>();
                (rows.len() * self.is_candidate.len(), by_column + rows.len())
            }
            None => {
                let by_column = features.iter().map(|&f| columns.column(f).len()).sum::<usize>();
                (
                    (rows.len() as f64 * columns.mean_row_entries()) as usize,
                    by_column + rows.len(),
                )
            }
        };
        if by_row <= by_column {
            self.walk_rows(columns, features, rows, out);
        } else {
            self.walk_columns(columns, features, rows, out);
        }
    }

    fn walk_rows(&mut self, columns: &SparseColumns, features: &[u32], rows: &[u32], out: &mut [Vec<u64>]) {
        for (i, &feature) in features.iter().enumerate() {
            self.place[feature as usize] = i as u32 + 1;
            bits::set(&mut self.is_candidate, feature as usize);
        }
        for &row in rows {
            if let Some(cells) = columns.bits() {
                bits::for_each_common(cells.rows.row(row as usize), &self.is_candidate, |feature| {
                    let place = self.place[feature] as usize - 1;
                    let rank = self.only_rank[place].unwrap_or_else(|| columns.rank(row, feature as u32));
                    out[place].push(u64::from(rank) << 32 | u64::from(row));
                });
            } else {
                for entry in columns.row(row) {
                    let place = self.place[entry.feature as usize];
                    if place != 0 {
                        out[place as usize - 1].push(u64::from(entry.rank) << 32 | u64::from(row));
                    }
                }
            }
        }
        for &feature in features {
            self.place[feature as usize] = 0;
            self.is_candidate[feature as usize / 64] = 0;
        }
    }

    fn walk_columns(
        &mut self,
        columns: &SparseColumns,
        features: &[u32],
        rows: &[u32],
        out: &mut [Vec<u64>],
    ) {
        rows.iter()
            .for_each(|&row| bits::set(&mut self.in_node, row as usize));
        for (i, (&feature, out)) in features.iter().zip(out).enumerate() {
            let column = columns.column(feature);
            match columns.bits() {
                Some(cells) if column.len() > self.in_node.len() => {
                    bits::for_each_common(cells.columns.row(feature as usize), &self.in_node, |row| {
                        let rank = self.only_rank[i].unwrap_or_else(|| columns.rank(row as u32, feature));
                        out.push(u64::from(rank) << 32 | row as u64);
                    });
                }
                _ => out.extend(
                    column
                        .iter()
                        .copied()
                        .filter(|&e| bits::is_set(&self.in_node, e as u32 as usize)),
                ),
            }
        }
        rows.iter().for_each(|&row| self.in_node[row as usize / 64] = 0);
    }
}

/// The rank of a feature's non-zero entries if they all have one, as in binary data.
fn only_rank(columns: &SparseColumns, feature: u32) -> Option<u32> {
    let column = columns.column(feature);
    let (first, last) = (rank_of(*column.first()?), rank_of(*column.last()?));
    (first == last).then_some(first)
}
