//! Writers of Parquet and Arrow IPC.

use super::WriteError;
use super::targets::Targets;
use crate::dataset::{Dataset, IntegerIds, Task};
use crate::names::Names;
use crate::read::{Cell, Format};
use arrow_array::builder::{
    ArrayBuilder, Float32Builder, Int64Builder, StringBuilder, UInt8Builder, UInt64Builder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::io::Write;
use std::sync::Arc;

/// Maximum number of rows, and of values, of the batches that are buffered and written.
const MOST_ROWS: usize = 1 << 16;
const MOST_VALUES: usize = 1 << 22;
/// Maximum number of columns of a Parquet file with dictionaries of their values. The buffer of a dictionary takes 64 KB
/// for each column of a group of rows, however few these are.
const MOST_DICTIONARIES: usize = 1024;

/// The content of a column of a Parquet or Arrow file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnContent {
    /// 32-bit numbers.
    Number,
    /// Labels: 0 or 1.
    Label,
    /// Counts and identifiers that are integers of 64 bits from 0 on.
    Count,
    /// Identifiers that are integers of 64 bits with a sign.
    IntegerId,
    /// Texts.
    Text,
}

impl ColumnContent {
    /// The content of a column of the identifiers of a set: integers where they are integers in the file that was read,
    /// as programs do not join integers with texts.
    pub fn of_ids(data: &Dataset) -> Self {
        match data.notes.integer_ids {
            Some(IntegerIds::Signed) => Self::IntegerId,
            Some(IntegerIds::Unsigned) => Self::Count,
            None => Self::Text,
        }
    }
}

/// Writer of batches: to a Parquet file compressed by Snappy, or to an Arrow IPC file.
pub(crate) enum BatchWriter<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    Arrow(Box<FileWriter<W>>),
}

impl<W: Write + Send> BatchWriter<W> {
    pub(crate) fn new(format: Format, schema: &SchemaRef, to: W) -> Result<Self, WriteError> {
        Ok(match format {
            Format::Parquet => {
                let properties = WriterProperties::builder()
                    .set_compression(Compression::SNAPPY)
                    .set_dictionary_enabled(schema.fields().len() <= MOST_DICTIONARIES);
                let writer = ArrowWriter::try_new(to, Arc::clone(schema), Some(properties.build()));
                Self::Parquet(Box::new(writer?))
            }
            Format::Arrow => Self::Arrow(Box::new(FileWriter::try_new(to, schema)?)),
            other => return Err(WriteError::NotColumns(other)),
        })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<(), WriteError> {
        match self {
            Self::Parquet(writer) => Ok(writer.write(batch)?),
            Self::Arrow(writer) => Ok(writer.write(batch)?),
        }
    }

    pub(crate) fn finish(self) -> Result<W, WriteError> {
        match self {
            Self::Parquet(writer) => Ok(writer.into_inner()?),
            Self::Arrow(writer) => Ok(writer.into_inner()?),
        }
    }
}

/// Writes the rows of a table to a Parquet or Arrow file, value by value.
///
/// ```
/// use rpo_data::read::{Cell, Format, ReadOptions, read_from};
/// use rpo_data::write::{ColumnContent, ColumnWriter};
/// let columns = [("x".to_owned(), ColumnContent::Number), ("kind".to_owned(), ColumnContent::Text)];
/// let mut writer = ColumnWriter::new(Format::Parquet, columns, Vec::new())?;
/// for cell in [Cell::Number(1.5), Cell::Text("a"), Cell::Missing, Cell::Text("b")] {
///     writer.push(cell)?;
/// }
/// let file = writer.finish()?;
/// let data = read_from(file.as_slice(), &ReadOptions::default())?;
/// assert_eq!((data.n_samples(), data.n_features()), (2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ColumnWriter<W: Write + Send> {
    writer: BatchWriter<W>,
    schema: SchemaRef,
    columns: Vec<Builder>,
    /// The column of the next value, the number of buffered rows, and the number of rows that are written together.
    next: usize,
    n_rows: usize,
    most_rows: usize,
}

enum Builder {
    Number(Float32Builder),
    Label(UInt8Builder),
    Count(UInt64Builder),
    IntegerId(Int64Builder),
    Text(StringBuilder),
}

impl<W: Write + Send> ColumnWriter<W> {
    /// Creates a writer and writes the header of a file with these columns.
    ///
    /// # Errors
    /// [`WriteError`]: a format without typed columns, two columns with the same name.
    pub fn new(
        format: Format,
        columns: impl IntoIterator<Item = (String, ColumnContent)>,
        to: W,
    ) -> Result<Self, WriteError> {
        let (mut fields, mut builders) = (Vec::new(), Vec::new());
        for (name, content) in columns {
            let (data_type, builder) = match content {
                ColumnContent::Number => (DataType::Float32, Builder::Number(Float32Builder::new())),
                ColumnContent::Label => (DataType::UInt8, Builder::Label(UInt8Builder::new())),
                ColumnContent::Count => (DataType::UInt64, Builder::Count(UInt64Builder::new())),
                ColumnContent::IntegerId => (DataType::Int64, Builder::IntegerId(Int64Builder::new())),
                ColumnContent::Text => (DataType::Utf8, Builder::Text(StringBuilder::new())),
            };
            fields.push(Field::new(name, data_type, true));
            builders.push(builder);
        }
        let names: Names = fields.iter().map(|field| field.name().as_str()).collect();
        if let Some(name) = names.duplicate() {
            let name = name.to_owned();
            return Err(WriteError::TwoColumns { name });
        }
        let schema = Arc::new(Schema::new(fields));
        Ok(Self {
            writer: BatchWriter::new(format, &schema, to)?,
            schema,
            most_rows: (MOST_VALUES / builders.len().max(1)).clamp(1, MOST_ROWS),
            columns: builders,
            next: 0,
            n_rows: 0,
        })
    }

