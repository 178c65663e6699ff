//! Matrices that are read row by row.

use ndarray::ArrayView2;
use rpo_core::MatrixView;

/// A matrix that can be read row by row.
pub trait Rows {
    /// Number of rows.
    fn row_count(&self) -> usize;

    /// Number of columns.
    fn column_count(&self) -> usize;

    /// Calls `f(column, value)` for the stored values of a row, in increasing column order.
    fn for_each_stored(&self, row: usize, f: impl FnMut(usize, f64));
}

impl Rows for MatrixView<'_> {
    fn row_count(&self) -> usize {
        MatrixView::n_rows(*self)
    }

    fn column_count(&self) -> usize {
        MatrixView::n_cols(*self)
    }

    #[inline(always)]
    fn for_each_stored(&self, row: usize, mut f: impl FnMut(usize, f64)) {
        self.for_each_in_row(
            row,
            #[inline(always)]
            |j, v| f(j as usize, v.into()),
        );
    }
}

impl Rows for ArrayView2<'_, f64> {
    fn row_count(&self) -> usize {
        self.nrows()
    }

    fn column_count(&self) -> usize {
        self.ncols()
    }

    fn for_each_stored(&self, row: usize, mut f: impl FnMut(usize, f64)) {
        self.row(row).iter().enumerate().for_each(|(j, &v)| f(j, v));
    }
}
