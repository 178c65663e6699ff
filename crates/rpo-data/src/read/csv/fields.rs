//! The fields of a row.

use super::super::error::ReadErrorKind;
use super::super::number;
use super::super::quoted_text::Fault;
use super::super::row::Row;
use super::texts::FieldTexts;
use csv::ByteRecord;
use memchr::{memchr, memchr_iter};

/// Returns true for a blank or tab that is not the delimiter.
#[inline]
pub(super) fn is_blank(byte: u8, delimiter: u8) -> bool {
    matches!(byte, b' ' | b'\t') && byte != delimiter
}

/// Calls `visit` with each of the first fields of a line without quotes and its text, `None` if missing, and checks
/// their number.
pub(super) fn visit_fields(
    line: &[u8],
    delimiter: u8,
    columns: &[String],
    texts: &FieldTexts,
    mut visit: impl FnMut(usize, Option<&[u8]>) -> Result<(), ReadErrorKind>,
) -> Result<(), Fault> {
    let (mut at, mut count) = (0, 0);
    for field in line.split(|&b| b == delimiter) {
        if let Some(column) = columns.get(count) {
            let text = texts.read(field.trim_ascii(), column);
            text.and_then(|text| visit(count, text.as_deref()))
                .map_err(|kind| (at, kind))?;
        }
        count += 1;
        at += field.len() + 1;
    }
    check_count(columns.len(), count, delimiter, line.len())
}

/// Appends the numbers of a line without quotes to a row.
pub(super) fn parse_row(
    line: &[u8],
    delimiter: u8,
    columns: &[String],
    texts: &FieldTexts,
    row: &mut Row,
) -> Result<(), Fault> {
    // `None` once the line has ended: a delimiter after the last column would start another field.
    let mut rest = Some(line);
    for column in columns {
        let Some(mut field) = rest else { break };
        while let [first, after @ ..] = field
            && is_blank(*first, delimiter)
        {
            field = after;
        }
        let (value, after) = match number::scan(field) {
            Some((value, length))
                if field.get(length).is_none_or(|b| *b == delimiter) && !texts.are_special() =>
            {
                (value, &field[length..])
            }
            _ => {
                let (text, after) = field.split_at(memchr(delimiter, field).unwrap_or(field.len()));
                let at = line.len() - field.len();
                (parse_field(text.trim_ascii_end(), at, column, texts)?, after)
            }
        };
        row.push_dense(value);
        rest = after.get(1..);
    }
    let more = rest.map_or(0, |rest| 1 + memchr_iter(delimiter, rest).count());
    check_count(columns.len(), row.values().len() + more, delimiter, line.len())
}

/// Appends the numbers of a record with quotes to a row.
pub(super) fn parse_record(
    record: &ByteRecord,
    delimiter: u8,
    columns: &[String],
    texts: &FieldTexts,
    row: &mut Row,
) -> Result<(), Fault> {
    for (field, column) in record.iter().zip(columns) {
        row.push_dense(parse_field(field.trim_ascii(), 0, column, texts)?);
    }
    check_count(columns.len(), record.len(), delimiter, 0)
}

fn parse_field(text: &[u8], at: usize, column: &str, texts: &FieldTexts) -> Result<f64, Fault> {
    let Some(text) = texts.read(text, column).map_err(|kind| (at, kind))? else {
        return Ok(f64::NAN);
    };
    number::parse(&text).map_err(|why| (at, ReadErrorKind::number(why, column, &text)))
}

/// Checks the number of fields; `at` is where a line ends.
pub(super) fn check_count(expected: usize, given: usize, delimiter: u8, at: usize) -> Result<(), Fault> {
    if given == expected {
        return Ok(());
    }
    let delimiter = char::from(delimiter);
    let kind = ReadErrorKind::FieldCount {
        expected,
        given,
        delimiter,
    };
    Err((at, kind))
}
