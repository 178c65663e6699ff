//! Numbers as a set stores them: `f32`.

use super::error::ReadErrorKind;
use crate::dataset::{Rounded, Rounding};
use std::collections::BTreeMap;

/// The largest number up to which every integer is an `f32`.
const EXACT: f64 = 16_777_216.0;
/// The largest harmless error, as a fraction of the range of a column.
const HARMLESS: f64 = 1e-3;
/// The range of a column, as a fraction of its largest magnitude, from which on errors are harmless: they are at most
/// 2^-24 of a magnitude, or 2^-150.
const WIDE: f64 = 1e-4;

/// Converts the values of columns to `f32`, and records the columns that lose more than last digits.
#[derive(Debug, Default)]
pub(super) struct Narrow {
    rounded: BTreeMap<(u32, Rounding), Rounded>,
    /// The ranges of the first columns, as far as dense rows have reached.
    ranges: Vec<Range>,
    /// For each of them, true if its errors are harmless. More values only widen a range, also in relation to their
    /// magnitude, so that nearly all values of nearly all columns cost no more than this test.
    are_wide: Vec<bool>,
}

/// The range of a column, and the errors of its values.
#[derive(Debug, Clone, Copy)]
struct Range {
    least: f64,
    largest: f64,
    /// The largest error, and the value that has it.
    error: f64,
    value: f64,
    /// Number of values that are rounded.
    count: usize,
}

impl Range {
    const EMPTY: Self = Self {
        least: f64::INFINITY,
        largest: f64::NEG_INFINITY,
        error: 0.0,
        value: 0.0,
        count: 0,
    };

    /// Adds a value; NaN changes nothing.
    fn add(&mut self, value: f64, stored: f32) {
        let error = (value - f64::from(stored)).abs();
        self.least = self.least.min(value);
        self.largest = self.largest.max(value);
        self.count += usize::from(error > 0.0);
        if error > self.error {
            (self.error, self.value) = (error, value);
        }
    }

    /// Returns true if errors are harmless, whatever values follow.
    fn is_wide(&self) -> bool {
        let range = self.largest - self.least;
        range >= WIDE * self.largest.abs().max(self.least.abs()) && range >= f64::from(f32::MIN_POSITIVE)
    }

