//! Hashed features and labels: the projections of the original method.

use rayon::prelude::*;
use rpo_core::{CsrMatrix, CsrView, IndexSet, Seed, csr_row};
use rpo_projections::{Hashing, HashingMap, LinearMap};
use rpo_tree::Row;
use rpo_tree::centroid::ClusterTargets;
use rpo_tree::cluster::Points;

/// How a tree sees the features of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureMap {
    /// As they are.
    Identity,
    /// Hashed.
    Hashed(HashingMap),
}

/// Where each feature goes, written out: looked up in less time than hashed.
#[derive(Debug, Default)]
pub(super) struct HashTable {
    /// The component, and the sign in the top bit.
    codes: Vec<u32>,
}

impl HashTable {
    const MINUS: u32 = 1 << 31;

    /// Writes out a map.
    pub(super) fn fill(&mut self, map: &HashingMap) {
        let code = |feature| {
            let (component, sign) = map.entry(feature);
            debug_assert!(component < Self::MINUS, "widths are limited to far less");
            component | sign.to_bits() & Self::MINUS
        };
        self.codes.clear();
        self.codes.extend((0..map.n_outputs() as u32).map(code));
    }

    /// The component of each feature.
    fn components(&self) -> impl Iterator<Item = u32> {
        self.codes.iter().map(|code| code & !Self::MINUS)
    }

    /// Gives components other numbers.
    fn renumber(&mut self, numbers: &[u32]) {
        for code in &mut self.codes {
            *code = numbers[(*code & !Self::MINUS) as usize] | *code & Self::MINUS;
        }
    }

    /// As [`HashingMap::entry`].
    #[inline]
    pub(super) fn entry(&self, feature: u32) -> (u32, f32) {
        let code = self.codes[feature as usize];
        let sign = f32::from_bits(1.0_f32.to_bits() | code & Self::MINUS);
        (code & !Self::MINUS, sign)
    }
}

/// Projects rows one after the other.
#[derive(Debug, Default)]
pub(super) struct RowHasher {
    /// One value per component; zeros where nothing is stored.
    values: Vec<f32>,
    /// The components that are stored, in order.
    stored: Vec<u32>,
    /// Puts them in order.
    sorter: IndexSet,
}

impl RowHasher {
    /// Projects a row given by its features and values, by the entry of each feature in a map to `width` components;
    /// [`row`](Self::row) shows it until the next.
    #[inline]
    pub(super) fn load(
        &mut self,
        entry: impl Fn(u32) -> (u32, f32),
        width: usize,
        features: &[u32],
        values: &[f32],
    ) {
        for &component in &self.stored {
            self.values[component as usize] = 0.0;
        }
        self.stored.clear();
        if self.values.len() < width {
            self.values.resize(width, 0.0);
            self.sorter.reserve(width);
        }
        for (&feature, &value) in features.iter().zip(values) {
            // Zeros that happen to be stored are no more there than those that are not.
            if value != 0.0 {
                let (component, sign) = entry(feature);
                self.values[component as usize] += sign * value;
                self.sorter.insert(component);
            }
        }
        self.sorter.drain(|component| self.stored.push(component));
    }

    /// The projected row.
    pub(super) fn row(&self) -> Row<'_> {
        Row {
            values: &self.values,
            stored: Some(&self.stored),
        }
    }
}

/// Rows with their columns in order, one after the other.
#[derive(Debug)]
struct SortedRows {
    ends: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
    /// The columns of a row as bits; zeros between rows.
    words: Vec<u64>,
    /// Number of columns of the row before each word.
    before: Vec<u32>,
    /// What a row brings, in any order.
    entries: Vec<(u32, f32)>,
}

impl SortedRows {
    fn new(n_columns: usize, n_rows: usize, n_entries: usize) -> Self {
        Self {
            ends: Vec::with_capacity(n_rows),
            columns: Vec::with_capacity(n_entries),
            values: Vec::with_capacity(n_entries),
            words: vec![0; n_columns.div_ceil(64)],
            before: vec![0; n_columns.div_ceil(64)],
            entries: Vec::new(),
        }
    }

    /// Appends a row, summing the values of a column in the order given. The place of an entry is the number of bits
    /// before its own: nothing here depends on how the columns lie, which cannot be predicted.
    fn push(&mut self, entries: impl Iterator<Item = (u32, f32)>) {
        self.entries.clear();
        self.entries.extend(entries);
        let bit = |column: u32| 1_u64 << (column % 64);
        for &(column, _) in &self.entries {
            self.words[column as usize / 64] |= bit(column);
        }
        let start = self.columns.len();
        let mut end = start;
        for (before, word) in self.before.iter_mut().zip(&self.words) {
            *before = (end - start) as u32;
            end += word.count_ones() as usize;
        }
        self.columns.resize(end, 0);
        self.values.resize(end, 0.0);
        let (columns, values) = (&mut self.columns[start..], &mut self.values[start..]);
        for &(column, value) in &self.entries {
            let word = column as usize / 64;
            let below = self.words[word] & (bit(column) - 1);
            let place = (self.before[word] + below.count_ones()) as usize;
            columns[place] = column;
            values[place] += value;
        }
        self.words.fill(0);
        self.ends.push(end);
    }
}

