//! Parquet files.

use super::{Batch, Container, guarded};
use crate::message::lossy;
use crate::read::error::ReadErrorKind;
use crate::read::format::Format;
use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;
use rpo_core::MemoryLimit;
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

/// Maximum number of rows of a batch.
const MOST_ROWS: usize = 8192;
/// Maximum number of values of a batch with more columns than rows.
const MOST_VALUES: usize = 1 << 22;
/// The bytes at the start and the end of a file.
const MAGIC: &[u8] = b"PAR1";

/// Opens a Parquet file.
pub(super) fn open(file: File, memory_limit: usize) -> Result<Box<dyn Container>, ReadErrorKind> {
    Ok(Box::new(ParquetFile::new(
        move || file.try_clone(),
        memory_limit,
    )?))
}

/// Opens a Parquet file that is in memory.
pub(super) fn open_in_memory(
    bytes: Vec<u8>,
    memory_limit: usize,
) -> Result<Box<dyn Container>, ReadErrorKind> {
    let bytes = Bytes::from(bytes);
    Ok(Box::new(ParquetFile::new(
        move || Ok(bytes.clone()),
        memory_limit,
    )?))
}

/// Returns a schema whose texts are views: a text that a page has once takes its memory once, however many rows refer to
/// it.
fn with_views(schema: &Schema) -> Schema {
    let with_type =
        |field: &Arc<Field>, view: DataType| Arc::new(field.as_ref().clone().with_data_type(view));
    let fields = schema.fields().iter().map(|field| match field.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 => with_type(field, DataType::Utf8View),
        DataType::Binary | DataType::LargeBinary => with_type(field, DataType::BinaryView),
        _ => Arc::clone(field),
    });
    Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone())
}

/// A file whose rows are stored in groups.
struct ParquetFile<F> {
    /// Opens the file again.
    input: F,
    metadata: ArrowReaderMetadata,
    /// Largest size of a batch in bytes.
    memory_limit: usize,
}

