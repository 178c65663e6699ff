//! Parquet and Arrow IPC: files with typed columns. One batch of rows is held in memory at a time, and converted from
//! its columns directly to rows of the data set.

mod arrow;
mod cells;
mod copy;
mod pandas;
mod parquet;
mod quiet;

pub(super) use copy::copy;
pub(super) use pandas::is_index;

use super::columns::ColumnUse;
use super::detect::{self, is_gzip};
use super::error::{ReadError, ReadErrorKind};
use super::format::Format;
use super::options::ColumnType;
use super::typed::{Field, Fields};
use arrow_array::RecordBatch;
use arrow_schema::Schema;
use cells::Cells;
use rpo_core::MemoryLimit;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::ops::Range;
use std::path::Path;

/// A batch, or the error that prevents decoding.
type Batch = Result<RecordBatch, ReadErrorKind>;

/// Calls a decoder and converts panics to errors, as some damaged files violate the decoder's assumptions.
fn guarded<T, E>(decode: impl FnOnce() -> Result<T, E>, error: impl FnOnce(String) -> E) -> Result<T, E> {
    quiet::catch(decode).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned());
        Err(error(message.unwrap_or_default()))
    })
}

/// A file of batches.
pub(super) trait Container {
    /// Returns the columns and their types.
    fn schema(&self) -> &Schema;

    /// Returns the batches with only these columns, in order.
    fn batches(self: Box<Self>, columns: Vec<usize>) -> Box<dyn Iterator<Item = Batch>>;
}

/// Opens a file: in place, or in memory if it is compressed, as it is read from its end.
pub(super) fn open(
    format: Format,
    path: &Path,
    memory_limit: usize,
) -> Result<Box<dyn Container>, ReadError> {
    if is_gzip(path)? {
        return open_in_memory(format, detect::open(path)?, memory_limit);
    }
    let file = File::open(path).map_err(|e| ReadErrorKind::from(&e))?;
    Ok(match format {
        Format::Parquet => parquet::open(file, memory_limit)?,
        _ => arrow::open(BufReader::new(file), memory_limit)?,
    })
}

/// Reads a file into memory and opens it there.
pub(super) fn open_in_memory(
    format: Format,
    reader: impl BufRead,
    limit: usize,
) -> Result<Box<dyn Container>, ReadError> {
    let mut bytes = Vec::new();
    let read = reader
        .take((limit as u64).saturating_add(1))
        .read_to_end(&mut bytes);
    read.map_err(|e| ReadErrorKind::from(&e))?;
    if bytes.len() > limit {
        return Err(ReadErrorKind::TooMuchText { limit }.into());
    }
    Ok(match format {
        Format::Parquet => parquet::open_in_memory(bytes, limit)?,
        _ => arrow::open(Cursor::new(bytes), limit)?,
    })
}

/// Returns the names of the columns.
pub(super) fn names(schema: &Schema) -> Vec<String> {
    let fields = schema.fields().iter();
    fields.map(|field| field.name().clone()).collect()
}

/// Returns, for each column, true if its values are texts, other than those of a dictionary.
pub(super) fn are_texts(schema: &Schema) -> Vec<bool> {
    let fields = schema.fields().iter();
    fields.map(|field| cells::is_text(field.data_type())).collect()
}

/// Returns true if the identifiers are integers without a sign, whatever their values.
pub(super) fn has_unsigned_ids(schema: &Schema, uses: &[ColumnUse]) -> bool {
    let mut columns = schema.fields().iter().zip(uses);
    columns.any(|(field, of)| *of == ColumnUse::Id && field.data_type().is_unsigned_integer())
}

