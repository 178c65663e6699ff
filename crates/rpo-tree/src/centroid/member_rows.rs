//! Training samples in the form used in means.

use super::Routing;
use crate::products::squared_length;
use rpo_core::{CsrView, csr_row, math};
use std::borrow::Cow;

/// Rows whose means are centroids: unchanged, or scaled to unit length.
///
/// Components of unit vectors are rounded to multiples of 2^-b that are coarse enough for any sum of them to be exact
/// in `f64`: sums then depend neither on their order nor on whether they were added up or subtracted from a larger sum.
#[derive(Debug)]
pub(super) struct MemberRows<'a> {
    /// Start of each row, and the end.
    start: Vec<usize>,
    columns: Cow<'a, [u32]>,
    values: Cow<'a, [f32]>,
    /// True if every sum of them is exact, which holds for unit length.
    pub(super) is_exact: bool,
}

impl<'a> MemberRows<'a> {
    /// Creates the rows of a matrix in the form that a routing needs.
    pub(super) fn new(x: CsrView<'a>, routing: &dyn Routing) -> Self {
        let (_, columns, values) = x.into_raw_storage();
        let mut rows = Self {
            start: vec![0],
            columns: columns.into(),
            values: values.into(),
            is_exact: routing.unit_rows(),
        };
        let mut end = 0;
        rows.start.extend((0..x.rows()).map(|row| {
            end += csr_row(&x, row).0.len();
            end
        }));
        if rows.is_exact {
            let (grid, mut units) = (Grid::new(x.rows()), Vec::with_capacity(values.len()));
            (0..x.rows()).for_each(|row| grid.scale(csr_row(&x, row).1, &mut units));
            rows.values = units.into();
        }
        rows
    }

    /// Creates rows of unit length, given one after the other: some of the `n_train` rows on which a tree was grown.
    pub(super) fn collect(
        n_train: usize,
        for_each_row: impl FnOnce(&mut dyn FnMut(&[u32], &[f32])),
    ) -> MemberRows<'static> {
        let grid = Grid::new(n_train);
        let (mut start, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for_each_row(&mut |row_columns, row_values| {
            columns.extend_from_slice(row_columns);
            grid.scale(row_values, &mut values);
            start.push(columns.len());
        });
        MemberRows {
            start,
            columns: columns.into(),
            values: values.into(),
            is_exact: true,
        }
    }

    /// Returns the same rows with the i-th renumbered to `numbers[i]`: rows are stored in the order of their numbers.
    pub(super) fn renumbered(&self, numbers: &[u32]) -> MemberRows<'static> {
        let mut start = vec![0; numbers.len() + 1];
        for (&number, bounds) in numbers.iter().zip(self.start.windows(2)) {
            start[number as usize + 1] = bounds[1] - bounds[0];
        }
        for i in 0..numbers.len() {
            start[i + 1] += start[i];
        }
        let (mut columns, mut values) = (vec![0; self.columns.len()], vec![0.0; self.values.len()]);
        for (&number, row) in numbers.iter().zip(0..) {
            let (row_columns, row_values) = self.row(row);
            let range = start[number as usize]..start[number as usize + 1];
            columns[range.clone()].copy_from_slice(row_columns);
            values[range].copy_from_slice(row_values);
        }
        MemberRows {
            start,
            columns: columns.into(),
            values: values.into(),
            is_exact: self.is_exact,
        }
    }

    /// Returns the columns and values of a row.
    #[inline]
    pub(super) fn row(&self, row: u32) -> (&[u32], &[f32]) {
        let range = self.start[row as usize]..self.start[row as usize + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Number of stored values of all rows.
    pub(super) fn n_stored(&self) -> usize {
        self.columns.len()
    }

    /// Number of stored values of some rows.
    pub(super) fn n_entries(&self, rows: &[u32]) -> usize {
        let size = |&row: &u32| self.start[row as usize + 1] - self.start[row as usize];
        rows.iter().map(size).sum()
    }
}

/// Multiples of a power of two, such that sums of as many components as there are rows are exact.
struct Grid {
    /// A number of the magnitude at which `f64` numbers are the multiples.
    shift: f64,
}

impl Grid {
    /// Largest number of bits after the binary point. All of them fit into an `f32` of at most 1, as far as it has
    /// bits.
    const MOST_BITS: u32 = 30;

    fn new(n_rows: usize) -> Self {
        let bits = Self::MOST_BITS.min(52 - n_rows.next_power_of_two().ilog2().min(52));
        Self {
            shift: 1.5 * math::powi(2.0, 52 - bits),
        }
    }

    /// Appends a row scaled to unit length, or zeros for a row of zeros.
    fn scale(&self, values: &[f32], units: &mut Vec<f32>) {
        let square = squared_length(values);
        let share = if square > 0.0 { square.sqrt().recip() } else { 0.0 };
        units.extend(values.iter().map(|&v| {
            let unit = (share * f64::from(v)) as f32;
            (f64::from(unit) + self.shift - self.shift) as f32
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rpo_core::Seed;

    #[test]
    fn rows_lie_in_the_order_of_their_numbers() {
        let rows: [(&[u32], &[f32]); 3] = [(&[4], &[2.0]), (&[], &[]), (&[1, 7], &[3.0, 4.0])];
        let given = MemberRows::collect(3, |push| {
            rows.iter().for_each(|(columns, values)| push(columns, values));
        });
        let renumbered = given.renumbered(&[1, 2, 0]);
        for (row, number) in [(0, 1), (1, 2), (2, 0)] {
            assert_eq!(given.row(row), renumbered.row(number));
        }
        assert_eq!(*renumbered.columns, [1, 7, 4]);
    }

    proptest! {
        /// Every sum of as many components as there are rows is exact, so that a part of it can be subtracted again.
        #[test]
        fn components_are_unit_vectors_on_a_grid(seed in any::<u64>(), n in 1_usize..50, log_rows in 0_u32..40) {
            let seed = Seed::new(seed);
            let value = |i| ((seed.hash(i) % 2001) as f32 - 1000.0) * [1e-6, 1.0, 1e3][seed.child(1).hash(i) as usize % 3];
            let values: Vec<f32> = (0..n as u64).map(value).collect();
            let mut units = Vec::new();
            Grid::new(1 << log_rows).scale(&values, &mut units);
            let bits = 30.min(52 - log_rows as i32);
            let length = values.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
            for (&v, &unit) in values.iter().zip(&units) {
                let multiple = f64::from(unit) * 2.0_f64.powi(bits);
                prop_assert_eq!(multiple.fract(), 0.0);
                let error = (f64::from(v) / length - f64::from(unit)).abs();
                prop_assert!(error <= 2.0_f64.powi(-bits - 1) + 2.0_f64.powi(-25), "{v} {unit}");
            }
        }
    }
}
