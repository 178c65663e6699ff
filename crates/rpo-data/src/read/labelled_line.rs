//! Lines of labels and `index:value` pairs, which two formats use.

use super::error::ReadErrorKind;
use super::line::skip_blanks;
use super::number;
use super::quoted_text::Fault;
use crate::message::lossy;

/// A sample from a file of labels and features, reused for every sample.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sample {
    /// Labels, increasing.
    pub(super) labels: Vec<u32>,
    /// Features and their values, indices from 0 and increasing.
    pub(super) features: Vec<(u32, f64)>,
}

/// The syntax of a format.
#[derive(Debug, Clone, Copy)]
pub(super) struct Syntax {
    /// Index of the first feature: 0 or 1.
    pub(super) first_feature: u64,
    /// True if features that do not increase are an error; otherwise they are sorted.
    pub(super) sorted: bool,
    /// True if a field `qid:INTEGER` may precede the features. It is ignored.
    pub(super) query: bool,
    /// Number of features.
    pub(super) n_features: u64,
    /// Number of labels.
    pub(super) n_labels: u64,
}

/// Maximum number of columns, as indices are stored in 32 bits.
pub(super) const MOST_COLUMNS: u64 = u32::MAX as u64;
/// Maximum number of labels. They are counted one by one, for a description or a split, whatever a header declares.
const MOST_LABELS: u64 = 1 << 27;

/// Refuses declared numbers of columns that are too large.
pub(super) fn check_declared(n_features: u64, n_labels: u64) -> Result<(), ReadErrorKind> {
    for (what, count) in [("feature", n_features), ("label", n_labels)] {
        if count > MOST_COLUMNS {
            return Err(ReadErrorKind::TooManyColumns { what, count });
        }
    }
    match n_labels > MOST_LABELS {
        true => Err(ReadErrorKind::TooManyLabels {
            count: n_labels,
            limit: MOST_LABELS,
        }),
        false => Ok(()),
    }
}

/// Parses `[label[,label]...] [index:value]...`. A line that starts with a blank, or with a field that contains a
/// colon, has no labels.
pub(super) fn parse_sample(line: &[u8], syntax: &Syntax, sample: &mut Sample) -> Result<(), Fault> {
    sample.labels.clear();
    sample.features.clear();
    let mut at = skip_blanks(line, parse_labels(line, syntax, &mut sample.labels)?);
    if syntax.query && line[at..].starts_with(b"qid:") {
        let end = field_end(line, at);
        let query = &line[at + b"qid:".len()..end];
        if number::parse_id(query).is_none() {
            return Err((at, ReadErrorKind::BadQuery(lossy(query))));
        }
        at = skip_blanks(line, end);
    }
    while at < line.len() {
        let start = at;
        let Some((written, length)) =
            number::scan_id(&line[at..]).filter(|&(_, n)| line.get(at + n) == Some(&b':'))
        else {
            return Err((start, bad_pair(&line[start..field_end(line, start)])));
        };
        let index = feature_index(written, syntax).map_err(|kind| (start, kind))?;
        at += length + 1;
        let value = match number::scan(&line[at..]) {
            Some((value, n)) if matches!(line.get(at + n), None | Some(b' ' | b'\t')) => {
                at += n;
                value
            }
            _ => {
                let text = &line[at..field_end(line, at)];
                let (what, index) = ("feature", written);
                return Err(match number::parse(text) {
                    _ if text.is_empty() => (at, ReadErrorKind::NoValue { what, index }),
                    Ok(_) => unreachable!("a number up to the end of its field is scanned"),
                    Err(why) => (at, ReadErrorKind::number(why, format!("feature {written}"), text)),
                });
            }
        };
        let last = sample.features.last();
        if syntax.sorted && last.is_some_and(|&(last, _)| index <= last) {
            let last = last.map(|&(last, _)| u64::from(last) + syntax.first_feature);
            return Err((start, misplaced("feature", written, last, syntax.n_features)));
        }
        sample.features.push((index, value));
        at = skip_blanks(line, at);
    }
    if sample.features.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
        sample.features.sort_unstable_by_key(|&(j, _)| j);
        let indices = sample.features.iter().map(|&(j, _)| j);
        refuse_repeated("feature", syntax.first_feature, indices)?;
    }
    if sample.labels.windows(2).any(|pair| pair[0] >= pair[1]) {
        sample.labels.sort_unstable();
        refuse_repeated("label", 0, sample.labels.iter().copied())?;
    }
    Ok(())
}

