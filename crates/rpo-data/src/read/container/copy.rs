//! Copies selected rows of a file to other files of the same format.

use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::format::Format;
use crate::write::BatchWriter;
use arrow_array::UInt32Array;
use arrow_select::take::take_record_batch;
use rpo_core::DEFAULT_MEMORY_LIMIT;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

/// Writes parts of a file; each part has increasing row numbers and an output.
pub(in crate::read) fn copy(
    path: &Path,
    format: Format,
    parts: &mut [(&[usize], &mut (dyn Write + Send))],
) -> io::Result<()> {
    let file = super::open(format, path, DEFAULT_MEMORY_LIMIT).map_err(|e| other(&e))?;
    let schema = Arc::new(file.schema().clone());
    let all = (0..schema.fields().len()).collect();
    let parts = parts.iter_mut().map(|(rows, out)| {
        let writer = BatchWriter::new(format, &schema, &mut **out).map_err(io::Error::other)?;
        Ok((rows.iter().copied().peekable(), writer))
    });
    let mut parts: Vec<_> = parts.collect::<io::Result<_>>()?;
    let mut first = 0;
    for batch in file.batches(all) {
        let batch = batch.map_err(|kind: ReadErrorKind| other(&kind.into()))?;
        let end = first + batch.num_rows();
        for (rows, writer) in &mut parts {
            let here = std::iter::from_fn(|| rows.next_if(|row| *row < end));
            let here: UInt32Array = here.map(|row| Some((row - first) as u32)).collect();
            let taken = take_record_batch(&batch, &here).map_err(io::Error::other)?;
            writer.write(&taken).map_err(io::Error::other)?;
        }
        first = end;
    }
    for (_, writer) in parts {
        writer.finish().map_err(io::Error::other)?.flush()?;
    }
    Ok(())
}

fn other(e: &ReadError) -> io::Error {
    io::Error::other(e.to_string())
}
