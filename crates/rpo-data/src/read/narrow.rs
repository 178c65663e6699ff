//! Numbers as a set stores them: `f32`.

use super::error::ReadErrorKind;
use crate::dataset::Rounded;
use std::collections::BTreeMap;

/// The largest number up to which every integer is an `f32`.
const EXACT: f64 = 16_777_216.0;

/// Converts the values of columns to `f32`, and records the columns in which large numbers are rounded.
#[derive(Debug, Default)]
pub(super) struct Narrow {
    rounded: BTreeMap<u32, Rounded>,
}

impl Narrow {
    /// Returns the f32 nearest to a value, NaN for NaN. The decimal text has already been rounded to an f64, so that
    /// the last bit may differ from a direct conversion in about one of 2^29 cases.
    #[inline]
    pub(super) fn value(
        &mut self,
        column: u32,
        value: f64,
        name: impl Fn() -> String,
    ) -> Result<f32, ReadErrorKind> {
        let stored = value as f32;
        if value.abs() > EXACT && f64::from(stored) != value {
            self.record(column, value, name)?;
        }
        Ok(stored)
    }

    #[cold]
    fn record(&mut self, column: u32, value: f64, name: impl Fn() -> String) -> Result<(), ReadErrorKind> {
        let stored = value as f32;
        if stored.is_infinite() {
            let (text, bits) = (value.to_string(), 32);
            return Err(ReadErrorKind::TooLarge {
                column: name(),
                text,
                bits,
            });
        }
        let rounded = self.rounded.entry(column).or_insert_with(|| Rounded {
            column: name(),
            count: 0,
            value,
            stored,
        });
        rounded.count += 1;
        Ok(())
    }

    /// Returns the columns with rounded numbers, in order.
    pub(super) fn finish(self) -> Vec<Rounded> {
        self.rounded.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Narrows values of one column.
    fn narrow(values: &[f64]) -> Vec<Rounded> {
        let mut narrow = Narrow::default();
        for &value in values {
            let stored = narrow.value(0, value, || "x".to_owned()).unwrap();
            assert!(stored == value as f32 || value.is_nan());
        }
        narrow.finish()
    }

    #[test]
    fn whole_numbers_that_change_are_recorded() {
        let found = narrow(&[1.0, 1_700_000_136.0, f64::NAN, 16_777_217.0, 16_777_218.0]);
        let expected = Rounded {
            column: "x".to_owned(),
            count: 2,
            value: 1_700_000_136.0,
            stored: 1_700_000_128.0,
        };
        assert_eq!(found, [expected]);
        let mut narrow = Narrow::default();
        let too_large = narrow.value(0, 1e39, || "x".to_owned()).unwrap_err();
        assert!(matches!(too_large, ReadErrorKind::TooLarge { bits: 32, .. }));
    }

    proptest! {
        #[test]
        fn no_whole_number_changes_silently(value in any::<i64>()) {
            let value = value as f64;
            prop_assert_eq!(narrow(&[value]).is_empty(), f64::from(value as f32) == value);
        }

        #[test]
        fn small_numbers_and_those_of_f32_are_not_recorded(small in -EXACT..EXACT, single in any::<f32>()) {
            let single = if single.is_infinite() { f32::MAX } else { single };
            prop_assert!(narrow(&[small, single.into()]).is_empty());
        }
    }
}
