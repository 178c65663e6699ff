//! Parameter values as the text or number that a user types, and suggestions for misspelt ones.
//!
//! Types such as a number of components use one notation, that of `Display` and `FromStr`, on the command line, in
//! files and in error messages. [`impl_text_serde!`](crate::impl_text_serde) makes serde use it.

#[doc(hidden)]
pub use {schemars, serde};

use serde::{Deserializer, Serializer, de};
use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

/// Implements `Serialize`, `Deserialize` and `JsonSchema` for a type through its `Display` and `FromStr`. A value whose
/// text reads as a number is serialized as that number, any other as its text; both forms are accepted. The list names
/// the JSON types of the schema.
///
/// ```
/// # use std::{fmt, num::ParseFloatError, str::FromStr};
/// #[derive(Debug, PartialEq)]
/// struct Width(f64);
///
/// impl fmt::Display for Width {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         write!(f, "{:?}", self.0)
///     }
/// }
///
/// impl FromStr for Width {
///     type Err = ParseFloatError;
///
///     fn from_str(text: &str) -> Result<Self, ParseFloatError> {
///         if text == "unit" { Ok(Self(1.0)) } else { text.parse().map(Self) }
///     }
/// }
///
/// rpo_core::impl_text_serde!(Width, ["number", "string"]);
///
/// assert_eq!(serde_json::to_string(&Width(0.5)).unwrap(), "0.5");
/// assert_eq!(serde_json::from_str::<Width>("\"unit\"").unwrap(), Width(1.0));
/// assert_eq!(serde_json::from_str::<Width>("2").unwrap(), Width(2.0));
/// ```
#[macro_export]
macro_rules! impl_text_serde {
    ($type:ty, [$($json_type:literal),+]) => {
        impl $crate::text::serde::Serialize for $type {
            fn serialize<S: $crate::text::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $crate::text::serialize(self, serializer)
            }
        }

        impl<'de> $crate::text::serde::Deserialize<'de> for $type {
            fn deserialize<D: $crate::text::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::text::deserialize(deserializer)
            }
        }

        impl $crate::text::schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(
                _: &mut $crate::text::schemars::SchemaGenerator,
            ) -> $crate::text::schemars::Schema {
                $crate::text::schemars::json_schema!({ "type": [$($json_type),+] })
            }
        }
    };
}

/// Returns the suggestion behind a misspelt name, if a known one is similar to it: ` (did you mean ...?)`.
pub fn did_you_mean(nearest: Option<impl Display>) -> String {
    nearest.map_or_else(String::new, |name| format!(" (did you mean {name}?)"))
}

/// Writes the value as a number if its text reads as one, otherwise as text.
#[doc(hidden)]
pub fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    let text = value.to_string();
    if let Ok(count) = text.parse::<u64>() {
        return serializer.serialize_u64(count);
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => serializer.serialize_f64(number),
        _ => serializer.serialize_str(&text),
    }
}

/// Reads a value from its text, or from the text of a number.
#[doc(hidden)]
pub fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_any(TextVisitor(PhantomData))
}

struct TextVisitor<T>(PhantomData<T>);

impl<T: FromStr<Err: Display>> de::Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or a number")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        // Keeps the decimal point, so that 1.0 remains distinct from 1.
        self.visit_str(&format!("{number:?}"))
    }
}
