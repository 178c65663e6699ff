//! Values of parameters: numbers, words, and lists of them along an axis.

use serde::Deserialize;

/// A parameter's value, or a list of values for the axis. Kept as text: `25`, `ln`, `0.1`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Given")]
pub(crate) enum Values {
    One(String),
    Many(Vec<String>),
}

impl Values {
    pub(crate) fn as_slice(&self) -> &[String] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a number, a word, or a list of them")]
enum Given {
    One(Scalar),
    Many(Vec<Scalar>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Switch(bool),
    Count(i64),
    Number(f64),
    Word(String),
}

impl From<Given> for Values {
    fn from(given: Given) -> Self {
        match given {
            Given::One(value) => Self::One(value.text()),
            Given::Many(values) => Self::Many(values.into_iter().map(Scalar::text).collect()),
        }
    }
}

impl Scalar {
    fn text(self) -> String {
        match self {
            Self::Switch(value) => value.to_string(),
            Self::Count(value) => value.to_string(),
            // With a point, so that a fraction of 1.0 is not read as the number 1.
            Self::Number(value) => format!("{value:?}"),
            Self::Word(value) => value,
        }
    }
}
