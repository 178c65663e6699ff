//! CSR matrices as arrays: how many entries each row has, their columns, their values unless all are 1.

use super::arrays::{ArrayReader, ArrayWriter, check_length, check_values};
use super::error::ModelFileErrorKind as Kind;
use rpo_core::{CsrMatrix, CsrView, csr_row};

/// Names of the arrays of a matrix.
pub(super) struct Names {
    pub(super) size: &'static str,
    pub(super) column: &'static str,
    pub(super) value: &'static str,
}

/// Rows of one or more matrices, one below the other.
#[derive(Default)]
pub(super) struct SparseRows {
    sizes: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl SparseRows {
    pub(super) fn push(&mut self, matrix: &CsrView<'_>) {
        for row in 0..matrix.rows() {
            let (columns, values) = csr_row(matrix, row);
            self.sizes.push(columns.len() as u32);
            self.columns.extend_from_slice(columns);
            self.values.extend_from_slice(values);
        }
    }

    pub(super) fn write(&self, names: &Names, out: &mut ArrayWriter) -> Result<(), Kind> {
        check_values(names.value, &self.values, "a finite number", f32::is_finite)?;
        out.integers(names.size, &self.sizes);
        out.integers(names.column, &self.columns);
        if self.values.iter().any(|&v| v != 1.0) {
            out.floats(names.value, &self.values);
        }
        Ok(())
    }
}

/// Hands out the rows of a matrix, some at a time.
pub(super) struct RowReader {
    matrix: CsrMatrix,
    next: usize,
}

impl RowReader {
    /// Reads the matrix.
    pub(super) fn new(names: &Names, n_cols: usize, arrays: &mut ArrayReader<'_>) -> Result<Self, Kind> {
        Ok(Self::of(read(names, n_cols, arrays)?))
    }

    fn of(matrix: CsrMatrix) -> Self {
        Self { matrix, next: 0 }
    }

    /// Of no rows.
    pub(super) fn empty() -> Self {
        Self::of(CsrMatrix::zero((0, 0)))
    }

    /// Number of rows that were not handed out.
    pub(super) fn n_left(&self) -> usize {
        self.matrix.rows() - self.next
    }

    /// The next `n` rows, if there are as many.
    pub(super) fn take(&mut self, n: usize) -> Option<CsrMatrix> {
        if n > self.n_left() {
            return None;
        }
        let rows = self.next..self.next + n;
        self.next = rows.end;
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let view = self.matrix.view();
        for row in rows {
            let (c, v) = csr_row(&view, row);
            columns.extend_from_slice(c);
            values.extend_from_slice(v);
            starts.push(columns.len());
        }
        Some(CsrMatrix::new((n, self.matrix.cols()), starts, columns, values))
    }
}

/// Reads a matrix of `n_cols` columns.
pub(super) fn read(names: &Names, n_cols: usize, arrays: &mut ArrayReader<'_>) -> Result<CsrMatrix, Kind> {
    let sizes = arrays.integers(names.size)?;
    let columns = arrays.integers(names.column)?;
    let n_stored = sizes.iter().map(|&n| u64::from(n)).sum::<u64>();
    check_length(names.column, &columns, n_stored as usize)?;
    let values = if arrays.has(names.value) {
        arrays.numbers(names.value)?
    } else {
        vec![1.0; columns.len()]
    };
    check_length(names.value, &values, columns.len())?;
    check_values(names.value, &values, "a finite number", f32::is_finite)?;
    let mut starts = Vec::with_capacity(sizes.len() + 1);
    let mut start = 0;
    starts.push(start);
    for &size in &sizes {
        let row = &columns[start..start + size as usize];
        let expected = "columns that increase within a row, below the number of columns";
        let bad = (0..row.len()).find(|&i| {
            let follows = i == 0 || row[i - 1] < row[i];
            !follows || row[i] as usize >= n_cols
        });
        if let Some(i) = bad {
            return Err(Kind::Entry {
                name: names.column,
                index: start + i,
                value: f64::from(row[i]),
                expected,
            });
        }
        start += row.len();
        starts.push(start);
    }
    CsrMatrix::try_new((sizes.len(), n_cols), starts, columns, values)
        .map_err(|(.., e)| Kind::array(names.column, e.to_string()))
}
