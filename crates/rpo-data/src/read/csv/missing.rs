//! The texts of missing values.

use crate::read::options::ReadOptions;

/// The texts that are missing values: an empty one, `NA`, and others.
#[derive(Debug, Clone, Default)]
pub(in crate::read) struct MissingTexts {
    others: Vec<Box<[u8]>>,
}

impl MissingTexts {
    pub(in crate::read) fn of(options: &ReadOptions) -> Self {
        let others = options.missing_values.iter();
        Self {
            others: others.map(|text| text.trim_ascii().as_bytes().into()).collect(),
        }
    }

    /// Returns the text of a field; `None` if it is a missing value.
    #[inline]
    pub(in crate::read) fn present<'a>(&self, text: &'a [u8]) -> Option<&'a [u8]> {
        let is_other = || self.others.iter().any(|other| **other == *text);
        let is_missing = matches!(text, b"" | b"NA") || is_other();
        (!is_missing).then_some(text)
    }

    /// Returns true if numbers may be missing values.
    #[inline]
    pub(super) fn has_others(&self) -> bool {
        !self.others.is_empty()
    }
}
