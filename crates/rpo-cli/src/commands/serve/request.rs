//! Parses requests.

use super::problem::Problem;
use crate::unique::Unique;
use serde_json::{Map, Value};

/// The rows to predict for, and the selected part of the predictions.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) rows: Vec<Value>,
    pub(super) pick: Pick,
    /// Bounds of prediction intervals, too.
    pub(super) intervals: bool,
    /// Explanations of the scores by this many features, too.
    pub(super) explain: Option<usize>,
}

/// The selected part of a prediction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Pick {
    /// The score of every output.
    All,
    /// This many best labels.
    Best(usize),
    /// The labels that the model predicts.
    Decided,
    /// The values of the targets.
    Values,
}

impl Request {
    /// Parses a row, a list of rows, or an object with rows under `rows`, which may also be the name of a feature. The
    /// identifier that the response repeats is returned separately, even if the rest is invalid.
    pub(super) fn parse(text: &[u8], rows_is_a_feature: bool) -> (Option<Value>, Result<Self, Problem>) {
        let all = |rows| Ok(Self::all(rows));
        let request = match serde_json::from_slice(text) {
            Err(e) => Err(e.into()),
            Ok(Unique(Value::Array(rows))) => all(rows),
            Ok(Unique(Value::Object(mut object))) => match object.get("rows") {
                None => all(vec![Value::Object(object)]),
                Some(rows) if rows_is_a_feature && !rows.is_array() => all(vec![Value::Object(object)]),
                Some(_) => return (object.remove("id"), Self::of(object)),
            },
            Ok(_) => Err(Problem::Request("a row or a list of rows is expected".to_owned())),
        };
        (None, request)
    }

    /// A request for all scores of rows.
    fn all(rows: Vec<Value>) -> Self {
        Self {
            rows,
            pick: Pick::All,
            intervals: false,
            explain: None,
        }
    }

    fn of(object: Map<String, Value>) -> Result<Self, Problem> {
        let mut request = Self::all(Vec::new());
        for (key, value) in object {
            match (key.as_str(), value) {
                ("rows", Value::Array(rows)) => request.rows = rows,
                ("top_k" | "decide" | "values" | "intervals" | "explain", Value::Null)
                | ("decide" | "values" | "intervals", Value::Bool(false)) => {}
                ("top_k" | "decide" | "values", _) if request.pick != Pick::All => {
                    return Err(Problem::Request(
                        "top_k, decide and values exclude each other".to_owned(),
                    ));
                }
                ("decide", Value::Bool(true)) => request.pick = Pick::Decided,
                ("values", Value::Bool(true)) => request.pick = Pick::Values,
                ("intervals", Value::Bool(true)) => request.intervals = true,
                ("top_k", value) => request.pick = Pick::Best(count("top_k", &value)?),
                ("explain", value) => request.explain = Some(count("explain", &value)?),
                ("rows", value) => return Err(expected("rows", "a list of rows", &value)),
                (key @ ("decide" | "values" | "intervals"), value) => {
                    return Err(expected(key, "true or false", &value));
                }
                _ => {
                    return Err(Problem::Request(format!(
                        "unknown key {key:?}; besides \"rows\", a request may have top_k, decide, values, intervals, explain \
                         and id"
                    )));
                }
            }
        }
        if request.intervals && !matches!(request.pick, Pick::All | Pick::Values) {
            let message = "intervals are of numbers, top_k and decide of labels: ask for one of them";
            return Err(Problem::Request(message.to_owned()));
        }
        if request.explain.is_some() && request.pick == Pick::Values {
            let message = "explain is of scores: ask for explanations without values";
            return Err(Problem::Request(message.to_owned()));
        }
        Ok(request)
    }
}

fn count(key: &str, value: &Value) -> Result<usize, Problem> {
    match value.as_u64() {
        Some(n @ 1..) => Ok(usize::try_from(n).unwrap_or(usize::MAX)),
        _ => Err(expected(key, "a whole number from 1 on", value)),
    }
}

fn expected(key: &str, what: &str, given: &Value) -> Problem {
    Problem::Request(format!("{key} must be {what}, got {given}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_three_forms() {
        let n_rows = |text: &str| Request::parse(text.as_bytes(), true).1.unwrap().rows.len();
        assert_eq!(n_rows("{\"a\": 1}"), 1);
        assert_eq!(n_rows("[{}, [1, 2]]"), 2);
        assert_eq!(n_rows("{\"rows\": [{}, {}, {}]}"), 3);
        // A feature may have the name `rows`.
        assert_eq!(n_rows("{\"rows\": 4}"), 1);
        let (id, request) = Request::parse(b"{\"top_k\": 3, \"id\": [1], \"rows\": [{}]}", false);
        assert_eq!(
            (request.unwrap().pick, id),
            (Pick::Best(3), Some(serde_json::json!([1])))
        );
        let (_, request) = Request::parse(b"{\"top_k\": null, \"decide\": true, \"rows\": []}", false);
        assert_eq!(request.unwrap().pick, Pick::Decided);
    }

    #[test]
    fn other_requests_are_refused() {
        for (text, message) in [
            ("3", "a row or a list of rows"),
            ("{\"a\": ", "not JSON: EOF"),
            (
                "{\"rows\": [], \"top_k\": 0}",
                "top_k must be a whole number from 1 on, got 0",
            ),
            (
                "{\"rows\": [], \"decide\": 1}",
                "decide must be true or false, got 1",
            ),
            (
                "{\"rows\": [], \"top_k\": 1, \"decide\": true}",
                "exclude each other",
            ),
            (
                "{\"rows\": [], \"explain\": true}",
                "explain must be a whole number from 1 on, got true",
            ),
            (
                "{\"rows\": [], \"explain\": 2, \"values\": true}",
                "explain is of scores",
            ),
            ("{\"rows\": [], \"topk\": 1}", "unknown key \"topk\""),
            ("{\"rows\": {}}", "rows must be a list of rows, got {}"),
            ("{\"a\": 1, \"a\": 1}", "\"a\" is given twice at line 1"),
        ] {
            let (_, request) = Request::parse(text.as_bytes(), false);
            let found = request.unwrap_err().to_string();
            assert!(found.contains(message), "{text}: {found}");
        }
        for text in [
            "{\"rows\": 4, \"id\": 7}",
            "{\"id\": 7, \"rows\": [], \"top_k\": 0}",
        ] {
            let (id, request) = Request::parse(text.as_bytes(), false);
            assert!(request.is_err() && id == Some(7.into()), "{text}");
        }
    }
}
