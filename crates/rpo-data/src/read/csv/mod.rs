//! Separated values below a line of names.

mod delimiter;
mod fields;
mod missing;
mod quoted;
mod texts;

pub(crate) use delimiter::check_delimiter;
pub(super) use delimiter::{Delimiter, delimiter_of};
pub(super) use missing::MissingTexts;
pub(super) use texts::FieldTexts;

use super::error::{ReadError, ReadErrorKind};
use super::line::LineReader;
use super::number;
use super::quoted_text::{Fault, utf8};
use super::row::Row;
use crate::message::lossy;
use crate::names::Names;
use csv::{ByteRecord, ReaderBuilder, Terminator};
use delimiter::named_delimiter;
use fields::{check_count, is_blank, parse_record, parse_row, visit_fields};
use memchr::memchr;
use quoted::QuotedLines;
use std::io::BufRead;

/// A streaming reader of [`Format::Csv`](super::Format::Csv): reads the names of the columns first, which may repeat, then
/// one row at a time.
#[derive(Debug)]
pub(super) struct CsvReader<R> {
    records: csv::Reader<QuotedLines<R>>,
    record: ByteRecord,
    columns: Vec<String>,
    /// The first line, if the names in it are numbers.
    numbers_as_names: Option<String>,
    delimiter: u8,
    texts: FieldTexts,
}

impl<R: BufRead> CsvReader<R> {
    /// Reads the names of the columns. A first line that does not name columns is refused: a line of numbers, unless they
    /// are distinct integers, like column numbers. A line such as `sep=;` above the names, which spreadsheets write and
    /// read, names the delimiter unless one is given.
    pub(super) fn from_lines(mut lines: LineReader<R>, delimiter: Delimiter) -> Result<Self, ReadError> {
        let advance = |lines: &mut LineReader<R>| match next_line(lines, None)? {
            true => Ok(()),
            false => Err(ReadError::from(ReadErrorKind::Empty("a header of column names"))),
        };
        advance(&mut lines)?;
        let named = named_delimiter(lines.line());
        if named.is_some() {
            advance(&mut lines)?;
        }
        let delimiter = match (delimiter, named) {
            (Delimiter::Given(given), _) => given,
            (_, Some(named)) => named,
            (detected, None) => detected.in_lines(&mut lines)?,
        };
        let mut builder = ReaderBuilder::new();
        builder
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .terminator(Terminator::Any(b'\n'));
        let mut reader = Self {
            records: builder.from_reader(QuotedLines::new(lines, delimiter)),
            record: ByteRecord::new(),
            columns: Vec::new(),
            numbers_as_names: None,
            delimiter,
            texts: FieldTexts::default(),
        };
        reader.columns = reader.read_names()?;
        Ok(reader)
    }

    /// Sets how the texts of fields are read.
    pub(super) fn with_texts(self, texts: FieldTexts) -> Self {
        Self { texts, ..self }
    }

    fn read_names(&mut self) -> Result<Vec<String>, ReadError> {
        let text = lossy(self.lines().line());
        let names: Result<Vec<String>, Fault> = if self.is_quoted() {
            self.read_quoted()?;
            let fields = self.record.iter();
            fields.map(|field| utf8(field, 0)).collect()
        } else {
            let fields = self.lines().line().split(|&b| b == self.delimiter);
            fields.map(|field| utf8(field.trim_ascii(), 0)).collect()
        };
        let names = names.map_err(|(_, kind)| self.lines().error(kind))?;
        if are_numbers(&names) {
            if !are_distinct_integers(&names) {
                return Err(self.lines().error(ReadErrorKind::NoNames(text)));
            }
            self.numbers_as_names = Some(text);
        }
        Ok(names)
    }

    /// Names of the columns.
    pub(super) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The line of the names, cut if it is long, if they are numbers.
    pub(super) fn numbers_as_names(&self) -> Option<String> {
        self.numbers_as_names.clone()
    }

    /// Number of the line last read.
    pub(super) fn line(&self) -> u64 {
        self.lines().number()
    }

    /// Reads the next row of numbers; returns false at the end. The content of `row` is unspecified after an error.
    pub(super) fn read_row(&mut self, row: &mut Row) -> Result<bool, ReadError> {
        if !self.next_line()? {
            return Ok(false);
        }
        row.start_dense(self.columns.len());
        let is_quoted = self.is_quoted();
        let parsed = if is_quoted {
            self.read_quoted()?;
            parse_record(&self.record, self.delimiter, &self.columns, &self.texts, row)
        } else {
            parse_row(
                self.lines().line(),
                self.delimiter,
                &self.columns,
                &self.texts,
                row,
            )
        };
        match parsed {
            Ok(()) => Ok(true),
            Err(fault) => Err(self.error_in(is_quoted, fault)),
        }
    }

