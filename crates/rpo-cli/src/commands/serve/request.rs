//! What a request asks for.

use super::problem::Problem;
use serde_json::{Map, Value};

/// Rows to predict for, and what of the predictions is wanted.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) rows: Vec<Value>,
    pub(super) pick: Pick,
    /// Repeated in the response.
    pub(super) id: Option<Value>,
}

/// The part of a prediction that is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Pick {
    /// The score of every output.
    All,
    /// The best labels, this many.
    Best(usize),
    /// The labels that the model decides for.
    Decided,
}

impl Request {
    /// Parses a row, a list of rows, or an object that has them under `rows`.
    pub(super) fn parse(text: &[u8]) -> Result<Self, Problem> {
        let all = |rows| Self {
            rows,
            pick: Pick::All,
            id: None,
        };
        match serde_json::from_slice(text)? {
            Value::Array(rows) => Ok(all(rows)),
            Value::Object(object) if matches!(object.get("rows"), Some(Value::Array(_))) => Self::of(object),
            row @ Value::Object(_) => Ok(all(vec![row])),
            _ => Err(Problem::Request("a row or a list of rows is expected".to_owned())),
        }
    }

    fn of(object: Map<String, Value>) -> Result<Self, Problem> {
        let mut request = Self {
            rows: Vec::new(),
            pick: Pick::All,
            id: None,
        };
        for (key, value) in object {
            match (key.as_str(), value) {
                ("rows", Value::Array(rows)) => request.rows = rows,
                ("id", id) => request.id = Some(id),
                ("top_k" | "decide", Value::Null) | ("decide", Value::Bool(false)) => {}
                ("top_k" | "decide", _) if request.pick != Pick::All => {
                    return Err(Problem::Request("top_k and decide exclude each other".to_owned()));
                }
                ("decide", Value::Bool(true)) => request.pick = Pick::Decided,
                ("top_k", Value::Number(k)) if k.as_u64().is_some_and(|k| k > 0) => {
                    let k = k.as_u64().and_then(|k| usize::try_from(k).ok());
                    request.pick = Pick::Best(k.unwrap_or(usize::MAX));
                }
                ("top_k", value) => return Err(expected("top_k", "a whole number from 1 on", &value)),
                ("decide", value) => return Err(expected("decide", "true or false", &value)),
                _ => {
                    return Err(Problem::Request(format!(
                        "unknown key {key:?} beside \"rows\"; top_k, decide and id are known"
                    )));
                }
            }
        }
        Ok(request)
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
        let n_rows = |text: &str| Request::parse(text.as_bytes()).unwrap().rows.len();
        assert_eq!(n_rows("{\"a\": 1}"), 1);
        assert_eq!(n_rows("[{}, [1, 2]]"), 2);
        assert_eq!(n_rows("{\"rows\": [{}, {}, {}]}"), 3);
        // A feature may be named so.
        assert_eq!(n_rows("{\"rows\": 4}"), 1);
        let request = Request::parse(b"{\"top_k\": 3, \"id\": [1], \"rows\": [{}]}").unwrap();
        assert_eq!(
            (request.pick, request.id),
            (Pick::Best(3), Some(serde_json::json!([1])))
        );
        let request = Request::parse(b"{\"top_k\": null, \"decide\": true, \"rows\": []}").unwrap();
        assert_eq!(request.pick, Pick::Decided);
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
            ("{\"rows\": [], \"topk\": 1}", "unknown key \"topk\""),
        ] {
            let found = Request::parse(text.as_bytes()).unwrap_err().to_string();
            assert!(found.contains(message), "{text}: {found}");
        }
    }
}
