//! Hashed features and labels: the projections of the original method.

use rayon::prelude::*;
use rpo_core::{CsrMatrix, CsrView, MatrixView, Seed, csr_row, vectorized};
use rpo_projections::{Hashing, HashingMap, LinearMap};
use rpo_tree::centroid::ClusterTargets;
use rpo_tree::cluster::Points;
use std::ops::Range;

/// The map from features to the columns that the rules of a tree use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureMap {
    /// The features themselves.
    Identity,
    /// Hashed features.
    Hashed(HashingMap),
}

/// A table of the column and sign of each feature: a look-up is faster than hashing.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct HashTable {
    /// The column, with the sign in the top bit.
    codes: Vec<u32>,
}

impl HashTable {
    const MINUS: u32 = 1 << 31;

    /// Tabulates a map; columns are its components.
    fn fill(&mut self, map: &HashingMap) {
        let code = |feature| {
            let (component, sign) = map.entry(feature);
            debug_assert!(component < Self::MINUS, "widths are limited to far less");
            component | sign.to_bits() & Self::MINUS
        };
        self.codes.clear();
        self.codes.extend((0..map.n_outputs() as u32).map(code));
    }

    /// Tabulates a map; columns are the components that some feature is mapped to, numbered in order. Returns their
    /// number.
    fn fill_renumbered(&mut self, map: &HashingMap) -> usize {
        self.fill(map);
        let component = |code: u32| (code & !Self::MINUS) as usize;
        let (mut n, mut numbers) = (0, vec![None; map.n_components()]);
        self.codes
            .iter()
            .for_each(|&code| numbers[component(code)] = Some(0));
        for number in numbers.iter_mut().flatten() {
            *number = n;
            n += 1;
        }
        for code in &mut self.codes {
            *code = numbers[component(*code)].unwrap_or(0) | *code & Self::MINUS;
        }
        n as usize
    }

    #[inline]
    fn entry(&self, feature: u32) -> (u32, f32) {
        let code = self.codes[feature as usize];
        let sign = f32::from_bits(1.0_f32.to_bits() | code & Self::MINUS);
        (code & !Self::MINUS, sign)
    }
}

/// Hashes features to columns: the components of a map or, if there are fewer features than components, only the
/// components that some feature is mapped to, numbered in order. Rules then need less memory for the features of a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hasher {
    map: HashingMap,
    n_columns: usize,
    /// The table of the map with renumbered columns.
    renumbered: Option<HashTable>,
}

impl Hasher {
    pub(super) fn new(map: HashingMap) -> Self {
        let (mut n_columns, mut renumbered) = (map.n_components(), None);
        if map.n_outputs() < map.n_components() {
            let mut table = HashTable::default();
            n_columns = table.fill_renumbered(&map);
            renumbered = Some(table);
        }
        Self {
            map,
            n_columns,
            renumbered,
        }
    }

    pub(super) fn map(&self) -> HashingMap {
        self.map
    }

    pub(super) fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Returns the columns of features, in the form that is faster for hashing `n_values` values.
    pub(super) fn columns<'a>(&'a self, n_values: usize, table: &'a mut HashTable) -> HashedColumns<'a> {
        match &self.renumbered {
            Some(renumbered) => HashedColumns::Table(renumbered),
            None => HashedColumns::of(&self.map, n_values, table),
        }
    }

    /// Hashes rows of `x` into `hashed`.
    pub(super) fn load(
        &self,
        x: MatrixView<'_>,
        rows: Range<usize>,
        table: &mut HashTable,
        hashed: &mut HashedRows,
    ) {
        let n_stored = match &x {
            MatrixView::Sparse(x) => rows.clone().map(|row| csr_row(x, row).0.len()).sum(),
            MatrixView::Dense(x) => rows.len() * x.ncols(),
        };
        hashed.load(self.n_columns, &self.columns(n_stored, table), x, rows);
    }

    /// Calls `push` with the hashed columns and values of some rows of `x` in turn.
    pub(super) fn for_each_row(&self, x: CsrView<'_>, rows: &[u32], push: &mut dyn FnMut(&[u32], &[f32])) {
        /// Number of rows that are hashed at a time.
        const CHUNK: usize = 1024;
        let (mut table, mut hashed) = (HashTable::default(), HashedRows::default());
        let n_stored = rows.iter().map(|&row| csr_row(&x, row as usize).0.len()).sum();
        let columns = self.columns(n_stored, &mut table);
        for rows in rows.chunks(CHUNK) {
            let numbers = rows.iter().map(|&row| row as usize);
            hashed.load(self.n_columns, &columns, MatrixView::Sparse(x), numbers);
            for i in 0..rows.len() {
                let (columns, values) = hashed.row(i);
                push(columns, values);
            }
        }
    }

