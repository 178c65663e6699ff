//! Reports the result of a search as a table, a JSON object, or a file.

use crate::csv_file;
use crate::error::CliError;
use crate::output::{self, Output};
use rpo::ModelError;
use rpo::tune::{Outcome, Record, Setting, Space, TrialError, Tuned};
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::path::Path;

pub(super) struct Report<'a> {
    pub(super) tuned: &'a Tuned,
    pub(super) search_seconds: f64,
    pub(super) interrupted: bool,
}

impl Report<'_> {
    /// Prints one JSON object, or a table of the trials, best first.
    pub(super) fn print(&self, as_json: bool, model_bytes: Option<u64>) -> Result<(), CliError> {
        if as_json {
            return output::print(&format!("{}\n", self.json(model_bytes)));
        }
        output::print(&self.table(model_bytes))
    }

    fn json(&self, model_bytes: Option<u64>) -> Value {
        let result = &self.tuned.result;
        let best = &result.history[result.best];
        let mut object = json!({
            "metric": self.tuned.metric.name(),
            "best": {
                "index": best.index,
                "parameters": parameters(&best.setting),
                "score": result.best_score,
            },
            "trials": result.history.iter().map(trial).collect::<Vec<_>>(),
            "n_train": self.tuned.holdout.train.n_samples(),
            "n_validation": self.tuned.holdout.validation.n_samples(),
            "search_seconds": self.search_seconds,
        });
        if self.interrupted {
            object["interrupted"] = json!(true);
        }
        if let Some(bytes) = model_bytes {
            object["model_bytes"] = json!(bytes);
        }
        object
    }

    fn table(&self, model_bytes: Option<u64>) -> String {
        let mut text = format!(
            "{:>10}  {:>8}  {:>7}  setting\n",
            self.tuned.metric.name(),
            "seconds",
            "steps"
        );
        for record in self.ranked() {
            let (score, remark) = match &record.outcome {
                Outcome::Scored(score) => (format!("{score:.4}"), String::new()),
                Outcome::Stopped(score) => (format!("{score:.4}"), " (stopped early)".to_owned()),
                Outcome::Failed(TrialError::Interrupted) => ("none".to_owned(), " (interrupted)".to_owned()),
                Outcome::Failed(failure) => ("failed".to_owned(), format!(": {failure}")),
            };
            let (seconds, steps, setting) = (record.seconds, record.steps, &record.setting);
            // Writing to a string does not fail.
            let _ = writeln!(text, "{score:>10}  {seconds:>8.2}  {steps:>7}  {setting}{remark}");
        }
        let (train, validation) = (
            self.tuned.holdout.train.n_samples(),
            self.tuned.holdout.validation.n_samples(),
        );
        let _ = writeln!(
            text,
            "\n{} settings in {:.2} s, fitted to {train} samples and scored on {validation}; best: {}",
            self.tuned.result.history.len(),
            self.search_seconds,
            self.tuned.result.best_setting
        );
        if let Some(bytes) = model_bytes {
            let _ = writeln!(text, "model of {bytes} bytes saved");
        }
        text
    }

    /// The trials in order of rank: the winner, completed trials, stopped ones, then failures; within each by score,
    /// ties in order of trial.
    fn ranked(&self) -> Vec<&Record<ModelError>> {
        let mut ranked: Vec<_> = self.tuned.result.history.iter().collect();
        ranked.sort_by(|a, b| {
            let class = |record: &Record<ModelError>| match record.outcome {
                Outcome::Scored(_) => 0,
                Outcome::Stopped(_) => 1,
                Outcome::Failed(_) => 2,
            };
            let by_score = match (a.score(), b.score()) {
                (Some(a), Some(b)) if self.tuned.metric.higher_is_better() => b.total_cmp(&a),
                (Some(a), Some(b)) => a.total_cmp(&b),
                _ => std::cmp::Ordering::Equal,
            };
            class(a).cmp(&class(b)).then(by_score)
        });
        ranked
    }

    /// Writes a line for each trial in order.
    pub(super) fn write_csv(&self, path: &Path, space: &Space) -> Result<(), CliError> {
        let mut out = Output::new(Some(path))?;
        let delimiter = csv_file::delimiter(Some(path));
        out.put(header(space, delimiter).as_bytes())?;
        for record in &self.tuned.result.history {
            out.put(line(record, space, delimiter).as_bytes())?;
        }
        out.finish()
    }
}

/// The line of the names of columns.
pub(super) fn header(space: &Space, delimiter: char) -> String {
    let own = ["index", "score", "steps", "seconds", "status", "error"].map(str::to_owned);
    let names = space.names().map(|name| csv_file::field(name, delimiter));
    csv_file::line(own.into_iter().chain(names), delimiter)
}

/// The line of a trial, with a column for each parameter, which is empty if the parameter does not apply.
pub(super) fn line(record: &Record<ModelError>, space: &Space, delimiter: char) -> String {
    let shown =
        |text: Option<String>| text.map_or_else(String::new, |text| csv_file::field(&text, delimiter));
    let (status, error) = status(record);
    let own = [
        record.index.to_string(),
        record.score().map_or_else(String::new, |score| score.to_string()),
        record.steps.to_string(),
        record.seconds.to_string(),
        status.to_owned(),
        shown(error),
    ];
    let value = |name| shown(record.setting.get::<String>(name).ok());
    csv_file::line(own.into_iter().chain(space.names().map(value)), delimiter)
}

fn status(record: &Record<ModelError>) -> (&'static str, Option<String>) {
    match &record.outcome {
        Outcome::Scored(_) => ("scored", None),
        Outcome::Stopped(_) => ("stopped", None),
        Outcome::Failed(TrialError::Interrupted) => ("interrupted", None),
        Outcome::Failed(failure) => ("failed", Some(failure.to_string())),
    }
}

/// The parameters of a setting as in a file of parameters: numbers, truth values and texts.
fn parameters(setting: &Setting) -> Map<String, Value> {
    let values = setting.0.iter().map(|(name, value)| {
        let text = value.to_string();
        let scalar = serde_json::from_str(&text).ok();
        let scalar = scalar.filter(|value: &Value| value.is_number() || value.is_boolean());
        (name.to_owned(), scalar.unwrap_or(Value::String(text)))
    });
    values.collect()
}

fn trial(record: &Record<ModelError>) -> Value {
    let (status, error) = status(record);
    let mut trial = json!({
        "index": record.index,
        "parameters": parameters(&record.setting),
        "score": record.score(),
        "steps": record.steps,
        "seconds": record.seconds,
        "status": status,
    });
    if let Some(error) = error {
        trial["error"] = json!(error);
    }
    trial
}
