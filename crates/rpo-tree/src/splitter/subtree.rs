//! Which rows of a subtree hold a feature, as bits.
//!
//! The rows of a node, and of all below it, are numbered from 0, so that the rows that hold a feature are a few words:
//! intersected with those of a node they are what the node holds. A node costs those words for each candidate, and its
//! entries, whatever else its rows hold. Where nodes have much fewer rows, those are numbered anew, until that subtree is
//! grown. All rows of the training set are the first subtree of every tree.

use crate::ranks::SparseRanks;
use crate::ranks::bits::{self, BitMatrix};

/// The subtrees, each inside the one before, that the node searched last is in.
#[derive(Debug, Clone, Default)]
pub(super) struct Subtrees {
    /// Behind those in use, ones that were.
    all: Vec<Subtree>,
    n_used: usize,
}

impl Subtrees {
    /// Goes on to a node, which is the rest of the last one or has any rows, with so many candidates; returns it in the
    /// smallest subtree that it is in.
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
        // Nodes come depth-first, so that a subtree that a node is not in is grown.
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

    /// Takes rows out of the node.
    pub(super) fn take_out(&mut self, rows: &[u32]) {
        if let Some(smallest) = self.all[..self.n_used].last_mut() {
            smallest.take_out(rows);
        }
    }
}

/// The rows of a subtree by feature, and a node inside.
#[derive(Debug, Clone)]
pub(super) struct Subtree {
    /// The rows, increasing.
    rows: Vec<u32>,
    /// Per row of the training set: its number, if the subtree has it.
    number: Vec<u32>,
    /// Per feature: the rows that hold it, as many words as the node has; empty of all rows.
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

    /// All rows of a training set, and no node.
    fn of_all(n_rows: usize) -> Self {
        let rows: Vec<u32> = (0..n_rows as u32).collect();
        Self {
            number: rows.clone(),
            rows,
            holding: Vec::new(),
            node: vec![0; n_rows.div_ceil(64)],
        }
    }

    /// Returns true if a node has much fewer rows, and numbering them anew takes less time than it saves in the nodes below,
    /// about as many as rows, that all read fewer words of their candidates.
    fn is_too_large(&self, columns: &SparseRanks, n_rows: usize, n_candidates: usize) -> bool {
        /// Words that are read in the time in which an entry is put into its word.
        const ENTRY_COST: usize = 8;
        /// Fewest times as many rows: along a chain of nodes that lose a few each, rows are not numbered too often.
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

    /// Marks the rows of a node; returns false if the subtree has not all of them.
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

    /// Makes a node a subtree.
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
    /// The rows of the node that hold a feature, word by word.
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

    /// The rows of the node that hold a feature, increasing, by a buffer.
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
