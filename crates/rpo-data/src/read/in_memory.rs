//! Rows of a table in memory, such as from JSON or a form.

use super::csv::MissingTexts;
use super::error::{ReadError, ReadErrorKind};
use super::options::ReadOptions;
use super::table;
use super::typed::{Field, Fields};
use crate::dataset::Dataset;

/// A value of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// A missing value.
    Missing,
    /// A number. It is missing if [`ReadOptions::missing_values`] has it.
    Number(f64),
    /// A text, which is read like one in the quotes of a CSV file: as a number, a word or a date, by the type of its
    /// column, or as a missing value.
    Text(&'a str),
    /// A text that is no missing value, whatever it is.
    Word(&'a str),
}

/// Reads a data set from rows in memory, like [`read`](super::read) from a CSV file. Columns that are neither targets
/// nor have a type in [`ReadOptions::types`] are not read. Errors have the number of the row, from 1, as their line.
///
/// ```
/// use rpo_data::read::{Cell, ColumnType, ReadOptions, read_rows};
/// let columns = ["width", "colour"].map(String::from);
/// let types = [("width".into(), ColumnType::Number), ("colour".into(), ColumnType::Category)].into();
/// let options = ReadOptions { types, ..ReadOptions::default() };
/// let rows = [vec![Cell::Number(2.5), Cell::Text("red")], vec![Cell::Missing, Cell::Text("blue")]];
/// let data = read_rows(&columns, &rows, &options)?;
/// assert!(data.features().view().has_missing());
/// assert_eq!(data.nominal()[&1][..], ["blue", "red"]);
/// # Ok::<(), rpo_data::read::ReadError>(())
/// ```
///
/// # Errors
/// [`ReadError`]: a row whose number of values is not that of the columns, a value that is not of its column's type.
pub fn read_rows(
    columns: &[String],
    rows: &[Vec<Cell<'_>>],
    options: &ReadOptions,
) -> Result<Dataset, ReadError> {
    table::read_rows(
        Rows {
            columns,
            rows,
            missing: MissingTexts::of(options),
            missing_numbers: options
                .missing_values
                .iter()
                .filter_map(|text| text.trim_ascii().parse().ok())
                .collect(),
            read: 0,
        },
        options,
    )
}

/// Adapts rows in memory to a table of fields.
pub(super) struct Rows<'a> {
    columns: &'a [String],
    rows: &'a [Vec<Cell<'a>>],
    missing: MissingTexts,
    /// The numbers among the texts that stand for missing values.
    missing_numbers: Vec<f64>,
    read: usize,
}

impl Fields for Rows<'_> {
    fn columns(&self) -> &[String] {
        self.columns
    }

    fn line(&self) -> u64 {
        self.read as u64
    }

    fn read_fields(
        &mut self,
        mut visit: impl FnMut(usize, Field<'_>) -> Result<(), ReadErrorKind>,
    ) -> Result<bool, ReadError> {
        let Some(row) = self.rows.get(self.read) else {
            return Ok(false);
        };
        self.read += 1;
        let at_row = |kind: ReadErrorKind| kind.at(self.read as u64);
        rpo_core::Mismatch::check("values of the row", self.columns.len(), row.len())
            .map_err(|e| at_row(e.into()))?;
        for (column, cell) in row.iter().enumerate() {
            let field = match cell {
                Cell::Missing => Field::Missing,
                Cell::Number(value) if self.missing_numbers.contains(value) => Field::Missing,
                Cell::Number(value) => Field::Number(*value),
                Cell::Word(text) => Field::Text(text.as_bytes()),
                Cell::Text(text) => {
                    let present = self.missing.present(text.trim_ascii().as_bytes());
                    present.map_or(Field::Missing, |_| Field::Text(text.as_bytes()))
                }
            };
            visit(column, field).map_err(at_row)?;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{ColumnType, read_from};

    #[test]
    fn rows_are_read_as_their_text_is() {
        let columns = ["x", "kind", "since", "note"].map(String::from);
        let types = [
            ("x".to_owned(), ColumnType::Number),
            ("kind".to_owned(), ColumnType::Category),
            ("since".to_owned(), ColumnType::DateTime),
        ];
        let options = ReadOptions {
            types: types.into(),
            ignore_untyped: true,
            ..ReadOptions::default()
        };
        let text = "x,kind,since,note\n1.5,\" b\",2024-01-31T12:00,?\n,2,,x\ntrue,NA,1970-01-01,y\n";
        let rows = [
            vec![
                Cell::Number(1.5),
                Cell::Text(" b"),
                Cell::Text(" 2024-01-31T12:00"),
                Cell::Text("?"),
            ],
            vec![Cell::Text(" "), Cell::Number(2.0), Cell::Missing, Cell::Missing],
            vec![
                Cell::Text("true"),
                Cell::Text("NA"),
                Cell::Text("1970-01-01"),
                Cell::Number(3.0),
            ],
        ];
        let mut expected = read_from(text.as_bytes(), &options).unwrap();
        // Names of columns that are not read are for messages on files.
        expected.notes.untyped_columns.clear();
        let found = read_rows(&columns, &rows, &options).unwrap();
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }

    #[test]
    fn missing_values_are_named_or_no_words() {
        let columns = ["x", "kind"].map(String::from);
        let types = [
            ("x".to_owned(), ColumnType::Number),
            ("kind".to_owned(), ColumnType::Category),
        ];
        let options = ReadOptions {
            types: types.into(),
            missing_values: vec!["-999".to_owned(), "n/a".to_owned()],
            ..ReadOptions::default()
        };
        let rows = [
            vec![Cell::Number(-999.0), Cell::Text("n/a")],
            vec![Cell::Text("-999"), Cell::Text("NA")],
            vec![Cell::Number(-99.0), Cell::Word("NA")],
            vec![Cell::Number(1.0), Cell::Word("")],
        ];
        let data = read_rows(&columns, &rows, &options).unwrap();
        let x = data.features().view().to_dense(usize::MAX).unwrap();
        assert!(x.iter().take(4).all(|v| v.is_nan()), "{x}");
        assert_eq!(data.nominal()[&1][..], ["", "NA"]);
        assert_eq!(
            x.iter().skip(4).copied().collect::<Vec<_>>(),
            [-99.0, 1.0, 1.0, 0.0]
        );
    }

    #[test]
    fn errors_have_row_and_column() {
        let columns = ["x", "since"].map(String::from);
        let types = [
            ("x".to_owned(), ColumnType::Number),
            ("since".to_owned(), ColumnType::Date),
        ];
        let options = ReadOptions {
            types: types.into(),
            ..ReadOptions::default()
        };
        let good = vec![Cell::Number(1.0), Cell::Missing];
        let check = |bad: Vec<Cell<'_>>, message: &str| {
            let e = read_rows(&columns, &[good.clone(), bad], &options).unwrap_err();
            assert!(e.to_string().starts_with(message), "{e}");
        };
        check(
            vec![Cell::Text("wide"), Cell::Missing],
            "line 2: \"wide\" is not a number; \"x\" is numeric",
        );
        check(
            vec![Cell::Number(f64::INFINITY), Cell::Missing],
            "line 2: \"inf\" for \"x\" is not a finite number",
        );
        check(vec![Cell::Number(1e300), Cell::Missing], "line 2: \"1000000");
        check(
            vec![Cell::Missing, Cell::Number(2024.0)],
            "line 2: \"2024\" is not a date; \"since\" holds dates such as 2024-01-31, 31.01.2024 or 2024-01-31T18:30:00",
        );
        check(vec![Cell::Missing], "line 2: ");
    }
}
