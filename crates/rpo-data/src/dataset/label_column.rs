//! A column of lists of labels.

use serde::{Deserialize, Serialize};

/// A column that holds a list of labels per sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelColumn {
    /// Its name.
    pub name: String,
    /// The character that separates labels.
    pub separator: char,
}
