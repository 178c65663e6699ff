//! A table of text.

/// A head and rows of equal length. A column of figures is aligned right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
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
    /// If it has not a cell for each column.
    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.head.len(), "one cell per column");
        self.rows.push(cells);
    }

    pub(crate) fn head(&self) -> &[String] {
        &self.head
    }

    pub(crate) fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether a column holds figures.
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

    /// The table in Markdown, padded so that it reads as a table in a terminal too.
    pub(crate) fn markdown(&self) -> String {
        let escape = |cell: &String| cell.replace('|', "\\|");
        let lines: Vec<Vec<String>> = std::iter::once(&self.head)
            .chain(&self.rows)
            .map(|line| line.iter().map(escape).collect())
            .collect();
        let widths: Vec<usize> = (0..self.head.len())
            .map(|column| {
                lines
                    .iter()
                    .map(|line| line[column].chars().count())
                    .max()
                    .unwrap_or(0)
                    .max(3)
            })
            .collect();
        let mut text = String::new();
        for (number, line) in lines.iter().enumerate() {
            for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
                let padded = if self.is_numeric(column) && number > 0 {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:<width$}")
                };
                text.push_str(&format!("| {padded} "));
            }
            text.push_str("|\n");
            if number == 0 {
                for (column, &width) in widths.iter().enumerate() {
                    let end = if self.is_numeric(column) { ':' } else { '-' };
                    text.push_str(&format!("| {}{end} ", "-".repeat(width - 1)));
                }
                text.push_str("|\n");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_right_and_bars_are_escaped() {
        let mut table = Table::new(["a|b", "score"]);
        table.row(["x", "0.5"]);
        table.row(["yy", "-10"]);
        let expected = "| a\\|b | score |\n| ---- | ----: |\n| x    |   0.5 |\n| yy   |   -10 |\n";
        assert_eq!(table.markdown(), expected);
    }
}
