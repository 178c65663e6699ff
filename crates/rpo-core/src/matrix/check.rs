//! Checks of the layout and the values of matrices.

use super::{MatrixError, MatrixView};

/// A sparse matrix that is stored by columns, although its rows are needed. Every crate's error has a variant for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the sparse {what} must be stored by rows (CSR), not by columns")]
pub struct NotCsr {
    /// What the matrix holds: "features".
    pub what: &'static str,
}

impl MatrixView<'_> {
    /// Refuses a sparse matrix that is stored by columns, naming it as `what`.
    ///
    /// # Errors
    /// [`NotCsr`].
    pub fn check_csr(self, what: &'static str) -> Result<(), NotCsr> {
        match self {
            Self::Sparse(a) if !a.is_csr() => Err(NotCsr { what }),
            _ => Ok(()),
        }
    }

    /// Returns row, column and value of the first stored value, in row order, for which `is` returns true of column and
    /// value.
    pub fn find(self, is: impl Fn(usize, f32) -> bool) -> Option<(usize, usize, f32)> {
        if let Some(rows) = self.stored_by_rows() {
            return rows.view().find(is);
        }
        (0..self.n_rows()).find_map(|row| {
            let mut found = None;
            self.for_each_in_row(row, |column, value| {
                if found.is_none() && is(column as usize, value) {
                    found = Some((row, column as usize, value));
                }
            });
            found
        })
    }

    /// Returns row, column and value of the first value, in row order, that is neither 0 nor 1, nor NaN where `missing` is
    /// true.
    pub fn first_not_label(self, missing: bool) -> Option<(usize, usize, f32)> {
        self.find(|_, v| v != 0.0 && v != 1.0 && !(missing && v.is_nan()))
    }

    /// Refuses a stored value that is not allowed; `allowed` is usually [`f32::is_finite`] or
    /// [`finite_or_missing`](super::finite_or_missing).
    ///
    /// # Errors
    /// [`MatrixError::NonFinite`] for the first offender in row order.
    pub fn check_values(self, allowed: impl Fn(f32) -> bool) -> Result<(), MatrixError> {
        // Nearly always all values are allowed: a pass without a branch per value and without places.
        let all = |all: bool, v: &f32| all & allowed(*v);
        let all_allowed = match &self {
            Self::Dense(a) => a.iter().fold(true, all),
            Self::Sparse(a) => a.data().iter().fold(true, all),
        };
        let refused = || self.find(|_, v| !allowed(v));
        match (!all_allowed).then(refused).flatten() {
            Some((row, column, value)) => Err(MatrixError::NonFinite { row, column, value }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finite_or_missing;
    use ndarray::array;

    #[test]
    fn the_first_value_in_row_order_is_found_in_every_layout() {
        let a = array![[0.0, 1.0, 1.0], [1.0, f32::NAN, 0.5], [f32::INFINITY, 2.0, 0.0]];
        let csr = MatrixView::from(&a).to_csr();
        let csc = csr.to_csc();
        for view in [MatrixView::from(&a), (&csr).into(), (&csc).into()] {
            assert_eq!(view.first_not_label(true), Some((1, 2, 0.5)));
            assert!(matches!(view.first_not_label(false), Some((1, 1, v)) if v.is_nan()));
            assert_eq!(view.find(|column, v| column == 1 && v > 1.0), Some((2, 1, 2.0)));
            assert_eq!(view.find(|_, v| v < 0.0), None);
            let not_finite = view.check_values(f32::is_finite).unwrap_err();
            assert!(matches!(
                not_finite,
                MatrixError::NonFinite {
                    row: 1,
                    column: 1,
                    ..
                }
            ));
            let (row, column, value) = (2, 0, f32::INFINITY);
            let infinite = Err(MatrixError::NonFinite { row, column, value });
            assert_eq!(view.check_values(finite_or_missing), infinite);
        }
        assert_eq!(MatrixView::from(&csr).check_csr("labels"), Ok(()));
        assert_eq!(MatrixView::from(&a).check_csr("labels"), Ok(()));
        assert_eq!(
            MatrixView::from(&csc).check_csr("labels"),
            Err(NotCsr { what: "labels" })
        );
    }
}
