//! Hashed features and labels: the projections of the original method.

use rayon::prelude::*;
use rpo_core::{CsrMatrix, CsrView, MatrixView, Seed, csr_row, vectorized};
use rpo_projections::{Hashing, HashingMap, LinearMap};
use rpo_tree::centroid::ClusterTargets;
use rpo_tree::cluster::Points;
use std::ops::Range;

/// How a tree sees the features of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureMap {
    /// As they are.
    Identity,
    /// Hashed.
    Hashed(HashingMap),
}

/// Where each feature goes, written out: looked up in less time than hashed.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct HashTable {
    /// The column, and the sign in the top bit.
    codes: Vec<u32>,
}

impl HashTable {
    const MINUS: u32 = 1 << 31;

    /// Writes out a map; columns are its components.
    fn fill(&mut self, map: &HashingMap) {
        let code = |feature| {
            let (component, sign) = map.entry(feature);
            debug_assert!(component < Self::MINUS, "widths are limited to far less");
            component | sign.to_bits() & Self::MINUS
        };
        self.codes.clear();
        self.codes.extend((0..map.n_outputs() as u32).map(code));
    }

    /// Writes out a map; columns are the components that features go to, numbered in order. Returns how many there are.
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

/// Hashes features to columns: the components of a map or, where features are fewer than components, those components that
/// some feature goes to, numbered in order. Rules then find the features of a row in less room.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hasher {
    map: HashingMap,
    n_columns: usize,
    /// The map written out with its columns numbered anew.
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

    /// Where features go, for so many values.
    pub(super) fn columns<'a>(&'a self, n_values: usize, table: &'a mut HashTable) -> HashedColumns<'a> {
        match &self.renumbered {
            Some(renumbered) => HashedColumns::Table(renumbered),
            None => HashedColumns::of(&self.map, n_values, table),
        }
    }

    /// Loads hashed rows of `x`.
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

    /// Hands on the hashed columns and values of some rows of `x` in turn.
    pub(super) fn for_each_row(&self, x: CsrView<'_>, rows: &[u32], push: &mut dyn FnMut(&[u32], &[f32])) {
        /// Rows that are hashed in one go.
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
        /// Rows that a thread hashes in one go.
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
    /// Where a map takes so many values. Where these are more than there are features, hashing each feature once is less
    /// work, for which `table` is room; otherwise nothing takes room by feature.
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

/// Hashed rows with their columns in order, one after the other.
#[derive(Debug, Default)]
pub(super) struct HashedRows {
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
    /// The columns of a row as bits; zeros between rows.
    words: Vec<u64>,
    /// The words that are not 0, as bits; zeros between rows.
    summary: Vec<u64>,
    /// Number of columns of the row before each word.
    before: Vec<u32>,
    /// What a row brings, in any order.
    entries: Vec<(u32, f32)>,
}

impl HashedRows {
    /// Replaces the rows by some of `x`, hashed to `n_columns`.
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
                        // Zeros that happen to be stored are no more there than those that are not.
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

    /// Appends the entries as a row, summing the values of a column in their order. The place of an entry is the number of
    /// bits before its own: nothing here depends on how the columns lie, which cannot be predicted.
    ///
    /// Inside [`vectorized`], as processors that know its instructions count bits in one.
    #[inline(always)]
    fn sort_entries(&mut self) {
        let (words, summary, before) = (&mut self.words[..], &mut self.summary[..], &mut self.before[..]);
        let bit = |column: u32| 1_u64 << (column % 64);
        for &(column, _) in &self.entries {
            let word = column / 64;
            words[word as usize] |= bit(column);
            summary[word as usize / 64] |= bit(word);
        }
        let start = self.columns.len();
        let mut end = start;
        for_each_set(summary, |word| {
            before[word] = (end - start) as u32;
            end += words[word].count_ones() as usize;
        });
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
        for_each_set(summary, |word| words[word] = 0);
        summary.fill(0);
        self.ends.push(end);
    }

    /// The columns and values of the i-th row.
    #[inline]
    pub(super) fn row(&self, i: usize) -> (&[u32], &[f32]) {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        let range = start..self.ends[i];
        (&self.columns[range.clone()], &self.values[range])
    }
}

/// Calls `f` with the numbers of the bits that are set, increasing.
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

/// Labels hashed anew at every node. A row whose labels cancel, or that has none, becomes a random unit vector.
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
        /// Rows that are copied before they are hashed: memory is waited for once for several of them, as copying looks far
        /// ahead.
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

/// Whether rows of a matrix without stored zeros are all the same.
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
        /// Rows are what their features, one after the other, add up to, bit for bit, also where features meet in a component
        /// and where they cancel there; dense rows and CSR alike.
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
