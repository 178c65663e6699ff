//! The columns that a model reads and the targets that it predicts.

use rpo::Model;
use rpo::data::{Names, Task};
use serde_json::{Value, json};

/// Number of columns, or targets, that a summary names.
const NAMED: usize = 8;

/// The features as JSON: a list of columns with their types, or their number where they have none.
pub(crate) fn features(model: &Model) -> Value {
    let schema = model.schema();
    let Some(options) = schema.read_options() else {
        return json!({"numbered": schema.feature_names.iter().len()});
    };
    let names: Vec<String> = options.types.keys().cloned().collect();
    let positions = schema.feature_names.positions(&Names::Given(names.clone()));
    let feature = |(name, position): (&String, Option<usize>)| {
        let mut feature = json!({"name": name, "type": json!(options.types[name])});
        if let Some(values) = position.and_then(|j| schema.nominal.get(&j)) {
            feature["values"] = json!(**values);
        }
        feature
    };
    names.iter().zip(positions).map(feature).collect()
}

/// The targets as JSON, each with its classes if it has some.
pub(crate) fn targets(model: &Model) -> Value {
    let columns = &model.schema().class_columns;
    let target = |name: String| match columns.iter().find(|column| column.name == name) {
        Some(column) => json!({"name": name, "classes": column.classes}),
        None => json!({"name": name}),
    };
    model.value_columns().into_iter().map(target).collect()
}

/// The first columns with their types; `None` where features are numbered.
pub(crate) fn features_in_words(model: &Model) -> Option<String> {
    let types = model.schema().read_options()?.types;
    let column = |(name, kind)| format!("{name} ({kind})");
    Some(listed(types.iter().map(column)))
}

/// The first targets and what they are.
pub(crate) fn targets_in_words(model: &Model) -> String {
    let (schema, labels) = (model.schema(), model.labels());
    let target = |name: String| {
        let is_label = |output: usize| labels.binary_search(&output).is_ok();
        let classes = schema.class_columns.iter().find(|column| column.name == name);
        match (classes, schema.output_names.position(&name)) {
            (Some(column), _) => format!("{name} ({} classes)", column.classes.len()),
            (None, Some(output)) if schema.task == Task::Regression && is_label(output) => {
                format!("{name} (label)")
            }
            _ => name,
        }
    };
    listed(model.value_columns().into_iter().map(target))
}

fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    let n = names.len();
    let first: Vec<String> = names.take(NAMED).collect();
    match n.saturating_sub(NAMED) {
        0 => first.join(", "),
        others => format!("{} and {others} more", first.join(", ")),
    }
}
