//! Labels that are hashed anew at every node.

use super::rows_equal;
use super::table::{HashTable, HashedColumns};
use rpo_core::{CsrView, Seed, csr_row};
use rpo_projections::Hashing;
use rpo_tree::centroid::ClusterTargets;
use rpo_tree::cluster::Points;

/// Labels with a new hashing at every node. A row whose hashed labels cancel, or that has no label, becomes a random
/// unit vector.
#[derive(Debug)]
pub(in crate::craftml) struct HashedLabels<'a> {
    pub(in crate::craftml) labels: CsrView<'a>,
    pub(in crate::craftml) width: usize,
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
        // A row without labels has one entry.
        points.reserve(n_stored + rows.len());
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
