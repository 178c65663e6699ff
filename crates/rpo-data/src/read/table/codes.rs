//! Finds numbers that are codes, such as 04109.

use crate::dataset::Code;
use crate::read::csv::CsvReader;
use crate::read::error::ReadError;
use std::io::BufRead;

/// Number of rows that are looked at: codes have leading zeros long before.
const ROWS: usize = 1000;
/// Smallest number of digits of a code; shorter ones with leading zeros are months and hours.
const DIGITS: usize = 4;

/// What the values of a column so far are.
#[derive(Debug, Clone, Default)]
enum Seen {
    #[default]
    Nothing,
    /// Digits, as many in each value, and the first value with a leading zero.
    Digits {
        length: usize,
        leading_zero: Option<String>,
    },
    /// Something else.
    Other,
}

impl Seen {
    fn add(&mut self, text: &[u8]) {
        let expected = match self {
            Self::Nothing => text.len(),
            Self::Digits { length, .. } => *length,
            Self::Other => return,
        };
        if text.len() != expected || text.len() < DIGITS || !text.iter().all(u8::is_ascii_digit) {
            *self = Self::Other;
            return;
        }
        let code = || (text[0] == b'0').then(|| String::from_utf8_lossy(text).into_owned());
        match self {
            Self::Digits { leading_zero, .. } => *leading_zero = leading_zero.take().or_else(code),
            _ => {
                *self = Self::Digits {
                    length: expected,
                    leading_zero: code(),
                }
            }
        }
    }
}

/// Returns the columns in whose first values, all of digits, there are as many digits, and some leading zeros.
pub(super) fn codes<R: BufRead>(mut reader: CsvReader<R>) -> Result<Vec<Code>, ReadError> {
    let mut seen = vec![Seen::default(); reader.columns().len()];
    for _ in 0..ROWS {
        let has_row = reader.read_texts(|column, text| {
            if let Some(text) = text {
                seen[column].add(text.trim_ascii());
            }
            Ok(())
        })?;
        if !has_row || seen.iter().all(|seen| matches!(seen, Seen::Other)) {
            break;
        }
    }
    let columns = reader.columns().iter().zip(seen);
    let codes = columns.filter_map(|(column, seen)| match seen {
        Seen::Digits {
            leading_zero: Some(value),
            ..
        } => Some(Code {
            column: column.clone(),
            value,
        }),
        _ => None,
    });
    Ok(codes.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{ColumnType, ReadOptions, Targets, read_from};
    use crate::suspicious_features;

    #[test]
    fn codes_have_as_many_digits_each_and_leading_zeros() {
        let is_code = |values: &[&str]| {
            let mut seen = Seen::default();
            values.iter().for_each(|value| seen.add(value.as_bytes()));
            matches!(
                seen,
                Seen::Digits {
                    leading_zero: Some(_),
                    ..
                }
            )
        };
        assert!(is_code(&["04109", "10115"]) && is_code(&["1234", "0000", "0001"]));
        for values in [
            &[][..],
            &["10115", "99999"],
            &["04109", "4109"],
            &["01", "12"],
            &["0001", "x"],
            &["00.5", "0001"],
        ] {
            assert!(!is_code(values), "{values:?}");
        }
    }

    #[test]
    fn features_that_are_codes_are_suspicious() {
        let options = ReadOptions {
            targets: Targets::Last(1),
            ..ReadOptions::default()
        };
        // The other column decides whether all columns are numbers.
        for (other, n_found) in [("1", 1), ("a", 1), ("2024-01-31", 1)] {
            let text = format!("zip,other,code\n04109,{other},0001\n10115,{other},0002\n");
            let data = read_from(text.as_bytes(), &options).unwrap();
            let found: Vec<String> = suspicious_features(&data)
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(found.len(), n_found, "{found:?}");
            assert!(
                found[0].contains("\"zip\"") && found[0].contains("04109"),
                "{found:?}"
            );
        }
        let declared = ReadOptions {
            types: [("zip".to_owned(), ColumnType::Category)].into(),
            ..options
        };
        let data = read_from("zip,y\n04109,1\n10115,2\n".as_bytes(), &declared).unwrap();
        assert!(suspicious_features(&data).is_empty());
    }
}
