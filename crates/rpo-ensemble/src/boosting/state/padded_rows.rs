//! Rows of numbers that consist of whole vectors.

/// Number of `f32` that fit into the vectors of [`vectorized`](rpo_core::vectorized).
pub(super) const LANES: usize = 8;

/// Rows of `f32`, each padded to whole vectors and aligned to them.
///
/// No number is left over after the last vector of a row, and no vector lies in two cache lines, which would take twice
/// as long to read and longer to write.
#[derive(Debug, Default)]
pub(super) struct PaddedRows {
    /// The rows, from `start` on.
    numbers: Vec<f32>,
    start: usize,
    width: usize,
}

impl PaddedRows {
    /// Returns the number of numbers of a row with its padding.
    pub(super) fn width_of(n_columns: usize) -> usize {
        n_columns.next_multiple_of(LANES)
    }

    /// Creates rows that are all equal, with the given number as padding.
    pub(super) fn repeat(row: &[f32], n_rows: usize, padding: f32) -> Self {
        Self::of(std::iter::repeat_n(row, n_rows), row.len(), padding)
    }

    /// Creates rows of the given number of columns, with the given number as padding.
    pub(super) fn of<'r>(
        rows: impl ExactSizeIterator<Item = &'r [f32]>,
        n_columns: usize,
        padding: f32,
    ) -> Self {
        let width = Self::width_of(n_columns);
        let mut numbers: Vec<f32> = Vec::with_capacity(width * rows.len() + LANES);
        // Where the offset is not known, it is the largest number; the rows are correct there, but not aligned.
        let start = numbers
            .as_ptr()
            .align_offset(size_of::<[f32; LANES]>())
            .min(LANES);
        numbers.resize(start, padding);
        for row in rows {
            numbers.extend_from_slice(row);
            numbers.resize(numbers.len() + width - n_columns, padding);
        }
        Self {
            numbers,
            start,
            width,
        }
    }

    /// Creates rows of one number.
    pub(super) fn filled(number: f32, n_columns: usize, n_rows: usize) -> Self {
        Self::repeat(&vec![number; n_columns], n_rows, number)
    }

    pub(super) fn n_rows(&self) -> usize {
        (self.numbers.len() - self.start)
            .checked_div(self.width)
            .unwrap_or(0)
    }

    /// Number of numbers of a row with its padding.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Returns a row with its padding.
    #[inline(always)]
    pub(super) fn row(&self, row: usize) -> &[f32] {
        &self.numbers[self.start + row * self.width..][..self.width]
    }

    /// Returns all rows, one after the other, with their padding.
    #[inline(always)]
    pub(super) fn all_mut(&mut self) -> &mut [f32] {
        &mut self.numbers[self.start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_padded_and_aligned() {
        for n_columns in [1, 7, 8, 9, 983] {
            let row: Vec<f32> = (0..n_columns).map(|j| j as f32).collect();
            let mut rows = PaddedRows::repeat(&row, 3, -1.0);
            assert_eq!((rows.n_rows(), rows.width() % LANES), (3, 0));
            for i in 0..3 {
                let (given, padding) = rows.row(i).split_at(n_columns);
                assert!(given == row && padding.len() < LANES && padding.iter().all(|&v| v == -1.0));
                assert_eq!(rows.row(i).as_ptr().align_offset(32), 0);
            }
            assert_eq!(rows.all_mut().len(), 3 * rows.width());
        }
        assert_eq!(PaddedRows::default().n_rows(), 0);
    }
}
