//! Errors of invalid parameters, and the checks that return them.

use std::fmt::Display;

/// An invalid parameter. Every crate's error has a variant for it.
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
        /// The allowed values, as in "must be *at least 1*".
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
    /// Creates the error for a value outside the range of a parameter.
    pub fn out_of_range(name: &'static str, given: impl Display, expected: &'static str) -> Self {
        Self::OutOfRange {
            name,
            given: given.to_string(),
            expected,
        }
    }

    /// Creates the error for a value that contradicts another parameter or the data.
    pub fn conflict(name: &'static str, given: impl Display, reason: &'static str) -> Self {
        Self::Conflict {
            name,
            given: given.to_string(),
            reason,
        }
    }

    /// Returns the name of the parameter.
    pub fn name(&self) -> &'static str {
        match self {
            Self::OutOfRange { name, .. } | Self::Conflict { name, .. } => name,
        }
    }

    /// Returns an error unless the value is in range.
    ///
    /// ```
    /// use rpo_core::ParameterError;
    /// let bins = 300;
    /// let refused = ParameterError::unless((2..=255).contains(&bins), "bins", bins, "from 2 to 255");
    /// assert_eq!(refused.unwrap_err().to_string(), "`bins` must be from 2 to 255, got 300");
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

/// Parameter structs with plain values, which can be checked before they are used.
pub trait CheckParams {
    /// The error of a failed check.
    type Error;

    /// Checks every parameter that can be checked without data.
    ///
    /// # Errors
    /// The first parameter that is out of range or contradicts another.
    fn check(&self) -> Result<(), Self::Error>;
}

/// Two sizes that do not match. Every crate's error has a variant for it.
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

/// A count below the one that is needed. Every crate's error has a variant for it if it refuses such counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{what}: expected at least {needed}, got {given}")]
pub struct TooFew {
    /// What is counted, in the plural: "features".
    pub what: &'static str,
    /// The number that is needed.
    pub needed: usize,
    /// The number that was given.
    pub given: usize,
}

impl TooFew {
    /// Returns an error if there are fewer than needed.
    ///
    /// ```
    /// use rpo_core::TooFew;
    /// assert_eq!(TooFew::check("trees", 1, 3), Ok(()));
    /// assert_eq!(TooFew::check("trees", 1, 0).unwrap_err().to_string(), "trees: expected at least 1, got 0");
    /// ```
    ///
    /// # Errors
    /// [`TooFew`].
    pub fn check(what: &'static str, needed: usize, given: usize) -> Result<(), Self> {
        if given >= needed {
            Ok(())
        } else {
            Err(Self { what, needed, given })
        }
    }

    /// Returns an error unless all indices are below `given`, the number of things that they refer to.
    ///
    /// # Errors
    /// [`TooFew`], with the number of things that would make the largest index valid.
    pub fn check_indices(what: &'static str, indices: &[u32], given: usize) -> Result<(), Self> {
        Self::check(
            what,
            indices.iter().max().map_or(0, |&last| last as usize + 1),
            given,
        )
    }
}

/// The ranges that parameters usually have. For other ranges use [`ParameterError::unless`].
///
/// ```
/// use rpo_core::Domain;
/// let refused = Domain::BelowOne.check("momentum", f64::NAN);
/// assert_eq!(refused.unwrap_err().to_string(), "`momentum` must be in [0, 1), got NaN");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Domain {
    /// At least 1, for counts.
    Count,
    /// Positive and finite.
    Positive,
    /// At least 0 and finite.
    NotNegative,
    /// In \[0, 1\].
    Probability,
    /// In (0, 1], for a fraction that may be the whole.
    Fraction,
    /// In [0, 1).
    BelowOne,
    /// In (0, 1), for a fraction that leaves a rest, or the level of a quantile.
    Level,
}

impl Domain {
    /// Refuses a number outside this range, including NaN; `None` stands for the default and is accepted.
    ///
    /// # Errors
    /// [`ParameterError::OutOfRange`].
    pub fn check(self, name: &'static str, value: impl Number) -> Result<(), ParameterError> {
        let Some(v) = value.number() else {
            return Ok(());
        };
        let (is_in, expected) = match self {
            Self::Count => (v >= 1.0, "at least 1"),
            Self::Positive => (v > 0.0 && v.is_finite(), "positive and finite"),
            Self::NotNegative => ((0.0..f64::INFINITY).contains(&v), "at least 0 and finite"),
            Self::Probability => ((0.0..=1.0).contains(&v), "in [0, 1]"),
            Self::Fraction => (v > 0.0 && v <= 1.0, "in (0, 1]"),
            Self::BelowOne => ((0.0..1.0).contains(&v), "in [0, 1)"),
            Self::Level => (v > 0.0 && v < 1.0, "in (0, 1)"),
        };
        ParameterError::unless(is_in, name, v, expected)
    }
}

/// A value that [`Domain::check`] accepts: a count or a real number, possibly optional.
pub trait Number {
    /// Returns the number, if there is one; counts above 2⁵³ are rounded.
    fn number(self) -> Option<f64>;
}

impl Number for f64 {
    fn number(self) -> Option<f64> {
        Some(self)
    }
}

impl Number for usize {
    fn number(self) -> Option<f64> {
        Some(self as f64)
    }
}

impl<T: Number> Number for Option<T> {
    fn number(self) -> Option<f64> {
        self.and_then(T::number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_where_they_are_said_to_be() {
        assert!(Domain::Count.check("n", 0).is_err() && Domain::Count.check("n", Some(0)).is_err());
        assert!(Domain::Count.check("n", 1).is_ok() && Domain::Count.check("n", None::<usize>).is_ok());
        let (tiny, below_1) = (f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0);
        let above_1 = 1.0 + f64::EPSILON;
        for (domain, right, wrong) in [
            (Domain::Positive, [tiny, f64::MAX], [0.0, f64::INFINITY]),
            (Domain::NotNegative, [0.0, f64::MAX], [-tiny, f64::INFINITY]),
            (Domain::Probability, [0.0, 1.0], [-tiny, above_1]),
            (Domain::Fraction, [tiny, 1.0], [0.0, above_1]),
            (Domain::BelowOne, [0.0, below_1], [-tiny, 1.0]),
            (Domain::Level, [tiny, below_1], [0.0, 1.0]),
        ] {
            assert!(right.iter().all(|&v| domain.check("v", v).is_ok()), "{domain:?}");
            let wrong = wrong.iter().chain(&[f64::NAN]);
            assert!(
                wrong.clone().all(|&v| domain.check("v", v).is_err()),
                "{domain:?}"
            );
        }
    }
}
