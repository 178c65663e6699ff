//! Decimal numbers.

use std::fmt;

/// Displays a number as the shortest decimal that reads back as the same `f32`; beyond 2^24, as the same `f64`: the
/// shortest decimal of an `f32` would be another whole number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number(pub(super) f32);

/// The largest number up to which every integer is an `f32`.
const EXACT: f32 = 16_777_216.0;

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.abs() > EXACT {
            true => f64::from(self.0).fmt(f),
            false => self.0.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn whole_numbers_have_all_digits() {
        let written = [1_700_000_128.0, -16_777_218.0, 16_777_216.0, 0.1, 1e20];
        let written = written.map(|value| Number(value).to_string());
        let expected = [
            "1700000128",
            "-16777218",
            "16777216",
            "0.1",
            "100000002004087730000",
        ];
        assert_eq!(written, expected);
    }

    proptest! {
        #[test]
        fn numbers_read_back_as_the_same(value in any::<f32>()) {
            let written = Number(value).to_string();
            prop_assert_eq!(written.parse::<f32>().unwrap(), value);
            if value.abs() > EXACT {
                prop_assert_eq!(written.parse::<f64>().unwrap(), f64::from(value));
            }
        }
    }
}
