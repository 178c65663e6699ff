//! ARFF: attribute declarations, then dense or sparse rows.

mod header;
mod rows;

use super::error::{ReadError, ReadErrorKind};
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
    /// The position of each attribute among those that are read, and their number.
    positions: Vec<u32>,
    n_read: usize,
}

impl<R: BufRead> ArffReader<R> {
    /// Reads the header. Attributes of texts and dates are left out of the rows.
    pub(super) fn from_lines(mut lines: LineReader<R>) -> Result<Self, ReadError> {
        let header = parse_header(&mut lines)?;
        let cells: Vec<Cell> = header.attributes.iter().map(Cell::new).collect();
        let (positions, n_read) = positions(&cells);
        Ok(Self {
            lines,
            header,
            cells,
            positions,
            n_read,
        })
    }

    /// Leaves attributes out of the rows, and refuses the first one of the others that cannot be read.
    pub(super) fn leave_out(&mut self, is_left_out: &[bool]) -> Result<(), ReadError> {
        for (j, attribute) in self.header.attributes.iter().enumerate() {
            match &attribute.kind {
                _ if is_left_out[j] => self.cells[j] = Cell::LeftOut,
                AttributeKind::Other(found) => {
                    let (name, found) = (attribute.name.clone(), found.clone());
                    let kind = ReadErrorKind::UnsupportedType { name, found };
                    return Err(kind.at(self.header.declared_at[j]));
                }
                AttributeKind::Numeric | AttributeKind::Nominal(_) => {}
            }
        }
        (self.positions, self.n_read) = positions(&self.cells);
        Ok(())
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
            let (attributes, cells) = (&self.header.attributes, &self.cells);
            let parsed = match line.get(start) {
                None | Some(b'%') => continue,
                Some(b'{') => parse_sparse(line, start + 1, attributes, cells, &self.positions, row),
                Some(_) => {
                    row.start_dense(self.n_read);
                    parse_dense(line, start, attributes, cells, row)
                }
            };
            return match parsed {
                Ok(()) => Ok(true),
                Err((at, kind)) => Err(self.lines.error(kind).at_byte(at)),
            };
        }
        Ok(false)
    }
}

/// Returns the number of attributes before each one that are read, and that of all.
fn positions(cells: &[Cell]) -> (Vec<u32>, usize) {
    let mut count = 0;
    let positions = cells.iter().map(|cell| {
        let position = count;
        count += u32::from(!matches!(cell, Cell::LeftOut));
        position
    });
    (positions.collect(), count as usize)
}
