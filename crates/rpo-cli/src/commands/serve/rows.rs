//! The values of the rows of requests.

use super::json::{Object, is_object};
use super::problem::Problem;
use rpo::core::text::{cut, quoted};
use rpo::data::Names;
use rpo::data::read::{Cell, ColumnType};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// From this number on, different integers may be equal as `f64`s.
const INEXACT: f64 = (1_u64 << 53) as f64;

/// A value of a row.
#[derive(Debug, PartialEq)]
pub(super) enum Given<'a> {
    Missing,
    Number(f64),
    Text(Cow<'a, str>),
    /// A text that training had as a word, although it stands for a missing value in CSV files.
    Word(Cow<'a, str>),
}

impl Given<'_> {
    pub(super) fn cell(&self) -> Cell<'_> {
        match self {
            Self::Missing => Cell::Missing,
            Self::Number(value) => Cell::Number(*value),
            Self::Text(text) => Cell::Text(text),
            Self::Word(text) => Cell::Word(text),
        }
    }
}

/// Returns the values of a row, given as an object, in the order of the columns. `words` are those of each column that
/// would read as missing values.
pub(super) fn by_column<'a>(
    row: usize,
    text: &'a RawValue,
    columns: &BTreeMap<String, ColumnType>,
    words: &BTreeMap<String, Vec<String>>,
) -> Result<Vec<Given<'a>>, Problem> {
    let object = object(row, text)?;
    let value = |(name, &kind): (&String, &ColumnType)| match object.get(name) {
        Some(text) => match value(row, name, kind, text.get())? {
            Given::Text(text)
                if words
                    .get(name)
                    .is_some_and(|words| words.iter().any(|word| *word == text)) =>
            {
                Ok(Given::Word(text))
            }
            given => Ok(given),
        },
        None => {
            let message = format!("the row has no value for {name:?}; use null for a missing value");
            Err(Problem::row(row, name, message))
        }
    };
    columns.iter().map(value).collect()
}

/// Returns the values of a row that are not 0, each with the number of its column, in the order of the columns.
pub(super) fn by_number(row: usize, text: &RawValue, names: &Names) -> Result<Vec<(u32, f32)>, Problem> {
    let mut values = Vec::new();
    for (name, text) in object(row, text)? {
        let no_feature = || Problem::row(row, &cut(&name), format!("there is no feature {}", quoted(&name)));
        let column = names.position(&name).ok_or_else(no_feature)?;
        let value = match text.get() {
            "null" => f32::NAN,
            text => number(row, &name, text)? as f32,
        };
        if value.is_infinite() {
            let message = "the value is too large, outside the range of a 32-bit float";
            return Err(Problem::row(row, &name, message));
        }
        if value != 0.0 {
            values.push((column as u32, value));
        }
    }
    values.sort_unstable_by_key(|(column, _)| *column);
    Ok(values)
}

fn object(row: usize, text: &RawValue) -> Result<BTreeMap<String, &RawValue>, Problem> {
    if !is_object(text) {
        return Err(Problem::Row {
            row,
            column: None,
            message: "a row is an object of features".to_owned(),
        });
    }
    let object = serde_json::from_str(text.get()).map(|Object(object)| object);
    object.map_err(|e| Problem::Request(format!("row {row}: {e}")))
}

/// Parses a value of a column. Integers are numbers in columns of numbers alone: elsewhere, such as in a category of
/// identifiers, they are their digits.
fn value<'a>(row: usize, name: &str, kind: ColumnType, text: &'a str) -> Result<Given<'a>, Problem> {
    let is_of_words = matches!(kind, ColumnType::Category | ColumnType::Text);
    match text.as_bytes()[0] {
        b'n' => Ok(Given::Missing),
        b't' | b'f' => Ok(Given::Text(text.into())),
        b'"' => {
            let text = serde_json::from_str(text).map_err(|e| Problem::row(row, name, e.to_string()))?;
            Ok(Given::Text(Cow::Owned(text)))
        }
        b'[' | b'{' => Err(unreadable(row, name, kind, text)),
        _ if kind != ColumnType::Number && !text.contains(['.', 'e', 'E']) => Ok(Given::Text(text.into())),
        _ => match number(row, name, text)? {
            value if is_of_words && value.abs() >= INEXACT => {
                let text = cut(text);
                let message =
                    format!("{name:?} is a number that is not exact, {text}: send it as a text, in quotes");
                Err(Problem::row(row, name, message))
            }
            value => Ok(Given::Number(value)),
        },
    }
}

/// Parses a number, which is infinite beyond the range of 64-bit floats.
fn number(row: usize, name: &str, text: &str) -> Result<f64, Problem> {
    // Nothing else that JSON allows reads as a number.
    let number = text.parse();
    number.map_err(|_| unreadable(row, name, ColumnType::Number, text))
}

/// The error for a value that a column of this type cannot have.
fn unreadable(row: usize, name: &str, kind: ColumnType, text: &str) -> Problem {
    let expected = match kind {
        ColumnType::Number => "a number",
        ColumnType::Category | ColumnType::Text => "a text or a number",
        ColumnType::Date | ColumnType::DateTime => "a date as text",
    };
    Problem::row(
        row,
        name,
        format!("{name:?} must be {expected}, got {}", cut(text)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_their_digits_where_they_are_no_numbers() {
        let read = |kind, text| value(0, "id", kind, text).map_err(|e| e.to_string());
        for digits in [
            "7",
            "-0",
            "100000000000000004",
            "18446744073709551615",
            "123456789012345678901234567890",
        ] {
            for kind in [ColumnType::Category, ColumnType::Text, ColumnType::Date] {
                assert_eq!(read(kind, digits), Ok(Given::Text(digits.into())));
            }
            let number = digits.parse().unwrap();
            assert_eq!(read(ColumnType::Number, digits), Ok(Given::Number(number)));
        }
        assert_eq!(read(ColumnType::Category, "2.0"), Ok(Given::Number(2.0)));
        assert_eq!(read(ColumnType::Text, "9e15"), Ok(Given::Number(9e15)));
        for text in ["9007199254740992.0", "-1e17", "1e999"] {
            let message = read(ColumnType::Category, text).unwrap_err();
            assert_eq!(
                message,
                format!("\"id\" is a number that is not exact, {text}: send it as a text, in quotes")
            );
        }
    }
}