/// Returns the error for an index that is beyond the last column or not greater than the previous one.
#[cold]
pub(super) fn misplaced(what: &'static str, index: u64, previous: Option<u64>, count: u64) -> ReadErrorKind {
    match previous {
        Some(previous) if previous == index => ReadErrorKind::RepeatedIndex { what, index },
        Some(previous) if previous > index => ReadErrorKind::UnsortedIndex {
            what,
            index,
            previous,
        },
        _ => ReadErrorKind::IndexOutOfRange { what, index, count },
    }
}

/// Parses the labels at the start of the line; returns the position after them.
fn parse_labels(line: &[u8], syntax: &Syntax, labels: &mut Vec<u32>) -> Result<usize, Fault> {
    const WHAT: &str = "label";
    let mut at = 0;
    if matches!(line.first(), None | Some(b' ' | b'\t')) {
        return Ok(at);
    }
    loop {
        let scanned = number::scan_id(&line[at..]);
        let next = scanned.and_then(|(_, length)| line.get(at + length));
        match (scanned, next) {
            (Some((index, length)), None | Some(b',' | b' ' | b'\t')) => {
                if index >= syntax.n_labels {
                    return Err((at, misplaced(WHAT, index, None, syntax.n_labels)));
                }
                labels.push(index as u32);
                at += length;
                if next != Some(&b',') {
                    return Ok(at);
                }
                at += 1;
            }
            (Some(_), Some(b':')) if labels.is_empty() => return Ok(0),
            _ if labels.is_empty() && syntax.query && line.starts_with(b"qid:") => return Ok(0),
            _ => {
                let field = &line[at..field_end(line, at)];
                // A first field with a colon is more likely a feature than a label.
                if labels.is_empty() && field.contains(&b':') {
                    return Ok(0);
                }
                let label = field.split(|&b| b == b',').next().unwrap_or_default();
                let text = lossy(label);
                // Such as +1 and -1, the classes of svmlight, or a value of regression.
                let kind = match number::parse(label) {
                    Ok(_) => ReadErrorKind::TargetForLabels(text),
                    Err(_) => ReadErrorKind::BadIndex { what: WHAT, text },
                };
                return Err((at, kind));
            }
        }
    }
}

fn feature_index(written: u64, syntax: &Syntax) -> Result<u32, ReadErrorKind> {
    let index = written.checked_sub(syntax.first_feature);
    let index = index.ok_or(ReadErrorKind::IndexZero)?;
    if index < syntax.n_features {
        return Ok(index as u32);
    }
    Err(misplaced("feature", written, None, syntax.n_features))
}

/// Returns the error for a field that is not `index:value`.
fn bad_pair(field: &[u8]) -> ReadErrorKind {
    match field.iter().position(|&b| b == b':') {
        None => ReadErrorKind::NoColon(lossy(field)),
        Some(colon) => {
            let (what, text) = ("feature", lossy(&field[..colon]));
            ReadErrorKind::BadIndex { what, text }
        }
    }
}

/// Refuses repeated values among sorted indices.
fn refuse_repeated(what: &'static str, first: u64, sorted: impl Iterator<Item = u32>) -> Result<(), Fault> {
    let mut previous = None;
    for index in sorted {
        if previous == Some(index) {
            let index = u64::from(index) + first;
            return Err((0, ReadErrorKind::RepeatedIndex { what, index }));
        }
        previous = Some(index);
    }
    Ok(())
}

fn field_end(line: &[u8], start: usize) -> usize {
    let rest = &line[start..];
    start
        + rest
            .iter()
            .position(|b| matches!(b, b' ' | b'\t'))
            .unwrap_or(rest.len())
}