    /// Reads the next row and calls `visit` with each column and its text, `None` if missing; returns false at the end.
    pub(super) fn read_texts(
        &mut self,
        mut visit: impl FnMut(usize, Option<&[u8]>) -> Result<(), ReadErrorKind>,
    ) -> Result<bool, ReadError> {
        if !self.next_line()? {
            return Ok(false);
        }
        let is_quoted = self.is_quoted();
        let visited = if is_quoted {
            self.read_quoted()?;
            let mut fields = self.record.iter().zip(&self.columns).enumerate();
            let visited = fields.try_for_each(|(j, (field, column))| {
                let text = self.texts.read(field, column)?;
                visit(j, text.as_deref())
            });
            let checked = || check_count(self.columns.len(), self.record.len(), self.delimiter, 0);
            visited.map_err(|kind| (0, kind)).and_then(|()| checked())
        } else {
            visit_fields(
                self.lines().line(),
                self.delimiter,
                &self.columns,
                &self.texts,
                visit,
            )
        };
        match visited {
            Ok(()) => Ok(true),
            Err(fault) => Err(self.error_in(is_quoted, fault)),
        }
    }

    /// The error of a row. Where its fields begin is not known if there are quotes.
    fn error_in(&self, is_quoted: bool, (at, kind): Fault) -> ReadError {
        let error = self.lines().error(kind);
        if is_quoted { error } else { error.at_byte(at) }
    }

    fn lines(&self) -> &LineReader<R> {
        &self.records.get_ref().lines
    }

    /// Reads the next line that is not blank; returns false at the end. The line of a single empty field is blank, too,
    /// unless only blank ones follow.
    fn next_line(&mut self) -> Result<bool, ReadError> {
        let delimiter = self.delimiter;
        let lines = &mut self.records.get_mut().lines;
        if self.columns.len() != 1 {
            return next_line(lines, Some(delimiter));
        }
        let is_filled = |line: &[u8]| !is_blank_line(line, delimiter);
        Ok(lines.advance()? && (is_filled(lines.line()) || lines.look_ahead(is_filled)?.is_some()))
    }

    /// A line without quotes, the usual case, is split and parsed in one pass; the `csv` crate handles the others.
    fn is_quoted(&self) -> bool {
        memchr(b'"', self.lines().line()).is_some()
    }

    /// Reads the record that starts at the line last read.
    fn read_quoted(&mut self) -> Result<(), ReadError> {
        let source = self.records.get_mut();
        let (start, text) = (source.lines.number(), lossy(source.lines.line()));
        source.give_line()?;
        let read = self.records.read_byte_record(&mut self.record);
        match self.records.get_mut().failed.take() {
            Some(Some(e)) => Err(e),
            Some(None) => Err(ReadErrorKind::UnclosedQuote { quote: '"', text }.at(start)),
            None => {
                read.expect("only the source fails");
                Ok(())
            }
        }
    }
}

/// The names that are not empty or `NA`.
fn given(names: &[String]) -> impl Iterator<Item = &String> {
    names.iter().filter(|name| !matches!(name.as_str(), "" | "NA"))
}

/// Returns true if all names that are given, at least one, are numbers.
fn are_numbers(names: &[String]) -> bool {
    given(names).next().is_some() && given(names).all(|name| number::parse(name.as_bytes()).is_ok())
}

/// Returns true if the names may be column numbers rather than the values of a row.
fn are_distinct_integers(names: &[String]) -> bool {
    let is_whole = |name: &String| number::parse_id(name.as_bytes()).is_some();
    let all: Names = names.iter().map(String::as_str).collect();
    given(names).all(is_whole) && all.duplicate().is_none()
}

