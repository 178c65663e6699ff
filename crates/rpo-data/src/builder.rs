//! Builds a matrix row by row, dense or CSR.

use ndarray::Array2;
use rpo_core::{CsrMatrix, Matrix, MatrixView};

/// A matrix under construction. It may start dense and become sparse at the first sparse row, so that a short sparse
/// row never takes the memory of a full row, whatever number of columns a header declares.
#[derive(Debug)]
pub(crate) struct MatrixBuilder {
    n_cols: usize,
    n_rows: usize,
    storage: Storage,
}

#[derive(Debug)]
enum Storage {
    Dense(Vec<f32>),
    Sparse {
        indptr: Vec<usize>,
        columns: Vec<u32>,
        values: Vec<f32>,
    },
}

impl MatrixBuilder {
    pub(crate) fn dense(n_cols: usize) -> Self {
        Self {
            n_cols,
            n_rows: 0,
            storage: Storage::Dense(Vec::new()),
        }
    }

    pub(crate) fn sparse(n_cols: usize) -> Self {
        Self {
            n_cols,
            n_rows: 0,
            storage: Storage::Sparse {
                indptr: vec![0],
                columns: Vec::new(),
                values: Vec::new(),
            },
        }
    }

    /// Number of complete rows.
    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Increases the number of columns.
    pub(crate) fn widen(&mut self, n_cols: usize) {
        debug_assert!(
            matches!(self.storage, Storage::Sparse { .. }),
            "dense rows have a fixed length"
        );
        self.n_cols = self.n_cols.max(n_cols);
    }

    /// Adds a value to the current row. Columns must increase; a dense matrix needs all of them. Zeros are not stored
    /// in a sparse matrix.
    #[inline]
    pub(crate) fn push(&mut self, column: u32, value: f32) {
        match &mut self.storage {
            Storage::Dense(all) => all.push(value),
            Storage::Sparse { columns, values, .. } => {
                if value != 0.0 {
                    columns.push(column);
                    values.push(value);
                }
            }
        }
    }

    /// Ends the current row.
    pub(crate) fn end_row(&mut self) {
        self.n_rows += 1;
        match &mut self.storage {
            Storage::Dense(all) => debug_assert_eq!(all.len(), self.n_rows * self.n_cols),
            Storage::Sparse { indptr, columns, .. } => indptr.push(columns.len()),
        }
    }

    /// Adds the rows of a matrix with the same columns.
    pub(crate) fn push_rows(&mut self, rows: MatrixView<'_>) {
        for row in 0..rows.n_rows() {
            rows.for_each_in_row(row, |column, value| self.push(column, value));
            self.end_row();
        }
    }

    /// Switches to sparse storage, keeping the complete rows.
    pub(crate) fn make_sparse(&mut self) {
        if let Storage::Dense(all) = &mut self.storage {
            let all = std::mem::take(all);
            let mut sparse = Self::sparse(self.n_cols);
            for i in 0..self.n_rows {
                for (j, &value) in all[i * self.n_cols..][..self.n_cols].iter().enumerate() {
                    sparse.push(j as u32, value);
                }
                sparse.end_row();
            }
            *self = sparse;
        }
    }

    /// Appends the complete rows of other builders with the same layout, dropping each builder as soon as it is copied.
    pub(crate) fn append(&mut self, parts: Vec<Self>) {
        let n_rows = parts.iter().map(|part| part.n_rows).sum();
        let n_stored = parts.iter().map(Self::n_stored).sum();
        match &mut self.storage {
            Storage::Dense(all) => all.reserve_exact(n_stored),
            Storage::Sparse {
                indptr,
                columns,
                values,
            } => {
                indptr.reserve_exact(n_rows);
                columns.reserve_exact(n_stored);
                values.reserve_exact(n_stored);
            }
        }
        for part in parts {
            match (&mut self.storage, &part.storage) {
                (Storage::Dense(all), Storage::Dense(more)) => all.extend_from_slice(more),
                (
                    Storage::Sparse {
                        indptr,
                        columns,
                        values,
                    },
                    Storage::Sparse {
                        indptr: more_indptr,
                        columns: more_columns,
                        values: more_values,
                    },
                ) => {
                    let offset = columns.len();
                    indptr.extend(more_indptr[1..].iter().map(|end| end + offset));
                    columns.extend_from_slice(more_columns);
                    values.extend_from_slice(more_values);
                }
                _ => unreachable!("builders of one layout are joined"),
            }
            self.n_rows += part.n_rows;
        }
    }

    fn n_stored(&self) -> usize {
        match &self.storage {
            Storage::Dense(all) => all.len(),
            Storage::Sparse { columns, .. } => columns.len(),
        }
    }

    pub(crate) fn finish(self) -> Matrix {
        let shape = (self.n_rows, self.n_cols);
        match self.storage {
            Storage::Dense(mut all) => {
                all.shrink_to_fit();
                Matrix::Dense(Array2::from_shape_vec(shape, all).expect("rows are complete"))
            }
            Storage::Sparse {
                indptr,
                mut columns,
                mut values,
            } => {
                columns.shrink_to_fit();
                values.shrink_to_fit();
                Matrix::Sparse(CsrMatrix::new(shape, indptr, columns, values))
            }
        }
    }
}
