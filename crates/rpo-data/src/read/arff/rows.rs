//! Data rows of ARFF.

use super::header::{Attribute, AttributeKind};
use crate::message::lossy;
use crate::read::error::ReadErrorKind;
use crate::read::labelled_line::misplaced;
use crate::read::line::skip_blanks;
use crate::read::number;
use crate::read::quoted_text::{Fault, field};
use crate::read::row::Row;
use rpo_core::Mismatch;

/// The parser of an attribute's values.
#[derive(Debug)]
pub(super) enum Cell {
    Numeric,
    /// Declared `{0,1}`, like labels and indicators; parsed by a faster path.
    Binary,
    /// Positions of the values in the declaration, in increasing order of their text.
    Nominal(Box<[u32]>),
    /// Not part of the rows.
    LeftOut,
}

impl Cell {
    pub(super) fn new(attribute: &Attribute) -> Self {
        match &attribute.kind {
            AttributeKind::Numeric => Self::Numeric,
            AttributeKind::Other(_) => Self::LeftOut,
            AttributeKind::Nominal(values) if **values == ["0", "1"] => Self::Binary,
            AttributeKind::Nominal(values) => {
                let mut order: Box<[u32]> = (0..values.len() as u32).collect();
                order.sort_by_key(|&i| &values[i as usize]);
                Self::Nominal(order)
            }
        }
    }
}

/// Appends the values of a line to a dense row.
pub(super) fn parse_dense(
    line: &[u8],
    start: usize,
    attributes: &[Attribute],
    cells: &[Cell],
    row: &mut Row,
) -> Result<(), Fault> {
    let expected = cells.len();
    let mut at = start;
    for (j, cell) in cells.iter().enumerate() {
        let stops = |b| b == b',';
        let end = match cell {
            Cell::LeftOut => skip_value(line, at, &attributes[j], stops)?,
            cell => {
                let (value, end) = parse_value(line, at, &attributes[j], cell, stops)?;
                row.push_dense(value);
                end
            }
        };
        at = skip_blanks(line, end);
        match line.get(at) {
            Some(b',') if j + 1 < expected => at = skip_blanks(line, at + 1),
            None if j + 1 == expected => return Ok(()),
            None => return Err(wrong_count(at, expected, j + 1)),
            Some(b',') => return Err(wrong_count(at, expected, expected + count_fields(line, at + 1)?)),
            Some(_) => return Err(text_after("a value", line, at)),
        }
    }
    unreachable!("a header declares at least one attribute")
}

pub(super) fn parse_sparse(
    line: &[u8],
    start: usize,
    attributes: &[Attribute],
    cells: &[Cell],
    positions: &[u32],
    row: &mut Row,
) -> Result<(), Fault> {
    const WHAT: &str = "attribute";
    row.start_sparse();
    let mut at = skip_blanks(line, start);
    if line.get(at) != Some(&b'}') {
        let mut previous = None;
        loop {
            let (index, after) = parse_index(line, at, WHAT)?;
            let count = cells.len() as u64;
            if index >= count || previous.is_some_and(|previous| index <= previous) {
                return Err((at, misplaced(WHAT, index, previous, count)));
            }
            previous = Some(index);
            let value_at = skip_blanks(line, after);
            if matches!(line.get(value_at), None | Some(b',' | b'}')) {
                return Err((value_at, ReadErrorKind::NoValue { what: WHAT, index }));
            }
            let stops = |b| b == b',' || b == b'}';
            let j = index as usize;
            let end = match &cells[j] {
                Cell::LeftOut => skip_value(line, value_at, &attributes[j], stops)?,
                cell => {
                    let (value, end) = parse_value(line, value_at, &attributes[j], cell, stops)?;
                    row.push_sparse(positions[j], value);
                    end
                }
            };
            at = skip_blanks(line, end);
            match line.get(at) {
                Some(b',') => at = skip_blanks(line, at + 1),
                Some(b'}') => break,
                None => return Err((at, ReadErrorKind::UnclosedBrace)),
                Some(_) => return Err(text_after("a value", line, at)),
            }
        }
    }
    let rest = skip_blanks(line, at + 1);
    if rest < line.len() {
        return Err(text_after("the closing brace", line, rest));
    }
    Ok(())
}

