//! Hashed features and labels: the projections of the original method.

mod labels;
mod rows;
mod table;

pub(super) use labels::HashedLabels;
pub(super) use rows::HashedRows;
pub(super) use table::HashTable;

use rayon::prelude::*;
use rows::RowHasher;
use rpo_core::{CsrMatrix, CsrView, MatrixView, csr_row, vectorized};
use rpo_projections::{HashingMap, LinearMap};
use std::ops::Range;
use table::HashedColumns;

/// The map from features to the columns that the rules of a tree use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureMap {
    /// The features themselves.
    Identity,
    /// Hashed features.
    Hashed(HashingMap),
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
        let map = self.columns(x.nnz(), &mut table);
        // Hashed rows have at most as many entries: each chunk has the place of its rows, and moves up afterwards.
        let (mut columns, mut values) = (vec![0; x.nnz()], vec![0.0; x.nnz()]);
        let mut places = (&mut columns[..], &mut values[..]);
        let chunks: Vec<_> = (0..x.rows())
            .step_by(CHUNK)
            .map(|start| {
                let rows = start..(start + CHUNK).min(x.rows());
                let n_stored = rows.clone().map(|row| csr_row(&x, row).0.len()).sum();
                let columns = places.0.split_off_mut(..n_stored).expect("rows hold the entries");
                let values = places.1.split_off_mut(..n_stored).expect("rows hold the entries");
                (rows, columns, values)
            })
            .collect();
        let lengths: Vec<(usize, Vec<usize>)> = chunks
            .into_par_iter()
            .map(|(rows, columns, values)| {
                let (mut hasher, mut end, place) = (RowHasher::default(), 0, columns.len());
                hasher.begin(self.n_columns);
                let mut ends = Vec::with_capacity(rows.len());
                vectorized(
                    #[inline(always)]
                    || {
                        for row in rows {
                            hasher.read(&map, MatrixView::Sparse(x), row);
                            end += hasher.write(&mut columns[end..], &mut values[end..]);
                            ends.push(end);
                        }
                    },
                );
                (place, ends)
            })
            .collect();
        let mut indptr = Vec::with_capacity(x.rows() + 1);
        indptr.push(0);
        let (mut place, mut end) = (0, 0);
        for (n_stored, ends) in lengths {
            let n = ends.last().copied().unwrap_or_default();
            columns.copy_within(place..place + n, end);
            values.copy_within(place..place + n, end);
            indptr.extend(ends.iter().map(|&of_chunk| end + of_chunk));
            (place, end) = (place + n_stored, end + n);
        }
        columns.truncate(end);
        values.truncate(end);
        CsrMatrix::new((x.rows(), self.n_columns), indptr, columns, values)
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
    use rpo_core::Seed;
    use rpo_projections::Hashing;
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

    /// Rows of several chunks, of which some are empty and most have fewer entries than before, follow each other.
    #[test]
    fn rows_of_many_chunks_are_joined() {
        let x = Array2::from_shape_fn((5000, 12), |(i, j)| ((i * 7 + j * 5) % 11 / 8) as f32);
        let csr = MatrixView::from(&x).to_csr();
        let hasher = Hasher::new(Hashing::map(12, 4, Seed::new(1)).unwrap());
        let hashed = hasher.hash_rows(csr.view());
        assert!(hashed.nnz() < csr.nnz());
        let (mut table, mut loaded) = (HashTable::default(), HashedRows::default());
        loaded.load(
            hasher.n_columns(),
            &hasher.columns(60_000, &mut table),
            (&x).into(),
            0..5000,
        );
        for row in 0..5000 {
            assert_eq!(csr_row(&hashed.view(), row), loaded.row(row), "row {row}");
        }
    }
}
