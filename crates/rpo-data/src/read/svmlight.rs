//! Multi-label svmlight files.

use super::error::{ReadError, ReadErrorKind};
use super::labelled_line::{MOST_COLUMNS, Sample, Syntax, parse_sample};
use super::line::LineReader;
use super::options::FirstFeature;
use crate::dataset::EmptyLines;
use std::io::BufRead;

/// A streaming reader of [`Format::SvmLight`](super::Format::SvmLight).
#[derive(Debug)]
pub(super) struct SvmLightReader<R> {
    lines: LineReader<R>,
    syntax: Syntax,
    /// The empty lines between samples.
    empty: Option<EmptyLines>,
    /// The empty lines since the last sample.
    pending: Option<EmptyLines>,
    any_sample: bool,
}

impl<R: BufRead> SvmLightReader<R> {
    /// Creates a reader that refuses indices beyond the numbers of features and labels, if these are given.
    pub(super) fn from_lines(
        lines: LineReader<R>,
        first_feature: FirstFeature,
        n_features: Option<usize>,
        n_labels: Option<usize>,
    ) -> Self {
        let limit = |n: Option<usize>| n.map_or(MOST_COLUMNS, |n| MOST_COLUMNS.min(n as u64));
        let syntax = Syntax {
            first_feature: first_feature.index(),
            sorted: true,
            query: true,
            n_features: limit(n_features),
            n_labels: limit(n_labels),
        };
        Self {
            lines,
            syntax,
            empty: None,
            pending: None,
            any_sample: false,
        }
    }

    /// Returns the empty lines between the samples read so far.
    pub(super) fn empty_lines(&self) -> Option<EmptyLines> {
        self.empty
    }

    /// Number of the line last read.
    pub(super) fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Reads the next sample; returns false at the end. The content of `sample` is unspecified after an error.
    pub(super) fn read_sample(&mut self, sample: &mut Sample) -> Result<bool, ReadError> {
        while self.lines.advance()? {
            let line = self.lines.line();
            let length = line.iter().position(|&b| b == b'#');
            let content = &line[..length.unwrap_or(line.len())];
            if content.trim_ascii().is_empty() {
                if length.is_none() && !line.is_empty() {
                    return Err(self.lines.error(ReadErrorKind::BlankLine("\" qid:0\"")));
                }
                if line.is_empty() && self.any_sample {
                    let first_line = self.lines.number();
                    let pending = self.pending.get_or_insert(EmptyLines { count: 0, first_line });
                    pending.count += 1;
                }
                continue;
            }
            self.any_sample = true;
            if let Some(pending) = self.pending.take() {
                let empty = self.empty.get_or_insert(EmptyLines { count: 0, ..pending });
                empty.count += pending.count;
            }
            return match parse_sample(content, &self.syntax, sample) {
                Ok(()) => Ok(true),
                Err((at, kind)) => Err(self.lines.error(kind).at_byte(at)),
            };
        }
        Ok(false)
    }
}
