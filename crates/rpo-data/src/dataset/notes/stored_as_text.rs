//! Numbers and dates that a file stores as texts.

use crate::message::quoted;
use crate::read::ColumnType;
use std::fmt;

/// A column of a Parquet or Arrow file whose texts are nearly all numbers, or nearly all dates. It is a category because
/// the file stores texts; in CSV it would be a column of numbers or dates.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredAsText {
    /// The name of the column.
    pub column: String,
    /// The type of nearly all texts: number, date or date-time.
    pub kind: ColumnType,
    /// An example of these texts.
    pub value: String,
    /// The first text, in alphabetical order, that could not be read as this type; `None` if all could.
    pub other: Option<String>,
}

impl fmt::Display for StoredAsText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            ColumnType::Number => "numbers",
            _ => "dates",
        };
        write!(
            f,
            "feature {} is a category of texts such as {}, which are {what}",
            quoted(&self.column),
            quoted(&self.value)
        )
    }
}