    /// Returns true if the values differ by little beside their errors. The error of a constant changes nothing.
    fn is_lost(&self) -> bool {
        self.least < self.largest && self.error > HARMLESS * (self.largest - self.least)
    }
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
        let may_be_lost = value.abs() > EXACT || stored == 0.0;
        if may_be_lost && f64::from(stored) != value {
            self.record(column, value, name)?;
        }
        Ok(stored)
    }

    /// Like [`value`](Self::value), for a value of a dense row: also adds it to the range of its column.
    #[inline]
    pub(super) fn dense_value(
        &mut self,
        column: u32,
        value: f64,
        name: impl Fn() -> String,
    ) -> Result<f32, ReadErrorKind> {
        let stored = self.value(column, value, name)?;
        if self.are_wide.get(column as usize) != Some(&true) {
            self.widen(column as usize, value, stored);
        }
        Ok(stored)
    }

    #[cold]
    fn widen(&mut self, column: usize, value: f64, stored: f32) {
        if column >= self.ranges.len() {
            self.ranges.resize(column + 1, Range::EMPTY);
            self.are_wide.resize(column + 1, false);
        }
        self.ranges[column].add(value, stored);
        self.are_wide[column] = self.ranges[column].is_wide();
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
        let rounding = if stored == 0.0 {
            Rounding::Zero
        } else {
            Rounding::Large
        };
        let rounded = self.rounded.entry((column, rounding)).or_insert_with(|| Rounded {
            column: name(),
            rounding,
            count: 0,
            value,
            stored,
        });
        rounded.count += 1;
        Ok(())
    }

    /// Returns the columns that lose more than last digits, in order. A column that is recorded for large numbers or for
    /// zeros is not recorded for its differences, too.
    pub(super) fn finish(mut self, name: impl Fn(u32) -> String) -> Vec<Rounded> {
        for (column, range) in (0..).zip(&self.ranges).filter(|(_, range)| range.is_lost()) {
            let mut others = [Rounding::Large, Rounding::Zero].into_iter();
            if !others.any(|rounding| self.rounded.contains_key(&(column, rounding))) {
                let rounding = Rounding::Differences;
                let rounded = Rounded {
                    column: name(column),
                    rounding,
                    count: range.count,
                    value: range.value,
                    stored: range.value as f32,
                };
                self.rounded.insert((column, rounding), rounded);
            }
        }
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
            let stored = narrow.dense_value(0, value, || "x".to_owned()).unwrap();
            assert!(stored == value as f32 || value.is_nan());
        }
        narrow.finish(|_| "x".to_owned())
    }

    #[test]
    fn whole_numbers_that_change_are_recorded() {
        let found = narrow(&[1.0, 1_700_000_136.0, f64::NAN, 16_777_217.0, 16_777_218.0]);
        let expected = Rounded {
            column: "x".to_owned(),
            rounding: Rounding::Large,
            count: 2,
            value: 1_700_000_136.0,
            stored: 1_700_000_128.0,
        };
        assert_eq!(found, [expected]);
        let mut narrow = Narrow::default();
        let too_large = narrow.value(0, 1e39, || "x".to_owned()).unwrap_err();
        assert!(matches!(too_large, ReadErrorKind::TooLarge { bits: 32, .. }));
    }

    #[test]
    fn numbers_that_become_zero_are_recorded() {
        let found = narrow(&[1e-45, 0.0, -0.0, f64::NAN, 1.0, -1e-50, 1e-60]);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].rounding, found[0].count), (Rounding::Zero, 2));
        assert_eq!((found[0].value, found[0].stored), (-1e-50, 0.0));
    }

    #[test]
    fn errors_are_compared_with_the_range() {
        let rounding = |values: &[f64]| {
            narrow(values)
                .first()
                .map(|rounded| (rounded.rounding, rounded.value))
        };
        let large = [10_000_000.25, f64::NAN, 10_000_001.5, 10_000_002.0];
        assert_eq!(rounding(&large), Some((Rounding::Differences, 10_000_001.5)));
        // Single numbers, whole ones, and those in a wide range lose nothing.
        assert_eq!(rounding(&[0.1, f64::NAN, 0.1]), None);
        assert_eq!(rounding(&[10_000_000.0, 10_000_001.0]), None);
        assert_eq!(rounding(&[0.1, 10_000_001.5]), None);
        assert_eq!(rounding(&[]), None);
    }

    proptest! {
        #[test]
        fn no_whole_number_changes_silently(value in any::<i64>()) {
            let value = value as f64;
            prop_assert_eq!(narrow(&[value]).is_empty(), f64::from(value as f32) == value);
        }

        /// The naive twin: errors and ranges of all values.
        #[test]
        fn differences_are_compared_with_the_range_of_all_values(
            large in prop::sample::select(vec![0.0, 1e-44, 1e-3, 1.0, 1e4, 1e7]),
            small in prop::sample::select(vec![1e-44, 1e-3, 1.0, 1e3]),
            units in proptest::collection::vec(-1.0..1.0, 2..20),
        ) {
            let values: Vec<f64> = units.iter().map(|unit| large + small * unit).collect();
            let error = |v: &f64| (v - f64::from(*v as f32)).abs();
            let range = values.iter().copied().fold(f64::MIN, f64::max) - values.iter().copied().fold(f64::MAX, f64::min);
            let is_lost = range > 0.0 && values.iter().map(error).fold(0.0, f64::max) > HARMLESS * range;
            let is_zero = values.iter().any(|v| *v != 0.0 && *v as f32 == 0.0);
            prop_assert_eq!(!narrow(&values).is_empty(), is_lost || is_zero);
        }

        #[test]
        fn small_numbers_and_those_of_f32_are_not_recorded(small in -EXACT..EXACT, single in any::<f32>()) {
            let single = if single.is_infinite() { f32::MAX } else { single };
            prop_assert!(narrow(&[small]).is_empty());
            prop_assert!(narrow(&[single.into(), 0.0]).is_empty());
        }
    }
}
