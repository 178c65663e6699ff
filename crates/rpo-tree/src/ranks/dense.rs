//! Dense ranked columns: one rank per row and column.

use super::{ColumnValues, sortable};
use ndarray::{ArrayView1, ArrayView2, Axis};
use rayon::prelude::*;

/// The ranks of one column, in the narrowest type that holds them and the rank of a missing value.
#[derive(Debug, Clone)]
pub(crate) enum Ranks {
    /// At most 255 distinct values.
    U8(Vec<u8>),
    /// At most 65,535 distinct values.
    U16(Vec<u16>),
    /// Any number of values.
    U32(Vec<u32>),
}

/// Ranked columns of a dense matrix. Memory: one to four bytes per value.
#[derive(Debug, Clone)]
pub(crate) struct DenseRanks {
    columns: Vec<(ColumnValues, Ranks)>,
    n_rows: usize,
}

impl DenseRanks {
    pub(super) fn new(x: ArrayView2<'_, f32>) -> Self {
        let columns = (0..x.ncols())
            .into_par_iter()
            .map(|j| code(x.index_axis(Axis(1), j)))
            .collect();
        Self {
            columns,
            n_rows: x.nrows(),
        }
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(crate) fn n_features(&self) -> usize {
        self.columns.len()
    }

    pub(crate) fn values(&self, feature: u32) -> &ColumnValues {
        &self.columns[feature as usize].0
    }

    /// The ranks of a feature, by row.
    pub(crate) fn ranks(&self, feature: u32) -> &Ranks {
        &self.columns[feature as usize].1
    }
}

fn code(column: ArrayView1<'_, f32>) -> (ColumnValues, Ranks) {
    // The key sorts by value, then row.
    let mut keys: Vec<u64> = column
        .iter()
        .enumerate()
        .map(|(i, &v)| u64::from(sortable(v)) << 32 | i as u64)
        .collect();
    keys.sort_unstable();
    let mut values: Vec<f32> = Vec::new();
    let mut ranks = vec![0_u32; keys.len()];
    for key in keys {
        let row = (key & u64::from(u32::MAX)) as usize;
        let value = column[row] + 0.0;
        if !value.is_nan() && values.last() != Some(&value) {
            values.push(value);
        }
        ranks[row] = if value.is_nan() {
            u32::MAX
        } else {
            values.len() as u32 - 1
        };
    }
    let missing = values.len() as u32;
    for rank in &mut ranks {
        *rank = (*rank).min(missing);
    }
    let ranks = match missing {
        0..=0xff => Ranks::U8(ranks.into_iter().map(|r| r as u8).collect()),
        0x100..=0xffff => Ranks::U16(ranks.into_iter().map(|r| r as u16).collect()),
        _ => Ranks::U32(ranks),
    };
    (ColumnValues::new(values), ranks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn ranks_follow_values_and_missing_comes_last() {
        let (values, ranks) = code(array![2.0, f32::NAN, -1.0, 0.0, 2.0, -0.0].view());
        assert_eq!(values.values, [-1.0, 0.0, 2.0]);
        assert_eq!(
            (values.n_negative, values.has_zero, values.missing_rank()),
            (1, true, 3)
        );
        assert!(matches!(ranks, Ranks::U8(r) if r == [2, 3, 0, 1, 2, 1]));
    }

    #[test]
    fn wide_columns_take_wide_ranks() {
        let column = ndarray::Array1::from_iter((0..70_000).map(|i| i as f32));
        assert!(matches!(code(column.slice(ndarray::s![..255])).1, Ranks::U8(_)));
        assert!(matches!(code(column.slice(ndarray::s![..256])).1, Ranks::U16(_)));
        assert!(matches!(code(column.view()).1, Ranks::U32(r) if r[69_999] == 69_999));
    }
}
