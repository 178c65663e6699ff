//! Writes results to standard output or to a file.

use crate::data_file::DataFile;
use crate::error::CliError;
use rpo::Model;
use rpo::data::Dataset;
use rpo::tree::categories::MOST_CATEGORIES;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// True if a file that the command writes is standard output.
static HAS_DATA: AtomicBool = AtomicBool::new(false);

/// Makes standard output that of a written file alone: reports go to standard error.
pub(crate) fn give_to_data() {
    HAS_DATA.store(true, Ordering::Relaxed);
}

/// Returns true if a file that the command writes is standard output.
pub(crate) fn has_data() -> bool {
    HAS_DATA.load(Ordering::Relaxed)
}

/// The destination of a command's results.
pub(crate) enum Output {
    Standard(BufWriter<StdoutLock<'static>>),
    /// Standard output on a terminal, where control characters in names would have effects.
    Terminal(BufWriter<StdoutLock<'static>>),
    File(DataFile),
}

impl Output {
    /// A file, or standard output.
    pub(crate) fn new(path: Option<&Path>) -> Result<Self, CliError> {
        Ok(match path {
            Some(path) => Self::File(DataFile::new(path)?),
            None if io::stdout().is_terminal() => Self::Terminal(BufWriter::new(io::stdout().lock())),
            None => Self::Standard(BufWriter::new(io::stdout().lock())),
        })
    }

    /// Writes bytes.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        match self {
            Self::Standard(out) => out.write_all(bytes).map_err(CliError::Output),
            Self::Terminal(out) => {
                let text = String::from_utf8_lossy(bytes);
                out.write_all(harmless(&text).as_bytes())
                    .map_err(CliError::Output)
            }
            Self::File(file) => file.put(bytes),
        }
    }

    /// Flushes everything, and gives a file its final name.
    pub(crate) fn finish(self) -> Result<(), CliError> {
        match self {
            Self::Standard(mut out) | Self::Terminal(mut out) => out.flush().map_err(CliError::Output),
            Self::File(file) => file.finish(),
        }
    }
}

/// Escapes the control characters of a text, except line ends and tabs.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    let escaped = text.chars().map(|c| match c {
        c if harmful(c) => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    Cow::Owned(escaped.collect())
}

/// Writes a report to standard output, terminal or not; to standard error if the other has data. In JSON the escapes are
/// those of a string.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    if has_data() {
        // As with notes, a failure is no error: the data are complete.
        let _ = io::stderr().write_all(harmless(text).as_bytes());
        return Ok(());
    }
    let mut out = Output::new(None)?;
    out.put(harmless(text).as_bytes())?;
    out.finish()
}

/// Writes a note, which is not a result, to standard error.
pub(crate) fn note(text: &str) {
    // A note that cannot be written is not an error.
    let _ = writeln!(io::stderr(), "note: {}", harmless(text));
}

/// Notes what a user may not expect of a fitted model.
pub(crate) fn note_fitted(model: &Model) {
    note_constant(model);
    note_rare_categories(model);
    note_unsettled(model);
}

/// Notes weights that are further from the optimum than the tolerance allows.
fn note_unsettled(model: &Model) {
    let summary = model.predictor().summary();
    let residual = summary.iter().find(|(name, _)| *name == "residual");
    let residual = residual.and_then(|(_, residual)| residual.as_f64());
    let tolerance = model.parameters.get("tolerance").and_then(Value::as_f64);
    if let Some((residual, tolerance)) = residual.zip(tolerance).filter(|(found, most)| found > most) {
        let has = |name: &str| model.parameters.contains_key(name);
        let most = if has("max_steps") {
            "--max-steps"
        } else {
            "--max-passes"
        };
        let standardize = match model.parameters.get("standardize") {
            Some(Value::Bool(true)) => "",
            _ => ", or --standardize features of different size",
        };
        note(&format!(
            "passes ended before the tolerance of {tolerance} was reached, with a residual of {residual:.2e}: raise \
             {most}{standardize}"
        ));
    }
}

