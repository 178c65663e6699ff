//! The kind of the outputs.

use serde::{Deserialize, Serialize};

/// The kind of the outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Task {
    /// Each output is a label, 0 or 1.
    MultiLabel,
    /// Each output is a finite number.
    Regression,
}
