//! Bit sets of the rows of a subtree that hold each feature.
//!
//! The rows of a node, and of all nodes below it, are numbered from 0, so that the rows that hold a feature take a few
//! words. Their intersection with the rows of a node is the rows of that node that hold the feature. A node costs those
//! words for each candidate, and its entries, whatever else its rows hold. When nodes have far fewer rows, their rows
//! are renumbered until that subtree is grown. All rows of the training set are the first subtree of every tree.

use crate::ranks::SparseRanks;
use crate::ranks::bits::{self, BitMatrix};

/// The nested subtrees that contain the node searched last.
#[derive(Debug, Clone, Default)]
pub(super) struct Subtrees {
    /// Subtrees in use, followed by former ones kept as buffers.
    all: Vec<Subtree>,
    n_used: usize,
}

impl Subtrees {
    /// Moves on to a node with this number of candidates, which is the rest of the last node or has any rows; returns
    /// it in the smallest subtree that contains it.
    pub(super) fn enter<'a>(
        &'a mut self,
        (columns, all_holding): (&SparseRanks, &'a BitMatrix),
        rows: &[u32],
        n_candidates: usize,
        is_rest: bool,
    ) -> NodeOfSubtree<'a> {
        if self.all.is_empty() {
            self.all.push(Subtree::of_all(columns.n_rows()));
            self.n_used = 1;
        }
        // Nodes come depth-first, so a subtree that does not contain the node is fully grown.
        while !is_rest && !self.all[self.n_used - 1].mark(rows) {
            self.n_used -= 1;
        }
        if self.all[self.n_used - 1].is_too_large(columns, rows.len(), n_candidates) {
            if self.n_used == self.all.len() {
                self.all.push(Subtree::new(columns.n_rows()));
            }
            self.all[self.n_used].make(columns, rows);
            self.n_used += 1;
        }
        let smallest = &self.all[self.n_used - 1];
        NodeOfSubtree {
            rows: &smallest.rows,
            holding: if self.n_used == 1 {
                all_holding.words()
            } else {
                &smallest.holding
            },
            node: &smallest.node,
        }
    }

    /// Removes rows from the node.
    pub(super) fn take_out(&mut self, rows: &[u32]) {
        if let Some(smallest) = self.all[..self.n_used].last_mut() {
            smallest.take_out(rows);
        }
    }
}

/// The rows of a subtree by feature, and a node inside it.
#[derive(Debug, Clone)]
pub(super) struct Subtree {
    /// The rows, increasing.
    rows: Vec<u32>,
    /// Per row of the training set: its number, if it is in the subtree.
    number: Vec<u32>,
    /// Per feature: the rows that hold it, as many words as the node has; empty for the subtree of all rows.
    holding: Vec<u64>,
    /// The rows of the node.
    node: Vec<u64>,
}

/// A node and the rows of its subtree.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeOfSubtree<'a> {
    rows: &'a [u32],
    holding: &'a [u64],
    node: &'a [u64],
}

impl Subtree {
    fn new(n_rows: usize) -> Self {
        Self {
            rows: Vec::new(),
            number: vec![0; n_rows],
            holding: Vec::new(),
            node: Vec::new(),
        }
    }

    /// Creates the subtree of all rows of a training set, with no node.
    fn of_all(n_rows: usize) -> Self {
        let rows: Vec<u32> = (0..n_rows as u32).collect();
        Self {
            number: rows.clone(),
            rows,
            holding: Vec::new(),
            node: vec![0; n_rows.div_ceil(64)],
        }
    }

    /// Returns true if a node has far fewer rows, and renumbering them takes less time than it saves in the nodes
    /// below: there are about as many of them as rows, and all read fewer words per candidate.
    fn is_too_large(&self, columns: &SparseRanks, n_rows: usize, n_candidates: usize) -> bool {
        /// Number of words read in the time it takes to put an entry into its word.
        const ENTRY_COST: usize = 8;
        /// Smallest ratio of rows: along a chain of nodes that lose a few rows each, rows are not renumbered too often.
        const MUCH: usize = 3;
        let n_words = n_rows.div_ceil(64);
        let saved = n_rows * n_candidates * (self.node.len() - n_words);
        let n_entries = n_rows * columns.n_entries() / columns.n_rows();
        MUCH * n_rows <= self.rows.len() && saved > ENTRY_COST * n_entries + columns.n_features() * n_words
    }

    fn take_out(&mut self, rows: &[u32]) {
        for &row in rows {
            let number = self.number[row as usize];
            self.node[number as usize / 64] &= !(1 << (number % 64));
        }
    }

    /// Marks the rows of a node; returns false if the subtree does not contain all of them.
    fn mark(&mut self, rows: &[u32]) -> bool {
        self.node.fill(0);
        rows.iter().all(|&row| {
            let number = self.number[row as usize] as usize;
            let is_known = self.rows.get(number) == Some(&row);
            if is_known {
                bits::set(&mut self.node, number);
            }
            is_known
        })
    }

    /// Turns a node into a subtree.
    fn make(&mut self, columns: &SparseRanks, rows: &[u32]) {
        self.rows.clear();
        self.rows.extend_from_slice(rows);
        let n_words = rows.len().div_ceil(64);
        self.node.clear();
        self.node.resize(n_words, 0);
        for (number, &row) in rows.iter().enumerate() {
            self.number[row as usize] = number as u32;
            bits::set(&mut self.node, number);
        }
        self.holding.clear();
        self.holding.resize(columns.n_features() * n_words, 0);
        for (number, &row) in rows.iter().enumerate() {
            let (word, bit) = (number / 64, 1 << (number % 64));
            for &feature in columns.features_of(row) {
                self.holding[feature as usize * n_words + word] |= bit;
            }
        }
    }
}

impl NodeOfSubtree<'_> {
    /// Returns the rows of the node that hold a feature, word by word.
    #[inline(always)]
    fn words(&self, feature: u32) -> impl Iterator<Item = u64> + '_ {
        let n_words = self.node.len();
        let holding = &self.holding[feature as usize * n_words..][..n_words];
        holding.iter().zip(self.node).map(|(a, b)| a & b)
    }

    /// Returns true if a row of the node holds a feature.
    #[inline(always)]
    pub(super) fn has(&self, feature: u32) -> bool {
        self.words(feature).fold(0, |any, word| any | word) != 0
    }

    /// Returns the rows of the node that hold a feature, increasing, using a buffer.
    #[inline(always)]
    pub(super) fn rows<'p>(&self, feature: u32, buffer: &'p mut Vec<u32>) -> impl Iterator<Item = u32> + 'p
    where
        Self: 'p,
    {
        let rows = self.rows;
        let places = bits::places(self.words(feature), buffer);
        places.iter().map(move |&place| rows[place as usize])
    }
}
