//! Compares the records of two models that are to become one: their parameters must agree, and their trees must be
//! consecutive.

use serde_json::{Map, Value};
use std::ops::Range;

/// A parameter that two models record with different values.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The parameter.
    pub name: String,
    /// Its value in the first model.
    pub first: Value,
    /// Its value in the second.
    pub second: Value,
}

impl Difference {
    /// Returns the first parameter with different values in two records, comparing the method first. Parameters for
    /// which `may_differ` returns true are skipped. A parameter that only one of the records has, such as a newer one,
    /// is not a difference.
    pub(crate) fn first(
        first: &Map<String, Value>,
        second: &Map<String, Value>,
        may_differ: impl Fn(&str) -> bool,
    ) -> Option<Box<Self>> {
        let method = first.get_key_value("method");
        let compared = method
            .into_iter()
            .chain(first)
            .filter(|(name, _)| !may_differ(name));
        let mut pairs = compared.filter_map(|(name, value)| Some((name, value, second.get(name)?)));
        let (name, first, second) = pairs.find(|(_, first, second)| !are_same(first, second))?;
        Some(Box::new(Self {
            name: name.clone(),
            first: first.clone(),
            second: second.clone(),
        }))
    }

    /// Describes both values of the parameter; `first` and `second` are words for the two models.
    pub(crate) fn between(&self, first: &str, second: &str) -> String {
        let Self { name, .. } = self;
        let (a, b) = (shown(&self.first), shown(&self.second));
        format!("`{name}` is {a} {first} and {b} {second}")
    }
}

/// Returns true for values that print alike or are equal numbers.
fn are_same(a: &Value, b: &Value) -> bool {
    let are_whole = a.is_u64() && b.is_u64();
    let numbers = a.as_f64().zip(b.as_f64()).filter(|_| !are_whole);
    shown(a) == shown(b) || numbers.is_some_and(|(a, b)| a == b)
}

/// A value as a user writes it.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The indices of the trees of a model, if recorded.
pub(crate) fn trees_of(parameters: &Map<String, Value>) -> Option<Range<u64>> {
    let number = |name| parameters.get(name).and_then(Value::as_u64);
    let first = number("first_tree")?;
    Some(first..first.checked_add(number("trees")?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn difference(first: &Value, second: &Value) -> Option<String> {
        let (first, second) = (first.as_object().unwrap(), second.as_object().unwrap());
        let found = Difference::first(first, second, |name| name == "trees");
        found.map(|difference| difference.between("here", "there"))
    }

    #[test]
    fn the_method_is_compared_before_what_follows_from_it() {
        let (a, b) = (
            json!({"depth": 3, "method": "x", "trees": 1}),
            json!({"depth": null, "method": "y", "trees": 2}),
        );
        let found = difference(&a, &b).unwrap();
        assert_eq!(found, "`method` is x here and y there");
        let (a, b) = (
            json!({"depth": 3, "method": "x"}),
            json!({"depth": null, "method": "x"}),
        );
        assert_eq!(difference(&a, &b).unwrap(), "`depth` is 3 here and none there");
    }

    #[test]
    fn values_may_be_written_in_two_ways() {
        let largest = u64::MAX;
        for (a, b, same) in [
            (json!({"rate": 1}), json!({"rate": 1.0}), true),
            (json!({"rate": "0.5"}), json!({"rate": 0.5}), true),
            (json!({"rate": 0.5}), json!({"rate": 0.25}), false),
            (json!({"seed": largest}), json!({"seed": largest - 1}), false),
            (json!({"trees": 1}), json!({"trees": 2}), true),
            (json!({"old": 1}), json!({"new": 2}), true),
        ] {
            assert_eq!(difference(&a, &b).is_none(), same, "{a} {b}");
        }
    }

    #[test]
    fn trees_are_numbered_where_both_ends_are_recorded() {
        let trees = |value: Value| trees_of(value.as_object().unwrap());
        assert_eq!(trees(json!({"first_tree": 5, "trees": 3})), Some(5..8));
        assert_eq!(trees(json!({"trees": 3})), None);
        assert_eq!(trees(json!({"first_tree": u64::MAX, "trees": 3})), None);
    }
}
