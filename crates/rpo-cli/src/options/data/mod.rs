//! Options for reading data.

mod background;
mod classes;
mod format;
mod input;
mod left_out;
mod newly_missing;
mod not_read;
mod rounded;
mod source;
mod split;
mod targets;
mod task;
mod training;
mod unseen;
mod unseparated;
mod withheld;

pub(crate) use background::BackgroundOptions;
pub(super) use format::formats;
pub(crate) use input::InputOptions;
pub(crate) use split::SplitDataOptions;
pub(crate) use task::TaskOptions;
pub(crate) use training::TrainingOptions;
pub(crate) use unseen::UnseenOptions;
pub(crate) use withheld::{Column, GroupOptions, WithheldOptions};

use crate::error::CliError;
use crate::files::NamedFile;
use crate::options::SampleWeightOptions;
use clap::Args;
use classes::note_classes;
use input::{OutputsOf, Part};
use left_out::{THE_MODEL, note_left_out};
use rpo::Schema;
use rpo::data::Dataset;
use rpo::data::read::{ColumnType, Missing, ReadOptions, Targets};
use std::borrow::Cow;
use targets::{TargetOptions, labels_of};

/// A file, how to read it, and which of its columns are outputs.
#[derive(Debug, Clone, Args)]
pub(crate) struct DataOptions {
    #[command(flatten)]
    input: InputOptions,

    #[command(flatten)]
    outputs: TargetOptions,

    /// Outputs of ARFF, CSV, Parquet and Arrow files may be missing: ? in ARFF, an empty cell or NA in CSV, null.
    /// Missing outputs are ignored in training (by methods that support them) and in metrics; without this option they
    /// are refused. Listed labels are never missing: a sample with a blank or null in place of a list has none.
    #[arg(long, help_heading = "Data", conflicts_with = "label_list")]
    missing_outputs: bool,
}

impl DataOptions {
    /// The files that are read.
    pub(crate) fn files(&self) -> Vec<NamedFile<'_>> {
        self.input.files().chain([self.outputs.file()]).collect()
    }

    /// The name of the data in messages.
    pub(crate) fn name(&self) -> &str {
        self.input.name()
    }

    /// Reads an evaluation set. Outputs are found by the model's names unless options select them.
    pub(crate) fn load_evaluation(&self, schema: &Schema) -> Result<Dataset, CliError> {
        self.load_for(schema, THE_MODEL)
    }

    /// Reads a set with the schema of a model or of other data.
    fn load_for(&self, schema: &Schema, owner: &str) -> Result<Dataset, CliError> {
        let data = match self.catalogue_name()? {
            Some(name) => self.input.catalogued(name, Part::Test)?,
            None => match self.outputs.targets_for(schema)? {
                Some(targets) => {
                    let options = self.options();
                    self.input
                        .read_table(schema, &options, targets, OutputsOf::Model)?
                }
                None => self.load_targets(schema)?,
            },
        };
        note_left_out(&data, owner);
        self.input.finish(data)
    }

    /// Reads a set with the features of a model, outputs of its own, and the given weights of its samples.
    pub(crate) fn load_with_new_outputs(
        &self,
        schema: &Schema,
        task: &TaskOptions,
        weights: &SampleWeightOptions,
    ) -> Result<Dataset, CliError> {
        let data = match self.catalogue_name()? {
            Some(name) => self.input.catalogued(name, Part::Train)?,
            None => {
                let column = weights.given().into_iter();
                let options = ReadOptions {
                    task: task.given(),
                    types: column.map(|name| (name.to_owned(), ColumnType::Number)).collect(),
                    ..self.options()
                };
                let none = Targets::NamesIfPresent(Vec::new());
                let targets = self.outputs.targets()?.unwrap_or(none);
                self.input.read_for(schema, options, targets, OutputsOf::Data)?
            }
        };
        note_left_out(&data, THE_MODEL);
        let data = self.input.finish(data)?;
        self.input.check_outputs(&data)?;
        note_classes(&data, false);
        weights.apply(data, self.name())
    }

    /// Reads a set whose targets are in the same columns as in training, or in one column per output.
    fn load_targets(&self, schema: &Schema) -> Result<Dataset, CliError> {
        let read = |targets| {
            self.input
                .read_for(schema, self.options(), targets, OutputsOf::Model)
        };
        let names = schema.written_names();
        let names = Targets::Names(names.iter().map(Cow::into_owned).collect());
        let columns = match &schema.label_column {
            Some(column) => labels_of(schema, column.clone().into()),
            None if schema.class_columns.is_empty() => return read(names),
            None => Targets::Names(schema.target_columns()),
        };
        match read(columns) {
            Err(e) if e.is_without_lists() => read(names),
            Err(lacks_column) if lacks_column.is_unknown_target() => match read(names) {
                Err(e) if e.is_unknown_target() => Err(lacks_column),
                read => read,
            },
            read => read,
        }
    }

    fn options(&self) -> ReadOptions {
        ReadOptions {
            missing_outputs: self.missing_outputs.then_some(Missing::Keep),
            ..self.input.options()
        }
    }

    fn catalogue_name(&self) -> Result<Option<&str>, CliError> {
        let name = self.input.catalogue_name();
        if name.is_some() && self.outputs.are_given() {
            let message = "the catalogue knows the outputs of its sets: --labels, --targets, --label-list, --label-separator and --n-targets are for files";
            return Err(CliError::Usage(message.to_owned()));
        }
        if name.is_some() && self.missing_outputs {
            let message = "no output of the catalogue's sets is missing: --missing-outputs is for files";
            return Err(CliError::Usage(message.to_owned()));
        }
        Ok(name)
    }
}
