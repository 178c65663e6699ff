//! Gathering what a node's rows hold in a feature.
//!
//! An entry is `rank << 32 | row` for a row whose value is not zero; the rows that are left hold zero. Both
//! layouts give the same entries, so that the search that follows, and the order of every sum in it, is the
//! same and sparse and dense features grow the same tree.

use crate::columns::{DenseColumns, Ranks, SparseColumns};

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
    /// Per row: the node it was last seen in.
    stamp: Vec<u32>,
    current_stamp: u32,
}

impl SparseCollector {
    pub(super) fn new(columns: &SparseColumns) -> Self {
        let n_rows = columns.n_rows();
        Self {
            place: vec![0; columns.n_features()],
            stamp: vec![0; n_rows],
            current_stamp: 0,
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
        let by_row = rows.len() as f64 * columns.mean_row_entries();
        let by_column: usize = features.iter().map(|&f| columns.column(f).len()).sum();
        if by_row <= (by_column + rows.len()) as f64 {
            self.walk_rows(columns, features, rows, out);
        } else {
            self.walk_columns(columns, features, rows, out);
        }
    }

    fn walk_rows(&mut self, columns: &SparseColumns, features: &[u32], rows: &[u32], out: &mut [Vec<u64>]) {
        for (i, &feature) in features.iter().enumerate() {
            self.place[feature as usize] = i as u32 + 1;
        }
        for &row in rows {
            for entry in columns.row(row) {
                let place = self.place[entry.feature as usize];
                if place != 0 {
                    out[place as usize - 1].push(u64::from(entry.rank) << 32 | u64::from(row));
                }
            }
        }
        for &feature in features {
            self.place[feature as usize] = 0;
        }
    }

    fn walk_columns(
        &mut self,
        columns: &SparseColumns,
        features: &[u32],
        rows: &[u32],
        out: &mut [Vec<u64>],
    ) {
        if self.current_stamp == u32::MAX {
            self.stamp.fill(0);
            self.current_stamp = 0;
        }
        self.current_stamp += 1;
        for &row in rows {
            self.stamp[row as usize] = self.current_stamp;
        }
        for (&feature, out) in features.iter().zip(out) {
            let stamped = |entry: &u64| self.stamp[*entry as u32 as usize] == self.current_stamp;
            out.extend(columns.column(feature).iter().copied().filter(stamped));
        }
    }
}
