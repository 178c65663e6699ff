//! Parses requests.

use super::json::{self, Object, is_list, is_object};
use super::problem::Problem;
use rpo::core::text::{cut, quoted};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The rows to predict for, and the selected part of the predictions.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) rows: Vec<&'a RawValue>,
    pub(super) pick: Pick,
    /// Bounds of prediction intervals, too.
    pub(super) intervals: bool,
    /// Explanations of the scores by this many features, too.
    pub(super) explain: Option<usize>,
}

/// The options of a request.
const OPTIONS: [&str; 5] = ["top_k", "decide", "values", "intervals", "explain"];

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

impl<'a> Request<'a> {
    /// Parses a row, a list of rows, or an object with rows under `rows`, which may also be the name of a feature, as
    /// those of options may. The identifier that the response repeats, a line of JSON, is returned separately, even if
    /// the rest is invalid.
    pub(super) fn parse(
        text: &'a [u8],
        is_feature: impl Fn(&str) -> bool,
        max_rows: usize,
    ) -> (Option<String>, Result<Self, Problem>) {
        match parts(text, is_feature, max_rows) {
            Err(problem) => (None, Err(problem)),
            Ok(Parts::Rows(rows)) => (None, Ok(Self::all(rows))),
            Ok(Parts::Object(mut object)) => (object.remove("id").map(one_line), Self::of(object, max_rows)),
        }
    }

    /// A request for all scores of rows.
    fn all(rows: Vec<&'a RawValue>) -> Self {
        Self {
            rows,
            pick: Pick::All,
            intervals: false,
            explain: None,
        }
    }

    fn of(object: BTreeMap<String, &'a RawValue>, max_rows: usize) -> Result<Self, Problem> {
        let mut request = Self::all(Vec::new());
        for (key, value) in object {
            match (key.as_str(), value.get()) {
                ("rows", _) if is_list(value) => request.rows = list_of_rows(value, max_rows)?,
                ("top_k" | "decide" | "values" | "intervals" | "explain", "null")
                | ("decide" | "values" | "intervals", "false") => {}
                ("top_k" | "decide" | "values", _) if request.pick != Pick::All => {
                    return Err(Problem::Request(
                        "top_k, decide and values exclude each other".to_owned(),
                    ));
                }
                ("decide", "true") => request.pick = Pick::Decided,
                ("values", "true") => request.pick = Pick::Values,
                ("intervals", "true") => request.intervals = true,
                ("top_k", value) => request.pick = Pick::Best(count("top_k", value)?),
                ("explain", value) => request.explain = Some(count("explain", value)?),
                ("rows", value) => return Err(expected("rows", "a list of rows", value)),
                (key @ ("decide" | "values" | "intervals"), value) => {
                    return Err(expected(key, "true or false", value));
                }
                _ => {
                    return Err(Problem::Request(format!(
                        "unknown key {}; besides \"rows\", a request may have top_k, decide, values, intervals, explain \
                         and id",
                        quoted(&key)
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

/// What a request is made of.
enum Parts<'a> {
    /// Rows alone.
    Rows(Vec<&'a RawValue>),
    /// An object that has rows.
    Object(BTreeMap<String, &'a RawValue>),
}

fn parts(text: &[u8], is_feature: impl Fn(&str) -> bool, max_rows: usize) -> Result<Parts<'_>, Problem> {
    let text: &RawValue = serde_json::from_slice(text)?;
    if is_list(text) {
        return Ok(Parts::Rows(list_of_rows(text, max_rows)?));
    }
    if !is_object(text) {
        return Err(Problem::Request("a row or a list of rows is expected".to_owned()));
    }
    let Object(object) = serde_json::from_str(text.get())?;
    match object.get("rows") {
        Some(rows) if is_list(rows) || !is_feature("rows") => Ok(Parts::Object(object)),
        _ => match OPTIONS
            .iter()
            .find(|key| object.contains_key(**key) && !is_feature(key))
        {
            // Other keys that are no features are ignored; this one was meant to change the response.
            Some(key) => Err(Problem::Request(format!(
                "{key} is no feature of the model; as an option of the request it stands beside \"rows\": \
                 {{\"rows\": [...], \"{key}\": ...}}"
            ))),
            None => Ok(Parts::Rows(vec![text])),
        },
    }
}

fn list_of_rows(text: &RawValue, limit: usize) -> Result<Vec<&RawValue>, Problem> {
    match json::list(text, limit)? {
        (_, rows) if rows > limit => Err(Problem::TooManyRows { rows, limit }),
        (rows, _) => Ok(rows),
    }
}

/// JSON without the line ends between its tokens; those in texts are escaped.
fn one_line(text: &RawValue) -> String {
    text.get().replace(['\n', '\r'], "")
}

fn count(key: &str, text: &str) -> Result<usize, Problem> {
    match serde_json::from_str(text) {
        Ok(n @ 1_u64..) => Ok(usize::try_from(n).unwrap_or(usize::MAX)),
        _ => Err(expected(key, "a whole number from 1 on", text)),
    }
}

fn expected(key: &str, what: &str, given: &str) -> Problem {
    Problem::Request(format!("{key} must be {what}, got {}", cut(given)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_three_forms() {
        let n_rows = |text: &str| Request::parse(text.as_bytes(), |_| true, 3).1.unwrap().rows.len();
        assert_eq!(n_rows("{\"a\": 1}"), 1);
        assert_eq!(n_rows("[{}, [1, 2]]"), 2);
        assert_eq!(n_rows("{\"rows\": [{}, {}, {}]}"), 3);
        // A feature may have the name `rows`.
        assert_eq!(n_rows("{\"rows\": 4}"), 1);
        let text = b"{\"top_k\": 3, \"id\": [1,\n123456789012345678901234567890], \"rows\": [{}]}";
        let (id, request) = Request::parse(text, |_| false, 3);
        assert_eq!(
            (request.unwrap().pick, id.as_deref()),
            (Pick::Best(3), Some("[1,123456789012345678901234567890]"))
        );
        let (_, request) = Request::parse(b"{\"top_k\": null, \"decide\": true, \"rows\": []}", |_| false, 3);
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
            ("[{}, {}, {}, {}]", "the request has 4 rows, at most 3 are"),
            ("{\"rows\": [{}, {}, {}, {}]}", "the request has 4 rows"),
            ("{\"rows\": [], \"topk\": 1}", "unknown key \"topk\""),
            ("{\"rows\": {}}", "rows must be a list of rows, got {}"),
            (
                "{\"a\": 1, \"explain\": 2}",
                "{\"rows\": [...], \"explain\": ...}",
            ),
            ("{\"a\": 1, \"a\": 1}", "\"a\" is given twice at line 1"),
        ] {
            let (_, request) = Request::parse(text.as_bytes(), |_| false, 3);
            let found = request.unwrap_err().to_string();
            assert!(found.contains(message), "{text}: {found}");
        }
        for text in [
            "{\"rows\": 4, \"id\": 7}",
            "{\"id\": 7, \"rows\": [], \"top_k\": 0}",
        ] {
            let (id, request) = Request::parse(text.as_bytes(), |_| false, 3);
            assert!(request.is_err() && id.as_deref() == Some("7"), "{text}");
        }
    }
}
