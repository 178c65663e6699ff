//! A row of a table.

/// One row of a table of numbers, reused from row to row.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Row {
    sparse: bool,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Row {
    /// Returns true for a row that is sparse in the file: omitted columns are 0.
    pub(super) fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// The columns in the file, increasing; in a dense row, all columns.
    pub(super) fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The value of each of [`Row::columns`]: NaN if missing; for a nominal column, the position of the value in its
    /// declaration.
    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Starts a dense row of `n` values.
    pub(super) fn start_dense(&mut self, n: usize) {
        // The columns of the last dense row are still valid.
        if self.sparse || self.columns.len() != n {
            self.columns.clear();
            self.columns.extend(0..n as u32);
        }
        self.sparse = false;
        self.values.clear();
        self.values.reserve(n);
    }

    #[inline]
    pub(super) fn push_dense(&mut self, value: f64) {
        self.values.push(value);
    }

    pub(super) fn start_sparse(&mut self) {
        self.sparse = true;
        self.columns.clear();
        self.values.clear();
    }

    #[inline]
    pub(super) fn push_sparse(&mut self, column: u32, value: f64) {
        self.columns.push(column);
        self.values.push(value);
    }

    /// Stores a 0 in each of the given columns of a sparse row that is omitted; the columns must increase.
    pub(super) fn store_zeros(&mut self, columns: &[u32]) {
        for &column in columns {
            if let Err(at) = self.columns.binary_search(&column) {
                self.columns.insert(at, column);
                self.values.insert(at, 0.0);
            }
        }
    }
}
