//! Describes the registered methods.

use pyo3::prelude::*;
use rpo::Registry;
use serde_json::{Value, json};

/// All methods with their parameters, as JSON.
#[pyfunction]
pub(crate) fn methods() -> String {
    let described = Registry::standard().into_iter().map(|entry| {
        let parameters = entry.parameters().iter().map(|parameter| {
            json!({
                "name": parameter.name,
                "help": parameter.help,
                "default": parameter.default,
                "label_default": parameter.label_default,
                "choices": parameter.choices,
                "range": parameter.range,
            })
        });
        json!({
            "name": entry.name,
            "summary": entry.summary,
            "parameters": parameters.collect::<Vec<_>>(),
        })
    });
    Value::Array(described.collect()).to_string()
}
