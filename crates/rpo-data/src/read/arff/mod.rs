//! ARFF: attribute declarations, then dense or sparse rows.

mod header;
mod rows;

use super::error::ReadError;
use super::line::{LineReader, skip_blanks};
use super::row::Row;
pub(super) use header::{Attribute, AttributeKind};
use header::{Header, parse_header};
use rows::{Cell, parse_dense, parse_sparse};
use std::io::BufRead;

/// A streaming reader of [`Format::Arff`](super::Format::Arff): reads the header first, then one row at a time.
#[derive(Debug)]
pub(super) struct ArffReader<R> {
    lines: LineReader<R>,
    pub(super) header: Header,
    cells: Vec<Cell>,
}

impl<R: BufRead> ArffReader<R> {
    /// Reads the header.
    pub(super) fn from_lines(mut lines: LineReader<R>) -> Result<Self, ReadError> {
        let header = parse_header(&mut lines)?;
        let cells = header.attributes.iter().map(Cell::new).collect();
        Ok(Self { lines, header, cells })
    }

    /// Number of the line last read.
    pub(super) fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Reads the next row; returns false at the end. The content of `row` is unspecified after an error.
    pub(super) fn read_row(&mut self, row: &mut Row) -> Result<bool, ReadError> {
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
