//! Multi-label svmlight.

use super::error::{ReadError, ReadErrorKind};
use super::line::LineReader;
use super::sample::{MOST_COLUMNS, Sample, Syntax, parse_sample};
use serde::{Deserialize, Serialize};
use std::io::BufRead;

/// The index of the first feature in an svmlight file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstFeature {
    /// Features count from 0, as some writers do.
    Zero,
    /// Features count from 1, as svmlight and libsvm define.
    #[default]
    One,
}

/// A streaming reader of multi-label svmlight: a line per sample, `label,label index:value index:value`.
///
/// Labels are integers from 0. Features count from 1 (or 0, see [`FirstFeature`]) and increase. A line that
/// starts with a blank or a pair has no labels. `qid:` is ignored, text after `#` is a comment, blank lines
/// are skipped.
///
/// ```
/// use rpo_data::read::{FirstFeature, Sample, SvmLightReader};
/// let mut reader = SvmLightReader::new(&b"1,3 qid:7 1:0.5 4:2 # a comment\n"[..], FirstFeature::One);
/// let mut sample = Sample::default();
/// assert!(reader.read_sample(&mut sample)?);
/// assert_eq!((sample.labels, sample.features), (vec![1, 3], vec![(0, 0.5), (3, 2.0)]));
/// # Ok::<(), rpo_data::read::ReadError>(())
/// ```
#[derive(Debug)]
pub struct SvmLightReader<R> {
    lines: LineReader<R>,
    syntax: Syntax,
}

impl<R: BufRead> SvmLightReader<R> {
    /// A reader of samples with any number of features and labels.
    pub fn new(reader: R, first_feature: FirstFeature) -> Self {
        Self {
            lines: LineReader::new(reader),
            syntax: Syntax {
                first_feature: match first_feature {
                    FirstFeature::Zero => 0,
                    FirstFeature::One => 1,
                },
                sorted: true,
                query: true,
                n_features: MOST_COLUMNS,
                n_labels: MOST_COLUMNS,
            },
        }
    }

    /// Refuses feature indices beyond so many features.
    #[must_use]
    pub fn n_features(mut self, n: usize) -> Self {
        self.syntax.n_features = MOST_COLUMNS.min(n as u64);
        self
    }

    /// Refuses labels beyond so many.
    #[must_use]
    pub fn n_labels(mut self, n: usize) -> Self {
        self.syntax.n_labels = MOST_COLUMNS.min(n as u64);
        self
    }

    /// Number of the line last read.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Reads the next sample, `false` at the end.
    ///
    /// # Errors
    /// [`ReadError`] with the line, and where in it; the content of `sample` is then unspecified.
    pub fn read_sample(&mut self, sample: &mut Sample) -> Result<bool, ReadError> {
        while self.lines.advance()? {
            let line = self.lines.line();
            let line = &line[..line.iter().position(|&b| b == b'#').unwrap_or(line.len())];
            if line.trim_ascii().is_empty() {
                continue;
            }
            return match parse_sample(line, &self.syntax, sample) {
                Ok(()) => Ok(true),
                Err((at, kind)) => Err(self.error(kind).at_byte(at)),
            };
        }
        Ok(false)
    }

    fn error(&self, kind: ReadErrorKind) -> ReadError {
        self.lines.error(kind)
    }
}
