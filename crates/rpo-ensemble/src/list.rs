//! Parameters that hold one value or several.

use rpo_core::ParameterError;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::{self, Display};
use std::ops::Deref;
use std::str::FromStr;

/// An item of a [`List`].
pub trait ListItem: Copy + Display + FromStr {
    /// Description of the expected text, for error messages.
    const EXPECTED: &'static str;
}

impl ListItem for f64 {
    const EXPECTED: &'static str = "a number, or numbers separated by commas";
}

impl ListItem for usize {
    const EXPECTED: &'static str = "a whole number, or whole numbers separated by commas";
}

/// One value or several. As text separated by commas: `0.1,0.5,0.9`.
///
/// ```
/// use rpo_ensemble::List;
/// let levels: List<f64> = "0.1, 0.9".parse()?;
/// assert_eq!(levels, List::from([0.1, 0.9]));
/// assert_eq!(levels.to_string(), "0.1,0.9");
/// assert_eq!(serde_json::to_string(&List::<f64>::from(0.5)).unwrap(), "0.5");
/// # Ok::<(), rpo_ensemble::core::ParameterError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List<T>(Vec<T>);

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> From<T> for List<T> {
    fn from(value: T) -> Self {
        Self(vec![value])
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(values: Vec<T>) -> Self {
        Self(values)
    }
}

impl<T, const N: usize> From<[T; N]> for List<T> {
    fn from(values: [T; N]) -> Self {
        Self(values.into())
    }
}

impl<T: Display> Display for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, value) in self.0.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            write!(f, "{comma}{value}")?;
        }
        Ok(())
    }
}

impl<T: ListItem> FromStr for List<T> {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<Self, ParameterError> {
        let values: Result<Vec<T>, _> = text.split(',').map(|part| part.trim().parse()).collect();
        let values = values.map_err(|_| ParameterError::out_of_range("list", text, T::EXPECTED));
        values.map(Self)
    }
}

impl<T: ListItem> Serialize for List<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        rpo_core::text::serialize(self, serializer)
    }
}

impl<'de, T: ListItem> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        rpo_core::text::deserialize(deserializer)
    }
}

impl<T: ListItem> JsonSchema for List<T> {
    fn schema_name() -> Cow<'static, str> {
        "List".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"] })
    }
}
