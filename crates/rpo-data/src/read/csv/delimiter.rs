//! The character between the columns of a CSV file.

use crate::read::error::{ReadError, ReadErrorKind};
use crate::read::format::Format;
use crate::read::line::LineReader;
use crate::read::options::ReadOptions;
use std::io::BufRead;
use std::path::Path;

/// The character between the columns of a CSV file, or how to find it in the first lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::read) enum Delimiter {
    Given(u8),
    /// That of [`delimiter_of_lines`], which is no comma unless one may separate columns, or the first row has commas
    /// in quotes and as many others as the header.
    Detected {
        with_comma: bool,
    },
    /// A tab if the line has one, as a column name may contain commas; otherwise as `Detected`.
    TabOrDetected {
        with_comma: bool,
    },
}

impl Delimiter {
    /// Returns the delimiter of the options.
    pub(in crate::read) fn of(options: &ReadOptions) -> Result<Self, ReadErrorKind> {
        let Some(delimiter) = options.delimiter else {
            let with_comma = !options.decimal_comma;
            return Ok(Self::Detected { with_comma });
        };
        Ok(Self::Given(check_delimiter(delimiter)?))
    }

    /// Like [`Self::of`], for a file whose name may imply a tab.
    pub(in crate::read) fn of_file(path: &Path, options: &ReadOptions) -> Result<Self, ReadErrorKind> {
        let of_options = Self::of(options)?;
        Ok(match (of_options, Format::delimiter_of_name(path)) {
            (Self::Detected { with_comma }, Some(_)) => Self::TabOrDetected { with_comma },
            _ => of_options,
        })
    }

    /// Returns the delimiter of a file whose header was read last.
    pub(super) fn in_lines<R: BufRead>(self, lines: &mut LineReader<R>) -> Result<u8, ReadError> {
        let (prefers_tab, with_comma) = match self {
            Self::Given(byte) => return Ok(byte),
            Self::Detected { with_comma } => (false, with_comma),
            Self::TabOrDetected { with_comma } => (true, with_comma),
        };
        let header = counts(lines.line());
        if prefers_tab && header.of[TAB].1 > 0 {
            return Ok(b'\t');
        }
        let row = lines.look_ahead(|line| !line.trim_ascii().is_empty())?;
        let row = counts(row.unwrap_or_default());
        let commas = |counts: &Counts| counts.of[COMMA].1;
        let separates = row.has_quoted_comma && commas(&row) > 0 && commas(&row) == commas(&header);
        if with_comma || separates {
            return Ok(delimiter_of_lines(&header, &row));
        }
        Ok(
            match delimiter_of_lines(&header.without_comma(), &row.without_comma()) {
                // There is one column.
                b',' => b';',
                found => found,
            },
        )
    }
}

/// Refuses a delimiter that is not a single byte, or that fields need.
pub(crate) fn check_delimiter(delimiter: char) -> Result<u8, ReadErrorKind> {
    let refused = |c: char| c.is_ascii_alphanumeric() || matches!(c, '"' | '\n' | '\r' | '.' | '-' | '+');
    match u8::try_from(delimiter) {
        Ok(byte) if byte.is_ascii() && !refused(delimiter) => Ok(byte),
        _ => Err(ReadErrorKind::Delimiter(delimiter)),
    }
}

/// Returns the delimiter that a line such as `sep=;` names.
pub(super) fn named_delimiter(line: &[u8]) -> Option<u8> {
    let line = line.trim_ascii_start();
    let line = line.strip_prefix(b"\"").unwrap_or(line);
    let (name, rest) = line.split_at_checked(4)?;
    match rest {
        [byte] | [byte, b'"'] if name.eq_ignore_ascii_case(b"sep=") => {
            check_delimiter(char::from(*byte)).ok()
        }
        _ => None,
    }
}

/// Positions of the comma and the tab in [`counts`].
const COMMA: usize = 0;
const TAB: usize = 2;

/// The characters outside quotes that may separate columns, with their numbers in a line.
struct Counts {
    of: [(u8, usize); 4],
    /// True if the line ends inside quotes.
    is_open: bool,
    /// True if there is a comma inside quotes.
    has_quoted_comma: bool,
}

impl Counts {
    /// The counts with no comma.
    fn without_comma(mut self) -> Self {
        self.of[COMMA].1 = 0;
        self
    }
}