/// Reads the next line that is not blank; returns false at the end. Tabs that separate columns do not count as blank.
fn next_line<R: BufRead>(lines: &mut LineReader<R>, delimiter: Option<u8>) -> Result<bool, ReadError> {
    while lines.advance()? {
        if !is_blank_line(lines.line(), delimiter.unwrap_or(b',')) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_blank_line(line: &[u8], delimiter: u8) -> bool {
    line.iter().all(|&b| is_blank(b, delimiter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<(Vec<String>, Vec<Vec<f64>>), ReadError> {
        let mut reader = CsvReader::from_lines(
            LineReader::new(text.as_bytes()),
            Delimiter::Detected { with_comma: true },
        )?;
        let (mut row, mut rows) = (Row::default(), Vec::new());
        while reader.read_row(&mut row)? {
            rows.push(row.values().to_vec());
        }
        Ok((reader.columns, rows))
    }

    #[test]
    fn quoted_fields_may_contain_line_ends() {
        let text = "a,\"b\nin cm\",\"c\r\n\r\n\"\"d\"\"\"\n1,\"2\n\",3\n\"\n4\",5,\"6\"\n7,8,9";
        let (columns, rows) = read(text).unwrap();
        assert_eq!(columns, ["a", "b\nin cm", "c\n\n\"d\""]);
        assert_eq!(rows, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]);
    }

    #[test]
    fn a_single_field_may_be_empty() {
        let (columns, rows) = read("\na\n\n1\n  \n\n2\n\n \n").unwrap();
        assert_eq!((columns.len(), rows.len()), (1, 5));
        let is_missing: Vec<bool> = rows.iter().map(|row| row[0].is_nan()).collect();
        assert_eq!(is_missing, [true, false, true, true, false]);
        assert_eq!(read("a,b\n\n1,2\n\n\n3,4\n").unwrap().1, [[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!(read("a\n\n\n").unwrap().1.len(), 0);
    }

    #[test]
    fn a_line_above_the_names_may_name_the_delimiter() {
        for text in [
            "sep=;\r\na,b;c\r\n1;2\r\n",
            "\"sep=;\"\na,b;c\n1;2\n",
            "\n SEP=;\na,b;c\n1;2\n",
        ] {
            assert_eq!(
                read(text).unwrap(),
                (vec!["a,b".to_owned(), "c".to_owned()], vec![vec![1.0, 2.0]])
            );
        }
        assert_eq!(read("sep=\t\na\tb\n1\t2\n").unwrap().0, ["a", "b"]);
        let given = CsvReader::from_lines(LineReader::new(&b"sep=;\na|b\n"[..]), Delimiter::Given(b'|'));
        assert_eq!(given.unwrap().columns(), ["a", "b"]);
        // Names of columns, and what no delimiter can be.
        assert_eq!(read("sep,b\n1,2\n").unwrap().0, ["sep", "b"]);
        assert_eq!(read("sep=ab,c\n1,2\n").unwrap().0, ["sep=ab", "c"]);
        assert!(matches!(
            read("sep=;\n").unwrap_err().kind,
            ReadErrorKind::Empty(_)
        ));
    }

    #[test]
    fn blanks_count_within_quotes_only() {
        let (columns, rows) = read("\"a b\" ,\t\" \"\"c\"\", \",d e \n 1, \"2\" ,3").unwrap();
        assert_eq!(columns, ["a b", " \"c\", ", "d e"]);
        assert_eq!(rows, [[1.0, 2.0, 3.0]]);
    }

    #[test]
    fn errors_know_their_line() {
        let check = |text: &str, line: u64, kind: ReadErrorKind| {
            let e = read(text).unwrap_err();
            assert_eq!((e.line, &e.kind), (Some(line), &kind), "{text:?}");
        };
        let unclosed = |text: &str| {
            let (quote, text) = ('"', text.to_owned());
            ReadErrorKind::UnclosedQuote { quote, text }
        };
        check("a,b\n1,2\n3,\"4\n5,6\n", 3, unclosed("3,\"4"));
        check("a,\"b\n1,2\n", 1, unclosed("a,\"b"));
        let stray = |text: &str| ReadErrorKind::StrayQuote(text.to_owned());
        check("a,b\n\"1\"2,3\n", 2, stray("2,3"));
        check("a,b\n1,\"2\" \"3\"\n", 2, stray(" \"3\""));
        check("a,b \"c\"\n", 1, stray("c\""));
        check("a,b\n\"1\n\"2,3\n", 3, stray("2,3"));
        check("a,b\n\"1\n\0", 3, ReadErrorKind::NulByte);
        let count = |given| {
            let (expected, delimiter) = (2, ',');
            ReadErrorKind::FieldCount {
                expected,
                given,
                delimiter,
            }
        };
        check("a,b\n\"1\n\",2,3\n", 3, count(3));
        check("a,b\n\"1\"\n", 2, count(1));
        check("a,b\n1,2,\n", 2, count(3));
        check("a,b\n1,2,3,4\n", 2, count(4));
        check("a,b\n1\n", 2, count(1));
        // The line that was looked at for its delimiter is still the second.
        check("a,b\n\n1\n", 3, count(1));
    }
}
