//! Matrices as arrays: dense ones as a table, CSR ones as the number of entries of each row, their columns, and their
//! values unless all are 1.

use super::{Entries, Reader, StoreError, Writer, check_finite};
use crate::{CsrMatrix, CsrView, Matrix, csr_row};
use ndarray::{Array2, ArrayView2};
use std::sync::Arc;

impl Writer {
    /// Stores the rows of CSR matrices, one below the other, as the arrays `name.size`, `name.column` and `name.value`.
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
        let value_name = format!("{name}.value");
        check_finite(&value_name, &values)?;
        self.integers(&format!("{name}.size"), &sizes)?;
        self.integers(&format!("{name}.column"), &columns)?;
        if values.iter().any(|&v| v != 1.0) {
            self.short_floats(&value_name, &values)?;
        }
        Ok(())
    }

    /// Stores a dense matrix as a table.
    ///
    /// # Errors
    /// As [`table`](Self::table).
    pub fn dense(&mut self, name: &str, matrix: ArrayView2<'_, f32>) -> Result<(), StoreError> {
        let values: Vec<f32> = matrix.iter().copied().collect();
        self.table(name, &values, matrix.ncols())
    }

    /// Stores a matrix, as `name.dense` or as [`sparse`](Self::sparse) does.
    ///
    /// # Errors
    /// As [`sparse`](Self::sparse).
    pub fn matrix(&mut self, name: &str, matrix: &Matrix) -> Result<(), StoreError> {
        match matrix {
            Matrix::Dense(a) => self.dense(&format!("{name}.dense"), a.view()),
            Matrix::Sparse(a) => self.sparse(name, &[a.view()]),
        }
    }
}

impl Reader<'_> {
    /// Takes a CSR matrix of `n_cols` columns.
    ///
    /// # Errors
    /// [`StoreError`] if its arrays do not make one.
    pub fn sparse(&mut self, name: &str, n_cols: usize) -> Result<CsrMatrix, StoreError> {
        let sizes = self.integers(&format!("{name}.size"))?;
        let columns = self.integers(&format!("{name}.column"))?;
        let columns = columns.of_length(sizes.total())?;
        let value_name = format!("{name}.value");
        let values = if self.has(&value_name) {
            let values = self.floats(&value_name)?.of_length(columns.len())?;
            values.where_all("a finite number", f32::is_finite)?.to_vec()
        } else {
            vec![1.0; columns.len()]
        };
        let starts = row_starts(&sizes, &columns, n_cols)?;
        let made = CsrMatrix::try_new((sizes.len(), n_cols), starts, columns.to_vec(), values);
        made.map_err(|(.., e)| columns.wrong(format!("is invalid: {e}")))
    }

    /// Takes a dense matrix of `n_cols` columns.
    ///
    /// # Errors
    /// As [`table`](Self::table).
    pub fn dense(&mut self, name: &str, n_cols: usize) -> Result<Array2<f32>, StoreError> {
        let values = self.table(name, n_cols)?;
        let shape = (values.len() / n_cols.max(1), n_cols);
        let made = Array2::from_shape_vec(shape, values.to_vec());
        made.map_err(|e| values.wrong(format!("is invalid: {e}")))
    }

    /// Returns true if there is a matrix of this name.
    fn has_matrix(&self, name: &str) -> bool {
        self.has(&format!("{name}.dense")) || self.has(&format!("{name}.size"))
    }

    /// Takes a matrix of `n_cols` columns, dense or sparse.
    ///
    /// # Errors
    /// [`StoreError`] if it is missing or its arrays do not make one.
    pub fn matrix(&mut self, name: &str, n_cols: usize) -> Result<Matrix, StoreError> {
        let dense = format!("{name}.dense");
        if self.has(&dense) {
            return Ok(Matrix::Dense(self.dense(&dense, n_cols)?));
        }
        Ok(Matrix::Sparse(self.sparse(name, n_cols)?))
    }

    /// The matrix of `n_cols` columns that parts share under this name; `None` if there is none.
    ///
    /// # Errors
    /// [`StoreError`] if its arrays do not make one.
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

/// Where each row begins, after checking that its columns increase and exist.
fn row_starts(
    sizes: &Entries<'_, u32>,
    columns: &Entries<'_, u32>,
    n_cols: usize,
) -> Result<Vec<usize>, StoreError> {
    let mut starts = Vec::with_capacity(sizes.len() + 1);
    let mut start = 0;
    starts.push(start);
    for size in sizes.iter() {
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

/// Hands out the rows of a CSR matrix that was stored for several parts, some at a time.
#[derive(Debug)]
pub struct SparseRows {
    name: String,
    matrix: CsrMatrix,
    next: usize,
}

impl SparseRows {
    /// Takes the rows of `n_cols` columns.
    ///
    /// # Errors
    /// As [`Reader::sparse`].
    pub fn read(from: &mut Reader<'_>, name: &str, n_cols: usize) -> Result<Self, StoreError> {
        Ok(Self {
            matrix: from.sparse(name, n_cols)?,
            name: from.full(&format!("{name}.size")),
            next: 0,
        })
    }

    /// No rows, in place of a matrix that is not needed.
    pub fn empty(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            matrix: CsrMatrix::zero((0, 0)),
            next: 0,
        }
    }

    fn n_left(&self) -> usize {
        self.matrix.rows() - self.next
    }

    /// Takes the next `n` rows.
    ///
    /// # Errors
    /// [`StoreError::Array`] if there are fewer.
    pub fn take(&mut self, n: usize) -> Result<CsrMatrix, StoreError> {
        if n > self.n_left() {
            return Err(StoreError::array(&self.name, "has too few entries"));
        }
        let rows = self.matrix.slice_outer(self.next..self.next + n);
        self.next += n;
        let (columns, values) = (rows.indices().to_vec(), rows.data().to_vec());
        let starts = rows.proper_indptr().into_owned();
        Ok(CsrMatrix::new((n, rows.cols()), starts, columns, values))
    }

    /// Refuses rows that nothing took.
    ///
    /// # Errors
    /// [`StoreError::Array`].
    pub fn finish(self) -> Result<(), StoreError> {
        match self.n_left() {
            0 => Ok(()),
            n => Err(StoreError::array(&self.name, format!("has {n} entries too many"))),
        }
    }
}
