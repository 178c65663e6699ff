//! Which rows of a subtree hold a feature, as bits.
//!
//! The rows of a node, and of all below it, are numbered from 0, so that the rows that hold a feature are a few words:
//! intersected with those of a node they are what the node holds. A node costs those words for each candidate, and its
//! entries, whatever else its rows hold. Where nodes have much fewer rows, those are numbered anew, until that subtree is
//! grown. The words are made of the bits of the rows, 64 rows by 64 features at a time.

use crate::ranks::bits::{self, BitMatrix};
use rpo_core::vectorized;

/// The subtrees, each inside the one before, that the node searched last is in.
#[derive(Debug, Clone, Default)]
pub(super) struct Subtrees {
    /// Behind those in use, ones that were.
    all: Vec<Subtree>,
    n_used: usize,
}

impl Subtrees {
    /// Goes on to a node, which is the rest of the last one or has any rows, with so many candidates; returns the smallest
    /// subtree that it is in.
    pub(super) fn enter(
        &mut self,
        cells: &BitMatrix,
        rows: &[u32],
        n_candidates: usize,
        is_rest: bool,
    ) -> &Subtree {
        // Nodes come depth-first, so that a subtree that a node is not in is grown.
        while !is_rest && self.n_used > 0 && !self.all[self.n_used - 1].mark(rows) {
            self.n_used -= 1;
        }
        let smallest = self.n_used.checked_sub(1).map(|last| &self.all[last]);
        if smallest.is_none_or(|subtree| subtree.is_too_large(cells, rows.len(), n_candidates)) {
            if self.n_used == self.all.len() {
                self.all.push(Subtree::new(cells.n_rows()));
            }
            self.all[self.n_used].make(cells, rows);
            self.n_used += 1;
        }
        &self.all[self.n_used - 1]
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
    /// Words of a feature.
    n_words: usize,
    /// Per feature: the rows that hold it.
    holding: Vec<u64>,
    /// The rows of the node.
    node: Vec<u64>,
}

impl Subtree {
    fn new(n_rows: usize) -> Self {
        Self {
            rows: Vec::new(),
            number: vec![0; n_rows],
            n_words: 0,
            holding: Vec::new(),
            node: Vec::new(),
        }
    }

    /// Returns true if a node has much fewer rows, and numbering them anew takes less time than it saves in the nodes below,
    /// about as many as rows, that all read fewer words of their candidates.
    fn is_too_large(&self, cells: &BitMatrix, n_rows: usize, n_candidates: usize) -> bool {
        /// Words that are read in the time in which 64 rows by 64 features are made.
        const BLOCK_COST: usize = 128;
        /// Fewest times as many rows: along a chain of nodes that lose a few each, rows are not numbered too often.
        const MUCH: usize = 4;
        let n_words = n_rows.div_ceil(64);
        let saved = n_rows * n_candidates * (self.n_words - n_words);
        MUCH * n_rows <= self.rows.len() && saved > BLOCK_COST * cells.words_per_row() * n_words
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
    fn make(&mut self, cells: &BitMatrix, rows: &[u32]) {
        self.rows.clear();
        self.rows.extend_from_slice(rows);
        let n_words = rows.len().div_ceil(64);
        self.n_words = n_words;
        self.node.clear();
        self.node.resize(n_words, 0);
        for (number, &row) in rows.iter().enumerate() {
            self.number[row as usize] = number as u32;
            bits::set(&mut self.node, number);
        }
        self.holding.resize(64 * cells.words_per_row() * n_words, 0);
        let holding = &mut self.holding;
        vectorized(
            #[inline(always)]
            || by_feature(cells, rows, holding),
        );
    }

    /// The rows of the node that hold a feature, word by word.
    #[inline]
    fn words(&self, feature: u32) -> impl Iterator<Item = u64> + '_ {
        let holding = &self.holding[feature as usize * self.n_words..][..self.n_words];
        holding.iter().zip(&self.node).map(|(a, b)| a & b)
    }

    /// Returns true if a row of the node holds a feature.
    #[inline]
    pub(super) fn has(&self, feature: u32) -> bool {
        self.words(feature).fold(0, |any, word| any | word) != 0
    }

    /// Calls `f` with the rows of the node that hold a feature, in increasing order.
    #[inline]
    pub(super) fn for_each_row(&self, feature: u32, mut f: impl FnMut(u32)) {
        bits::for_each(self.words(feature), |number| f(self.rows[number]));
    }
}

/// Writes for each feature which rows hold it.
#[inline(always)]
fn by_feature(cells: &BitMatrix, rows: &[u32], holding: &mut [u64]) {
    let n_words = rows.len().div_ceil(64);
    for (i, rows) in rows.chunks(64).enumerate() {
        for (word, holding) in holding.chunks_exact_mut(64 * n_words).enumerate() {
            let mut block = [0; 64];
            for (cell, &row) in block.iter_mut().zip(rows) {
                *cell = cells.row(row as usize)[word];
            }
            bits::transpose(&mut block);
            for (holding, rows) in holding.chunks_exact_mut(n_words).zip(block) {
                holding[i] = rows;
            }
        }
    }
}
