//! Rows with hashed columns.

use super::table::HashedColumns;
use rpo_core::{MatrixView, vectorized};

/// Hashed rows, one after the other, each with its columns in order.
#[derive(Debug, Default)]
pub(in crate::craftml) struct HashedRows {
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
    hasher: RowHasher,
}

impl HashedRows {
    /// Replaces the rows by hashed rows of `x`, with `n_columns` columns.
    pub(in crate::craftml) fn load(
        &mut self,
        n_columns: usize,
        columns: &HashedColumns<'_>,
        x: MatrixView<'_>,
        rows: impl Iterator<Item = usize>,
    ) {
        self.ends.clear();
        self.columns.clear();
        self.values.clear();
        self.hasher.begin(n_columns);
        vectorized(
            #[inline(always)]
            || {
                for row in rows {
                    let most = self.hasher.read(columns, x, row);
                    let start = self.columns.len();
                    self.columns.resize(start + most, 0);
                    self.values.resize(start + most, 0.0);
                    let n = self
                        .hasher
                        .write(&mut self.columns[start..], &mut self.values[start..]);
                    self.columns.truncate(start + n);
                    self.values.truncate(start + n);
                    self.ends.push(start + n);
                }
            },
        );
    }

    /// Returns the columns and values of the i-th row.
    #[inline]
    pub(in crate::craftml) fn row(&self, i: usize) -> (&[u32], &[f32]) {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        let range = start..self.ends[i];
        (&self.columns[range.clone()], &self.values[range])
    }
}

/// Hashes rows one by one.
#[derive(Debug, Default)]
pub(super) struct RowHasher {
    /// The columns of the current row as bits; cleared between rows.
    words: Vec<u64>,
    /// The nonzero words as bits, if there are many words; cleared between rows.
    summary: Vec<u64>,
    /// Number of columns of the row before each word.
    before: Vec<u32>,
    /// The hashed entries of the current row, in any order.
    entries: Vec<(u32, f32)>,
}

impl RowHasher {
    /// Prepares for rows with `n_columns` hashed columns.
    pub(super) fn begin(&mut self, n_columns: usize) {
        let n_words = n_columns.div_ceil(64);
        self.words.resize(n_words, 0);
        self.before.resize(n_words, 0);
        self.summary.resize(n_words.div_ceil(64), 0);
    }

    /// Hashes the entries of a row of `x`, and returns their number: the hashed row has at most as many.
    #[inline(always)]
    pub(super) fn read(&mut self, columns: &HashedColumns<'_>, x: MatrixView<'_>, row: usize) -> usize {
        self.entries.clear();
        x.for_each_in_row(row, |feature, value| {
            // Stored zeros are treated like zeros that are not stored.
            if value != 0.0 {
                let (column, sign) = columns.entry(feature);
                self.entries.push((column, sign * value));
            }
        });
        self.entries.len()
    }

    /// Writes the row, with columns in order, to the beginning of slices of zeros, summing the values of equal columns
    /// in the order of the entries; returns the number of columns. The position of an entry is the number of bits before
    /// its own: no branch depends on the columns, which are unpredictable.
    ///
    /// Called inside [`vectorized`], since processors with its instructions count bits in one instruction.
    #[inline(always)]
    pub(super) fn write(&mut self, columns: &mut [u32], values: &mut [f32]) -> usize {
        /// Up to this many words are inspected one after the other: to note which are nonzero, every entry would wait
        /// for the one before it.
        const FEW_WORDS: usize = 64;
        let (words, summary, before) = (&mut self.words[..], &mut self.summary[..], &mut self.before[..]);
        let bit = |column: u32| 1_u64 << (column % 64);
        for &(column, _) in &self.entries {
            words[column as usize / 64] |= bit(column);
        }
        let mut n = 0;
        let mut count = |word: &u64, before: &mut u32| {
            *before = n as u32;
            n += word.count_ones() as usize;
        };
        if words.len() <= FEW_WORDS {
            words
                .iter()
                .zip(&mut *before)
                .for_each(|(word, before)| count(word, before));
        } else {
            for &(column, _) in &self.entries {
                let word = column / 64;
                summary[word as usize / 64] |= bit(word);
            }
            for_each_set(summary, |word| count(&words[word], &mut before[word]));
        }
        let (columns, values) = (&mut columns[..n], &mut values[..n]);
        for &(column, value) in &self.entries {
            let word = column as usize / 64;
            let below = words[word] & (bit(column) - 1);
            let place = (before[word] + below.count_ones()) as usize;
            columns[place] = column;
            values[place] += value;
        }
        if words.len() <= FEW_WORDS {
            words.fill(0);
        } else {
            for_each_set(summary, |word| words[word] = 0);
            summary.fill(0);
        }
        n
    }
}

/// Calls `f` with the indices of the set bits, increasing.
#[inline(always)]
fn for_each_set(words: &[u64], mut f: impl FnMut(usize)) {
    for (i, &word) in words.iter().enumerate() {
        let mut left = word;
        while left != 0 {
            f(i * 64 + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}
