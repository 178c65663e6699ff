//! Arrow IPC: a file (Feather version 2) or a stream.

use super::{Batch, Container, guarded};
use crate::read::error::ReadErrorKind;
use crate::read::format::Format;
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader, read_footer_length};
use arrow_ipc::{Block, root_as_footer};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use std::io::{Read, Seek, SeekFrom};

/// The bytes at the start and the end of a file.
const MAGIC: &[u8] = b"ARROW1";
/// The bytes at the start of a file in the first version of Feather.
const FEATHER_1: &[u8] = b"FEA1";
/// Number of bytes at the end of a file: the length of the footer, and the magic bytes.
const END: usize = 10;

struct ArrowFile {
    schema: SchemaRef,
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>,
}

/// Opens an Arrow IPC file or stream.
pub(super) fn open(mut reader: impl Read + Seek + 'static) -> Result<Box<dyn Container>, ReadErrorKind> {
    let mut start = Vec::new();
    let read = reader.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start);
    read.and_then(|_| reader.rewind())
        .map_err(|e| ReadErrorKind::from(&e))?;
    if start.is_empty() {
        return Err(ReadErrorKind::Empty("Arrow IPC"));
    }
    if start.starts_with(FEATHER_1) {
        return Err(damaged(
            None,
            "version 1 of Feather is not supported; use version 2",
        ));
    }
    let file = guarded(
        || match start == MAGIC {
            true => {
                check_blocks(&mut reader)?;
                let reader = FileReader::try_new(reader, None)?;
                let (schema, batches) = (reader.schema(), Box::new(reader));
                Ok(ArrowFile { schema, batches })
            }
            false => {
                let reader = StreamReader::try_new(reader, None)?;
                let (schema, batches) = (reader.schema(), Box::new(reader));
                Ok(ArrowFile { schema, batches })
            }
        },
        ArrowError::IpcError,
    );
    Ok(Box::new(file.map_err(|e| of_arrow(None, &e))?))
}

/// Refuses a footer that is longer than the file, or that places batches outside the file, as memory would be allocated
/// for them.
fn check_blocks(reader: &mut (impl Read + Seek)) -> Result<(), ArrowError> {
    let outside = || ArrowError::IpcError("the footer is damaged, or the file ends before it".to_owned());
    let n_bytes = reader.seek(SeekFrom::End(0))?;
    let before_end = n_bytes.checked_sub(END as u64).ok_or_else(outside)?;
    let mut end = [0; END];
    reader.seek(SeekFrom::Start(before_end))?;
    reader.read_exact(&mut end)?;
    let length = read_footer_length(end).map_err(|_| outside())?;
    let start = before_end.checked_sub(length as u64).ok_or_else(outside)?;
    let mut footer = vec![0; length];
    reader.seek(SeekFrom::Start(start))?;
    reader.read_exact(&mut footer)?;
    let footer = root_as_footer(&footer).map_err(|_| outside())?;
    let blocks = footer.dictionaries().into_iter().chain(footer.recordBatches());
    let is_inside = |block: &Block| {
        let parts = [block.offset(), block.metaDataLength().into(), block.bodyLength()];
        let end = parts.iter().try_fold(0_i64, |sum, part| sum.checked_add(*part));
        // A message starts with its length, preceded by a marker except in old files.
        parts.iter().all(|part| *part >= 0) && parts[1] >= 8 && end.is_some_and(|end| end as u64 <= start)
    };
    match blocks.flatten().all(is_inside) {
        true => Ok(reader.rewind()?),
        false => Err(outside()),
    }
}

impl Container for ArrowFile {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn batches(mut self: Box<Self>, columns: Vec<usize>) -> Box<dyn Iterator<Item = Batch>> {
        let batches = (0..).map_while(move |number| {
            let next = || {
                self.batches
                    .next()
                    .map(|batch| batch?.project(&columns))
                    .transpose()
            };
            let batch = guarded(next, ArrowError::IpcError);
            batch.map_err(|e| of_arrow(Some(number), &e)).transpose()
        });
        Box::new(batches)
    }
}

fn damaged(part: Option<u64>, message: impl Into<Box<str>>) -> ReadErrorKind {
    ReadErrorKind::Container {
        format: Format::Arrow,
        part,
        column: None,
        message: message.into(),
    }
}

fn of_arrow(part: Option<u64>, e: &ArrowError) -> ReadErrorKind {
    match e {
        ArrowError::IoError(_, e) if e.kind() != std::io::ErrorKind::UnexpectedEof => ReadErrorKind::from(e),
        ArrowError::IpcError(message) => damaged(part, message.as_str()),
        e => damaged(part, e.to_string()),
    }
}
