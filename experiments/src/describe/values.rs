//! Values of parameters: numbers, words, and lists of them along an axis.

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use std::fmt;

/// A parameter's value, or a list of values for the axis. Kept as text: `25`, `ln`, `0.1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Values {
    /// One value.
    One(String),
    /// Values along the axis.
    Many(Vec<String>),
}

impl Values {
    /// The values.
    pub(crate) fn as_slice(&self) -> &[String] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

impl<'de> Deserialize<'de> for Values {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValuesVisitor)
    }
}

/// A number or a word, as text.
struct Scalar(String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_any(ValuesVisitor)? {
            Values::One(value) => Ok(Self(value)),
            Values::Many(_) => Err(de::Error::custom("a list within a list")),
        }
    }
}

struct ValuesVisitor;

impl<'de> Visitor<'de> for ValuesVisitor {
    type Value = Values;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a word, or a list of them")
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Values, E> {
        Ok(Values::One(value.to_owned()))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Values, E> {
        Ok(Values::One(value.to_string()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Values, E> {
        Ok(Values::One(value.to_string()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Values, E> {
        // With a point, so that a share of 1.0 does not read as the number 1.
        Ok(Values::One(format!("{value:?}")))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Values, A::Error> {
        let mut values = Vec::new();
        while let Some(Scalar(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Values::Many(values))
    }
}
