//! Predictions as JSON.

use super::Explanation;
use rpo::TargetValue;
use serde_json::json;
use std::fmt::Write;

/// The names of columns, which begin with the outputs, escaped as JSON keys.
#[derive(Debug)]
pub(crate) struct JsonOutputs {
    names: Vec<String>,
}

impl JsonOutputs {
    pub(crate) fn new<S: serde::Serialize>(names: impl IntoIterator<Item = S>) -> Self {
        Self {
            names: escaped(names),
        }
    }

    /// The number of columns.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Appends the scores of all columns as an object.
    pub(crate) fn all<'a>(&self, scores: impl IntoIterator<Item = &'a f32>, to: &mut String) {
        to.push('{');
        for (j, (name, score)) in self.names.iter().zip(scores).enumerate() {
            let comma = if j > 0 { "," } else { "" };
            add(to, format_args!("{comma}{name}:{score}"));
        }
        to.push('}');
    }

    /// Appends the explanation of a score as an object, given the escaped names of features.
    pub(crate) fn explained(&self, of: &Explanation, features: &[String], to: &mut String) {
        let (name, score, base) = (&self.names[of.output as usize], of.score, of.base);
        add(
            to,
            format_args!("{{\"output\":{name},\"score\":{score},\"base\":{base},\"contributions\":["),
        );
        for (i, (feature, contribution)) in of.features.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            let name = &features[*feature as usize];
            add(
                to,
                format_args!("{comma}{{\"feature\":{name},\"contribution\":{contribution}}}"),
            );
        }
        to.push_str("]}");
    }

    /// Appends picked labels as a list in their order.
    pub(crate) fn picked(&self, labels: &[(u32, f32)], to: &mut String) {
        to.push('[');
        for (i, &(label, score)) in labels.iter().enumerate() {
            let comma = if i > 0 { "," } else { "" };
            let name = &self.names[label as usize];
            add(to, format_args!("{comma}{{\"output\":{name},\"score\":{score}}}"));
        }
        to.push(']');
    }
}

/// Returns names as JSON texts.
pub(crate) fn escaped<S: serde::Serialize>(names: impl IntoIterator<Item = S>) -> Vec<String> {
    names.into_iter().map(|name| json!(name).to_string()).collect()
}

/// Appends the values of targets as an object; labels are 0 or 1, as in a table.
pub(crate) fn values(names: &[String], values: &[TargetValue<'_>], to: &mut String) {
    to.push('{');
    for (j, (name, value)) in names.iter().zip(values).enumerate() {
        let comma = if j > 0 { "," } else { "" };
        add(to, format_args!("{comma}{name}:"));
        match value {
            TargetValue::Number(value) => add(to, format_args!("{value}")),
            TargetValue::Label(value) => add(to, format_args!("{}", u8::from(*value))),
            TargetValue::Class(class) => add(to, format_args!("{}", json!(class))),
            TargetValue::Labels(labels) => add(to, format_args!("{}", json!(labels))),
        }
    }
    to.push('}');
}

/// Appends to a string, which does not fail.
pub(crate) fn add(to: &mut String, text: std::fmt::Arguments<'_>) {
    let _ = to.write_fmt(text);
}
