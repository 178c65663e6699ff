//! JSON of which one level is parsed at a time: numbers keep their digits, and values that nobody asks for take no memory.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fmt;

/// The texts of the values of a JSON object. A repeated key, of which otherwise the last would silently win, is an error.
#[derive(Debug)]
pub(super) struct Object<'a>(pub(super) BTreeMap<String, &'a RawValue>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ObjectVisitor).map(Self)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = BTreeMap<String, &'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut object = BTreeMap::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format!("{key:?} is given twice")));
            }
            object.insert(key, entries.next_value()?);
        }
        Ok(object)
    }
}

/// Returns true for the text of a list.
pub(super) fn is_list(text: &RawValue) -> bool {
    text.get().starts_with('[')
}

/// Returns true for the text of an object.
pub(super) fn is_object(text: &RawValue) -> bool {
    text.get().starts_with('{')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_as_they_were_written() {
        let text = r#" {"a": 123456789012345678901234567890 , "\u0062": [1, {"a": 1, "a": 2}]} "#;
        let text: &RawValue = serde_json::from_str(text).unwrap();
        assert!(is_object(text) && !is_list(text));
        let Object(found) = serde_json::from_str(text.get()).unwrap();
        let found: Vec<(&str, &str)> = found.iter().map(|(k, v)| (&**k, v.get())).collect();
        assert_eq!(
            found,
            [
                ("a", "123456789012345678901234567890"),
                ("b", r#"[1, {"a": 1, "a": 2}]"#)
            ]
        );
    }
}