/// Returns the use of each column: the declared one, or else the one that its type implies.
pub(super) fn uses(schema: &Schema, declared: &[Option<ColumnUse>]) -> Result<Vec<ColumnUse>, ReadErrorKind> {
    let columns = schema.fields().iter().zip(declared);
    let uses = columns.map(|(field, declared)| {
        if *declared == Some(ColumnUse::Ignored) {
            return Ok(ColumnUse::Ignored);
        }
        if *declared == Some(ColumnUse::Labels) && cells::is_list(field.data_type()) {
            return Ok(ColumnUse::Labels);
        }
        let of_type = cells::column_type(field.data_type());
        let of_type = of_type.ok_or_else(|| ReadErrorKind::UnsupportedColumn {
            column: field.name().clone(),
            found: field.data_type().to_string().into(),
        })?;
        Ok(declared.unwrap_or(ColumnUse::Value(of_type)))
    });
    uses.collect()
}

/// Returns the rows of a file, reading only the columns that are used.
pub(super) fn rows(container: Box<dyn Container>, uses: &[ColumnUse], memory_limit: usize) -> impl Fields {
    let used = uses
        .iter()
        .enumerate()
        .filter(|(_, of)| **of != ColumnUse::Ignored);
    let columns: Vec<usize> = used.map(|(j, _)| j).collect();
    let bytes = uses.iter().map(|of| match of {
        // Texts have a separate limit.
        ColumnUse::Ignored | ColumnUse::Value(ColumnType::Text) => 0,
        ColumnUse::Labels => size_of::<u32>(),
        ColumnUse::Id => size_of::<String>(),
        ColumnUse::Value(ColumnType::Number | ColumnType::Category) => size_of::<f32>(),
        ColumnUse::Value(ColumnType::Date) => 3 * size_of::<f32>(),
        ColumnUse::Value(ColumnType::DateTime) => 4 * size_of::<f32>(),
    });
    Rows {
        names: names(container.schema()),
        row_bytes: bytes.sum::<usize>().max(1),
        batches: container.batches(columns.clone()),
        columns,
        batch: Vec::new(),
        left: 0..0,
        n_read: 0,
        memory_limit,
    }
}

struct Rows {
    names: Vec<String>,
    /// Positions of the columns that are read.
    columns: Vec<usize>,
    batches: Box<dyn Iterator<Item = Batch>>,
    /// The columns of the current batch, and the range of its rows that have not been read yet.
    batch: Vec<Box<dyn Cells>>,
    left: Range<usize>,
    n_read: usize,
    /// Number of bytes of a row in memory.
    row_bytes: usize,
    memory_limit: usize,
}

impl Rows {
    /// Moves to the next batch with rows; returns false at the end.
    fn advance(&mut self) -> Result<bool, ReadErrorKind> {
        while self.left.is_empty() {
            let Some(batch) = self.batches.next() else {
                return Ok(false);
            };
            let batch = batch?;
            // A column without values takes no space in the file, for any number of rows.
            let n_rows = self.n_read.saturating_add(batch.num_rows());
            let bytes = n_rows.saturating_mul(self.row_bytes);
            MemoryLimit::check(bytes, self.memory_limit, || format!("the first {n_rows} rows"))?;
            let columns = batch.columns().iter().map(cells::cells);
            self.batch = columns
                .collect::<Option<_>>()
                .expect("columns that are used have a type that is read");
            self.left = 0..batch.num_rows();
        }
        Ok(true)
    }
}

impl Fields for Rows {
    fn columns(&self) -> &[String] {
        &self.names
    }

    fn line(&self) -> u64 {
        self.n_read as u64
    }

    fn read_fields(
        &mut self,
        mut visit: impl FnMut(usize, Field<'_>) -> Result<(), ReadErrorKind>,
    ) -> Result<bool, ReadError> {
        if !self.advance()? {
            return Ok(false);
        }
        let row = self.left.next().expect("the batch has rows");
        self.n_read += 1;
        for (&column, cells) in self.columns.iter().zip(&self.batch) {
            visit(column, cells.get(row)).map_err(|kind| kind.at(self.n_read as u64))?;
        }
        Ok(true)
    }
}