    /// Writes the next value of the row; after the last column, the next row begins.
    ///
    /// # Errors
    /// [`WriteError::Io`].
    ///
    /// # Panics
    /// If the value does not fit the content of its column, or if there are no columns.
    pub fn push(&mut self, cell: Cell<'_>) -> Result<(), WriteError> {
        match (&mut self.columns[self.next], cell) {
            (Builder::Number(column), Cell::Missing) => column.append_null(),
            (Builder::Number(column), Cell::Number(value)) => column.append_value(value as f32),
            (Builder::Label(column), Cell::Missing) => column.append_null(),
            (Builder::Label(column), Cell::Number(value)) => column.append_value(value as u8),
            (Builder::Count(column), Cell::Missing) => column.append_null(),
            (Builder::Count(column), Cell::Number(value)) => column.append_value(value as u64),
            (Builder::Text(column), Cell::Missing) => column.append_null(),
            (Builder::Text(column), Cell::Text(value)) => column.append_value(value),
            (_, cell) => panic!("{cell:?} does not have the type of its column"),
        }
        self.end_value()
    }

    /// Writes the next value of the row, an identifier, to a column of texts or of integers, in which an empty one is
    /// missing.
    ///
    /// # Errors
    /// [`WriteError::Io`].
    ///
    /// # Panics
    /// If the column holds something else, or for a text that is no integer in a column of integers.
    pub fn push_id(&mut self, id: &str) -> Result<(), WriteError> {
        let integers = "the identifiers are integers";
        match &mut self.columns[self.next] {
            Builder::IntegerId(column) if id.is_empty() => column.append_null(),
            Builder::IntegerId(column) => column.append_value(id.parse().expect(integers)),
            Builder::Count(column) if id.is_empty() => column.append_null(),
            Builder::Count(column) => column.append_value(id.parse().expect(integers)),
            _ => return self.push(Cell::Text(id)),
        }
        self.end_value()
    }

    fn end_value(&mut self) -> Result<(), WriteError> {
        self.next += 1;
        if self.next == self.columns.len() {
            self.next = 0;
            self.n_rows += 1;
            if self.n_rows == self.most_rows {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.n_rows = 0;
        let columns = self.columns.iter_mut().map(|column| match column {
            Builder::Number(column) => ArrayBuilder::finish(column),
            Builder::Label(column) => ArrayBuilder::finish(column),
            Builder::Count(column) => ArrayBuilder::finish(column),
            Builder::IntegerId(column) => ArrayBuilder::finish(column),
            Builder::Text(column) => ArrayBuilder::finish(column),
        });
        let columns: Vec<ArrayRef> = columns.collect();
        if columns.is_empty() {
            return Ok(());
        }
        self.writer
            .write(&RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
    }

    /// Writes the remaining rows and the end of the file.
    ///
    /// # Errors
    /// [`WriteError::Io`].
    ///
    /// # Panics
    /// If the last row is incomplete.
    pub fn finish(mut self) -> Result<W, WriteError> {
        assert_eq!(self.next, 0, "the last row is whole");
        if self.n_rows > 0 {
            self.flush()?;
        }
        self.writer.finish()
    }
}

pub(super) fn columns(data: &Dataset, format: Format, to: impl Write + Send) -> Result<(), WriteError> {
    use ColumnContent as Content;
    let features = (0..data.n_features()).map(|feature| match data.nominal().get(&feature) {
        None => (Content::Number, None),
        Some(words) => (Content::Text, Some(&words[..])),
    });
    let output = match data.task() {
        Task::MultiLabel => Content::Label,
        Task::Regression => Content::Number,
    };
    let mut targets = Targets::new(data);
    let of_targets = targets.classes().map(|classes| match classes {
        None => (output, None),
        Some(classes) => (Content::Text, Some(classes)),
    });
    let columns: Vec<_> = features.chain(of_targets).collect();
    let contents = columns.iter().map(|(content, _)| *content);
    let names = targets.column_names()?.into_iter().map(Into::into).zip(contents);
    let id = data
        .id_column()
        .map(|name| (name.to_owned(), Content::of_ids(data)));
    let mut writer = ColumnWriter::new(format, id.into_iter().chain(names), to)?;
    let mut row = vec![0.0; columns.len()];
    for sample in 0..data.n_samples() {
        if let Some(ids) = data.ids() {
            writer.push_id(&ids[sample])?;
        }
        let (features, of_targets) = row.split_at_mut(data.n_features());
        data.features().view().copy_row(sample, features);
        targets.copy_row(sample, of_targets);
        for (&value, (_, words)) in row.iter().zip(&columns) {
            writer.push(match words {
                _ if value.is_nan() => Cell::Missing,
                Some(words) => Cell::Text(&words[value as usize]),
                None => Cell::Number(value.into()),
            })?;
        }
    }
    writer.finish().map(drop)
}

impl From<ParquetError> for WriteError {
    fn from(e: ParquetError) -> Self {
        match e {
            ParquetError::External(e) => match e.downcast::<std::io::Error>() {
                Ok(e) => (*e).into(),
                Err(e) => Self::Encode(e.to_string()),
            },
            e => Self::Encode(e.to_string()),
        }
    }
}

impl From<ArrowError> for WriteError {
    fn from(e: ArrowError) -> Self {
        match e {
            ArrowError::IoError(_, e) => e.into(),
            e => Self::Encode(e.to_string()),
        }
    }
}
