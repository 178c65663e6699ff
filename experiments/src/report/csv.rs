//! Every value of every finished cell, one per line.

use crate::analyse::results::Results;

pub(super) fn render(results: &Results<'_>) -> String {
    let mut text = "dataset,method,repetition,measure,value\n".to_owned();
    for (dataset, set) in results.plan.datasets.iter().enumerate() {
        for (column, method) in results.plan.columns.iter().enumerate() {
            for measure in results.measures() {
                for (repetition, value) in results.values(dataset, column, &measure).iter().enumerate() {
                    let fields = [
                        &set.name,
                        &method.id,
                        &repetition.to_string(),
                        &measure,
                        &value.to_string(),
                    ];
                    text.push_str(&fields.map(|field| quoted(field)).join(","));
                    text.push('\n');
                }
            }
        }
    }
    text
}

/// RFC 4180: a field with a comma, a quote or a line end in quotes, and quotes in it doubled.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn fields_are_quoted_where_they_must() {
        assert_eq!(quoted("a b"), "a b");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
