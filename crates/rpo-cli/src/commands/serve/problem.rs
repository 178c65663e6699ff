//! Errors of requests.

use rpo::ModelError;
use rpo::data::read::{ReadError, ReadErrorKind};
use serde_json::error::Category;
use serde_json::json;

/// Reason why a request gets no predictions.
#[derive(Debug, thiserror::Error)]
pub(super) enum Problem {
    #[error("not JSON: {0}")]
    Json(serde_json::Error),
    #[error("{0}")]
    Request(String),
    #[error("the request has {rows} rows, at most {limit} are served at once")]
    TooManyRows { rows: usize, limit: usize },
    #[error("the request is longer than {limit} bytes")]
    TooLong { limit: usize },
    #[error(
        "the response would have {values} values, at most {limit} are returned at once: send fewer rows, or ask for the \
         best labels with top_k"
    )]
    TooManyValues { values: usize, limit: usize },
    #[error(
        "{scores} scores would be explained, at most {limit} are at once (--max-explained): send fewer rows, or ask for the \
         best labels with top_k"
    )]
    TooManyExplained { scores: usize, limit: usize },
    #[error("the content encoding {0:?} is not supported; send the request as it is")]
    Encoding(String),
    #[error("the request did not arrive in time")]
    Late,
    #[error("the request timed out while waiting for other requests")]
    Busy,
    #[error("the machine has no memory for the request")]
    NoMemory,
    #[error(
        "the client closed its side of the connection, and the explanations took longer than --timeout allows after that"
    )]
    GivenUp,
    #[error("there is no {0}")]
    Path(String),
    #[error("{method} is not allowed for this path; allowed: {allowed}")]
    Method { method: String, allowed: &'static str },
    /// A row with an invalid value.
    #[error("{message}")]
    Row {
        row: usize,
        column: Option<String>,
        message: String,
    },
    #[error(transparent)]
    Model(ModelError),
    #[error("the prediction failed; the server keeps running")]
    Internal,
}

impl Problem {
    pub(super) fn row(row: usize, column: &str, message: impl Into<String>) -> Self {
        Self::Row {
            row,
            column: Some(column.to_owned()),
            message: message.into(),
        }
    }

    /// An HTTP method that a path does not support, and the methods that it supports.
    pub(super) fn method(method: &str, allowed: &'static str) -> Self {
        Self::Method {
            method: method.to_owned(),
            allowed,
        }
    }

    /// The name of the kind of error.
    fn kind(&self) -> &'static str {
        match self {
            Self::Json(_) => "json",
            Self::Request(_) => "request",
            Self::TooManyRows { .. }
            | Self::TooLong { .. }
            | Self::TooManyValues { .. }
            | Self::TooManyExplained { .. }
            | Self::NoMemory => "size",
            Self::Encoding(_) => "encoding",
            Self::Late | Self::Busy | Self::GivenUp => "time",
            Self::Path(_) => "path",
            Self::Method { .. } => "method",
            Self::Row { .. } => "row",
            Self::Model(_) => "model",
            Self::Internal => "internal",
        }
    }

    /// The HTTP status.
    pub(super) fn status(&self) -> u16 {
        match self {
            Self::Json(_) | Self::Request(_) => 400,
            Self::Path(_) => 404,
            Self::Method { .. } => 405,
            Self::Late | Self::GivenUp => 408,
            Self::TooManyRows { .. }
            | Self::TooLong { .. }
            | Self::TooManyValues { .. }
            | Self::TooManyExplained { .. } => 413,
            Self::Encoding(_) => 415,
            Self::Row { .. } | Self::Model(_) => 422,
            Self::Internal => 500,
            Self::Busy | Self::NoMemory => 503,
        }
    }

    /// The error response, which repeats the request's identifier, given as a line of JSON.
    pub(super) fn response(&self, id: Option<&str>) -> String {
        let mut error = json!({"kind": self.kind(), "message": self.to_string()});
        if let Self::Row { row, column, .. } = self {
            error["row"] = json!(row);
            error["column"] = json!(column);
        }
        match id {
            None => format!("{{\"error\":{error}}}"),
            Some(id) => format!("{{\"error\":{error},\"id\":{id}}}"),
        }
    }
}

impl From<serde_json::Error> for Problem {
    fn from(e: serde_json::Error) -> Self {
        match e.classify() {
            // Valid JSON, but with a repeated key.
            Category::Data => Self::Request(e.to_string()),
            _ => Self::Json(e),
        }
    }
}

impl From<ReadError> for Problem {
    fn from(e: ReadError) -> Self {
        let message = e.kind.to_string();
        let Some(line) = e.line else {
            return Self::Request(message);
        };
        let column = match e.kind {
            ReadErrorKind::NotANumber { column, .. }
            | ReadErrorKind::NotFinite { column, .. }
            | ReadErrorKind::TooLarge { column, .. }
            | ReadErrorKind::NotADate { column, .. } => Some(column),
            _ => None,
        };
        Self::Row {
            row: line as usize - 1,
            column,
            message,
        }
    }
}

impl From<ModelError> for Problem {
    fn from(e: ModelError) -> Self {
        match &e {
            ModelError::UnknownValue { row, name, .. }
            | ModelError::MissingFeature { row, name }
            | ModelError::UnusableFeature { row, name, .. } => Self::row(*row, name, e.to_string()),
            _ => Self::Model(e),
        }
    }
}
