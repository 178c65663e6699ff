//! Ranges of parameters.

use std::fmt::Display;

/// A parameter outside its range: a variant of the error of each crate that checks parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is {given}; expected {expected}")]
pub struct OutOfRange {
    /// The parameter.
    pub name: &'static str,
    /// Its value.
    pub given: String,
    /// What is allowed.
    pub expected: &'static str,
}

impl OutOfRange {
    /// A parameter, its value, and what is allowed.
    pub fn new(name: &'static str, given: impl Display, expected: &'static str) -> Self {
        Self {
            name,
            given: given.to_string(),
            expected,
        }
    }

    /// Refuses the value unless it fits.
    ///
    /// ```
    /// use rpo_core::OutOfRange;
    /// let momentum = f64::NAN;
    /// let refused = OutOfRange::unless((0.0..1.0).contains(&momentum), "momentum", momentum, "in [0, 1)");
    /// assert_eq!(refused, Err(OutOfRange::new("momentum", "NaN", "in [0, 1)")));
    /// ```
    ///
    /// # Errors
    /// [`OutOfRange`].
    pub fn unless(
        fits: bool,
        name: &'static str,
        given: impl Display,
        expected: &'static str,
    ) -> Result<(), Self> {
        if fits {
            Ok(())
        } else {
            Err(Self::new(name, given, expected))
        }
    }
}

/// Refuses a number of 0; `None`, no limit, fits.
///
/// # Errors
/// [`OutOfRange`].
pub fn check_count(name: &'static str, count: impl Into<Option<usize>>) -> Result<(), OutOfRange> {
    OutOfRange::unless(count.into() != Some(0), name, 0, "at least 1")
}

/// Refuses what is no share of a whole, in (0, 1].
///
/// # Errors
/// [`OutOfRange`], also for NaN.
pub fn check_share(name: &'static str, share: f64) -> Result<(), OutOfRange> {
    OutOfRange::unless(is_share(share), name, share, "in (0, 1]")
}

/// Whether a number is a share of a whole, in (0, 1].
pub fn is_share(v: f64) -> bool {
    v > 0.0 && v <= 1.0
}

/// Refuses what is not above 0 and finite.
///
/// # Errors
/// [`OutOfRange`], also for NaN.
pub fn check_positive(name: &'static str, v: f64) -> Result<(), OutOfRange> {
    OutOfRange::unless(v > 0.0 && v.is_finite(), name, v, "finite, above 0")
}

/// Refuses what is negative or not finite.
///
/// # Errors
/// [`OutOfRange`], also for NaN.
pub fn check_not_negative(name: &'static str, v: f64) -> Result<(), OutOfRange> {
    OutOfRange::unless((0.0..f64::INFINITY).contains(&v), name, v, "finite, 0 or more")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_where_they_are_said_to_be() {
        assert!(check_count("n", 0).is_err() && check_count("n", Some(0)).is_err());
        assert!(check_count("n", 1).is_ok() && check_count("n", None).is_ok());
        let tiny = f64::MIN_POSITIVE;
        for (check, right, wrong) in [
            (
                check_share as fn(_, _) -> _,
                [tiny, 1.0],
                [0.0, 1.0 + f64::EPSILON],
            ),
            (check_positive, [tiny, f64::MAX], [0.0, f64::INFINITY]),
            (check_not_negative, [0.0, f64::MAX], [-tiny, f64::INFINITY]),
        ] {
            assert!(right.iter().all(|&v| check("v", v).is_ok()));
            assert!(wrong.iter().chain(&[f64::NAN]).all(|&v| check("v", v).is_err()));
        }
    }
}
