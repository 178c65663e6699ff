//! Empty lines between samples.

use std::fmt;

/// The empty lines between the samples of an svmlight file. Most programs, including this one, do not treat them as
/// samples; to some programs an empty line is a sample without labels and features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EmptyLines {
    /// Number of lines.
    pub count: u64,
    /// Number of the first empty line, from 1.
    pub first_line: u64,
}

impl fmt::Display for EmptyLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, first_line } = self;
        match count {
            1 => write!(f, "line {first_line} is empty: it is skipped")?,
            n => write!(
                f,
                "{n} lines are empty, the first is line {first_line}: they are skipped"
            )?,
        }
        write!(f, "; a sample without labels and features is written \" qid:0\"")
    }
}
