//! Entries of the rows of a node, feature by feature, kept along a chain of nodes.
//!
//! Most nodes of sparse data split off a few rows and the rest continues, so a row may lie in hundreds of nodes. The
//! entries of a node are therefore sorted by feature once; its larger child works on the same lists, and so on down the
//! chain. A node then costs the entries of its candidates and the rows that it splits off, not all its rows. Lists are
//! reduced to the node's rows when they are read, and are abandoned by nodes that have far fewer rows than the lists
//! were made for.

use super::sweep::Entry;
use crate::ranks::{SparseRanks, bits};

/// The entries of a node's rows, by feature.
#[derive(Debug, Clone)]
pub(super) struct EntryLists {
    /// The rows of the node as bits.
    in_node: Vec<u64>,
    /// The rows that the lists were made for; none if there are no lists.
    rows: Vec<u32>,
    /// The features that these rows hold.
    held: Vec<u32>,
    /// The features whose lists are not known to be empty, as bits: most candidates of a node are held by none of its
    /// rows, and bits of all features fit into a core's cache.
    has_list: Vec<u64>,
    /// Per feature: range of its entries.
    range: Vec<(u32, u32)>,
    entries: Vec<u64>,
}

impl EntryLists {
    pub(super) fn new(columns: &SparseRanks) -> Self {
        Self {
            in_node: vec![0; columns.n_rows().div_ceil(64)],
            rows: Vec::new(),
            held: Vec::new(),
            has_list: vec![0; columns.n_features().div_ceil(64)],
            range: vec![(0, 0); columns.n_features()],
            entries: Vec::new(),
        }
    }

    /// Returns true if there are lists and they were made for a node of at most four times as many rows.
    pub(super) fn suit(&self, n_rows: usize) -> bool {
        self.rows.len() <= 4 * n_rows && !self.rows.is_empty()
    }

    pub(super) fn clear(&mut self) {
        for row in self.rows.drain(..) {
            self.in_node[row as usize / 64] = 0;
        }
        for feature in self.held.drain(..) {
            self.range[feature as usize] = (0, 0);
            self.has_list[feature as usize / 64] = 0;
        }
    }

    /// Makes the lists of a node.
    pub(super) fn make(&mut self, columns: &SparseRanks, rows: &[u32]) {
        self.clear();
        self.rows.extend_from_slice(rows);
        for &row in rows {
            bits::set(&mut self.in_node, row as usize);
            for &feature in columns.features_of(row) {
                let (_, n) = &mut self.range[feature as usize];
                if *n == 0 {
                    self.held.push(feature);
                    bits::set(&mut self.has_list, feature as usize);
                }
                *n += 1;
            }
        }
        let mut start = 0;
        for &feature in &self.held {
            let range = &mut self.range[feature as usize];
            let n = range.1;
            *range = (start, start);
            start += n;
        }
        self.entries.resize(start as usize, 0);
        for &row in rows {
            for (feature, rank) in columns.entries_of(row) {
                let (_, end) = &mut self.range[feature as usize];
                self.entries[*end as usize] = u64::new(rank, row);
                *end += 1;
            }
        }
    }

    /// Removes rows from the node.
    pub(super) fn take_out(&mut self, rows: &[u32]) {
        if !self.rows.is_empty() {
            for &row in rows {
                self.in_node[row as usize / 64] &= !(1 << (row % 64));
            }
        }
    }

    /// Features held by the rows for which the lists were made.
    pub(super) fn held(&self) -> &[u32] {
        &self.held
    }

    /// Features that may be held by rows of the node, as bits.
    pub(super) fn has_list(&self) -> &[u64] {
        &self.has_list
    }

    /// Reads the first and last entries of the lists of these features without changing anything: the lists lie far
    /// apart in memory.
    pub(super) fn read_ahead(&self, features: impl Iterator<Item = u32>) {
        let mut bits = 0;
        for feature in features {
            let (start, end) = self.range[feature as usize];
            let list = &self.entries[start as usize..end as usize];
            bits |= list.first().unwrap_or(&0) | list.last().unwrap_or(&0);
        }
        // Keeps the reads from being optimized away although their result is not used.
        std::hint::black_box(bits);
    }

    /// Reduces the list of a feature to the rows of the node.
    pub(super) fn cut(&mut self, feature: u32) -> &mut [u64] {
        let range = &mut self.range[feature as usize];
        let list = &mut self.entries[range.0 as usize..range.1 as usize];
        // Branch-free, as which rows are left cannot be predicted.
        let mut n = 0;
        for i in 0..list.len() {
            let entry = list[i];
            list[n] = entry;
            n += usize::from(bits::is_set(&self.in_node, entry.row() as usize));
        }
        range.1 = range.0 + n as u32;
        if n == 0 {
            self.has_list[feature as usize / 64] &= !(1 << (feature % 64));
        }
        &mut list[..n]
    }

    /// Returns the list of a feature as it was last reduced or sorted.
    pub(super) fn list(&mut self, feature: u32) -> &mut [u64] {
        let (start, end) = self.range[feature as usize];
        &mut self.entries[start as usize..end as usize]
    }
}