    /// Hashes the rows of `x`, which stores no zeros.
    pub(super) fn hash_rows(&self, x: CsrView<'_>) -> CsrMatrix {
        /// Number of rows that a thread hashes at a time.
        const CHUNK: usize = 2048;
        let mut table = HashTable::default();
        let columns = self.columns(x.nnz(), &mut table);
        let starts: Vec<usize> = (0..x.rows()).step_by(CHUNK).collect();
        let parts: Vec<HashedRows> = starts
            .into_par_iter()
            .map(|start| {
                let rows = start..(start + CHUNK).min(x.rows());
                let mut hashed = HashedRows::default();
                hashed.load(self.n_columns, &columns, MatrixView::Sparse(x), rows);
                hashed
            })
            .collect();
        let n_stored = parts.iter().map(|part| part.columns.len()).sum();
        let mut indptr = Vec::with_capacity(x.rows() + 1);
        let (mut columns, mut values) = (Vec::with_capacity(n_stored), Vec::with_capacity(n_stored));
        indptr.push(0);
        for part in parts {
            let before = columns.len();
            indptr.extend(part.ends.iter().map(|end| before + end));
            columns.extend(part.columns);
            values.extend(part.values);
        }
        CsrMatrix::new((x.rows(), self.n_columns), indptr, columns, values)
    }
}

/// The column and the sign of each feature.
#[derive(Debug)]
pub(super) enum HashedColumns<'a> {
    Table(&'a HashTable),
    Map(HashingMap),
}

impl<'a> HashedColumns<'a> {
    /// Returns the columns of features for hashing `n_values` values. If there are at least as many values as features,
    /// hashing each feature once is less work, and `table` is filled; otherwise no memory per feature is used.
    fn of(map: &HashingMap, n_values: usize, table: &'a mut HashTable) -> Self {
        if n_values < map.n_outputs() {
            return Self::Map(*map);
        }
        table.fill(map);
        Self::Table(table)
    }

    #[inline]
    fn entry(&self, feature: u32) -> (u32, f32) {
        match self {
            Self::Table(table) => table.entry(feature),
            Self::Map(map) => map.entry(feature),
        }
    }
}

/// Hashed rows, one after the other, each with its columns in order.
#[derive(Debug, Default)]
pub(super) struct HashedRows {
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
    /// The columns of the current row as bits; cleared between rows.
    words: Vec<u64>,
    /// The nonzero words as bits, if there are many words; cleared between rows.
    summary: Vec<u64>,
    /// Number of columns of the row before each word.
    before: Vec<u32>,
    /// The hashed entries of the current row, in any order.
    entries: Vec<(u32, f32)>,
}

impl HashedRows {
    /// Replaces the rows by hashed rows of `x`, with `n_columns` columns.
    pub(super) fn load(
        &mut self,
        n_columns: usize,
        columns: &HashedColumns<'_>,
        x: MatrixView<'_>,
        rows: impl Iterator<Item = usize>,
    ) {
        self.ends.clear();
        self.columns.clear();
        self.values.clear();
        let n_words = n_columns.div_ceil(64);
        self.words.resize(n_words, 0);
        self.before.resize(n_words, 0);
        self.summary.resize(n_words.div_ceil(64), 0);
        vectorized(
            #[inline(always)]
            || {
                for row in rows {
                    self.entries.clear();
                    x.for_each_in_row(row, |feature, value| {
                        // Stored zeros are treated like zeros that are not stored.
                        if value != 0.0 {
                            let (column, sign) = columns.entry(feature);
                            self.entries.push((column, sign * value));
                        }
                    });
                    self.sort_entries();
                }
            },
        );
    }

