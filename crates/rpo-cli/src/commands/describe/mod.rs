//! `rpo describe`.

mod columns;
mod page;

use crate::error::CliError;
use crate::files::{self, data_files};
use crate::options::{ThreadOptions, TrainingOptions};
use crate::output::{Output, Report, print};
use clap::Args;
use rpo::Schema;
use rpo::core::text::quoted;
use rpo::data::{Dataset, LabelStatistics, Task};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

/// Describe a data set: its sizes, missing values, kinds of features, and the distribution of labels.
///
/// Prints one line for each figure; with --json one object with n_samples, n_features, n_outputs, task, layout,
/// feature_density, missing_features, missing_outputs, categories, duplicates, and for labels cardinality, density,
/// unlabelled (samples), never (labels), label_sets, mean_ir, max_ir and scumble; for targets of words class_columns;
/// with --test also n_test, shared (test samples with the same features as a sample of the data) and, for labels,
/// unlearnable (labels of the test file that never occur in the data); with --outputs and --features also these, as lists of objects. Outputs need not be named:
/// then all columns are described as features.
#[derive(Debug, Args)]
pub(crate) struct Describe {
    /// Also list every output: count, frequency and imbalance ratio of a label; mean, deviation, minimum, maximum and
    /// number of missing values of a number.
    #[arg(long)]
    outputs: bool,

    /// Also list every feature: its kind (number, category or term of a text), mean, deviation, minimum, maximum or
    /// number of categories, and number of missing values. Numbered features count from 0, also those of svmlight files.
    #[arg(long)]
    features: bool,

    /// A test file: also counts its samples with the same features as a sample of the data, and its labels that never
    /// occur in the data.
    #[arg(long, value_name = "FILE")]
    test: Option<String>,

    /// HTML page to write, with charts of labels or values, and of missing values.
    #[arg(long, value_name = "FILE", value_parser = files::written())]
    html: Option<PathBuf>,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    data: TrainingOptions,

    #[command(flatten)]
    threads: ThreadOptions,
}

impl Describe {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        self.threads.start()?;
        let test = self.test.as_deref().map(data_files).unwrap_or_default();
        let test = test.iter().map(|file| ("--test", Some(file.as_path())));
        let read = self.data.files().into_iter().chain(test);
        files::check(read, [("--html", self.html.as_deref())])?;
        let data = self.data.load_described()?;
        let statistics = data.label_statistics();
        let mut report = Report::default();
        data.summary(&statistics)
            .into_iter()
            .for_each(|(key, value)| report.set(key, value));
        if let Some(test) = &self.test {
            self.compare(&data, &statistics, test, &mut report)?;
        }
        if let Some(path) = &self.html {
            let mut out = Output::new(Some(path))?;
            out.put(page::html(&data, &statistics, &report).as_bytes())?;
            out.finish()?;
        }
        let lists = [
            (
                "outputs",
                self.outputs.then(|| columns::outputs(&data, &statistics)),
            ),
            ("features", self.features.then(|| columns::features(&data))),
        ];
        if self.json {
            let columns = data.class_columns().iter();
            let columns: Value = columns
                .map(|column| json!({"name": column.name, "classes": column.classes}))
                .collect();
            report.set_known(
                "class_columns",
                (!data.class_columns().is_empty()).then_some(columns),
            );
            for (key, list) in lists {
                report.set_known(key, list.map(columns::List::into_json));
            }
            return report.print(true);
        }
        report.print(false)?;
        print(&classes(&data))?;
        print(&categories(&data))?;
        print(&texts(&data))?;
        lists
            .into_iter()
            .filter_map(|(_, list)| list)
            .try_for_each(|list| print(&format!("\n{}", list.into_text())))
    }
}

impl Describe {
    /// Compares a test file with the data.
    fn compare(
        &self,
        data: &Dataset,
        statistics: &LabelStatistics,
        file: &str,
        report: &mut Report,
    ) -> Result<(), CliError> {
        let schema = Schema::from(data);
        let test = self.data.load_beside(file, &schema)?;
        let mismatch = |source| CliError::DataMismatch {
            data: file.to_owned(),
            source,
        };
        let features = schema.align_features(&test).map_err(mismatch)?.into_owned();
        let outputs = schema.align_outputs(&test).map_err(mismatch)?.into_owned();
        let n_others = test.notes.other_labels.n_distinct();
        let test = Dataset::with_missing(features, outputs, data.task());
        let test = test.map_err(|source| mismatch(source.into()))?;
        report.set("n_test", test.n_samples());
        let shared = test.n_shared(data).map_err(|e| mismatch(e.into()))?;
        report.set("shared", shared);
        if data.task() == Task::MultiLabel {
            let counts = test.label_statistics().counts;
            let pairs = counts.iter().zip(&statistics.counts);
            report.set(
                "unlearnable",
                n_others + pairs.filter(|(test, train)| **test > 0 && **train == 0).count(),
            );
        }
        Ok(())
    }
}

/// Describes the targets that are classes: names and classes.
fn classes(data: &Dataset) -> String {
    let columns = data.class_columns().iter();
    columns
        .map(|column| line_of("classes", &column.name, "classes", &column.classes))
        .collect()
}

/// Describes the features that are categories: names and values.
fn categories(data: &Dataset) -> String {
    let categories = data.nominal().iter().map(|(&feature, values)| {
        let name = data.feature_names().get(feature).unwrap_or_default();
        line_of("category", &name, "values", values)
    });
    categories.collect()
}

/// Describes a column of words: its name, number of words and the first of them.
fn line_of(kind: &str, name: &str, what: &str, words: &[String]) -> String {
    let first: Vec<String> = words.iter().take(5).map(|word| quoted(word)).collect();
    let more = if words.len() > 5 { ", ..." } else { "" };
    let (name, first) = (quoted(name), first.join(", "));
    format!("{kind} {name}: {} {what}: [{first}]{more}\n", words.len())
}

/// Describes the columns of texts: names and numbers of terms.
fn texts(data: &Dataset) -> String {
    let mut text = String::new();
    for column in data.texts().values() {
        let (name, n) = (&column.name, column.n_features());
        // Writing to a string does not fail.
        let _ = match column.options().hash {
            None => writeln!(text, "text {name:?}: {n} terms"),
            Some(_) => writeln!(text, "text {name:?}: terms hashed to {n} features"),
        };
    }
    text
}
