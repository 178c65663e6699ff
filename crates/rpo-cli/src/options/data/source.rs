//! Where data come from.

use rpo::data::DEFAULT_MEMORY_LIMIT;
use rpo::data::read::{ReadError, ReadErrorKind};
use std::fs::{File, metadata};
use std::io::{self, Read};
use std::path::Path;

/// The name of standard input in messages.
pub(super) const STANDARD_INPUT: &str = "standard input";

/// Where data come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A file, which may be read several times.
    File,
    /// A pipe or a device with a name, whose content comes once.
    Pipe,
    /// Standard input, whose content comes once.
    StandardInput,
}

impl Source {
    /// The source of data of this name. What does not exist or is a folder is refused when it is read as a file.
    pub(super) fn of(data: &Path) -> Self {
        if data == Path::new("-") {
            return Self::StandardInput;
        }
        match metadata(data) {
            Ok(found) if !found.is_file() && !found.is_dir() => Self::Pipe,
            _ => Self::File,
        }
    }

    /// Reads all of the source of this name.
    pub(super) fn content(self, data: &Path) -> Result<Vec<u8>, ReadErrorKind> {
        let read = match self {
            Self::StandardInput => all(io::stdin().lock()),
            Self::File | Self::Pipe => File::open(data).and_then(all),
        };
        let content = read.map_err(|e| ReadErrorKind::from(&e))?;
        let limit = DEFAULT_MEMORY_LIMIT;
        if content.len() > limit {
            return Err(ReadErrorKind::TooMuchText { limit });
        }
        Ok(content)
    }
}

/// Reads to the end, or a byte more than the limit.
fn all(from: impl Read) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    from.take(DEFAULT_MEMORY_LIMIT as u64 + 1)
        .read_to_end(&mut content)?;
    Ok(content)
}

/// Sets the name of the source as the place of an error.
pub(super) fn in_source(mut e: ReadError, name: &str) -> ReadError {
    e.path = Some(Path::new(name).into());
    e
}
