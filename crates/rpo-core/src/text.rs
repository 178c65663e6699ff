//! Parameter values as the text or number that a user types, and suggestions for misspelt ones.
//!
//! Types such as a number of components use one notation, that of `Display` and `FromStr`, on the command line, in
//! files and in error messages. [`impl_text_serde!`](crate::impl_text_serde) makes serde use it. A choice of named values
//! has the names that serde gives them; [`impl_names!`](crate::impl_names) makes `Display` and `FromStr` use these.

#[doc(hidden)]
pub use {schemars, serde};

use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserializer, Serializer, de};
use std::borrow::Borrow;
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

/// Implements `Display` and `FromStr` for an enum of plain values by the names that its `Serialize` and `Deserialize`
/// give them, and `names`, which lists them. The text says what the values are, as in "\"top\" is not a side".
///
/// ```
/// #[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
/// #[serde(rename_all = "kebab-case")]
/// enum Side {
///     Left,
///     FarRight,
/// }
///
/// rpo_core::impl_names!(Side, "a side");
///
/// assert_eq!(Side::FarRight.to_string(), "far-right");
/// assert_eq!("left".parse(), Ok(Side::Left));
/// let unknown = "top".parse::<Side>().unwrap_err();
/// assert_eq!(unknown.to_string(), r#""top" is not a side: expected left or far-right"#);
/// assert_eq!(Side::names(), ["left", "far-right"]);
/// ```
#[macro_export]
macro_rules! impl_names {
    ($type:ty, $what:literal) => {
        impl $type {
            /// Returns the names of all values.
            pub fn names() -> &'static [&'static str] {
                $crate::text::names::<Self>()
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                $crate::text::serde::Serialize::serialize(self, f)
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = $crate::text::UnknownName;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::text::by_name(text, $what)
            }
        }
    };
}

/// A text that is not the name of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// The text.
    pub text: String,
    /// What the values are, with an article: "a loss".
    pub what: &'static str,
    /// The names of all values.
    pub names: &'static [&'static str],
}

impl Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, what, names } = self;
        write!(f, "{text:?} is not {what}: expected {}", alternatives(names))
    }
}

impl std::error::Error for UnknownName {}

/// Lists names, with "or" in front of the last one.
pub fn alternatives(names: &[impl Borrow<str>]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {}", rest.join(", "), last.borrow()),
        _ => names.join(", "),
    }
}

/// Returns the value with this name.
#[doc(hidden)]
pub fn by_name<T: DeserializeOwned>(text: &str, what: &'static str) -> Result<T, UnknownName> {
    T::deserialize(text.into_deserializer()).map_err(|NotAName(names)| UnknownName {
        text: text.to_owned(),
        what,
        names,
    })
}

/// Returns the names of all values: those that the empty text, which is none of them, is refused with.
#[doc(hidden)]
pub fn names<T: DeserializeOwned>() -> &'static [&'static str] {
    T::deserialize("".into_deserializer()).map_or_else(|NotAName(names)| names, |_| &[])
}

/// The names among which a text was sought.
#[derive(Debug)]
struct NotAName(&'static [&'static str]);

impl Display for NotAName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&alternatives(self.0))
    }
}

impl std::error::Error for NotAName {}

impl de::Error for NotAName {
    fn custom<T: Display>(_: T) -> Self {
        Self(&[])
    }

    fn unknown_variant(_: &str, names: &'static [&'static str]) -> Self {
        Self(names)
    }
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

/// Maximum number of characters of a name or text of a user in a message.
pub const LONGEST: usize = 80;

/// Formats a name or text for messages: quoted, with control characters escaped, truncated after 80 characters.
pub fn quoted(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}...", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// Truncates another library's message about a file, which may repeat the whole file, after twice the length of a name.
pub fn cut(text: &str) -> String {
    match text.char_indices().nth(2 * LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_cut() {
        let long = "é".repeat(1000);
        assert_eq!(quoted(&long), format!("{:?}...", "é".repeat(80)));
        assert_eq!(quoted(&"x".repeat(80)), format!("{:?}", "x".repeat(80)));
        assert_eq!(cut(&long), format!("{}...", "é".repeat(160)));
        assert_eq!(cut("as it is"), "as it is");
    }
}
