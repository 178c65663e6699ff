//! The text format of the Extreme Classification Repository.

use super::error::{ReadError, ReadErrorKind};
use super::labelled_line::{Sample, Syntax, check_declared, parse_sample};
use super::line::LineReader;
use super::number;
use crate::message::lossy;
use std::io::BufRead;

/// A streaming reader of [`Format::XmlRepo`](super::Format::XmlRepo). No memory is allocated based on the header.
#[derive(Debug)]
pub(super) struct XmlRepoReader<R> {
    lines: LineReader<R>,
    n_samples: u64,
    n_read: u64,
    syntax: Syntax,
}

impl<R: BufRead> XmlRepoReader<R> {
    /// Reads the header: three integers, of which the numbers of features and labels have limits.
    pub(super) fn from_lines(mut lines: LineReader<R>) -> Result<Self, ReadError> {
        if !lines.advance()? {
            return Err(ReadErrorKind::Empty("a header of three numbers").into());
        }
        let Some([n_samples, n_features, n_labels]) = parse_header(lines.line()) else {
            return Err(lines.error(ReadErrorKind::BadHeader(lossy(lines.line()))));
        };
        check_declared(n_features, n_labels).map_err(|kind| lines.error(kind))?;
        Ok(Self {
            lines,
            n_samples,
            n_read: 0,
            syntax: Syntax {
                first_feature: 0,
                sorted: false,
                query: false,
                n_features,
                n_labels,
            },
        })
    }

    /// Returns the numbers of features and labels according to the header.
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.syntax.n_features as usize, self.syntax.n_labels as usize)
    }

    /// Number of the line last read.
    pub(super) fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Reads the next sample; returns false at the end, which is an error if the number of samples differs from that in
    /// the header. The content of `sample` is unspecified after an error.
    pub(super) fn read_sample(&mut self, sample: &mut Sample) -> Result<bool, ReadError> {
        while self.lines.advance()? {
            if self.n_read == self.n_samples {
                if self.lines.line().trim_ascii().is_empty() {
                    continue;
                }
                return Err(self.sample_count(self.n_read + 1));
            }
            if self.lines.line().is_empty() {
                return Err(self.lines.error(ReadErrorKind::BlankLine("one blank")));
            }
            self.n_read += 1;
            return match parse_sample(self.lines.line(), &self.syntax, sample) {
                Ok(()) => Ok(true),
                Err((at, kind)) => Err(self.lines.error(kind).at_byte(at)),
            };
        }
        if self.n_read < self.n_samples {
            return Err(self.sample_count(self.n_read));
        }
        Ok(false)
    }

    fn sample_count(&self, found: u64) -> ReadError {
        let promised = self.n_samples;
        self.lines.error(ReadErrorKind::SampleCount { promised, found })
    }
}

/// Parses the three numbers of a header.
pub(super) fn parse_header(line: &[u8]) -> Option<[u64; 3]> {
    let mut words = line
        .split(|b| matches!(b, b' ' | b'\t'))
        .filter(|word| !word.is_empty());
    let mut next = || words.next().and_then(number::parse_id);
    let header = [next()?, next()?, next()?];
    words.next().is_none().then_some(header)
}