fn counts(line: &[u8]) -> Counts {
    let mut counts = Counts {
        of: [(b',', 0), (b';', 0), (b'\t', 0), (b'|', 0)],
        is_open: false,
        has_quoted_comma: false,
    };
    for &byte in line {
        counts.is_open ^= byte == b'"';
        let is_open = counts.is_open;
        counts.has_quoted_comma |= is_open && byte == b',';
        if let Some((_, count)) = counts.of.iter_mut().find(|(b, _)| *b == byte && !is_open) {
            *count += 1;
        }
    }
    counts
}

/// Returns the delimiter of a header and the line of the first row: of the characters that divide both into the same
/// number of fields, at least two, the one of the most fields, first the comma; that of [`delimiter_of`] if no
/// character does so, or if a quote spans lines. The name of a column may contain a character that does not separate
/// columns, and numbers with decimal commas may do so as often.
fn delimiter_of_lines(header: &Counts, row: &Counts) -> u8 {
    let both = header.of.into_iter().zip(row.of);
    let agreeing = both.filter(|((_, in_header), (_, in_row))| *in_header > 0 && in_header == in_row);
    match most_frequent(agreeing.map(|(in_header, _)| in_header)) {
        Some(byte) if !header.is_open && !row.is_open => byte,
        _ => preferred(header),
    }
}

/// Returns the delimiter of a first line: a comma if it has one outside quotes, otherwise the most frequent of the
/// others.
pub(in crate::read) fn delimiter_of(line: &[u8]) -> u8 {
    preferred(&counts(line))
}

fn preferred(counts: &Counts) -> u8 {
    let found = counts.of.into_iter().filter(|(_, count)| *count > 0);
    match most_frequent(found.clone()) {
        Some(byte) if !found.clone().any(|(byte, _)| byte == b',') => byte,
        _ => b',',
    }
}

/// Returns the character with the largest count, the first of equal ones.
fn most_frequent(counts: impl DoubleEndedIterator<Item = (u8, usize)>) -> Option<u8> {
    counts.rev().max_by_key(|(_, count)| *count).map(|(byte, _)| byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comma_of_numbers_separates_no_columns() {
        let options = ReadOptions {
            decimal_comma: true,
            ..ReadOptions::default()
        };
        for (name, text, expected) in [
            ("a.csv", "x, y\n0,5\n", ';'),
            ("a.tsv", "x, y\n0,5\n", ';'),
            ("a.tsv", "x, y\tz; w\n0,5\t1\n", '\t'),
            ("a.tsv", "x, y;z\n0,5;1\n", ';'),
            ("a.csv", "x,y,z\n\"0,5\",3,\"1,5\"\n", ','),
            ("a.csv", "x;y\n\"0,5\";3\n", ';'),
        ] {
            let delimiter = Delimiter::of_file(Path::new(name), &options).unwrap();
            let mut lines = LineReader::new(text.as_bytes());
            assert!(lines.advance().unwrap());
            let found = delimiter.in_lines(&mut lines).unwrap();
            assert_eq!(char::from(found), expected, "{name} {text}");
        }
    }

    #[test]
    fn the_delimiter_is_that_of_header_and_row() {
        for (header, row, expected) in [
            // As pandas writes with sep=";" and decimal=",".
            ("size, cm;price;y", "1,5;2;0", ';'),
            ("size, cm\tprice", "1\t2", '\t'),
            ("a|b, c|d;e", "1|2|3", '|'),
            ("a,b;c", "1,2", ','),
            ("\"size, cm\";y", "1,5;0", ';'),
            // Several agree: the most frequent one, or the comma.
            ("a,b;c;d", "1,2;3;4", ';'),
            ("a,b;c", "1,2;3", ','),
            ("a;b;c|d", "1;2;3|4", ';'),
            // None agrees, or quotes span lines.
            ("a,b;c", "1", ','),
            ("a;b;c", "1;2", ';'),
            ("x", "1", ','),
            ("a,b;c", "1;\"2", ','),
            ("a,\"b;c", "d\"", ','),
            ("a;b", "", ';'),
        ] {
            let found = delimiter_of_lines(&counts(header.as_bytes()), &counts(row.as_bytes()));
            assert_eq!(char::from(found), expected, "{header} {row}");
        }
    }
}
