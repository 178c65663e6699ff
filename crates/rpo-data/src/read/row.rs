//! A row of a table.

/// One row of a table of numbers, reused from row to row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    sparse: bool,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Row {
    /// Whether the file wrote the row as sparse: columns left out are 0.
    pub fn is_sparse(&self) -> bool {
        self.sparse
    }

    /// The columns written, increasing; all of them in a dense row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// The value of each of [`Row::columns`], NaN where missing, the position of the value in its declaration
    /// where nominal.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn start_dense(&mut self) {
        if self.sparse {
            self.columns.clear();
        }
        self.sparse = false;
        self.values.clear();
    }

    #[inline]
    pub(crate) fn push_dense(&mut self, value: f64) {
        // The columns of the last dense row still stand.
        if self.columns.len() == self.values.len() {
            self.columns.push(self.values.len() as u32);
        }
        self.values.push(value);
    }

    pub(crate) fn start_sparse(&mut self) {
        self.sparse = true;
        self.columns.clear();
        self.values.clear();
    }

    #[inline]
    pub(crate) fn push_sparse(&mut self, column: u32, value: f64) {
        self.columns.push(column);
        self.values.push(value);
    }
}
