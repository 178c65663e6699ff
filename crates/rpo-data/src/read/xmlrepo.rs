//! The text format of the Extreme Classification Repository.

use super::error::{ReadError, ReadErrorKind};
use super::line::LineReader;
use super::number;
use super::sample::{MOST_COLUMNS, Sample, Syntax, parse_sample};
use crate::message::lossy;
use std::io::BufRead;

/// A streaming reader of the Extreme Classification Repository's format: a line `n p d` (samples, features,
/// labels), then a line per sample, `label,label feature:value feature:value`, all indices from 0.
///
/// A line without labels starts with a blank, so that one blank is a sample without labels and features; labels and
/// features may come in any order, but not twice. An empty line is not a sample: it is refused before the last sample
/// and ignored after it. Nothing is allocated by what the header promises.
///
/// ```
/// use rpo_data::read::{Sample, XmlRepoReader};
/// let mut reader = XmlRepoReader::new(&b"2 10 6\n0,5 1:1.5 9:0.5\n 2:3\n"[..])?;
/// assert_eq!((reader.n_samples(), reader.n_features(), reader.n_labels()), (2, 10, 6));
/// let mut sample = Sample::default();
/// assert!(reader.read_sample(&mut sample)?);
/// assert_eq!((sample.labels, sample.features), (vec![0, 5], vec![(1, 1.5), (9, 0.5)]));
/// # Ok::<(), rpo_data::read::ReadError>(())
/// ```
#[derive(Debug)]
pub struct XmlRepoReader<R> {
    lines: LineReader<R>,
    n_samples: u64,
    n_read: u64,
    syntax: Syntax,
}

impl<R: BufRead> XmlRepoReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`ReadError`] if it is not three integers, or declares more features or labels than 32 bits can index.
    pub fn new(reader: R) -> Result<Self, ReadError> {
        Self::from_lines(LineReader::new(reader))
    }

    pub(super) fn from_lines(mut lines: LineReader<R>) -> Result<Self, ReadError> {
        if !lines.advance()? {
            return Err(ReadErrorKind::Empty("a header of three numbers").into());
        }
        let Some([n_samples, n_features, n_labels]) = parse_header(lines.line()) else {
            return Err(lines.error(ReadErrorKind::BadHeader(lossy(lines.line()))));
        };
        for (what, count) in [("feature", n_features), ("label", n_labels)] {
            if count > MOST_COLUMNS {
                return Err(lines.error(ReadErrorKind::TooManyColumns { what, count }));
            }
        }
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

    /// Number of samples by the header.
    pub fn n_samples(&self) -> u64 {
        self.n_samples
    }

    /// Number of features by the header.
    pub fn n_features(&self) -> usize {
        self.syntax.n_features as usize
    }

    /// Number of labels by the header.
    pub fn n_labels(&self) -> usize {
        self.syntax.n_labels as usize
    }

    /// Number of the line last read.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Reads the next sample; returns false at the end.
    ///
    /// # Errors
    /// [`ReadError`] with the line; also if the file does not have as many samples as the header says. The
    /// content of `sample` is then unspecified.
    pub fn read_sample(&mut self, sample: &mut Sample) -> Result<bool, ReadError> {
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

/// The three numbers of a header.
pub(super) fn parse_header(line: &[u8]) -> Option<[u64; 3]> {
    let mut words = line
        .split(|b| matches!(b, b' ' | b'\t'))
        .filter(|word| !word.is_empty());
    let mut next = || words.next().and_then(number::parse_id);
    let header = [next()?, next()?, next()?];
    words.next().is_none().then_some(header)
}
