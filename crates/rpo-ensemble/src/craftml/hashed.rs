//! Hashed features and labels: the projections of the original method.

use rayon::prelude::*;
use rpo_core::{CsrMatrix, CsrView, IndexSet, Seed, csr_row};
use rpo_projections::{Hashing, HashingMap};
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
    /// Projects a row given by its features and values; [`row`](Self::row) shows it until the next.
    pub(super) fn load(&mut self, map: &HashingMap, width: usize, features: &[u32], values: &[f32]) {
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
                let (component, sign) = map.entry(feature);
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

/// The rows of `x`, hashed.
pub(super) fn hash_rows(x: CsrView<'_>, map: &HashingMap, width: usize) -> CsrMatrix {
    /// Rows that a thread hashes in one go.
    const CHUNK: usize = 2048;
    let starts: Vec<usize> = (0..x.rows()).step_by(CHUNK).collect();
    let parts: Vec<(Vec<usize>, Vec<u32>, Vec<f32>)> = starts
        .into_par_iter()
        .map(|start| {
            let (mut ends, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
            let mut hasher = RowHasher::default();
            for row in start..(start + CHUNK).min(x.rows()) {
                let (features, stored) = csr_row(&x, row);
                hasher.load(map, width, features, stored);
                columns.extend_from_slice(&hasher.stored);
                values.extend(hasher.stored.iter().map(|&c| hasher.values[c as usize]));
                ends.push(columns.len());
            }
            (ends, columns, values)
        })
        .collect();
    let n_stored = parts.iter().map(|p| p.1.len()).sum();
    let mut indptr = Vec::with_capacity(x.rows() + 1);
    let (mut columns, mut values) = (Vec::with_capacity(n_stored), Vec::with_capacity(n_stored));
    indptr.push(0);
    for (ends, part_columns, part_values) in parts {
        let before = columns.len();
        indptr.extend(ends.iter().map(|end| before + end));
        columns.extend(part_columns);
        values.extend(part_values);
    }
    CsrMatrix::new((x.rows(), width), indptr, columns, values)
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
