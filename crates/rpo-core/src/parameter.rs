//! Errors of parameters, and the checks that raise them.

use std::fmt::Display;

/// A parameter that cannot be used: every crate's error has a variant for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// A value outside the parameter's range.
    #[error("`{name}` must be {expected}, got {given}")]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// Its value.
        given: String,
        /// The values it may have, as in "must be *at least 1*".
        expected: &'static str,
    },
    /// A value that cannot be combined with another parameter or with the data.
    #[error("`{name}` = {given} {reason}")]
    Conflict {
        /// The parameter.
        name: &'static str,
        /// Its value.
        given: String,
        /// Why it is refused, as in "`max_leaves` = 8 *cannot be combined with `bins`*".
        reason: &'static str,
    },
}

impl ParameterError {
    /// A value outside the range of a parameter.
    pub fn out_of_range(name: &'static str, given: impl Display, expected: &'static str) -> Self {
        Self::OutOfRange {
            name,
            given: given.to_string(),
            expected,
        }
    }

    /// A value that contradicts another parameter or the data.
    pub fn conflict(name: &'static str, given: impl Display, reason: &'static str) -> Self {
        Self::Conflict {
            name,
            given: given.to_string(),
            reason,
        }
    }

    /// The name of the parameter.
    pub fn name(&self) -> &'static str {
        match self {
            Self::OutOfRange { name, .. } | Self::Conflict { name, .. } => name,
        }
    }

    /// Returns an error unless the value is in range.
    ///
    /// ```
    /// use rpo_core::ParameterError;
    /// let momentum = f64::NAN;
    /// let refused = ParameterError::unless((0.0..1.0).contains(&momentum), "momentum", momentum, "in [0, 1)");
    /// assert_eq!(refused.unwrap_err().to_string(), "`momentum` must be in [0, 1), got NaN");
    /// ```
    ///
    /// # Errors
    /// [`ParameterError::OutOfRange`].
    pub fn unless(
        in_range: bool,
        name: &'static str,
        given: impl Display,
        expected: &'static str,
    ) -> Result<(), Self> {
        if in_range {
            Ok(())
        } else {
            Err(Self::out_of_range(name, given, expected))
        }
    }
}

/// Parameters that are plain values, checked by whatever takes them.
pub trait CheckParams {
    /// What a check can fail with.
    type Error;

    /// Checks the ranges, as far as that takes no data.
    ///
    /// # Errors
    /// The first parameter out of range.
    fn check(&self) -> Result<(), Self::Error>;
}

/// A size that does not match another: every crate's error has a variant for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what}: expected {expected}, got {given}")]
pub struct Mismatch {
    /// What is counted, in the plural: "features".
    pub what: &'static str,
    /// The number that was expected.
    pub expected: usize,
    /// The number that was given.
    pub given: usize,
}

impl Mismatch {
    /// Returns an error unless both numbers are equal.
    ///
    /// # Errors
    /// [`Mismatch`].
    pub fn check(what: &'static str, expected: usize, given: usize) -> Result<(), Self> {
        if expected == given {
            Ok(())
        } else {
            Err(Self {
                what,
                expected,
                given,
            })
        }
    }
}

/// Refuses a count of 0; `None` stands for no limit and is accepted.
///
/// # Errors
/// [`ParameterError::OutOfRange`].
pub fn check_count(name: &'static str, count: impl Into<Option<usize>>) -> Result<(), ParameterError> {
    ParameterError::unless(count.into() != Some(0), name, 0, "at least 1")
}

/// Refuses a fraction outside (0, 1].
///
/// # Errors
/// [`ParameterError::OutOfRange`], also for NaN.
pub fn check_fraction(name: &'static str, share: f64) -> Result<(), ParameterError> {
    ParameterError::unless(share > 0.0 && share <= 1.0, name, share, "in (0, 1]")
}

/// Refuses a number that is not positive and finite.
///
/// # Errors
/// [`ParameterError::OutOfRange`], also for NaN.
pub fn check_positive(name: &'static str, v: f64) -> Result<(), ParameterError> {
    ParameterError::unless(v > 0.0 && v.is_finite(), name, v, "positive and finite")
}

/// Refuses a number that is negative or not finite.
///
/// # Errors
/// [`ParameterError::OutOfRange`], also for NaN.
pub fn check_not_negative(name: &'static str, v: f64) -> Result<(), ParameterError> {
    ParameterError::unless(
        (0.0..f64::INFINITY).contains(&v),
        name,
        v,
        "at least 0 and finite",
    )
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
                check_fraction as fn(_, _) -> _,
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
