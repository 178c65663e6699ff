//! Reads the reference vectors: JSON files with inputs and the values that other libraries computed from them.

use ndarray::Array2;
use serde_json::Value;
use std::path::Path;

/// Returns the file in the folder that `RPO_FIXTURES` names; `None`, with a note, if the variable is not set.
pub(crate) fn fixture(file: &str) -> Option<Value> {
    let Some(folder) = std::env::var_os("RPO_FIXTURES") else {
        eprintln!("not run: RPO_FIXTURES does not name the folder of {file}");
        return None;
    };
    let path = Path::new(&folder).join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    Some(serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}

/// Returns the cases of a list, which must not be empty.
pub(crate) fn cases<'a>(file: &'a Value, list: &str) -> &'a [Value] {
    let cases = file[list].as_array().unwrap_or_else(|| panic!("no list {list}"));
    assert!(!cases.is_empty(), "no case in {list}");
    cases
}

/// Reads a number; null is NaN, "inf" and "-inf" are infinite.
pub(crate) fn number(value: &Value) -> f64 {
    match value {
        Value::Null => f64::NAN,
        Value::Number(n) => n.as_f64().unwrap(),
        Value::String(s) => s.parse().unwrap(),
        other => panic!("not a number: {other}"),
    }
}

pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap_or_else(|| panic!("not a list: {value}"))
        .iter()
        .map(number)
        .collect()
}

pub(crate) fn counts(value: &Value) -> Vec<usize> {
    numbers(value).into_iter().map(|v| v as usize).collect()
}

pub(crate) fn matrix(value: &Value) -> Array2<f64> {
    let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(numbers).collect();
    Array2::from_shape_vec((rows.len(), rows[0].len()), rows.concat()).unwrap()
}

/// Compares with `expected`, where NaN equals NaN and infinities equal themselves.
pub(crate) struct Check<'a> {
    pub(crate) case: &'a str,
    pub(crate) expected: &'a Value,
    pub(crate) absolute: f64,
    pub(crate) relative: f64,
}

impl Check<'_> {
    pub(crate) fn one(&self, name: &str, found: f64) {
        assert!(
            self.expected.get(name).is_some(),
            "{}: nothing expected of {name}",
            self.case
        );
        self.equal(name, found, number(&self.expected[name]));
    }

    pub(crate) fn all(&self, name: &str, found: &[f64]) {
        let expected = numbers(&self.expected[name]);
        assert_eq!(found.len(), expected.len(), "{}: length of {name}", self.case);
        for (i, (&f, e)) in found.iter().zip(expected).enumerate() {
            self.equal(&format!("{name}[{i}]"), f, e);
        }
    }

    pub(crate) fn equal(&self, name: &str, found: f64, expected: f64) {
        let same = found == expected || (found.is_nan() && expected.is_nan());
        let close = (found - expected).abs() <= self.absolute + self.relative * expected.abs();
        assert!(
            same || close,
            "{}: {name} is {found}, expected {expected}",
            self.case
        );
    }
}
