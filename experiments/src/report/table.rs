//! Tables of text.

/// A header and rows of equal length. Numeric columns are right-aligned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) head: Vec<String>,
    /// Rows with one cell per column.
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        Self {
            head: head.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If the number of cells differs from the number of columns.
    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.head.len(), "one cell per column");
        self.rows.push(cells);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns true if a column is numeric.
    pub(crate) fn is_numeric(&self, column: usize) -> bool {
        let figure = |cell: &str| {
            let number = cell.strip_suffix(" MB").unwrap_or(cell);
            number.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c))
                && !number.contains(char::is_alphabetic)
        };
        let mut cells = self
            .rows
            .iter()
            .map(|row| row[column].as_str())
            .filter(|cell| !cell.is_empty())
            .peekable();
        cells.peek().is_some() && cells.all(figure)
    }
}
