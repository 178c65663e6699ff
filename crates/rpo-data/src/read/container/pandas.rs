//! The index of a pandas data frame, which its files hold as columns.

use arrow_schema::Schema;
use serde::Deserialize;
use serde_json::Value;

/// The key of the metadata that pandas writes, and what is read of it.
const KEY: &str = "pandas";

#[derive(Default, Deserialize)]
struct Metadata {
    /// The names of columns, or objects that describe an index without a column.
    #[serde(default)]
    index_columns: Vec<Value>,
}

/// Returns, for each column, true if it holds an index, which pandas does not read as a column either: one that the
/// metadata name, or a name that pandas gives to an index without a name.
pub(in crate::read) fn is_index(schema: &Schema) -> Vec<bool> {
    // Metadata in another form, such as that of another program, names no index.
    let metadata = schema.metadata().get(KEY);
    let metadata: Metadata = metadata
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let fields = schema.fields().iter();
    let is_index = fields.map(|field| {
        let is_named = |index: &Value| index.as_str() == Some(field.name());
        is_unnamed_index(field.name()) || metadata.index_columns.iter().any(is_named)
    });
    is_index.collect()
}

/// Returns true for `__index_level_0__` and so on.
fn is_unnamed_index(name: &str) -> bool {
    let level = name.strip_prefix("__index_level_");
    let level = level.and_then(|rest| rest.strip_suffix("__"));
    level.is_some_and(|level| !level.is_empty() && level.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::{DataType, Field};

    fn found(metadata: &str) -> Vec<bool> {
        let names = [
            "x",
            "customer",
            "__index_level_10__",
            "__index_level___",
            "index_level_0",
        ];
        let fields = names.map(|name| Field::new(name, DataType::Int64, true));
        let metadata = [(KEY.to_owned(), metadata.to_owned())];
        is_index(&Schema::new(fields.to_vec()).with_metadata(metadata))
    }

    #[test]
    fn an_index_is_found_by_its_name_or_by_the_metadata() {
        let by_name = [false, false, true, false, false];
        let range = r#"{"index_columns": [{"kind": "range", "name": null, "start": 0}], "columns": []}"#;
        for metadata in [range, "{}", "[1]", "no JSON", r#"{"index_columns": "customer"}"#] {
            assert_eq!(found(metadata), by_name, "{metadata}");
        }
        let by_metadata = found(r#"{"index_columns": ["customer", "absent"], "columns": []}"#);
        assert_eq!(by_metadata, [false, true, true, false, false]);
    }
}