impl<R: ChunkReader + 'static, F: Fn() -> io::Result<R>> ParquetFile<F> {
    fn new(input: F, memory_limit: usize) -> Result<Self, ReadErrorKind> {
        let reader = input().map_err(|e| ReadErrorKind::from(&e))?;
        if reader.len() == 0 {
            return Err(ReadErrorKind::Empty("Parquet"));
        }
        let start = reader.get_bytes(0, MAGIC.len().min(reader.len() as usize));
        let start = start.map_err(|e| damaged(None, None, &e))?;
        if start != MAGIC {
            return Err(ReadErrorKind::Container {
                format: Format::Parquet,
                part: None,
                column: None,
                message: format!("the file starts with {:?}, not with PAR1", lossy(&start)).into(),
            });
        }
        let load = || {
            let metadata = ArrowReaderMetadata::load(&reader, ArrowReaderOptions::new())?;
            let options = ArrowReaderOptions::new().with_schema(Arc::new(with_views(metadata.schema())));
            ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)
        };
        let metadata = guarded(load, ParquetError::General);
        let metadata = metadata.map_err(|e| damaged(None, None, &e))?;
        let file = Self {
            input,
            metadata,
            memory_limit,
        };
        file.check_ranges(reader.len())?;
        Ok(file)
    }

    /// Refuses columns that the footer places outside the file.
    fn check_ranges(&self, n_bytes: u64) -> Result<(), ReadErrorKind> {
        let groups = self.metadata.metadata().row_groups().iter().enumerate();
        for (group, column) in groups.flat_map(|(j, group)| group.columns().iter().map(move |c| (j, c))) {
            let start = column
                .dictionary_page_offset()
                .unwrap_or(column.data_page_offset());
            let end = start.checked_add(column.compressed_size());
            let is_inside = end.is_some_and(|end| 0 <= start && start <= end && end as u64 <= n_bytes);
            if !is_inside {
                let e = "the footer places it outside of the file";
                let name = column.column_path().string();
                return Err(damaged(
                    Some(group as u64),
                    Some(&name),
                    &ParquetError::General(e.to_owned()),
                ));
            }
        }
        Ok(())
    }

    /// Reads some columns of a row group.
    fn group(
        &self,
        group: usize,
        columns: &[usize],
    ) -> impl Iterator<Item = Result<RecordBatch, ParquetError>> + use<R, F> {
        let (mut reader, mut failed) = match guarded(|| self.reader(group, columns), ParquetError::General) {
            Ok(reader) => (Some(reader), None),
            Err(e) => (None, Some(e)),
        };
        std::iter::from_fn(move || {
            let mut next = || {
                reader
                    .as_mut()?
                    .next()
                    .map(|batch| batch.map_err(ParquetError::from))
            };
            let batch = guarded(|| next().transpose(), ParquetError::General).transpose();
            batch.or_else(|| failed.take().map(Err))
        })
    }

    fn reader(&self, group: usize, columns: &[usize]) -> Result<ParquetRecordBatchReader, ParquetError> {
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), columns.iter().copied());
        ParquetRecordBatchReaderBuilder::new_with_metadata((self.input)()?, self.metadata.clone())
            .with_row_groups(vec![group])
            .with_projection(mask)
            .with_batch_size((MOST_VALUES / columns.len().max(1)).clamp(1, MOST_ROWS))
            .build()
    }

    /// Returns the error of a row group, attributed to the first column that cannot be decoded alone.
    fn blame(&self, group: usize, columns: &[usize], e: &ParquetError) -> ReadErrorKind {
        let part = Some(group as u64);
        for &column in columns {
            let failed = self.group(group, &[column]).find_map(Result::err);
            if let Some(e) = failed {
                let e = self.unread_compression(group, column).unwrap_or(e);
                return damaged(part, Some(self.metadata.schema().field(column).name()), &e);
            }
        }
        damaged(part, None, e)
    }

    /// Returns the error for a column whose compression is not read.
    fn unread_compression(&self, group: usize, column: usize) -> Option<ParquetError> {
        let schema = self.metadata.parquet_schema();
        let parts = self
            .metadata
            .metadata()
            .row_group(group)
            .columns()
            .iter()
            .enumerate();
        let mut parts = parts.filter(|(part, _)| schema.get_column_root_idx(*part) == column);
        let name = parts.find_map(|(_, part)| match part.compression() {
            Compression::BROTLI(_) => Some("brotli"),
            Compression::LZO => Some("LZO"),
            _ => None,
        })?;
        let message = format!("it is compressed by {name}; snappy, zstd, LZ4 and gzip are read");
        Some(ParquetError::General(message))
    }
}

impl<R: ChunkReader + 'static, F: Fn() -> io::Result<R> + 'static> Container for ParquetFile<F> {
    fn schema(&self) -> &Schema {
        self.metadata.schema()
    }

    fn batches(self: Box<Self>, columns: Vec<usize>) -> Box<dyn Iterator<Item = Batch>> {
        let n_groups = self.metadata.metadata().num_row_groups();
        let file = Rc::new((self, columns));
        let batches = (0..n_groups).flat_map(move |group| {
            let batches = file.0.group(group, &file.1);
            let promised = file.0.metadata.metadata().row_group(group).num_rows();
            let file = Rc::clone(&file);
            let found = Rc::new(Cell::new(0));
            let total = Rc::clone(&found);
            let counted = batches.inspect(move |batch| {
                found.set(found.get() + batch.as_ref().map_or(0, RecordBatch::num_rows));
            });
            let short = std::iter::once_with(move || total.get()).filter_map(move |found| {
                let e = format!("the file declares {promised} rows for the group, but it has {found}");
                (i64::try_from(found) != Ok(promised)).then_some(Err(ParquetError::General(e)))
            });
            let batches = counted.chain(short);
            batches.map(move |batch| {
                let batch = batch.map_err(|e| file.0.blame(group, &file.1, &e))?;
                // A page may be far smaller in the file.
                MemoryLimit::check(batch.get_array_memory_size(), file.0.memory_limit, || {
                    format!("the values of {} rows", batch.num_rows())
                })?;
                Ok(batch)
            })
        });
        Box::new(batches)
    }
}

fn damaged(part: Option<u64>, column: Option<&str>, e: &ParquetError) -> ReadErrorKind {
    ReadErrorKind::Container {
        format: Format::Parquet,
        part,
        column: column.map(Into::into),
        message: match e {
            ParquetError::General(message) => message.as_str().into(),
            e => e.to_string().into(),
        },
    }
}
