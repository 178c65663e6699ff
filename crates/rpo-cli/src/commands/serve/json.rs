//! JSON of which one level is parsed at a time: numbers keep their digits, and values that nobody asks for take no memory.

use rpo::core::text::quoted;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
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
                return Err(A::Error::custom(format!("{} is given twice", quoted(&key))));
            }
            object.insert(key, entries.next_value()?);
        }
        Ok(object)
    }
}

/// Parses a list. Returns its items, of which only the first are kept if it is longer than a limit, and their number.
pub(super) fn list(text: &RawValue, limit: usize) -> serde_json::Result<(Vec<&RawValue>, usize)> {
    serde_json::Deserializer::from_str(text.get()).deserialize_seq(ListVisitor { limit })
}

struct ListVisitor {
    limit: usize,
}

impl<'de> Visitor<'de> for ListVisitor {
    type Value = (Vec<&'de RawValue>, usize);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let (mut kept, mut n) = (Vec::new(), 0);
        while let Some(item) = items.next_element()? {
            n += 1;
            if n <= self.limit {
                kept.push(item);
            }
        }
        Ok((kept, n))
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

    #[test]
    fn lists_are_kept_up_to_a_limit() {
        let text: &RawValue = serde_json::from_str("[{}, 2, [3], \"]\"]").unwrap();
        for (limit, expected) in [(0, 0), (3, 3), (4, 4), (9, 4)] {
            let (kept, n) = list(text, limit).unwrap();
            assert_eq!((kept.len(), n), (expected, 4));
        }
        assert_eq!(list(text, 4).unwrap().0[3].get(), "\"]\"");
    }
}
