//! Arrow IPC: a file (Feather version 2) or a stream.

use super::{Batch, Container, guarded};
use crate::read::error::ReadErrorKind;
use crate::read::format::Format;
use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader, read_footer_length};
use arrow_ipc::{Block, root_as_footer, root_as_message};
use arrow_schema::{ArrowError, Schema, SchemaRef};
use std::io::{Read, Seek, SeekFrom};

/// The bytes at the start and the end of a file.
const MAGIC: &[u8] = b"ARROW1";
/// The bytes at the start of a file in the first version of Feather.
const FEATHER_1: &[u8] = b"FEA1";
/// The bytes before the length of a message.
const MARKER: [u8; 4] = [0xff; 4];
/// Number of bytes at the end of a file: the length of the footer, and the magic bytes.
const END: usize = 10;

struct ArrowFile {
    schema: SchemaRef,
    batches: Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>>>,
}

/// Opens an Arrow IPC file or stream whose batches have at most `limit` bytes each when they are decompressed.
pub(super) fn open(
    mut reader: impl Read + Seek + 'static,
    limit: usize,
) -> Result<Box<dyn Container>, ReadErrorKind> {
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
                check_blocks(&mut reader, limit)?;
                let reader = FileReader::try_new(reader, None)?;
                let (schema, batches) = (reader.schema(), Box::new(reader));
                Ok(ArrowFile { schema, batches })
            }
            false => {
                check_stream(&mut reader, limit)?;
                let reader = StreamReader::try_new(reader, None)?;
                let (schema, batches) = (reader.schema(), Box::new(reader));
                Ok(ArrowFile { schema, batches })
            }
        },
        ArrowError::IpcError,
    );
    Ok(Box::new(file.map_err(|e| of_arrow(None, &e))?))
}

/// Refuses a footer that is longer than the file, or that places batches outside the file, and batches that declare more
/// bytes than the limit, as memory would be allocated for them.
fn check_blocks(reader: &mut (impl Read + Seek), limit: usize) -> Result<(), ArrowError> {
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
    let blocks = || {
        let all = footer.dictionaries().into_iter().chain(footer.recordBatches());
        all.flatten()
    };
    let is_inside = |block: &Block| {
        let parts = [block.offset(), block.metaDataLength().into(), block.bodyLength()];
        let end = parts.iter().try_fold(0_i64, |sum, part| sum.checked_add(*part));
        // A message starts with its length, preceded by a marker except in old files.
        parts.iter().all(|part| *part >= 0) && parts[1] >= 8 && end.is_some_and(|end| end as u64 <= start)
    };
    if !blocks().all(is_inside) {
        return Err(outside());
    }
    let mut dictionaries = 0;
    for block in blocks() {
        let (start, length) = (block.offset() as u64, block.metaDataLength() as usize);
        let mut bytes = vec![0; length];
        reader.seek(SeekFrom::Start(start))?;
        reader.read_exact(&mut bytes)?;
        // The length of the metadata precedes it, after a marker except in old files.
        let metadata = bytes.strip_prefix(&MARKER).unwrap_or(&bytes);
        // The decoder reads on beyond the length that the footer declares, and might find a message there.
        check_message(
            reader,
            metadata.get(4..).unwrap_or_default(),
            start + length as u64,
            (&mut dictionaries, limit),
        )?
        .ok_or_else(outside)?;
    }
    Ok(reader.rewind()?)
}

/// Refuses batches of a stream that declare more bytes than the limit.
fn check_stream(reader: &mut (impl Read + Seek), limit: usize) -> Result<(), ArrowError> {
    let n_bytes = reader.seek(SeekFrom::End(0))?;
    let (mut at, mut dictionaries) = (0_u64, 0);
    // What is damaged otherwise is left to the decoder.
    while at.saturating_add(8) <= n_bytes {
        let mut bytes = [0; 8];
        reader.seek(SeekFrom::Start(at))?;
        reader.read_exact(&mut bytes)?;
        let [marker, next] =
            [&bytes[..4], &bytes[4..]].map(|half| <[u8; 4]>::try_from(half).expect("four bytes"));
        let (length, start) = match marker == MARKER {
            true => (u32::from_le_bytes(next), at + 8),
            false => (u32::from_le_bytes(marker), at + 4),
        };
        let body = start + u64::from(length);
        if length == 0 || body > n_bytes {
            break;
        }
        let mut metadata = vec![0; length as usize];
        reader.seek(SeekFrom::Start(start))?;
        reader.read_exact(&mut metadata)?;
        let Some(length) = check_message(reader, &metadata, body, (&mut dictionaries, limit))? else {
            break;
        };
        at = body.saturating_add(length);
    }
    Ok(reader.rewind()?)
}

/// Refuses a message whose compressed buffers declare more bytes than the limit, together with those of the dictionaries
/// before it, which are kept. Given are its metadata and the place of its body. Returns the length of the body; `None` for
/// what is no message.
fn check_message(
    reader: &mut (impl Read + Seek),
    metadata: &[u8],
    body: u64,
    (dictionaries, limit): (&mut u64, usize),
) -> Result<Option<u64>, ArrowError> {
    let Ok(message) = root_as_message(metadata) else {
        return Ok(None);
    };
    let of_dictionary = || message.header_as_dictionary_batch()?.data();
    let batch = message.header_as_record_batch().or_else(of_dictionary);
    let compressed = batch.filter(|batch| batch.compression().is_some());
    let buffers = compressed.and_then(|batch| batch.buffers());
    let mut declared = *dictionaries;
    for buffer in buffers.into_iter().flatten().filter(|buffer| buffer.length() > 0) {
        let mut bytes = [0; 8];
        reader.seek(SeekFrom::Start(body.saturating_add_signed(buffer.offset())))?;
        reader.read_exact(&mut bytes)?;
        // -1 says that the buffer is not compressed.
        declared = declared.saturating_add(i64::from_le_bytes(bytes).max(0) as u64);
    }
    if declared > limit as u64 {
        let message =
            format!("the buffers of a batch declare {declared} bytes, more than the limit of {limit}");
        return Err(ArrowError::IpcError(message));
    }
    if message.header_as_dictionary_batch().is_some() {
        *dictionaries = declared;
    }
    Ok(message.bodyLength().try_into().ok())
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
