//! The features of a regression, with or without a column of ones.

use super::{Moments, Rows};

/// X, optionally with a last column of ones, which is not stored, and with each row multiplied by a factor.
#[derive(Debug)]
pub struct Design<'a, R> {
    /// X.
    pub rows: &'a R,
    /// True if a column of ones follows X.
    pub intercept: bool,
    /// Factors of the rows, which include the intercept's column; for weighted least squares, the square roots of the
    /// weights.
    pub factors: Option<&'a [f64]>,
}

impl<R: Rows> Design<'_, R> {
    /// Returns the moments of X, with the squared factors as the weights of rows.
    pub(super) fn moments(&self) -> Moments {
        Moments::of(self.rows, |row| {
            self.factors.map_or(1.0, |factors| factors[row].powi(2))
        })
    }
}

impl<R: Rows> Rows for Design<'_, R> {
    fn row_count(&self) -> usize {
        self.rows.row_count()
    }

    fn column_count(&self) -> usize {
        self.rows.column_count() + usize::from(self.intercept)
    }

    #[inline(always)]
    fn for_each_stored(&self, row: usize, mut f: impl FnMut(usize, f64)) {
        let Some(factors) = self.factors else {
            self.rows.for_each_stored(row, &mut f);
            if self.intercept {
                f(self.rows.column_count(), 1.0);
            }
            return;
        };
        let factor = factors[row];
        self.rows.for_each_stored(
            row,
            #[inline(always)]
            |j, v| f(j, factor * v),
        );
        if self.intercept {
            f(self.rows.column_count(), factor);
        }
    }
}
