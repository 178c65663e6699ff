//! Dense or CSR matrices of `f32`, owned and borrowed.

mod check;
mod masked;
mod product;

pub use check::NotCsr;
pub use product::{Fused, product, product_into};

use crate::MemoryLimit;
use ndarray::{Array2, ArrayView2, Axis};
use sprs::{CsMatI, CsMatViewI};

/// A compressed sparse row matrix: column indices `u32`, row pointers `usize`.
pub type CsrMatrix<T = f32> = CsMatI<T, u32, usize>;
/// A borrowed [`CsrMatrix`].
pub type CsrView<'a, T = f32> = CsMatViewI<'a, T, u32, usize>;

/// An error in a matrix.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MatrixError {
    /// A value that is NaN or infinite although only finite values are allowed.
    #[error("value {value} at row {row}, column {column} is not finite")]
    NonFinite {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The value.
        value: f32,
    },
    /// A dense matrix that would need more memory than the caller allows.
    #[error(transparent)]
    Memory(#[from] MemoryLimit),
}

impl MatrixError {
    /// The row that the error names, if any. A caller that passed a part of a matrix converts it to that of the whole.
    pub fn row_mut(&mut self) -> Option<&mut usize> {
        match self {
            Self::NonFinite { row, .. } => Some(row),
            Self::Memory(_) => None,
        }
    }
}

/// Refuses a dense matrix that would take more than `limit` bytes at `bytes_per_entry` bytes per entry.
///
/// # Errors
/// [`MatrixError::Memory`].
pub fn check_dense(
    rows: usize,
    columns: usize,
    bytes_per_entry: usize,
    limit: usize,
) -> Result<(), MatrixError> {
    let bytes = rows.saturating_mul(columns).saturating_mul(bytes_per_entry);
    let what = || format!("a dense {rows} x {columns} matrix");
    Ok(MemoryLimit::check(bytes, limit, what)?)
}

/// A matrix of `f32`, dense and row-major or compressed sparse row.
#[derive(Debug, Clone, PartialEq)]
pub enum Matrix {
    /// Row-major dense storage.
    Dense(Array2<f32>),
    /// Compressed sparse rows; entries that are not stored are 0.
    Sparse(CsrMatrix),
}

/// A borrowed [`Matrix`], the argument type of every numeric function of the workspace. Cheap to copy.
#[derive(Debug, Clone, Copy)]
pub enum MatrixView<'a> {
    /// Dense; rows need not be contiguous.
    Dense(ArrayView2<'a, f32>),
    /// Compressed sparse rows.
    Sparse(CsrView<'a>),
}

impl Matrix {
    /// Borrows the matrix.
    pub fn view(&self) -> MatrixView<'_> {
        match self {
            Self::Dense(a) => MatrixView::Dense(a.view()),
            Self::Sparse(a) => MatrixView::Sparse(a.view()),
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.view().n_rows()
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.view().n_cols()
    }
}

impl From<Array2<f32>> for Matrix {
    fn from(a: Array2<f32>) -> Self {
        Self::Dense(a)
    }
}

impl From<CsrMatrix> for Matrix {
    /// Converts to CSR if the matrix is stored by columns.
    fn from(a: CsrMatrix) -> Self {
        Self::Sparse(if a.is_csr() { a } else { a.to_csr() })
    }
}

impl<'a> From<ArrayView2<'a, f32>> for MatrixView<'a> {
    fn from(a: ArrayView2<'a, f32>) -> Self {
        Self::Dense(a)
    }
}

impl<'a> From<&'a Array2<f32>> for MatrixView<'a> {
    fn from(a: &'a Array2<f32>) -> Self {
        Self::Dense(a.view())
    }
}

impl<'a> From<CsrView<'a>> for MatrixView<'a> {
    /// A matrix that is stored by columns stays so. The methods of the view read it correctly, but search every column
    /// for a row; other numeric functions refuse it, and [`Matrix::from`] converts it.
    fn from(a: CsrView<'a>) -> Self {
        Self::Sparse(a)
    }
}

