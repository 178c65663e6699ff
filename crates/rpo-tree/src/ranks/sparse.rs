//! Sparse ranked columns: the non-zero entries by column and by row.

use super::bits::BitMatrix;
use super::{ColumnValues, RankBounds, from_sortable, sortable};
use crate::TreeError;
use rpo_core::{CsrView, csr_row};

/// Ranked columns of a CSR matrix. Memory: 16 bytes per non-zero entry, and at most 8 more for the bits.
///
/// Stored zeros are dropped: an entry is a value that differs from zero, including missing values.
#[derive(Debug, Clone)]
pub(crate) struct SparseRanks {
    values: Vec<ColumnValues>,
    column_start: Vec<usize>,
    /// By column, sorted by rank, then row: `rank << 32 | row`.
    column_entries: Vec<u64>,
    row_start: Vec<usize>,
    /// By row: the features of its entries, and the ranks of their values; separate because most readers need only the
    /// features.
    row_features: Vec<u32>,
    row_ranks: Vec<u32>,
    /// One per feature. Small and separate from the values, as a search reads those of many features that are far apart in
    /// memory.
    outlines: Vec<Outline>,
    /// Per feature: the rows that hold it.
    holding: Option<BitMatrix>,
    /// Per feature: the value of its entries, 0 if it has none; `None` if some feature has entries that differ or are
    /// missing.
    only_value: Option<Vec<f32>>,
}

/// What a search needs to know of a sparse feature.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outline {
    pub(crate) bounds: RankBounds,
    /// The rank of its entries if they all share one and none is missing, as in binary data.
    pub(crate) only_rank: Option<u32>,
}

impl SparseRanks {
    pub(super) fn new(x: CsrView<'_>) -> Result<Self, TreeError> {
        let (n_rows, n_features) = x.shape();
        let mut row_start = vec![0; n_rows + 1];
        let mut column_start = vec![0; n_features + 1];
        let mut row_features = Vec::with_capacity(x.nnz());
        for row in 0..n_rows {
            let (columns, values) = csr_row(&x, row);
            for (&feature, _) in columns.iter().zip(values).filter(|(_, v)| **v != 0.0) {
                column_start[feature as usize + 1] += 1;
                row_features.push(feature);
            }
            row_start[row + 1] = row_features.len();
        }
        let n_entries = row_features.len();
        if n_entries > u32::MAX as usize {
            let what = "the number of non-zero feature values";
            return Err(TreeError::TooLarge {
                what,
                given: n_entries,
                limit: u32::MAX as usize,
            });
        }
        for j in 0..n_features {
            column_start[j + 1] += column_start[j];
        }

        // By column: the value and the position of the entry in row order, which sorts like its row.
        let mut next = column_start.clone();
        let mut column_entries = vec![0_u64; n_entries];
        let mut row_of = Vec::with_capacity(n_entries);
        for row in 0..n_rows {
            let (columns, values) = csr_row(&x, row);
            for (&feature, &value) in columns.iter().zip(values).filter(|(_, v)| **v != 0.0) {
                let slot = &mut next[feature as usize];
                column_entries[*slot] = u64::from(sortable(value)) << 32 | row_of.len() as u64;
                *slot += 1;
                row_of.push(row as u32);
            }
        }
        let mut row_ranks = vec![0; n_entries];
        let mut values = Vec::with_capacity(n_features);
        for j in 0..n_features {
            let entries = &mut column_entries[column_start[j]..column_start[j + 1]];
            values.push(code(entries, n_rows, &row_of, &mut row_ranks));
        }
        let column = |j: usize| &column_entries[column_start[j]..column_start[j + 1]];
        let outline = |j: usize| {
            let bounds = values[j].bounds();
            Outline {
                bounds,
                only_rank: only_rank(column(j)).filter(|&rank| rank != bounds.missing),
            }
        };
        let outlines: Vec<Outline> = (0..n_features).map(outline).collect();
        let only_value = |(j, outline): (usize, &Outline)| match outline.only_rank {
            Some(rank) => Some(values[j].value(rank)),
            None => column(j).is_empty().then_some(0.0),
        };
        let mut columns = Self {
            only_value: outlines.iter().enumerate().map(only_value).collect(),
            outlines,
            values,
            column_start,
            column_entries,
            row_start,
            row_features,
            row_ranks,
            holding: None,
        };
        if n_entries >= n_rows.div_ceil(64) * n_features && n_entries >= n_features.div_ceil(64) * n_rows {
            columns.holding = Some(columns.holding_bits());
        }
        Ok(columns)
    }

    fn holding_bits(&self) -> BitMatrix {
        let mut bits = BitMatrix::new(self.n_features(), self.n_rows());
        for row in 0..self.n_rows() {
            for &feature in self.features_of(row as u32) {
                bits.set(feature as usize, row);
            }
        }
        bits
    }

    /// Returns what a search needs to know of a feature.
    #[inline]
    pub(crate) fn outline(&self, feature: u32) -> Outline {
        self.outlines[feature as usize]
    }

