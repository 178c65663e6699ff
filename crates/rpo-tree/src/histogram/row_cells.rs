//! The stored bins of each row.

use super::cell::Cell;
use super::features::Rows;
use rpo_core::vectorized;

/// The positions, in a histogram, of the stored bins of each row.
#[derive(Debug, Clone)]
pub(super) struct RowCells {
    /// Start of each row, followed by the end.
    start: Vec<usize>,
    positions: Positions,
}

/// Positions of 16 bits where that is enough, as nodes read rows far apart, and more of them then fit into a cache.
#[derive(Debug, Clone)]
enum Positions {
    Short(Vec<u16>),
    Long(Vec<u32>),
}

impl RowCells {
    /// Stores positions below `n_cells` row by row, given the start of each row, followed by the end.
    pub(super) fn new(start: Vec<usize>, positions: Vec<u32>, n_cells: usize) -> Self {
        let positions = if n_cells <= 1 << 16 {
            Positions::Short(positions.into_iter().map(|position| position as u16).collect())
        } else {
            Positions::Long(positions)
        };
        Self { start, positions }
    }

    /// Average number of stored bins of a row.
    pub(super) fn per_row(&self) -> usize {
        let n_rows = self.start.len() - 1;
        self.start[n_rows] / n_rows.max(1)
    }

    /// Number of stored bins of some rows.
    pub(super) fn n_entries(&self, rows: &[u32]) -> usize {
        let of_row = |&row: &u32| self.start[row as usize + 1] - self.start[row as usize];
        rows.iter().map(of_row).sum()
    }

    /// Calls `f` with each position of a row.
    #[inline]
    pub(super) fn for_each(&self, row: u32, mut f: impl FnMut(usize)) {
        let of_row = self.start[row as usize]..self.start[row as usize + 1];
        match &self.positions {
            Positions::Short(positions) => positions[of_row].iter().for_each(|&p| f(usize::from(p))),
            Positions::Long(positions) => positions[of_row].iter().for_each(|&p| f(p as usize)),
        }
    }

    /// Adds the cells of rows (one per row, in their order) to the sums of their bins.
    pub(super) fn add<C: Cell>(&self, rows: Rows<'_>, cells: &[C], sums: &mut [C]) {
        match &self.positions {
            Positions::Short(positions) => self.add_at(positions, rows, cells, sums),
            Positions::Long(positions) => self.add_at(positions, rows, cells, sums),
        }
    }

    fn add_at<C: Cell>(
        &self,
        positions: &[impl Copy + Into<u32>],
        rows: Rows<'_>,
        cells: &[C],
        sums: &mut [C],
    ) {
        vectorized(
            #[inline(always)]
            move || {
                rows.for_each(
                    cells,
                    #[inline(always)]
                    |row, &cell| {
                        for &position in &positions[self.start[row]..self.start[row + 1]] {
                            sums[position.into() as usize].add(&cell);
                        }
                    },
                );
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn short_and_long_positions_give_the_sums_of_a_loop(
            rows in prop::collection::vec(prop::collection::vec(0_u32..9, 0..6), 1..30),
            chosen in prop::collection::vec(any::<bool>(), 30),
        ) {
            let starts = rows.iter().scan(0, |end, row| { *end += row.len(); Some(*end) });
            let start: Vec<usize> = std::iter::once(0).chain(starts).collect();
            let listed: Vec<u32> = (0..rows.len() as u32).filter(|&row| chosen[row as usize]).collect();
            let cells: Vec<i64> = listed.iter().map(|&row| 1 + i64::from(row)).collect();
            let mut expected = [0_i64; 9];
            for (&row, cell) in listed.iter().zip(&cells) {
                rows[row as usize].iter().for_each(|&position| expected[position as usize] += cell);
            }
            for n_cells in [9, 1 << 17] {
                let by_row = RowCells::new(start.clone(), rows.concat(), n_cells);
                let mut sums = [0_i64; 9];
                by_row.add(Rows::Listed(&listed), &cells, &mut sums);
                prop_assert_eq!(sums, expected);
            }
        }
    }
}
