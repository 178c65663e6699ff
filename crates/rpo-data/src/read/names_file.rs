//! Files of names, one per line.

use super::detect::open;
use super::error::{ReadError, ReadErrorKind};
use super::line::LineReader;
use super::quoted_text::utf8;
use crate::names::Names;
use std::io::BufRead;
use std::path::Path;

/// Reads column names from a file with one name per line, in column order, for formats that number columns. Blanks
/// around names are dropped; lines at the end may be blank.
///
/// # Errors
/// [`ReadError`] with path and line: a blank line before the last name, text that is not UTF-8.
pub fn read_names(path: impl AsRef<Path>) -> Result<Names, ReadError> {
    let path = path.as_ref();
    let read = || names_of(LineReader::new(open(path)?));
    read().map_err(|e| e.in_file(path))
}

fn names_of(mut lines: LineReader<impl BufRead>) -> Result<Names, ReadError> {
    let mut names = Vec::new();
    let mut blank = None;
    while lines.advance()? {
        let name = utf8(lines.line().trim_ascii(), 0).map_err(|(_, kind)| lines.error(kind))?;
        match (name.is_empty(), blank) {
            (true, _) => blank = blank.or(Some(lines.number())),
            (false, Some(line)) => return Err(ReadErrorKind::BlankName.at(line)),
            (false, None) => names.push(name),
        }
    }
    Ok(Names::Given(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Result<Names, ReadError> {
        names_of(LineReader::new(text))
    }

    #[test]
    fn a_name_is_a_line() {
        let expected: Names = ["a b", "\u{e9},c"].into_iter().collect();
        assert_eq!(read("\u{feff}a b \r\n\u{e9},c\n\n\n".as_bytes()), Ok(expected));
        assert_eq!(read(b"").map(|names| names.len()), Ok(0));
        assert_eq!(read(b"a\n\nb\n"), Err(ReadErrorKind::BlankName.at(2)));
        let invalid = read(b"a\nb\xff\n").unwrap_err();
        assert!(matches!(invalid.kind, ReadErrorKind::InvalidUtf8 { .. }) && invalid.line == Some(2));
    }
}