    /// Returns the value of each feature's entries (0 for a feature without entries), if no feature has entries that
    /// differ or are missing, as in binary data.
    pub(crate) fn only_values(&self) -> Option<&[f32]> {
        self.only_value.as_deref()
    }

    /// Returns for each feature the rows that hold it, unless the matrix is too sparse for that to pay off.
    pub(crate) fn holding(&self) -> Option<&BitMatrix> {
        self.holding.as_ref()
    }

    /// Returns the rank of a non-zero cell.
    #[inline]
    pub(crate) fn rank(&self, row: u32, feature: u32) -> u32 {
        if let Some(rank) = self.outline(feature).only_rank {
            return rank;
        }
        let place = self.features_of(row).binary_search(&feature);
        self.ranks_of(row)[place.expect("the cell is not zero")]
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.row_start.len() - 1
    }

    pub(crate) fn n_features(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn values(&self, feature: u32) -> &ColumnValues {
        &self.values[feature as usize]
    }

    /// Returns the non-zero entries of a feature as `rank << 32 | row`, in increasing order.
    pub(crate) fn column(&self, feature: u32) -> &[u64] {
        &self.column_entries[self.column_start[feature as usize]..self.column_start[feature as usize + 1]]
    }

    /// Returns the features that a row holds, increasing.
    pub(crate) fn features_of(&self, row: u32) -> &[u32] {
        &self.row_features[self.row_start[row as usize]..self.row_start[row as usize + 1]]
    }

    /// Returns the ranks of the values of the [features that a row holds](Self::features_of).
    pub(crate) fn ranks_of(&self, row: u32) -> &[u32] {
        &self.row_ranks[self.row_start[row as usize]..self.row_start[row as usize + 1]]
    }

    /// Returns the features that a row holds, each with the rank of its value.
    pub(crate) fn entries_of(&self, row: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let ranks = self.ranks_of(row).iter().copied();
        self.features_of(row).iter().copied().zip(ranks)
    }

    /// Number of non-zero entries.
    pub(crate) fn n_entries(&self) -> usize {
        self.row_features.len()
    }
}

fn only_rank(column: &[u64]) -> Option<u32> {
    let (first, last) = (column.first()? >> 32, column.last()? >> 32);
    (first == last).then_some(first as u32)
}

/// Sorts a column's entries, and replaces their values by ranks and their positions by rows.
fn code(entries: &mut [u64], n_rows: usize, row_of: &[u32], row_ranks: &mut [u32]) -> ColumnValues {
    // A column with a single value, as in binary data, is already in order.
    if !entries.is_sorted() {
        entries.sort_unstable();
    }
    let value_bits = |entry: u64| (entry >> 32) as u32;
    let mut values: Vec<f32> = Vec::new();
    let has_zero = entries.len() < n_rows;
    let n_negative = entries.partition_point(|&e| value_bits(e) < sortable(0.0));
    let mut previous = None;
    for (i, entry) in entries.iter_mut().enumerate() {
        if i == n_negative && has_zero {
            values.push(0.0);
        }
        let bits = value_bits(*entry);
        if bits != u32::MAX && previous != Some(bits) {
            previous = Some(bits);
            values.push(from_sortable(bits));
        }
        // Missing values, which sort last, take the rank after all values.
        let rank = if bits == u32::MAX {
            values.len()
        } else {
            values.len() - 1
        } as u32;
        let place = (*entry & u64::from(u32::MAX)) as usize;
        row_ranks[place] = rank;
        *entry = u64::from(rank) << 32 | u64::from(row_of[place]);
    }
    if n_negative == entries.len() && has_zero {
        values.push(0.0);
    }
    ColumnValues::new(values)
}

#[cfg(test)]
mod tests {
    use super::super::{Layout, RankedFeatures};
    use ndarray::Array2;
    use proptest::prelude::*;
    use rpo_core::MatrixView;

    proptest! {
        #[test]
        fn agree_with_dense_columns(cells in proptest::collection::vec(proptest::option::weighted(0.9, -2_i8..3), 20)) {
            let values = cells.iter().map(|c| c.map_or(f32::NAN, f32::from)).collect();
            let x = Array2::from_shape_vec((5, 4), values).unwrap();
            let sparse = MatrixView::from(&x).to_csr();
            let (RankedFeatures(Layout::Dense(d)), RankedFeatures(Layout::Sparse(s))) =
                (RankedFeatures::new((&x).into(), &[]).unwrap(), RankedFeatures::new(MatrixView::Sparse(sparse.view()), &[]).unwrap()) else {
                unreachable!()
            };
            for j in 0..4 {
                let (values, ranks) = d.ranks(j);
                prop_assert_eq!(values, s.values(j));
                prop_assert!(s.column(j).is_sorted());
                for &entry in s.column(j) {
                    prop_assert_eq!((entry >> 32) as u32, ranks.get(entry as u32 as usize));
                }
            }
            for i in 0..5 {
                for (feature, rank) in s.entries_of(i) {
                    prop_assert_eq!(rank, d.ranks(feature).1.get(i as usize));
                }
                prop_assert_eq!(s.features_of(i).len(), x.row(i as usize).iter().filter(|v| **v != 0.0).count());
            }
        }
    }
}
