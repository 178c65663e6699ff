//! Comma-separated numbers below a line of names.

use super::error::{ReadError, ReadErrorKind};
use super::line::{LineReader, shown, skip_blanks};
use super::number;
use super::row::Row;
use super::text::{Fault, utf8};
use crate::names::Names;
use std::borrow::Cow;
use std::io::BufRead;

/// A streaming reader of CSV: a line of column names, then a line of numbers per row, separated by commas.
///
/// A field may be quoted by `"`, doubled inside; it may not contain a line end. Blanks around fields are
/// dropped, blank lines skipped. A field that is empty or `NA` is a missing value, NaN here.
///
/// ```
/// use rpo_data::read::{CsvReader, Row};
/// let mut reader = CsvReader::new(&b"\"x, in cm\",y\n1.5,\n"[..])?;
/// assert_eq!(reader.columns(), ["x, in cm", "y"]);
/// let mut row = Row::default();
/// assert!(reader.read_row(&mut row)?);
/// assert!(row.values()[0] == 1.5 && row.values()[1].is_nan());
/// # Ok::<(), rpo_data::read::ReadError>(())
/// ```
#[derive(Debug)]
pub struct CsvReader<R> {
    lines: LineReader<R>,
    columns: Vec<String>,
}

impl<R: BufRead> CsvReader<R> {
    /// Reads the names of the columns.
    ///
    /// # Errors
    /// [`ReadError`] for an empty file, a name that is not closed, not UTF-8 or used twice, and a first line that is no
    /// line of names: numbers, unless they are distinct whole ones as column numbers are, or one name with a semicolon
    /// or tab in it that is not quoted.
    pub fn new(reader: R) -> Result<Self, ReadError> {
        let mut lines = LineReader::new(reader);
        loop {
            if !lines.advance()? {
                let expected = "a header of column names";
                return Err(ReadErrorKind::Empty { expected }.into());
            }
            if !lines.line().trim_ascii().is_empty() {
                break;
            }
        }
        let columns = parse_names(lines.line()).map_err(|(at, kind)| lines.error(kind).at_byte(at))?;
        if let Some(found) = other_separator(lines.line(), &columns) {
            let text = shown(lines.line());
            return Err(lines.error(ReadErrorKind::Separator { text, found }));
        }
        let names = Names::Given(columns);
        if is_row(&names) {
            let text = shown(lines.line());
            return Err(lines.error(ReadErrorKind::NoNames { text }));
        }
        if let Some(name) = names.duplicate() {
            let (what, name) = ("column", name.to_owned());
            return Err(lines.error(ReadErrorKind::DeclaredTwice { what, name }));
        }
        let Names::Given(columns) = names else {
            unreachable!("given above")
        };
        Ok(Self { lines, columns })
    }

    /// Names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Number of the line last read.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Reads the next row, `false` at the end.
    ///
    /// # Errors
    /// [`ReadError`] with the line, and where in it; the content of `row` is then unspecified.
    pub fn read_row(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        while self.lines.advance()? {
            let line = self.lines.line();
            if line.trim_ascii().is_empty() {
                continue;
            }
            return match parse_row(line, &self.columns, row) {
                Ok(()) => Ok(true),
                Err((at, kind)) => Err(self.lines.error(kind).at_byte(at)),
            };
        }
        Ok(false)
    }
}

fn parse_names(line: &[u8]) -> Result<Vec<String>, Fault> {
    let mut names = Vec::new();
    let mut start = 0;
    loop {
        let at = skip_blanks(line, start);
        let (name, end) = field(line, at)?;
        names.push(utf8(&name, at)?);
        match line.get(end) {
            Some(_) => start = end + 1,
            None => return Ok(names),
        }
    }
}

/// What separates columns in place of commas, if something does: a semicolon or tab in the one name of a first line.
fn other_separator(line: &[u8], names: &[String]) -> Option<char> {
    match names {
        [name] if !line.contains(&b'"') => [';', '\t'].into_iter().find(|&c| name.contains(c)),
        _ => None,
    }
}

/// Whether names are the values of a row: numbers (or missing), not all of which are whole and distinct.
fn is_row(names: &Names) -> bool {
    let Names::Given(texts) = names else { return false };
    let is_missing = |text: &String| matches!(text.as_str(), "" | "NA");
    let is_number = |text: &String| number::parse(text.as_bytes()).is_ok();
    let is_whole = |text: &String| number::parse_id(text.as_bytes()).is_some();
    let mut given = texts.iter().filter(|text| !is_missing(text)).peekable();
    let all_numbers = given.peek().is_some() && given.clone().all(is_number);
    all_numbers && (!given.all(is_whole) || names.duplicate().is_some())
}

fn parse_row(line: &[u8], columns: &[String], row: &mut Row) -> Result<(), Fault> {
    row.start_dense();
    let mut start = 0;
    for column in columns {
        let at = skip_blanks(line, start);
        let (value, end) = match number::scan(&line[at..]) {
            Ok((value, length)) if matches!(line.get(at + length), None | Some(b',')) => (value, at + length),
            _ => {
                let (text, end) = field(line, at)?;
                let value = match &*text {
                    b"" | b"NA" => f64::NAN,
                    text => number::parse(text)
                        .map_err(|why| (at, ReadErrorKind::number(why, column.as_str(), text)))?,
                };
                (value, end)
            }
        };
        row.push_dense(value);
        start = end + 1;
        if end == line.len() {
            break;
        }
    }
    let (expected, mut found) = (columns.len(), row.values().len());
    // A comma after the last column has made `start` the beginning of one more field.
    while start <= line.len() {
        found += 1;
        start = field(line, skip_blanks(line, start))?.1 + 1;
    }
    if found == expected {
        Ok(())
    } else {
        Err((line.len(), ReadErrorKind::FieldCount { found, expected }))
    }
}

/// The field that starts at a position that is not blank, unquoted, and the position of the comma or line
/// end after it.
fn field(line: &[u8], at: usize) -> Result<(Cow<'_, [u8]>, usize), Fault> {
    let comma = |from: usize| {
        let rest = &line[from..];
        from + rest.iter().position(|&b| b == b',').unwrap_or(rest.len())
    };
    if line.get(at) != Some(&b'"') {
        let end = comma(at);
        return Ok((Cow::Borrowed(line[at..end].trim_ascii_end()), end));
    }
    let mut text = Vec::new();
    let mut from = at + 1;
    loop {
        let Some(length) = line[from..].iter().position(|&b| b == b'"') else {
            let text = shown(&line[at + 1..]);
            return Err((at, ReadErrorKind::UnclosedQuote { quote: '"', text }));
        };
        text.extend_from_slice(&line[from..from + length]);
        from += length + 1;
        if line.get(from) != Some(&b'"') {
            break;
        }
        text.push(b'"');
        from += 1;
    }
    let end = skip_blanks(line, from);
    if end == comma(end) {
        Ok((Cow::Owned(text), end))
    } else {
        let (after, text) = ("the closing quote", shown(&line[end..comma(end)]));
        Err((end, ReadErrorKind::TextAfter { after, text }))
    }
}