/// Notes features with more categories than splits distinguish.
fn note_rare_categories(model: &Model) {
    let is_native = model
        .parameters
        .get("nominal")
        .is_some_and(|nominal| nominal == "native");
    let schema = model.schema();
    let many = schema
        .nominal
        .iter()
        .filter(|(_, values)| values.len() > MOST_CATEGORIES);
    for (&feature, values) in many.filter(|_| is_native) {
        let name = schema.feature_names.get(feature).unwrap_or_default();
        note(&format!(
            "feature {name:?} has {} categories; splits distinguish the {MOST_CATEGORIES} most frequent, and the others \
             count as missing: with --nominal target all of them count",
            values.len()
        ));
    }
}

/// The first of some names, and the number of the others; `None` if there are none.
pub(crate) fn first_of(names: &[impl AsRef<str>]) -> Option<String> {
    let (first, others) = names.split_first()?;
    let others = match others.len() {
        0 => String::new(),
        1 => " (and 1 other)".to_owned(),
        n => format!(" (and {n} others)"),
    };
    Some(format!("{:?}{others}", first.as_ref()))
}

/// Notes that boosting kept no step, or that the directions of outputs leave nothing to cluster.
fn note_constant(model: &Model) {
    let predictor = model.predictor();
    let is_craftml = model
        .parameters
        .get("method")
        .is_some_and(|method| method == "craftml");
    if is_craftml && predictor.tree_sizes().iter().all(|size| size.leaves == 1) {
        note(
            "no tree has a split: the model predicts the same for all samples; craftml clusters samples by the directions of \
             their outputs, which are equal for positive numbers of one target",
        );
    }
    let summary = predictor.summary();
    if summary
        .iter()
        .any(|(name, value)| *name == "steps" && *value == 0)
    {
        note(
            "no step improved the score on the withheld samples: the model predicts the same for all samples",
        );
    }
}

/// The results of a command, in order: printed as one JSON object, or as lines of text.
#[derive(Default)]
pub(crate) struct Report {
    entries: Vec<(String, Value)>,
}

impl Report {
    pub(crate) fn set(&mut self, key: impl Into<String>, value: impl Into<Value>) {
        self.entries.push((key.into(), value.into()));
    }

    /// Sets the numbers of samples, features and outputs of a set.
    pub(crate) fn set_sizes(&mut self, data: &Dataset) {
        self.set("n_samples", data.n_samples());
        self.set("n_features", data.n_features());
        self.set("n_outputs", data.n_outputs());
    }

    /// Sets a value, or omits the key if there is no value.
    pub(crate) fn set_known(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    /// Keys and values, formatted for people.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&str, String)> {
        self.entries
            .iter()
            .map(|(key, value)| (key.as_str(), shown(value)))
    }

    pub(crate) fn print(self, as_json: bool) -> Result<(), CliError> {
        if as_json {
            let object: Map<String, Value> = self.entries.into_iter().collect();
            return print(&format!("{}\n", Value::Object(object)));
        }
        let width = self.entries.iter().map(|(key, _)| key.len()).max().unwrap_or(0);
        let line = |(key, value): &(String, Value)| format!("{key:width$}  {}\n", shown(value));
        print(&self.entries.iter().map(line).collect::<String>())
    }
}

/// Formats a number for a table: `none` if it is undefined, `inf` if it is infinite.
pub(crate) fn figure(value: f64) -> String {
    match value.is_nan() {
        true => "none".to_owned(),
        false => format!("{value:.4}"),
    }
}

/// Formats a value for people: numbers rounded, texts without quotes, objects as lists.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Number(n) if n.is_f64() => match n.as_f64().unwrap_or(f64::NAN) {
            x if x != 0.0 && x.abs() < 1e-3 => format!("{x:.3e}"),
            x => format!("{x:.4}"),
        },
        Value::String(text) => text.clone(),
        Value::Null => "none".to_owned(),
        Value::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| format!("{key} {}", shown(value)));
            entries.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(harmless("a\tb é\n"), "a\tb é\n");
        assert_eq!(
            harmless("\u{1b}[2J\r\u{7f}\u{9b}x"),
            "\\u001b[2J\\u000d\\u007f\\u009bx"
        );
    }
}
