//! Values of parameters: numbers, words, and lists of them along an axis.

use rpo::ensemble::MaxFeatures;
use rpo::projections::{Components, ProjectionError};
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

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

/// A rule for the number of components: that of [`Components`], or `d`, as many as there are outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) enum ComponentRule {
    /// A rule of the library.
    Rule(Components),
    /// m = d.
    Outputs,
}

impl ComponentRule {
    /// The number of components for so many outputs.
    pub(crate) fn resolve(self, n_outputs: usize) -> Result<usize, ProjectionError> {
        match self {
            Self::Rule(rule) => rule.resolve(n_outputs),
            Self::Outputs => Ok(n_outputs),
        }
    }
}

impl FromStr for ComponentRule {
    type Err = ProjectionError;

    fn from_str(text: &str) -> Result<Self, ProjectionError> {
        match text {
            "d" => Ok(Self::Outputs),
            _ => text.parse().map(Self::Rule),
        }
    }
}

impl TryFrom<String> for ComponentRule {
    type Error = ProjectionError;

    fn try_from(text: String) -> Result<Self, ProjectionError> {
        text.parse()
    }
}

impl From<ComponentRule> for String {
    fn from(rule: ComponentRule) -> Self {
        match rule {
            ComponentRule::Rule(rule) => rule.to_string(),
            ComponentRule::Outputs => "d".to_owned(),
        }
    }
}

/// Features per node, stored as the text that [`MaxFeatures`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Features(pub MaxFeatures);

impl TryFrom<String> for Features {
    type Error = rpo::ensemble::EnsembleError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(Self)
    }
}

impl From<Features> for String {
    fn from(features: Features) -> Self {
        features.0.to_string()
    }
}
