//! The character between the columns of a CSV file.

use crate::read::error::ReadErrorKind;
use crate::read::format::Format;
use crate::read::options::ReadOptions;
use std::path::Path;

/// The character between the columns of a CSV file, or how to find it in the first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::read) enum Delimiter {
    Given(u8),
    /// That of [`delimiter_of`].
    Detected,
    /// A tab if the line has one, as a column name may contain commas.
    TabOrDetected,
}

impl Delimiter {
    /// Returns the delimiter of the options, which must be a single byte that fields do not need.
    pub(in crate::read) fn of(options: &ReadOptions) -> Result<Self, ReadErrorKind> {
        let Some(delimiter) = options.delimiter else {
            return Ok(Self::Detected);
        };
        let refused = |c: char| c.is_ascii_alphanumeric() || matches!(c, '"' | '\n' | '\r' | '.' | '-' | '+');
        match u8::try_from(delimiter) {
            Ok(byte) if byte.is_ascii() && !refused(delimiter) => Ok(Self::Given(byte)),
            _ => Err(ReadErrorKind::Delimiter(delimiter)),
        }
    }

    /// Like [`Self::of`], for a file whose name may imply a tab.
    pub(in crate::read) fn of_file(path: &Path, options: &ReadOptions) -> Result<Self, ReadErrorKind> {
        let of_options = Self::of(options)?;
        Ok(match (of_options, Format::delimiter_of_name(path)) {
            (Self::Detected, Some(_)) => Self::TabOrDetected,
            _ => of_options,
        })
    }

    /// Returns the delimiter of a file with this first line.
    pub(super) fn in_line(self, line: &[u8]) -> u8 {
        match self {
            Self::Given(byte) => byte,
            Self::TabOrDetected if counts(line)[TAB].1 > 0 => b'\t',
            Self::TabOrDetected | Self::Detected => delimiter_of(line),
        }
    }
}

/// Position of the tab in [`counts`].
const TAB: usize = 2;

/// Returns the number of each character outside quotes that may separate columns.
fn counts(line: &[u8]) -> [(u8, usize); 4] {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0), (b'|', 0)];
    let mut inside = false;
    for &byte in line {
        inside ^= byte == b'"';
        if let Some((_, count)) = counts.iter_mut().find(|(b, _)| *b == byte && !inside) {
            *count += 1;
        }
    }
    counts
}

/// Returns the delimiter of a first line: a comma if it has one outside quotes, otherwise the most frequent of the
/// others.
pub(in crate::read) fn delimiter_of(line: &[u8]) -> u8 {
    let [comma, others @ ..] = counts(line);
    let most = others.into_iter().rev().max_by_key(|(_, count)| *count);
    match most {
        Some((byte, count)) if comma.1 == 0 && count > 0 => byte,
        _ => comma.0,
    }
}