/// Parses the value that starts at a position; returns it with its end.
#[inline]
fn parse_value(
    line: &[u8],
    at: usize,
    attribute: &Attribute,
    cell: &Cell,
    stops: impl Fn(u8) -> bool,
) -> Result<(f64, usize), Fault> {
    let ends_at = |end: usize| line.get(end).is_none_or(|&b| stops(b) || b == b' ' || b == b'\t');
    match cell {
        Cell::Numeric => {
            if let Some((value, length)) = number::scan(&line[at..])
                && ends_at(at + length)
            {
                return Ok((value, at + length));
            }
        }
        Cell::Binary => {
            if let Some(&byte @ (b'0' | b'1')) = line.get(at)
                && ends_at(at + 1)
            {
                return Ok((f64::from(byte - b'0'), at + 1));
            }
        }
        Cell::Nominal(_) | Cell::LeftOut => {}
    }
    parse_any_value(line, at, attribute, cell, stops)
}

/// Returns the end of a value that is not read.
fn skip_value(
    line: &[u8],
    at: usize,
    attribute: &Attribute,
    stops: impl Fn(u8) -> bool,
) -> Result<usize, Fault> {
    let found = field(line, at, stops)?;
    match found.text.is_empty() && !found.quoted {
        true => Err((at, ReadErrorKind::EmptyField(attribute.name.clone()))),
        false => Ok(found.end),
    }
}

/// Like [`parse_value`], but for values that are quoted, missing, nominal or invalid.
fn parse_any_value(
    line: &[u8],
    at: usize,
    attribute: &Attribute,
    cell: &Cell,
    stops: impl Fn(u8) -> bool,
) -> Result<(f64, usize), Fault> {
    let found = field(line, at, stops)?;
    let column = || attribute.name.clone();
    if !found.quoted {
        match &*found.text {
            b"?" => return Ok((f64::NAN, found.end)),
            b"" => return Err((at, ReadErrorKind::EmptyField(column()))),
            _ => {}
        }
    }
    let value = match (&attribute.kind, cell) {
        (AttributeKind::Numeric, _) => {
            number::parse(&found.text).map_err(|why| ReadErrorKind::number(why, column(), &found.text))
        }
        (AttributeKind::Nominal(values), cell) => {
            let position = match cell {
                Cell::Nominal(order) => order
                    .binary_search_by(|&i| values[i as usize].as_bytes().cmp(&found.text))
                    .ok()
                    .map(|k| order[k] as usize),
                _ => values.iter().position(|v| v.as_bytes() == &*found.text),
            };
            position
                .map(|i| i as f64)
                .ok_or_else(|| ReadErrorKind::UndeclaredValue {
                    column: column(),
                    text: lossy(&found.text),
                })
        }
        (AttributeKind::Other(_), _) => unreachable!("texts and dates are left out"),
    };
    value.map(|value| (value, found.end)).map_err(|kind| (at, kind))
}

/// Parses the index that starts at a position; returns it with its end.
#[inline]
fn parse_index(line: &[u8], at: usize, what: &'static str) -> Result<(u64, usize), Fault> {
    if let Some((index, length)) = number::scan_id(&line[at..])
        && matches!(line.get(at + length), None | Some(b' ' | b'\t' | b',' | b'}'))
    {
        return Ok((index, at + length));
    }
    if at == line.len() {
        return Err((at, ReadErrorKind::UnclosedBrace));
    }
    let found = field(line, at, |b| matches!(b, b' ' | b'\t' | b',' | b'}'))?;
    let text = lossy(&found.text);
    Err((at, ReadErrorKind::BadIndex { what, text }))
}

/// Returns the number of fields from a position on.
fn count_fields(line: &[u8], start: usize) -> Result<usize, Fault> {
    let (mut count, mut at) = (1, skip_blanks(line, start));
    loop {
        let end = field(line, at, |b| b == b',')?.end;
        match line[end..].iter().position(|&b| b == b',') {
            None => return Ok(count),
            Some(comma) => {
                count += 1;
                at = skip_blanks(line, end + comma + 1);
            }
        }
    }
}

fn wrong_count(at: usize, expected: usize, given: usize) -> Fault {
    let what = "values of the row";
    (
        at,
        Mismatch {
            what,
            expected,
            given,
        }
        .into(),
    )
}

fn text_after(after: &'static str, line: &[u8], at: usize) -> Fault {
    let text = lossy(line[at..].trim_ascii_end());
    (at, ReadErrorKind::TextAfter { after, text })
}
