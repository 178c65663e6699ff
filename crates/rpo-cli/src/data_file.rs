//! Writes a file atomically, compressed by gzip if its name ends in `.gz`.

use crate::error::CliError;
use flate2::Compression;
use flate2::write::GzEncoder;
use rpo::FileTarget;
use std::io::{self, Write};
use std::path::Path;

/// The destination of data or results.
pub(crate) enum DataFile {
    Plain(FileTarget),
    Gzip(Box<GzEncoder<FileTarget>>),
}

/// Returns true for the name of a file that is compressed.
pub(crate) fn is_gzip(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

impl DataFile {
    pub(crate) fn new(path: &Path) -> Result<Self, CliError> {
        let target = FileTarget::new(path)?;
        Ok(match is_gzip(path) {
            true => Self::Gzip(Box::new(GzEncoder::new(target, Compression::default()))),
            false => Self::Plain(target),
        })
    }

    /// Writes bytes.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        match self {
            Self::Plain(target) => Ok(target.put(bytes)?),
            Self::Gzip(encoder) => Ok(encoder.write_all(bytes)?),
        }
    }

    /// Completes the file and gives it its final name.
    pub(crate) fn finish(self) -> Result<(), CliError> {
        let target = match self {
            Self::Plain(target) => target,
            Self::Gzip(encoder) => encoder.finish()?,
        };
        Ok(target.finish()?)
    }
}

impl Write for DataFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(out) => out.write(bytes),
            Self::Gzip(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(out) => out.flush(),
            Self::Gzip(out) => out.flush(),
        }
    }
}
