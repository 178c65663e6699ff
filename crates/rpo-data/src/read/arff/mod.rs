//! ARFF: attribute declarations, then dense or sparse rows.

mod header;
mod rows;

use super::error::ReadError;
use super::line::{LineReader, skip_blanks};
use super::row::Row;
pub use header::{Attribute, AttributeKind};
use header::{Header, parse_header};
use rows::{Cell, parse_dense, parse_sparse};
use std::io::BufRead;

/// A streaming reader of ARFF: header first, then a row at a time.
///
/// * Keywords and types in any case. Types `numeric`, `real`, `integer` and `{value,...}`; string, date and
///   relational attributes are refused.
/// * Names and values are bare or quoted by `'` or `"`. A backslash escapes inside quotes only.
/// * `?` is a missing value, NaN here. A nominal value becomes its position in the declaration.
/// * Rows are dense (`1,2,3`) or sparse (`{0 1,2 3}`, indices increasing). Values that a sparse row leaves out are 0,
///   which for a nominal attribute is the value declared first.
/// * Lines that start with `%` are comments. `@data` ends the header; `@relation` may be missing.
///
/// ```
/// use rpo_data::read::{ArffReader, Row};
/// let text = "@relation r\n@attribute x real\n@attribute c {red,'dark blue'}\n@data\n1.5,'dark blue'\n{0 2}\n";
/// let mut reader = ArffReader::new(text.as_bytes())?;
/// assert_eq!(reader.attributes()[1].name, "c");
/// let mut row = Row::default();
/// assert!(reader.read_row(&mut row)?);
/// assert_eq!(row.values(), [1.5, 1.0]);
/// assert!(reader.read_row(&mut row)?);
/// assert_eq!((row.columns(), row.values()), (&[0][..], &[2.0][..]));
/// assert!(!reader.read_row(&mut row)?);
/// # Ok::<(), rpo_data::read::ReadError>(())
/// ```
#[derive(Debug)]
pub struct ArffReader<R> {
    lines: LineReader<R>,
    header: Header,
    cells: Vec<Cell>,
}

impl<R: BufRead> ArffReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`ReadError`] with the line of the first declaration that is wrong.
    pub fn new(reader: R) -> Result<Self, ReadError> {
        Self::from_lines(LineReader::new(reader))
    }

    pub(super) fn from_lines(mut lines: LineReader<R>) -> Result<Self, ReadError> {
        let header = parse_header(&mut lines)?;
        let cells = header.attributes.iter().map(Cell::new).collect();
        Ok(Self { lines, header, cells })
    }

    /// Name of the relation; empty if there is none.
    pub fn relation(&self) -> &str {
        &self.header.relation
    }

    /// The attributes in order of their columns.
    pub fn attributes(&self) -> &[Attribute] {
        &self.header.attributes
    }

    /// Number of the line last read.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Reads the next row; returns false at the end.
    ///
    /// # Errors
    /// [`ReadError`] with the line, and where in it; the content of `row` is then unspecified.
    pub fn read_row(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        while self.lines.advance()? {
            let line = self.lines.line();
            let start = skip_blanks(line, 0);
            let parsed = match line.get(start) {
                None | Some(b'%') => continue,
                Some(b'{') => parse_sparse(line, start + 1, &self.header.attributes, &self.cells, row),
                Some(_) => parse_dense(line, start, &self.header.attributes, &self.cells, row),
            };
            return match parsed {
                Ok(()) => Ok(true),
                Err((at, kind)) => Err(self.lines.error(kind).at_byte(at)),
            };
        }
        Ok(false)
    }
}