/// Hashed rows without the components that no feature goes to: with fewer features than components those are most.
#[derive(Debug)]
pub(super) struct HashedRows {
    pub(super) x: CsrMatrix,
    /// The component that each column of `x` is, increasing.
    pub(super) names: Vec<u32>,
}

/// The rows of `x`, which stores no zeros, hashed.
pub(super) fn hash_rows(x: CsrView<'_>, map: &HashingMap) -> HashedRows {
    /// Rows that a thread hashes in one go.
    const CHUNK: usize = 2048;
    let mut table = HashTable::default();
    // Features may be far more than values: then each value is hashed, and nothing takes room by feature.
    let by_feature = x.cols() <= x.nnz();
    let mut met = IndexSet::new(map.n_components());
    if by_feature {
        table.fill(map);
        table.components().for_each(|component| met.insert(component));
    } else {
        let rows = (0..x.rows()).flat_map(|row| csr_row(&x, row).0);
        rows.for_each(|&feature| met.insert(map.entry(feature).0));
    }
    let (mut names, mut numbers) = (Vec::new(), vec![0; map.n_components()]);
    met.drain(|component| {
        numbers[component as usize] = names.len() as u32;
        names.push(component);
    });
    table.renumber(&numbers);
    let entry = |feature| {
        if by_feature {
            table.entry(feature)
        } else {
            let (component, sign) = map.entry(feature);
            (numbers[component as usize], sign)
        }
    };
    let starts: Vec<usize> = (0..x.rows()).step_by(CHUNK).collect();
    let parts: Vec<SortedRows> = starts
        .into_par_iter()
        .map(|start| {
            let rows = start..(start + CHUNK).min(x.rows());
            let n_stored = rows.clone().map(|row| csr_row(&x, row).0.len()).sum();
            let mut hashed = SortedRows::new(names.len(), rows.len(), n_stored);
            for row in rows {
                let (features, values) = csr_row(&x, row);
                hashed.push(features.iter().zip(values).map(|(&feature, &value)| {
                    let (column, sign) = entry(feature);
                    (column, sign * value)
                }));
            }
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
    let x = CsrMatrix::new((x.rows(), names.len()), indptr, columns, values);
    HashedRows { x, names }
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
        let hashing = |seed| {
            Hashing::map(self.labels.cols(), self.width, seed).expect("sizes were checked before growing")
        };
        let (map, axes) = (hashing(seed), hashing(seed.purpose("axes")));
        for &row in rows {
            let (labels, values) = csr_row(&self.labels, row as usize);
            let entries = labels.iter().zip(values).map(|(&label, &value)| {
                let (component, sign) = map.entry(label);
                (component, sign * value)
            });
            if points.push(entries, 1.0) == 0.0 {
                points.pop();
                points.push([axes.entry(row)].into_iter(), 1.0);
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
    use rpo_core::MatrixView;

    proptest! {
        /// Rows hashed together are those hashed one by one, bit for bit, also where features meet in a component and
        /// where they cancel there.
        #[test]
        fn rows_are_hashed_together_as_one_by_one(
            share in 0.0_f64..0.7,
            cells in prop::collection::vec((0.0_f64..1.0, prop_oneof![Just(1.0_f32), -3.0_f32..3.0]), 6 * 40),
            width in 1_usize..200,
            seed in any::<u64>(),
        ) {
            // From fewer values than features to many more.
            let cells = cells.into_iter().map(|(u, v)| if u < share { v } else { 0.0 }).collect();
            let x = Array2::from_shape_vec((6, 40), cells).unwrap();
            let x = MatrixView::from(&x).to_csr();
            let map = Hashing::map(40, width, Seed::new(seed)).unwrap();
            let HashedRows { x: hashed, names } = hash_rows(x.view(), &map);
            prop_assert!(names.is_sorted_by(|a, b| a < b));
            let mut hasher = RowHasher::default();
            let mut table = HashTable::default();
            table.fill(&map);
            for row in 0..6 {
                let stored = x.view();
                let (features, values) = csr_row(&stored, row);
                hasher.load(|feature| table.entry(feature), width, features, values);
                let view = hashed.view();
                let (columns, values) = csr_row(&view, row);
                let components: Vec<u32> = columns.iter().map(|&c| names[c as usize]).collect();
                prop_assert_eq!(&components, &hasher.stored);
                for (&component, value) in components.iter().zip(values) {
                    prop_assert_eq!(hasher.values[component as usize].to_bits(), value.to_bits());
                }
            }
            (0..40).for_each(|feature| assert_eq!(table.entry(feature), map.entry(feature)));
        }
    }
}
