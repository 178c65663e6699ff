//! The possible values of a parameter in a search.

use super::SpaceError;
use rand::Rng;
use rand::seq::SliceRandom;
use rpo_core::Seed;
use rpo_core::math;
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The value of a parameter. Its text parses to the same value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A name, or anything else that parses from text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(i) => write!(f, "{i}"),
            // Always with a point or an exponent, so that a fraction of 1 is not read as the number 1.
            Self::Real(x) => write!(f, "{x:?}"),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for Value {
    fn from(i: i64) -> Self {
        Self::Integer(i)
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Self::Real(x)
    }
}

/// The values that a parameter may take, and how they are drawn.
///
/// Parsed from text: values separated by commas, each with equal probability; `integers:LOW:HIGH`, both included;
/// `uniform:LOW:HIGH`, a number x ~ U[LOW, HIGH); `log-uniform:LOW:HIGH`, ln x ~ U[ln LOW, ln HIGH), for learning rates
/// and other scales.
///
/// ```
/// use rpo::tune::ParamDistribution;
/// assert_eq!("sqrt,0.5".parse::<ParamDistribution>()?, vec!["sqrt", "0.5"].try_into()?);
/// assert_ne!("log-uniform:0.01:1".parse::<ParamDistribution>()?, "uniform:0.01:1".parse()?);
/// assert!("uniform:1:0".parse::<ParamDistribution>().is_err());
/// # Ok::<(), rpo::tune::SpaceError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ParamDistribution(Kind);

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Values(Vec<Value>),
    Integers(i64, i64),
    Uniform(f64, f64),
    LogUniform(f64, f64),
}

/// One of the given values, each with equal probability.
impl<V: Into<Value>> TryFrom<Vec<V>> for ParamDistribution {
    type Error = SpaceError;

    /// # Errors
    /// [`SpaceError::NoValue`], [`SpaceError::Repeated`].
    fn try_from(values: Vec<V>) -> Result<Self, SpaceError> {
        let values: Vec<Value> = values.into_iter().map(Into::into).collect();
        if values.is_empty() {
            return Err(SpaceError::NoValue);
        }
        let mut seen = BTreeSet::new();
        for value in &values {
            // Compared as text, so that NaN equals itself.
            if !seen.insert(value.to_string()) {
                return Err(SpaceError::Repeated(value.clone()));
            }
        }
        Ok(Self(Kind::Values(values)))
    }
}

impl ParamDistribution {
    /// An integer from `low` to `high`, both included, each with equal probability.
    ///
    /// # Errors
    /// [`SpaceError::Bounds`] unless low <= high.
    fn integers(low: i64, high: i64) -> Result<Self, SpaceError> {
        if low <= high {
            Ok(Self(Kind::Integers(low, high)))
        } else {
            Err(bounds("integers", low as f64, high as f64, "low <= high"))
        }
    }

    /// A number x ~ U[low, high).
    ///
    /// # Errors
    /// [`SpaceError::Bounds`] unless low < high, and low, high and high - low are finite.
    fn uniform(low: f64, high: f64) -> Result<Self, SpaceError> {
        if low < high && (high - low).is_finite() {
            Ok(Self(Kind::Uniform(low, high)))
        } else {
            Err(bounds("uniform", low, high, "finite numbers with low < high"))
        }
    }

    /// A number with a uniform logarithm: ln x ~ U[ln low, ln high). For learning rates and other scales.
    ///
    /// # Errors
    /// [`SpaceError::Bounds`] unless 0 < low < high, both finite.
    fn log_uniform(low: f64, high: f64) -> Result<Self, SpaceError> {
        if 0.0 < low && low < high && high.is_finite() {
            Ok(Self(Kind::LogUniform(low, high)))
        } else {
            Err(bounds(
                "log-uniform",
                low,
                high,
                "finite numbers with 0 < low < high",
            ))
        }
    }

    /// Number of values; `None` for a continuous distribution.
    pub(super) fn n_values(&self) -> Option<u64> {
        match &self.0 {
            Kind::Values(values) => Some(values.len() as u64),
            // All of i64 has one value more than u64 can count.
            Kind::Integers(low, high) => Some(high.abs_diff(*low).saturating_add(1)),
            Kind::Uniform(..) | Kind::LogUniform(..) => None,
        }
    }

    /// Value k of a discrete distribution, in the given or increasing order.
    pub(super) fn value(&self, k: u64) -> Option<Value> {
        match &self.0 {
            Kind::Values(values) => values.get(usize::try_from(k).ok()?).cloned(),
            Kind::Integers(low, high) => low
                .checked_add_unsigned(k)
                .filter(|v| v <= high)
                .map(Value::Integer),
            Kind::Uniform(..) | Kind::LogUniform(..) => None,
        }
    }

    /// Draw `i`. For k listed values, draws are in turns: each run of k draws that starts at a multiple of k has every
    /// value once.
    pub(super) fn draw(&self, seed: Seed, i: u64) -> Value {
        let mut rng = seed.child(i).rng();
        match &self.0 {
            Kind::Values(values) => {
                let (k, mut order) = (values.len() as u64, (0..values.len()).collect::<Vec<_>>());
                order.shuffle(&mut seed.purpose("turns").child(i / k).rng());
                values[order[(i % k) as usize]].clone()
            }
            Kind::Integers(low, high) => Value::Integer(rng.gen_range(*low..=*high)),
            Kind::Uniform(low, high) => Value::Real(rng.gen_range(*low..*high)),
            Kind::LogUniform(low, high) => {
                let (from, to) = (math::ln(*low), math::ln(*high));
                // Close bounds may have the same logarithm.
                let drawn = if from < to { rng.gen_range(from..to) } else { from };
                // The exponential of a logarithm may round past a bound.
                Value::Real(math::exp(drawn).clamp(*low, *high))
            }
        }
    }
}

impl FromStr for ParamDistribution {
    type Err = SpaceError;

    fn from_str(text: &str) -> Result<Self, SpaceError> {
        let unreadable = || SpaceError::Unreadable(text.to_owned());
        let real = |text: &str| text.parse::<f64>().map_err(|_| unreadable());
        let whole = |text: &str| text.parse::<i64>().map_err(|_| unreadable());
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            ["integers", low, high] => Self::integers(whole(low)?, whole(high)?),
            ["uniform", low, high] => Self::uniform(real(low)?, real(high)?),
            ["log-uniform", low, high] => Self::log_uniform(real(low)?, real(high)?),
            ["integers" | "uniform" | "log-uniform", ..] => Err(unreadable()),
            [_, low, high] if real(low).is_ok() && real(high).is_ok() => Err(unreadable()),
            _ if text.split(',').any(|value| value.trim().is_empty()) => Err(SpaceError::NoValue),
            _ => text.split(',').map(str::trim).collect::<Vec<_>>().try_into(),
        }
    }
}

fn bounds(law: &'static str, low: f64, high: f64, expected: &'static str) -> SpaceError {
    SpaceError::Bounds {
        law,
        low,
        high,
        expected,
    }
}