impl<'a> From<&'a CsrMatrix> for MatrixView<'a> {
    /// As for a [`CsrView`].
    fn from(a: &'a CsrMatrix) -> Self {
        Self::Sparse(a.view())
    }
}

impl<'a> From<&'a Matrix> for MatrixView<'a> {
    fn from(a: &'a Matrix) -> Self {
        a.view()
    }
}

impl<'a> MatrixView<'a> {
    /// Returns the same view with a shorter lifetime, since the compiler does not shorten it by itself.
    pub fn reborrow(&self) -> MatrixView<'_> {
        match self {
            Self::Dense(a) => MatrixView::Dense(a.view()),
            Self::Sparse(a) => MatrixView::Sparse(a.view()),
        }
    }

    /// Number of rows.
    pub fn n_rows(self) -> usize {
        match self {
            Self::Dense(a) => a.nrows(),
            Self::Sparse(a) => a.rows(),
        }
    }

    /// Number of columns.
    pub fn n_cols(self) -> usize {
        match self {
            Self::Dense(a) => a.ncols(),
            Self::Sparse(a) => a.cols(),
        }
    }

    /// Number of stored values; for a dense matrix, all of them.
    pub fn n_stored(self) -> usize {
        match self {
            Self::Dense(a) => a.len(),
            Self::Sparse(a) => a.nnz(),
        }
    }

    /// Calls `f(column, value)` for the stored values of a row, in increasing column order.
    #[inline(always)]
    pub fn for_each_in_row(self, row: usize, mut f: impl FnMut(u32, f32)) {
        match self {
            Self::Dense(a) => a.row(row).iter().enumerate().for_each(|(j, &v)| f(j as u32, v)),
            Self::Sparse(a) if !a.is_csr() => {
                for (j, column) in a.outer_iterator().enumerate() {
                    column.get(row).into_iter().for_each(|&v| f(j as u32, v));
                }
            }
            Self::Sparse(a) => {
                let (columns, values) = csr_row(&a, row);
                columns.iter().zip(values).for_each(|(&j, &v)| f(j, v));
            }
        }
    }

    /// Returns the factor that scales the non-NaN values of a row to Euclidean length 1; 1 if all of them are 0, or so small
    /// that the factor would be beyond the range of `f32`.
    pub fn unit_factor(self, row: usize) -> f32 {
        let mut squares = 0.0;
        self.for_each_in_row(row, |_, v| {
            if !v.is_nan() {
                squares += f64::from(v) * f64::from(v);
            }
        });
        let factor = (1.0 / squares.sqrt()) as f32;
        if factor.is_finite() { factor } else { 1.0 }
    }

    /// Copies a row into `out`, with zeros where nothing is stored.
    ///
    /// # Panics
    /// If `out` is not as long as the matrix has columns.
    pub fn copy_row(self, row: usize, out: &mut [f32]) {
        assert_eq!(out.len(), self.n_cols(), "one value per column");
        match self {
            Self::Dense(a) => out.iter_mut().zip(a.row(row)).for_each(|(o, &v)| *o = v),
            Self::Sparse(a) => {
                out.fill(0.0);
                Self::Sparse(a).for_each_in_row(row, |j, v| out[j as usize] = v);
            }
        }
    }

    /// Returns an owned copy of the given rows, in the given order; rows may repeat.
    ///
    /// # Panics
    /// If a row index is out of range.
    pub fn select_rows(self, rows: &[usize]) -> Matrix {
        match self {
            Self::Dense(a) => Matrix::Dense(a.select(Axis(0), rows)),
            Self::Sparse(a) if !a.is_csr() => Matrix::from(a.to_csr()).view().select_rows(rows),
            Self::Sparse(a) => {
                let mut indptr = Vec::with_capacity(rows.len() + 1);
                let (mut columns, mut values) = (Vec::new(), Vec::new());
                indptr.push(0);
                for &row in rows {
                    let (c, v) = csr_row(&a, row);
                    columns.extend_from_slice(c);
                    values.extend_from_slice(v);
                    indptr.push(columns.len());
                }
                Matrix::Sparse(CsrMatrix::new((rows.len(), a.cols()), indptr, columns, values))
            }
        }
    }

    /// Returns an owned copy.
    pub fn to_owned(self) -> Matrix {
        match self {
            Self::Dense(a) => Matrix::Dense(a.to_owned()),
            Self::Sparse(a) if a.indptr().is_proper() => Matrix::Sparse(a.to_owned()),
            // The row pointers of a slice begin where it does.
            Self::Sparse(a) => {
                let (starts, indices) = (a.proper_indptr().into_owned(), a.indices().to_vec());
                let create = if a.is_csr() {
                    CsrMatrix::new
                } else {
                    CsrMatrix::new_csc
                };
                Matrix::Sparse(create(a.shape(), starts, indices, a.data().to_vec()))
            }
        }
    }

    /// Returns a dense copy, or an error if it would take more than `limit` bytes.
    ///
    /// # Errors
    /// [`MatrixError::Memory`], before anything is allocated.
    pub fn to_dense(self, limit: usize) -> Result<Array2<f32>, MatrixError> {
        let (rows, columns) = (self.n_rows(), self.n_cols());
        check_dense(rows, columns, size_of::<f32>(), limit)?;
        Ok(match self {
            Self::Dense(a) => a.to_owned(),
            Self::Sparse(_) => {
                let mut out = Array2::zeros((rows, columns));
                for i in 0..rows {
                    self.for_each_in_row(i, |j, v| out[[i, j as usize]] = v);
                }
                out
            }
        })
    }

    /// Returns a CSR copy of the values that differ from zero, including NaN.
    pub fn to_csr(self) -> CsrMatrix {
        if let Some(rows) = self.stored_by_rows() {
            return rows.view().to_csr();
        }
        let (mut indptr, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..self.n_rows() {
            self.for_each_in_row(row, |j, v| {
                if v != 0.0 {
                    columns.push(j);
                    values.push(v);
                }
            });
            indptr.push(columns.len());
        }
        CsrMatrix::new((self.n_rows(), self.n_cols()), indptr, columns, values)
    }

    /// Returns a row-wise copy of a matrix that is stored by columns; `None` for any other matrix.
    fn stored_by_rows(self) -> Option<Matrix> {
        match self {
            Self::Sparse(a) if !a.is_csr() => Some(Matrix::from(a.to_csr())),
            _ => None,
        }
    }

    /// Returns true if a stored value is NaN, which stands for a missing value where the caller allows them.
    pub fn has_missing(self) -> bool {
        match self {
            Self::Dense(a) => a.iter().any(|v| v.is_nan()),
            Self::Sparse(a) => a.data().iter().any(|v| v.is_nan()),
        }
    }

    /// Returns the first of the [`unobserved`](Self::unobserved) columns.
    ///
    /// # Panics
    /// If there are not as many weights as rows.
    pub fn first_unobserved(&self, weights: Option<&[f32]>) -> Option<usize> {
        self.unobserved(weights).first().copied()
    }

    /// Returns the columns that are missing (NaN) in every row of positive weight, if there are such rows; without
    /// weights all rows count.
    ///
    /// # Panics
    /// If there are not as many weights as rows.
    pub fn unobserved(&self, weights: Option<&[f32]>) -> Vec<usize> {
        let n_rows = match weights {
            Some(weights) => weights.iter().filter(|weight| **weight > 0.0).count(),
            None => self.n_rows(),
        };
        let missing = self.missing_counts(weights);
        let is_unobserved = |column: &usize| missing[*column] > 0 && missing[*column] == n_rows;
        (0..self.n_cols()).filter(is_unobserved).collect()
    }

    /// Returns the number of missing values (NaN) of each column in the rows of positive weight; without weights all rows
    /// count.
    ///
    /// # Panics
    /// If there are not as many weights as rows.
    pub fn missing_counts(&self, weights: Option<&[f32]>) -> Vec<usize> {
        let n_weights = weights.map_or(self.n_rows(), <[f32]>::len);
        assert_eq!(n_weights, self.n_rows(), "a weight for each row");
        let mut missing = vec![0_usize; self.n_cols()];
        if !self.reborrow().has_missing() {
            return missing;
        }
        let counts = |row: &usize| weights.is_none_or(|weights| weights[*row] > 0.0);
        for row in (0..self.n_rows()).filter(counts) {
            self.for_each_in_row(row, |column, v| {
                missing[column as usize] += usize::from(v.is_nan());
            });
        }
        missing
    }

    /// For each column, true if its observed values are 0 and 1 and both occur.
    pub fn binary_columns(self) -> Vec<bool> {
        let (mut n_ones, mut n_missing) = (vec![0; self.n_cols()], vec![0; self.n_cols()]);
        let mut has_others = vec![false; self.n_cols()];
        for row in 0..self.n_rows() {
            self.for_each_in_row(row, |column, value| {
                let j = column as usize;
                match value {
                    1.0 => n_ones[j] += 1,
                    0.0 => {}
                    _ if value.is_nan() => n_missing[j] += 1,
                    _ => has_others[j] = true,
                }
            });
        }
        let has_both = |j: usize| n_ones[j] > 0 && n_ones[j] + n_missing[j] < self.n_rows();
        (0..self.n_cols())
            .map(|j| !has_others[j] && has_both(j))
            .collect()
    }
}