    /// Appends the entries as a row, summing the values of equal columns in the order of the entries. The position of
    /// an entry is the number of bits before its own: no branch depends on the columns, which are unpredictable.
    ///
    /// Called inside [`vectorized`], since processors with its instructions count bits in one instruction.
    #[inline(always)]
    fn sort_entries(&mut self) {
        /// Up to this many words are inspected one after the other: to note which are nonzero, every entry would wait
        /// for the one before it.
        const FEW_WORDS: usize = 64;
        let (words, summary, before) = (&mut self.words[..], &mut self.summary[..], &mut self.before[..]);
        let bit = |column: u32| 1_u64 << (column % 64);
        for &(column, _) in &self.entries {
            words[column as usize / 64] |= bit(column);
        }
        let start = self.columns.len();
        let mut end = start;
        let mut count = |word: &u64, before: &mut u32| {
            *before = (end - start) as u32;
            end += word.count_ones() as usize;
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
        self.columns.resize(end, 0);
        self.values.resize(end, 0.0);
        let (columns, values) = (&mut self.columns[start..], &mut self.values[start..]);
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
        self.ends.push(end);
    }

    /// Returns the columns and values of the i-th row.
    #[inline]
    pub(super) fn row(&self, i: usize) -> (&[u32], &[f32]) {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        let range = start..self.ends[i];
        (&self.columns[range.clone()], &self.values[range])
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

/// Labels with a new hashing at every node. A row whose hashed labels cancel, or that has no label, becomes a random
/// unit vector.
#[derive(Debug)]
pub(super) struct HashedLabels<'a> {
    pub(super) labels: CsrView<'a>,
    pub(super) width: usize,
}

impl ClusterTargets for HashedLabels<'_> {
    fn n_columns(&self) -> usize {
        self.width
    }

    fn push(&self, rows: &[u32], seed: Seed, points: &mut Points) {
        /// Number of rows that are copied before they are hashed. Copying reads far ahead, so memory is waited for once
        /// for several rows.
        const ROWS: usize = 32;
        let hashing = |seed| {
            Hashing::map(self.labels.cols(), self.width, seed).expect("sizes were checked before growing")
        };
        let (map, axes) = (hashing(seed), hashing(seed.purpose("axes")));
        let mut table = HashTable::default();
        let n_stored = rows
            .iter()
            .map(|&row| csr_row(&self.labels, row as usize).0.len())
            .sum();
        let columns = HashedColumns::of(&map, n_stored, &mut table);
        let (mut ends, mut labels, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for rows in rows.chunks(ROWS) {
            ends.clear();
            labels.clear();
            values.clear();
            for &row in rows {
                let (row_labels, row_values) = csr_row(&self.labels, row as usize);
                labels.extend_from_slice(row_labels);
                values.extend_from_slice(row_values);
                ends.push(labels.len());
            }
            let mut start = 0;
            for (&row, &end) in rows.iter().zip(&ends) {
                let entries = labels[start..end].iter().zip(&values[start..end]);
                let entries = entries.map(|(&label, &value)| {
                    let (component, sign) = columns.entry(label);
                    (component, sign * value)
                });
                if points.push(entries, 1.0) == 0.0 {
                    points.pop();
                    points.push([axes.entry(row)].into_iter(), 1.0);
                }
                start = end;
            }
        }
    }

    fn all_equal(&self, rows: &[u32]) -> bool {
        rows_equal(&self.labels, rows)
    }
}

/// Returns true if the given rows of a matrix without stored zeros are all equal.
pub(super) fn rows_equal(x: &CsrView<'_>, rows: &[u32]) -> bool {
    rows.windows(2)
        .all(|pair| csr_row(x, pair[0] as usize) == csr_row(x, pair[1] as usize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        /// Rows equal the sums of their features in order, bit for bit, also where features meet in a component and
        /// where they cancel there; dense rows and CSR alike.
        #[test]
        fn rows_are_sums_of_signed_features(
            share in 0.0_f64..0.7,
            cells in prop::collection::vec((0.0_f64..1.0, prop_oneof![Just(1.0_f32), -3.0_f32..3.0]), 6 * 40),
            width in 1_usize..200,
            seed in any::<u64>(),
        ) {
            // From fewer values than features to many more.
            let cells = cells.into_iter().map(|(u, v)| if u < share { v } else { 0.0 }).collect();
            let x = Array2::from_shape_vec((6, 40), cells).unwrap();
            let map = Hashing::map(40, width, Seed::new(seed)).unwrap();
            let hasher = Hasher::new(map);
            let met: BTreeSet<u32> = (0..40).map(|feature| map.entry(feature).0).collect();
            let components: Vec<u32> = if width > 40 { met.into_iter().collect() } else { (0..width as u32).collect() };
            prop_assert_eq!(hasher.n_columns(), components.len());

            let csr = MatrixView::from(&x).to_csr();
            let hashed = hasher.hash_rows(csr.view());
            let (mut table, mut loaded) = (HashTable::default(), HashedRows::default());
            loaded.load(hasher.n_columns(), &hasher.columns(240, &mut table), (&x).into(), 0..6);
            for row in 0..6 {
                let mut expected = BTreeMap::new();
                for (feature, &value) in x.row(row).iter().enumerate().filter(|(_, v)| **v != 0.0) {
                    let (component, sign) = map.entry(feature as u32);
                    *expected.entry(component).or_insert(0.0_f32) += sign * value;
                }
                let expected: Vec<(u32, u32)> = expected.into_iter().map(|(c, v)| (c, v.to_bits())).collect();
                let view = hashed.view();
                for (columns, values) in [csr_row(&view, row), loaded.row(row)] {
                    let components = columns.iter().map(|&c| components[c as usize]);
                    let entries: Vec<(u32, u32)> = components.zip(values.iter().map(|v| v.to_bits())).collect();
                    prop_assert_eq!(&entries, &expected);
                }
            }
        }
    }
}
