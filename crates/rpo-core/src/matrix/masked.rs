//! Entries that weights make missing.

use super::{CsrMatrix, Matrix, MatrixView};
use ndarray::{Array2, ArrayView2};

impl MatrixView<'_> {
    /// Returns a copy in which entries of weight 0 are missing (NaN, in CSR a stored NaN); `None` if they all are
    /// already.
    ///
    /// # Panics
    /// If the weights have another shape.
    pub fn missing_where_zero(self, weights: ArrayView2<'_, f32>) -> Option<Matrix> {
        assert_eq!(
            weights.dim(),
            (self.n_rows(), self.n_cols()),
            "one weight per entry"
        );
        let n_zeros = weights.iter().filter(|weight| **weight == 0.0).count();
        let mut n_missing = 0;
        for row in 0..self.n_rows() {
            self.for_each_in_row(row, |j, v| {
                n_missing += usize::from(v.is_nan() && weights[[row, j as usize]] == 0.0);
            });
        }
        if n_missing == n_zeros {
            return None;
        }
        let masked = |row: usize, values: &mut [f32]| {
            self.copy_row(row, values);
            for (value, weight) in values.iter_mut().zip(weights.row(row)) {
                if *weight == 0.0 {
                    *value = f32::NAN;
                }
            }
        };
        Some(match self {
            Self::Dense(_) => {
                let mut dense = Array2::zeros(weights.dim());
                for (row, mut values) in dense.rows_mut().into_iter().enumerate() {
                    masked(row, values.as_slice_mut().expect("made in row order"));
                }
                Matrix::Dense(dense)
            }
            Self::Sparse(_) => {
                let (mut indptr, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
                let mut of_row = vec![0.0; self.n_cols()];
                for row in 0..self.n_rows() {
                    masked(row, &mut of_row);
                    for (j, &v) in (0..).zip(&of_row).filter(|(_, v)| **v != 0.0) {
                        columns.push(j);
                        values.push(v);
                    }
                    indptr.push(columns.len());
                }
                Matrix::Sparse(CsrMatrix::new(weights.dim(), indptr, columns, values))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn entries_of_weight_zero_are_missing_in_both_layouts() {
        let a = array![[1.0, 0.0, 2.0], [0.0, f32::NAN, 3.0]];
        let weights = array![[1.0, 0.0, 0.5], [0.0, 1.0, 2.0]];
        let csr = MatrixView::from(&a).to_csr();
        for view in [MatrixView::from(&a), MatrixView::Sparse(csr.view())] {
            let masked = view.missing_where_zero(weights.view()).unwrap();
            assert_eq!(
                matches!(masked, Matrix::Sparse(_)),
                matches!(view, MatrixView::Sparse(_))
            );
            let dense = masked
                .view()
                .to_dense(usize::MAX)
                .unwrap()
                .map(|v| if v.is_nan() { -1.0 } else { *v });
            assert_eq!(dense, array![[1.0, -1.0, 2.0], [-1.0, -1.0, 3.0]]);
            assert_eq!(masked.view().missing_where_zero(weights.view()), None);
        }
    }
}