/// Returns true for a finite value and for NaN, which stands for a missing value, such as an unobserved output. In a
/// sparse matrix a missing entry is a stored NaN; an entry that is not stored is an observed 0.
pub fn finite_or_missing(v: f32) -> bool {
    !v.is_infinite()
}

/// Returns the column indices and values stored in a row.
///
/// # Panics
/// If the row is out of range, or the matrix is stored by columns.
#[inline]
pub fn csr_row<'a>(a: &CsrView<'a>, row: usize) -> (&'a [u32], &'a [f32]) {
    assert!(a.is_csr(), "the matrix is stored by rows");
    let (indptr, columns, values) = a.into_raw_storage();
    // A view of some rows of a matrix keeps the row pointers of the whole matrix.
    let range = indptr[row] - indptr[0]..indptr[row + 1] - indptr[0];
    (&columns[range.clone()], &values[range])
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use proptest::prelude::*;

    #[test]
    fn missing_is_not_infinite() {
        let a = array![[0.0, 1.0], [2.0, f32::NAN], [f32::NEG_INFINITY, 0.0]];
        let csr = MatrixView::from(&a).to_csr();
        for view in [MatrixView::from(&a), MatrixView::Sparse(csr.view())] {
            assert!(view.has_missing());
            let found = view.check_values(finite_or_missing).unwrap_err();
            let value = f32::NEG_INFINITY;
            let (row, column) = (2, 0);
            assert_eq!(found, MatrixError::NonFinite { row, column, value });
            let known = view.select_rows(&[0, 2]);
            assert!(!known.view().has_missing());
            assert!(
                view.select_rows(&[0, 1])
                    .view()
                    .check_values(finite_or_missing)
                    .is_ok()
            );
        }
        let rows = MatrixView::Sparse(csr.slice_outer(2..3));
        assert!(!rows.has_missing());
    }

    #[test]
    fn a_column_is_unobserved_where_no_row_of_weight_has_it() {
        const M: f32 = f32::NAN;
        let a = array![[0.0, 1.0, M], [2.0, M, M], [M, M, M]];
        let csr = MatrixView::from(&a).to_csr();
        for view in [MatrixView::from(&a), MatrixView::Sparse(csr.view())] {
            assert_eq!(view.first_unobserved(None), Some(2));
            assert_eq!(view.first_unobserved(Some(&[0.0, 1.0, 1.0])), Some(1));
            assert_eq!(view.first_unobserved(Some(&[0.0; 3])), None);
            assert_eq!(view.unobserved(Some(&[0.0, 1.0, 1.0])), [1, 2]);
            assert_eq!(view.select_rows(&[]).view().first_unobserved(None), None);
        }
        assert_eq!(
            MatrixView::from(&a.slice(ndarray::s![.., ..2]).to_owned()).first_unobserved(None),
            None
        );
    }

    #[test]
    fn rows_are_scaled_by_finite_factors() {
        let a = array![
            [3.0, 4.0],
            [0.0, 0.0],
            [f32::NAN, 2.0],
            [1e-30, 0.0],
            [1e-39, 1e-40]
        ];
        let factors: Vec<f32> = (0..5).map(|row| MatrixView::from(&a).unit_factor(row)).collect();
        assert_eq!(factors, [0.2, 1.0, 0.5, 1e30, 1.0]);
    }

    #[test]
    fn more_than_the_limit_is_refused() {
        let a = Matrix::from(CsrMatrix::zero((1 << 20, 1 << 20)));
        let bytes = 1_usize << 42;
        let expected = MemoryLimit {
            what: "a dense 1048576 x 1048576 matrix".into(),
            bytes,
            limit: 1 << 30,
        };
        assert_eq!(a.view().to_dense(1 << 30), Err(expected.into()));
    }

    proptest! {
        #[test]
        fn sparse_and_dense_agree(values in proptest::collection::vec(-2_i8..3, 12), rows in proptest::collection::vec(0_usize..4, 0..6)) {
            let dense = Array2::from_shape_vec((4, 3), values.into_iter().map(f32::from).collect()).unwrap();
            let sparse = Matrix::from(MatrixView::from(&dense).to_csr());
            prop_assert_eq!(&sparse.view().to_dense(usize::MAX).unwrap(), &dense);
            let picked = sparse.view().select_rows(&rows).view().to_dense(usize::MAX).unwrap();
            prop_assert_eq!(picked, dense.select(Axis(0), &rows));
            let middle = match &sparse {
                Matrix::Sparse(a) => MatrixView::Sparse(a.slice_outer(1..3)).to_dense(usize::MAX).unwrap(),
                Matrix::Dense(_) => unreachable!("made from CSR"),
            };
            prop_assert_eq!(middle, dense.slice(ndarray::s![1..3, ..]));
            if let Matrix::Sparse(a) = &sparse {
                let slice = MatrixView::Sparse(a.slice_outer(1..3));
                prop_assert_eq!(slice.to_owned(), sparse.view().select_rows(&[1, 2]));
                let by_columns = a.to_csc();
                let slice = MatrixView::Sparse(by_columns.slice_outer(1..3));
                prop_assert_eq!(slice.to_owned().view().to_csr(), slice.to_csr());
            }
            let mut out = [7.0; 3];
            sparse.view().copy_row(2, &mut out);
            prop_assert_eq!(out.to_vec(), dense.row(2).to_vec());
            // Matrices stored by columns, including square ones, where reading the transpose would go unnoticed.
            for n in [3, 4] {
                let dense = dense.slice(ndarray::s![..n, ..]);
                let by_columns = MatrixView::from(dense).to_csr().to_csc();
                let view = MatrixView::from(&by_columns);
                prop_assert_eq!(view.to_dense(usize::MAX).unwrap(), dense);
                prop_assert_eq!(view.to_csr(), MatrixView::from(dense).to_csr());
                let rows: Vec<usize> = rows.iter().map(|row| row % n).collect();
                prop_assert_eq!(view.select_rows(&rows), sparse.view().select_rows(&rows));
                view.copy_row(2, &mut out);
                prop_assert_eq!(out.to_vec(), dense.row(2).to_vec());
                prop_assert!(view.check_values(f32::is_finite).is_ok());
            }
        }
    }
}
