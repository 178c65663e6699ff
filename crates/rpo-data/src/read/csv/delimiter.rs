//! The character between the columns of a CSV file.

use crate::read::error::ReadErrorKind;
use crate::read::options::ReadOptions;

/// Returns the delimiter of the options, which must be a single byte that fields do not need.
pub(in crate::read) fn delimiter_of_options(options: &ReadOptions) -> Result<Option<u8>, ReadErrorKind> {
    let Some(delimiter) = options.delimiter else {
        return Ok(None);
    };
    let refused = |c: char| c.is_ascii_alphanumeric() || matches!(c, '"' | '\n' | '\r' | '.' | '-' | '+');
    match u8::try_from(delimiter) {
        Ok(byte) if byte.is_ascii() && !refused(delimiter) => Ok(Some(byte)),
        _ => Err(ReadErrorKind::Delimiter(delimiter)),
    }
}

/// Returns the delimiter of a first line: a comma if it has one outside quotes, otherwise the most frequent of the
/// others.
pub(super) fn delimiter_of(line: &[u8]) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0), (b'|', 0)];
    let mut inside = false;
    for &byte in line {
        inside ^= byte == b'"';
        if let Some((_, count)) = counts.iter_mut().find(|(b, _)| *b == byte && !inside) {
            *count += 1;
        }
    }
    let [comma, others @ ..] = counts;
    let most = others.into_iter().rev().max_by_key(|(_, count)| *count);
    match most {
        Some((byte, count)) if comma.1 == 0 && count > 0 => byte,
        _ => comma.0,
    }
}
