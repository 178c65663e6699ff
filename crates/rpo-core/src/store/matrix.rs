//! Matrices stored as arrays: dense ones as a table, CSR ones as the number of entries of each row, their columns, and
//! their values unless all are 1.

use super::{Entries, Reader, StoreError, Writer};
use crate::{CsrMatrix, CsrView, Matrix, csr_row};
use ndarray::Array2;
use std::sync::Arc;

impl Writer {
    /// Stores the rows of CSR matrices, one matrix below the other, as the arrays `name.size`, `name.column` and
    /// `name.value`.
    ///
    /// # Errors
    /// [`StoreError::Entry`] for a value that is not finite, [`StoreError::Array`] if the name is taken.
    pub fn sparse(&mut self, name: &str, matrices: &[CsrView<'_>]) -> Result<(), StoreError> {
        let (mut sizes, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for matrix in matrices {
            for row in 0..matrix.rows() {
                let (c, v) = csr_row(matrix, row);
                sizes.push(c.len() as u32);
                columns.extend_from_slice(c);
                values.extend_from_slice(v);
            }
        }
        if values.iter().any(|&v| v != 1.0) {
            self.short_floats(&format!("{name}.value"), &values)?;
        }
        self.array(&format!("{name}.size"), &sizes)?;
        self.array(&format!("{name}.column"), &columns)?;
        Ok(())
    }

    /// Stores a matrix as `name.dense` if it is dense, otherwise like [`sparse`](Self::sparse).
    ///
    /// # Errors
    /// As for [`sparse`](Self::sparse).
    pub fn matrix(&mut self, name: &str, matrix: &Matrix) -> Result<(), StoreError> {
        match matrix {
            Matrix::Dense(a) => {
                let values: Vec<f32> = a.iter().copied().collect();
                self.table(&format!("{name}.dense"), &values, a.ncols())
            }
            Matrix::Sparse(a) => self.sparse(name, &[a.view()]),
        }
    }
}

impl Reader<'_> {
    /// Takes CSR matrices of `n_cols` columns, one for each number of rows in `n_rows`.
    ///
    /// # Errors
    /// [`StoreError`] if their arrays are invalid, or there are more or fewer rows.
    pub fn sparse(
        &mut self,
        name: &str,
        n_cols: usize,
        n_rows: &[usize],
    ) -> Result<Vec<CsrMatrix>, StoreError> {
        let all = self.csr(name, n_cols)?;
        let size = self.full(&format!("{name}.size"));
        let mut next = 0;
        let parts = n_rows.iter().map(|&n| {
            if n > all.rows() - next {
                return Err(StoreError::array(&size, "has too few entries"));
            }
            let rows = all.slice_outer(next..next + n);
            next += n;
            let (columns, values) = (rows.indices().to_vec(), rows.data().to_vec());
            let starts = rows.proper_indptr().into_owned();
            Ok(CsrMatrix::new((n, n_cols), starts, columns, values))
        });
        let parts = parts.collect::<Result<_, _>>()?;
        match all.rows() - next {
            0 => Ok(parts),
            n => Err(StoreError::array(&size, format!("has {n} entries too many"))),
        }
    }

    fn csr(&mut self, name: &str, n_cols: usize) -> Result<CsrMatrix, StoreError> {
        let sizes = self.array::<u32>(&format!("{name}.size"))?;
        let columns = self.array::<u32>(&format!("{name}.column"))?;
        let columns = columns.of_length(sizes.total())?;
        let value_name = format!("{name}.value");
        let values = if self.has(&value_name) {
            let values = self.array::<f32>(&value_name)?.of_length(columns.len())?;
            values.where_all("a finite number", f32::is_finite)?.to_vec()
        } else {
            vec![1.0; columns.len()]
        };
        let starts = row_starts(&sizes, &columns, n_cols)?;
        let made = CsrMatrix::try_new((sizes.len(), n_cols), starts, columns.to_vec(), values);
        made.map_err(|(.., e)| columns.wrong(format!("is invalid: {e}")))
    }

    fn dense(&mut self, name: &str, n_cols: usize) -> Result<Array2<f32>, StoreError> {
        let values = self.table(name, n_cols)?;
        let shape = (values.len() / n_cols.max(1), n_cols);
        let made = Array2::from_shape_vec(shape, values.to_vec());
        made.map_err(|e| values.wrong(format!("is invalid: {e}")))
    }

    /// Returns true if there is a matrix with this name.
    fn has_matrix(&self, name: &str) -> bool {
        self.has(&format!("{name}.dense")) || self.has(&format!("{name}.size"))
    }

    /// Takes a matrix of `n_cols` columns, dense or sparse.
    ///
    /// # Errors
    /// [`StoreError`] if it is missing or its arrays are invalid.
    pub fn matrix(&mut self, name: &str, n_cols: usize) -> Result<Matrix, StoreError> {
        let dense = format!("{name}.dense");
        if self.has(&dense) {
            return Ok(Matrix::Dense(self.dense(&dense, n_cols)?));
        }
        Ok(Matrix::Sparse(self.csr(name, n_cols)?))
    }

    /// Returns the matrix of `n_cols` columns that parts share under this name; `None` if there is none.
    ///
    /// # Errors
    /// [`StoreError`] if its arrays are invalid.
    pub fn shared(&mut self, name: &'static str, n_cols: usize) -> Result<Option<Arc<Matrix>>, StoreError> {
        if let Some(matrix) = self.shared.get(name) {
            return Ok(Some(Arc::clone(matrix)));
        }
        let part = self.prefix.split_off(self.shares);
        let matrix = self.has_matrix(name).then(|| self.matrix(name, n_cols));
        self.prefix += &part;
        let matrix = matrix.transpose()?.map(Arc::new);
        if let Some(matrix) = &matrix {
            self.shared.insert(name, Arc::clone(matrix));
        }
        Ok(matrix)
    }
}

/// Returns the start of each row, after checking that the columns of each row increase and are within the matrix.
fn row_starts(
    sizes: &Entries<'_, u32>,
    columns: &Entries<'_, u32>,
    n_cols: usize,
) -> Result<Vec<usize>, StoreError> {
    let mut starts = Vec::with_capacity(sizes.len() + 1);
    let mut start = 0;
    starts.push(start);
    for size in sizes.clone() {
        let mut before = None;
        for i in start..start + size as usize {
            let column = columns.get(i);
            if before >= Some(column) || column as usize >= n_cols {
                let expected = "columns that increase within a row, below the number of columns";
                return Err(columns.entry(i, column, expected));
            }
            before = Some(column);
        }
        start += size as usize;
        starts.push(start);
    }
    Ok(starts)
}
