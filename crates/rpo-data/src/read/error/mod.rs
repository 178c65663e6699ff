//! Errors in files, with their position.

mod kind;

pub use kind::ReadErrorKind;

use std::fmt;
use std::path::Path;

/// A file that could not be read, with the position and the reason.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReadError {
    /// The file, if one was named.
    pub path: Option<Box<Path>>,
    /// Line, from 1, including comments and blank lines; for a file without lines, the row, from 1.
    pub line: Option<u64>,
    /// Byte in the line, from 1, if applicable.
    pub column: Option<u64>,
    /// True for a file that has rows rather than lines.
    pub has_rows: bool,
    /// The problem.
    pub kind: ReadErrorKind,
}

impl ReadError {
    /// Sets the file, unless one is already set.
    #[must_use]
    pub(crate) fn in_file(mut self, path: &Path) -> Self {
        self.path.get_or_insert_with(|| path.into());
        self
    }

    /// Marks the line as a row, since the file has no lines.
    #[cfg(feature = "arrow")]
    #[must_use]
    pub(crate) fn of_row(mut self) -> Self {
        self.has_rows = true;
        self
    }

    /// Adds the position in the line, from 0.
    #[must_use]
    pub(crate) fn at_byte(mut self, position: usize) -> Self {
        self.column = Some(position as u64 + 1);
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}: ", path.display())?;
        }
        match (self.line, self.column) {
            (Some(row), _) if self.has_rows => write!(f, "row {row}: ")?,
            (Some(line), Some(column)) => write!(f, "line {line}, column {column}: ")?,
            (Some(line), None) => write!(f, "line {line}: ")?,
            _ => {}
        }
        self.kind.fmt(f)
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.kind.source()
    }
}

impl From<ReadErrorKind> for ReadError {
    fn from(kind: ReadErrorKind) -> Self {
        Self {
            path: None,
            line: None,
            column: None,
            has_rows: false,
            kind,
        }
    }
}
