//! The columns of a file that are outputs.

use super::format::parse_delimiter;
use crate::error::CliError;
use crate::files::NamedFile;
use crate::options::names::{List, all};
use clap::Args;
use rpo::Schema;
use rpo::data::read::{LabelList, Targets};
use std::borrow::Cow;
use std::path::PathBuf;

/// Selects the columns of a file that are outputs.
#[derive(Debug, Clone, Args)]
pub(super) struct TargetOptions {
    /// Outputs of ARFF, CSV, Parquet and Arrow files: the columns named in a MULAN label file.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    labels: Option<PathBuf>,

    /// Outputs of ARFF, CSV, Parquet and Arrow files: the columns with these names, in the order of the file: numbers,
    /// labels (0 and 1, or no and yes), or words, which are classes, each of them an output such as grade=gold. In a
    /// name that no column has, * matches any characters and ? matches one. A name with a comma stands in double quotes,
    /// here as in other lists of names: '"depth, m",width'.
    #[arg(
        long,
        value_name = "NAME,...",
        help_heading = "Data",
        conflicts_with = "labels"
    )]
    targets: Vec<List<String>>,

    /// Outputs of CSV, Parquet and Arrow files: the labels listed in a column for each sample, such as red;round, or a
    /// list of texts. An empty value is a sample without labels. A model reads its labels from the same column in other
    /// files; labels that the model lacks are left out, with a note.
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "Data",
        conflicts_with_all = ["labels", "targets"]
    )]
    label_list: Option<String>,

    /// Character between the labels of --label-list, or of the column of the model's training data if that is not given;
    /// by default as in training, where it is a semicolon.
    #[arg(
        long,
        value_name = "CHAR",
        value_parser = parse_delimiter,
        conflicts_with_all = ["labels", "targets", "n_targets"],
        help_heading = "Data"
    )]
    label_separator: Option<char>,

    /// Outputs of ARFF, CSV, Parquet and Arrow files: the last N columns.
    #[arg(
        long,
        value_name = "N",
        help_heading = "Data",
        conflicts_with_all = ["labels", "targets", "label_list"]
    )]
    n_targets: Option<usize>,

    /// The outputs counted by --n-targets are the first columns instead.
    #[arg(
        long,
        help_heading = "Data",
        requires = "n_targets",
        conflicts_with_all = ["labels", "targets", "label_list"]
    )]
    targets_first: bool,
}

impl TargetOptions {
    /// The file that is read.
    pub(super) fn file(&self) -> NamedFile<'_> {
        ("--labels", self.labels.as_deref())
    }

    /// Returns true if an option selects or separates outputs.
    pub(super) fn are_given(&self) -> bool {
        self.selected(None).is_some() || self.label_separator.is_some()
    }

    /// The outputs of a file that no model is given for.
    pub(super) fn targets(&self) -> Result<Option<Targets>, CliError> {
        match (&self.label_list, self.label_separator) {
            (None, Some(_)) => Err(CliError::Usage(
                "--label-separator separates the labels of a column: name it by --label-list".to_owned(),
            )),
            _ => Ok(self.selected(None)),
        }
    }

    /// The outputs of a file for a model, if options select them. Lists of labels are separated as in training, and are
    /// those of its column, unless options say otherwise.
    pub(super) fn targets_for(&self, schema: &Schema) -> Result<Option<Targets>, CliError> {
        let of_model = schema.label_column.as_ref();
        let alone = self.label_separator.filter(|_| self.label_list.is_none());
        match (alone, of_model) {
            (Some(separator), Some(column)) => Ok(Some(labels_of(
                schema,
                LabelList {
                    separator,
                    ..column.clone().into()
                },
            ))),
            (Some(_), None) => Err(CliError::Usage(
                "--label-separator: the model was not trained on a column of lists; name one by --label-list"
                    .to_owned(),
            )),
            (None, _) => Ok(match self.selected(of_model.map(|column| column.separator)) {
                Some(Targets::List(list)) => Some(labels_of(schema, list)),
                targets => targets,
            }),
        }
    }

    /// The outputs that options select. Labels are separated as in training by default.
    fn selected(&self, in_training: Option<char>) -> Option<Targets> {
        if !self.targets.is_empty() {
            return Some(Targets::Names(all(&self.targets)));
        }
        if let Some(column) = &self.label_list {
            return Some(Targets::List(LabelList {
                column: column.clone(),
                separator: self.label_separator.or(in_training).unwrap_or(';'),
                labels: None,
            }));
        }
        match (&self.labels, self.n_targets) {
            (Some(path), _) => Some(Targets::LabelFile(path.clone())),
            (None, Some(n)) if self.targets_first => Some(Targets::First(n)),
            (None, Some(n)) => Some(Targets::Last(n)),
            (None, None) => None,
        }
    }
}

/// The labels of a model, as listed in a column.
pub(super) fn labels_of(schema: &Schema, list: LabelList) -> Targets {
    let labels = schema.target_names().iter().map(Cow::into_owned).collect();
    let labels = Some(labels);
    Targets::List(LabelList { labels, ..list })
}
