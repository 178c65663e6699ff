//! Lists of training and test samples, as the Extreme Classification Repository publishes them.

use super::detect::open;
use super::error::{ReadError, ReadErrorKind};
use super::line::LineReader;
use super::number;
use crate::message::lossy;
use crate::split::Split;
use rpo_core::{Mismatch, ParameterError};
use std::io::BufRead;
use std::path::Path;

/// Reads one of the splits of a set that is published as a single file, from a file of training samples and one of test
/// samples. Each line lists one sample per repetition of the experiment, counted from 1. Samples in neither list are in
/// neither set.
///
/// # Errors
/// [`ReadError`] for repetition 0; with path and line: no column for the repetition, text in place of a number, a
/// sample beyond `n_samples`, a sample that is listed twice, also if once in each file.
pub fn read_split(
    train: impl AsRef<Path>,
    test: impl AsRef<Path>,
    repetition: usize,
    n_samples: usize,
) -> Result<Split, ReadError> {
    let expected = "at least 1, as repetitions count from 1";
    let checked = ParameterError::unless(repetition >= 1, "repetition", repetition, expected);
    checked.map_err(|e| ReadErrorKind::Parameter(Box::new(e)))?;
    let mut is_listed = vec![false; n_samples];
    let mut read = |path: &Path| {
        let read = open(path).and_then(|file| samples(LineReader::new(file), repetition, &mut is_listed));
        read.map_err(|e| e.in_file(path))
    };
    let (train, test) = (read(train.as_ref())?, read(test.as_ref())?);
    Ok(Split { train, test })
}

/// Returns the samples of a list, from 0 and increasing.
fn samples(
    mut lines: LineReader<impl BufRead>,
    repetition: usize,
    is_listed: &mut [bool],
) -> Result<Vec<usize>, ReadError> {
    const WHAT: &str = "sample";
    let mut samples = Vec::new();
    while lines.advance()? {
        let line = lines.line();
        let fields = line.split(|b| matches!(b, b' ' | b'\t' | b','));
        let fields: Vec<&[u8]> = fields.filter(|field| !field.is_empty()).collect();
        if fields.is_empty() {
            continue;
        }
        let sample = || {
            let Some(text) = repetition.checked_sub(1).and_then(|at| fields.get(at)) else {
                let (what, expected, given) = ("repetitions on the line", repetition, fields.len());
                return Err(Mismatch {
                    what,
                    expected,
                    given,
                }
                .into());
            };
            let index = number::parse_id(text).ok_or_else(|| {
                let text = lossy(text);
                ReadErrorKind::BadIndex { what: WHAT, text }
            })?;
            let sample = index
                .checked_sub(1)
                .and_then(|sample| usize::try_from(sample).ok());
            match sample.and_then(|sample| is_listed.get(sample).map(|listed| (sample, *listed))) {
                Some((sample, false)) => Ok(sample),
                Some((_, true)) => Err(ReadErrorKind::RepeatedIndex { what: WHAT, index }),
                None => {
                    let (what, count) = (WHAT, is_listed.len() as u64);
                    Err(ReadErrorKind::IndexOutOfRange { what, index, count })
                }
            }
        };
        let sample = sample().map_err(|kind| lines.error(kind))?;
        is_listed[sample] = true;
        samples.push(sample);
    }
    samples.sort_unstable();
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_count_from_one() {
        // This is refused before any file is opened.
        let e = read_split("nowhere", "nowhere", 0, 4).unwrap_err();
        assert_eq!(
            e.to_string(),
            "`repetition` must be at least 1, as repetitions count from 1, got 0"
        );
    }

    #[test]
    fn a_column_is_a_repetition() {
        let read = |text: &str, repetition| {
            let mut is_listed = [false; 4];
            is_listed[3] = true;
            samples(LineReader::new(text.as_bytes()), repetition, &mut is_listed)
        };
        assert_eq!(read("3 1\n1 2\n\n", 1), Ok(vec![0, 2]));
        assert_eq!(read("3 1\r\n1 2", 2), Ok(vec![0, 1]));
        let what = "sample";
        let check = |text: &str, repetition, line, kind: ReadErrorKind| {
            assert_eq!(read(text, repetition), Err(kind.at(line)), "{text}");
        };
        check("1\n1\n", 1, 2, ReadErrorKind::RepeatedIndex { what, index: 1 });
        // Already in the other list.
        check("1\n4\n", 1, 2, ReadErrorKind::RepeatedIndex { what, index: 4 });
        for index in [0, 5] {
            let count = 4;
            check(
                &index.to_string(),
                1,
                1,
                ReadErrorKind::IndexOutOfRange { what, index, count },
            );
        }
        check(
            "2\n1.0\n",
            1,
            2,
            ReadErrorKind::BadIndex {
                what,
                text: "1.0".into(),
            },
        );
        for repetition in [0, 3] {
            let (what, expected, given) = ("repetitions on the line", repetition, 2);
            check(
                "1 2",
                repetition,
                1,
                Mismatch {
                    what,
                    expected,
                    given,
                }
                .into(),
            );
        }
    }
}
