//! How the texts of fields are read.

use super::MissingTexts;
use crate::message::lossy;
use crate::read::error::ReadErrorKind;
use crate::read::number;
use crate::read::options::ReadOptions;
use std::borrow::Cow;

/// The texts of missing values, and the character between the whole and the decimal digits of numbers.
#[derive(Debug, Clone, Default)]
pub(in crate::read) struct FieldTexts {
    missing: MissingTexts,
    has_decimal_comma: bool,
}

impl FieldTexts {
    pub(in crate::read) fn of(options: &ReadOptions) -> Self {
        Self {
            missing: MissingTexts::of(options),
            has_decimal_comma: options.decimal_comma,
        }
    }

    /// Returns true if numbers may be missing values, or have decimal commas.
    #[inline]
    pub(super) fn are_special(&self) -> bool {
        self.missing.has_others() || self.has_decimal_comma
    }

    /// Returns the text of a field, with a decimal point if it is a number; `None` if it is a missing value. Blanks
    /// within quotes belong to words, but not to numbers and missing values.
    ///
    /// # Errors
    /// [`ReadErrorKind::DecimalPoint`] for a number with a point where numbers have commas.
    #[inline]
    pub(super) fn read<'a>(
        &self,
        text: &'a [u8],
        column: &str,
    ) -> Result<Option<Cow<'a, [u8]>>, ReadErrorKind> {
        match self.missing.present(text.trim_ascii()) {
            Some(trimmed) if self.has_decimal_comma => {
                let number = with_point(trimmed, column)?;
                Ok(Some(number.map_or(Cow::Borrowed(text), Cow::Owned)))
            }
            trimmed => Ok(trimmed.map(|_| Cow::Borrowed(text))),
        }
    }
}

/// Returns a number with a point in place of its decimal comma; `None` for a text without such a comma.
fn with_point(text: &[u8], column: &str) -> Result<Option<Vec<u8>>, ReadErrorKind> {
    let is_number = |text: &[u8]| number::parse(text).is_ok();
    if text.contains(&b'.') {
        return match is_number(text) {
            true => Err(ReadErrorKind::DecimalPoint {
                column: column.to_owned(),
                text: lossy(text),
            }),
            false => Ok(None),
        };
    }
    let Some(at) = text.iter().position(|b| *b == b',') else {
        return Ok(None);
    };
    let mut number = text.to_vec();
    number[at] = b'.';
    Ok(is_number(&number).then_some(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_of_numbers_become_points() {
        let texts = FieldTexts {
            has_decimal_comma: true,
            ..FieldTexts::default()
        };
        let read = |text: &'static str| texts.read(text.as_bytes(), "x");
        for (text, expected) in [
            ("0,57", "0.57"),
            ("-1,5e-3", "-1.5e-3"),
            ("12", "12"),
            (" 0,5 ", "0.5"),
            // No numbers: separators of thousands, lists, dates, words.
            ("1,234,5", "1,234,5"),
            ("1.234,5", "1.234,5"),
            ("a,b", "a,b"),
            (" a,b ", " a,b "),
            ("31.12.2020", "31.12.2020"),
        ] {
            assert_eq!(
                read(text).unwrap().as_deref(),
                Some(expected.as_bytes()),
                "{text}"
            );
        }
        assert_eq!(read("NA").unwrap(), None);
        assert_eq!(read(" ").unwrap(), None);
        assert!(
            matches!(read("1.5"), Err(ReadErrorKind::DecimalPoint { column, text }) if column == "x" && text == "1.5")
        );
        let point = FieldTexts::default();
        assert_eq!(point.read(b"0,57", "x").unwrap().as_deref(), Some(&b"0,57"[..]));
    }
}
