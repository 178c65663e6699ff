//! Descriptions of parameters for help texts, forms and searches, derived from the schema of their structure.

use serde_json::Value;

/// A parameter of a method: its documentation, default and range.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ParameterInfo {
    /// The name of the field, which is the option's name with `_` for `-`.
    pub name: String,
    /// The first paragraph of its documentation.
    pub help: String,
    /// The default; null if there is none.
    pub default: Value,
    /// The default if the outputs are labels, if different.
    pub label_default: Option<&'static str>,
    /// The allowed values, if they are a list of names; `none` stands for null.
    pub choices: Vec<String>,
    /// The range of a number, such as "at least 1"; empty if unlimited.
    pub range: String,
    /// True for a boolean parameter.
    pub is_switch: bool,
    /// True for a parameter that every method has.
    pub is_common: bool,
}

impl ParameterInfo {
    /// The parameter `seed`, which every method has.
    pub(super) fn seed() -> Self {
        Self {
            name: "seed".to_owned(),
            help: "Seed of all randomness: the same seed gives the same model.".to_owned(),
            default: 0.into(),
            label_default: None,
            choices: Vec::new(),
            range: String::new(),
            is_switch: false,
            is_common: true,
        }
    }

    /// The parameter `preset`, which selects another set of defaults.
    pub(super) fn preset(names: impl Iterator<Item = &'static str>) -> Self {
        Self {
            name: "preset".to_owned(),
            help: "Takes the defaults of a preset: paper has the settings of the method's paper.".to_owned(),
            default: Value::Null,
            choices: names.map(str::to_owned).collect(),
            is_common: false,
            ..Self::seed()
        }
    }
}

/// Describes a field from its schema.
pub(super) fn describe(schema: &Value, name: &str, default: &Value) -> ParameterInfo {
    let property = &schema["properties"][name];
    let text = property["description"].as_str().unwrap_or_default();
    let help = text.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    let is_boolean = |kind: &Value| {
        kind == "boolean"
            || kind
                .as_array()
                .is_some_and(|kinds| kinds.iter().any(|k| k == "boolean"))
    };
    let mut choices = choices(property);
    // Elsewhere, null is what the documentation says of the default.
    if !choices.is_empty() && accepts_null(property) && help.contains("none") {
        choices.push("none".to_owned());
    }
    ParameterInfo {
        name: name.to_owned(),
        help,
        default: default.clone(),
        label_default: None,
        choices,
        range: range(property),
        is_switch: is_boolean(&property["type"]),
        is_common: false,
    }
}

/// The allowed names in a property's schema.
fn choices(property: &Value) -> Vec<String> {
    let list = |key: &str| property[key].as_array().into_iter().flatten();
    let names = list("enum").chain(list("oneOf").chain(list("anyOf")).flat_map(|variant| {
        let several = variant["enum"].as_array().into_iter().flatten();
        let nested = variant["oneOf"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|v| &v["const"]);
        several.chain(nested).chain([&variant["const"]])
    }));
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Returns true if a property may be null.
fn accepts_null(property: &Value) -> bool {
    let mut variants = property["anyOf"].as_array().into_iter().flatten();
    let mut names = property["enum"].as_array().into_iter().flatten();
    variants.any(|variant| variant["type"] == "null") || names.any(Value::is_null)
}

/// The bounds in a property's schema.
fn range(property: &Value) -> String {
    // A whole number without the decimals of its type.
    let bound = |key: &str| property[key].as_f64().map(|bound| bound.to_string());
    let is_count = bound("minimum").as_deref() == Some("0")
        && property["format"].as_str().is_some_and(|f| f.starts_with("uint"));
    let low = bound("minimum")
        .filter(|_| !is_count)
        .map(|low| format!("at least {low}"));
    let above = bound("exclusiveMinimum").map(|low| format!("above {low}"));
    let high = bound("maximum")
        .filter(|_| property["format"] != "uint32")
        .map(|high| format!("at most {high}"));
    let below = bound("exclusiveMaximum").map(|high| format!("below {high}"));
    let bounds: Vec<String> = low.or(above).into_iter().chain(high.or(below)).collect();
    bounds.join(" and ")
}
