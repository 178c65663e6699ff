//! The file that is read, and where it comes from: a path, standard input or the catalogue.

use super::format::FormatOptions;
use super::left_out::{THE_MODEL, note_left_out};
use super::not_read::{note_blank, note_index};
use super::rounded::note_rounded;
use super::source::{STANDARD_INPUT, Source, in_source};
use crate::error::CliError;
use crate::files::{NamedFile, data_files};
use crate::output::note;
use clap::{Args, ValueEnum};
use rpo::core::Matrix;
use rpo::data::read::{
    FirstFeature, Format, ReadError, ReadErrorKind, ReadOptions, Targets, read, read_from,
};
use rpo::data::{Catalogue, DEFAULT_MEMORY_LIMIT, Dataset, Layout};
use rpo::{ModelError, Schema};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A file and how to read it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct InputOptions {
    /// The data: an ARFF, CSV, Parquet, Arrow IPC (Feather), svmlight or Extreme Classification Repository file, plain
    /// or compressed by gzip; - is standard input. @NAME is a set of the catalogue in the folder that the variable
    /// RPO_DATA names: its training samples for training, its test samples for prediction and evaluation. Numbers are
    /// stored as 32-bit floats, of about seven digits; a note lists columns in which this changes more than last digits.
    #[arg(long, value_name = "FILE|@NAME|-")]
    pub(super) data: String,

    /// The content of standard input or a pipe, which comes once but may have to be read twice.
    #[arg(skip)]
    content: OnceLock<Vec<u8>>,

    /// The files of the data.
    #[arg(skip)]
    files: OnceLock<Vec<PathBuf>>,

    /// The column by which samples are withheld, and the option that names it.
    #[arg(skip)]
    withheld_by: OnceLock<(&'static str, String)>,

    #[command(flatten)]
    pub(super) format: FormatOptions,

    /// Column of a CSV, Parquet or Arrow file that identifies the samples: it is not a feature, and is written with the
    /// predictions.
    #[arg(long, value_name = "NAME")]
    id: Option<String>,

    /// Layout of the features in memory; auto is sparse if fewer than one in four values is not zero, unless at least one
    /// in a hundred features is a category of three or more values, which trees split as such only in dense features. In
    /// any layout, indicators of categories are stored sparse if there are more than four for each feature.
    #[arg(long, value_enum, default_value_t = LayoutName::Auto)]
    layout: LayoutName,
}

/// Names of layouts.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum LayoutName {
    Auto,
    Dense,
    Sparse,
}

/// Whose outputs are read beside the features of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum OutputsOf {
    /// Those that the model predicts.
    Model,
    /// Those of the data, if any.
    Data,
}

/// The training or test samples of a set in the catalogue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Part {
    Train,
    Test,
}

impl InputOptions {
    /// The files that are read.
    pub(crate) fn files(&self) -> impl Iterator<Item = NamedFile<'_>> {
        let files = self.files.get_or_init(|| data_files(&self.data));
        files.iter().map(|file| ("--data", Some(file.as_path())))
    }

    /// The name of the data in messages.
    pub(crate) fn name(&self) -> &str {
        match self.data.as_str() {
            "-" => STANDARD_INPUT,
            name => name,
        }
    }

    /// A file of a format, without identifiers.
    pub(super) fn of(file: &str, format: &FormatOptions) -> Self {
        Self {
            data: file.to_owned(),
            content: OnceLock::new(),
            files: OnceLock::new(),
            withheld_by: OnceLock::new(),
            format: format.clone(),
            id: None,
            layout: LayoutName::Auto,
        }
    }

    /// Another file that is read in the same way.
    pub(super) fn like(&self, file: &str) -> Self {
        if file == self.data {
            return self.clone();
        }
        Self {
            data: file.to_owned(),
            content: OnceLock::new(),
            files: OnceLock::new(),
            ..self.clone()
        }
    }

    /// Another file that is read in the same way, without identifiers.
    pub(crate) fn beside(&self, file: &str) -> Self {
        Self {
            layout: self.layout,
            ..Self::of(file, &self.format)
        }
    }

    /// Reads features to predict for, whether or not the file also has outputs.
    pub(crate) fn load_features(&self, schema: &Schema) -> Result<Dataset, CliError> {
        self.load_part(schema, Part::Test)
    }

    /// Reads features like those of the training.
    pub(crate) fn load_background(&self, schema: &Schema) -> Result<Dataset, CliError> {
        self.load_part(schema, Part::Train)
    }

    fn load_part(&self, schema: &Schema, part: Part) -> Result<Dataset, CliError> {
        let data = match self.catalogue_name() {
            Some(name) => self.catalogued(name, part)?,
            // Outputs of a table are read as features that the model does not need, so they may be missing.
            None => {
                let none = Targets::NamesIfPresent(Vec::new());
                self.read_for(schema, self.options(), none, OutputsOf::Data)?
            }
        };
        note_left_out(&data, THE_MODEL);
        self.finish_any(data)
    }

    /// The features in the order of a model.
    pub(crate) fn align<'a>(&self, schema: &Schema, data: &'a Dataset) -> Result<Cow<'a, Matrix>, CliError> {
        schema.align_features(data).map_err(|e| self.mismatch(e))
    }

    fn mismatch(&self, source: ModelError) -> CliError {
        CliError::ModelMismatch {
            data: self.name().to_owned(),
            source,
        }
    }

    pub(super) fn catalogue_name(&self) -> Option<&str> {
        self.data.strip_prefix('@')
    }

    pub(super) fn catalogued(&self, name: &str, part: Part) -> Result<Dataset, CliError> {
        let FormatOptions {
            format,
            delimiter,
            decimal_comma,
            first_feature,
            missing_values,
            ..
        } = &self.format;
        let is_auto =
            *format == Format::Auto && delimiter.is_none() && !decimal_comma && missing_values.is_empty();
        if !is_auto || first_feature.is_some() {
            let message = "the catalogue knows the format of its sets: --format, --delimiter, --decimal-comma, --missing-values and --first-feature are for files";
            return Err(CliError::Usage(message.to_owned()));
        }
        if self.identifying().is_some() {
            let message = "no column of the catalogue's sets identifies, groups or dates samples: --id, --group and --time-column are for files";
            return Err(CliError::Usage(message.to_owned()));
        }
        let loaded = Catalogue::from_env()?.load(name)?;
        match (part, loaded.test) {
            (Part::Train, _) => Ok(loaded.train),
            (Part::Test, Some(test)) => Ok(test),
            (Part::Test, None) => {
                Err(self.problem("the catalogue has no test part of this set; give a file"))
            }
        }
    }

    pub(super) fn options(&self) -> ReadOptions {
        ReadOptions {
            id: self.identifying().map(str::to_owned),
            ..self.format.options()
        }
    }

    /// Reads the file, pipe or standard input. Errors name the option of the column that is read as identifiers.
    pub(super) fn read(&self, options: &ReadOptions) -> Result<Dataset, ReadError> {
        self.read_as(options).map_err(|e| self.with_option(e))
    }

    fn read_as(&self, options: &ReadOptions) -> Result<Dataset, ReadError> {
        let path = Path::new(&self.data);
        let source = Source::of(path);
        if source == Source::File {
            return read(path, options);
        }
        let here = |e: ReadError| in_source(e, self.name());
        let content = match self.content.get() {
            Some(content) => content,
            None => {
                let content = source.content(path).map_err(|kind| here(kind.into()))?;
                self.content.get_or_init(|| content)
            }
        };
        let format = match options.format {
            Format::Auto => Format::of_name(path).unwrap_or_default(),
            given => given,
        };
        let options = ReadOptions {
            format,
            ..options.clone()
        };
        read_from(content.as_slice(), &options).map_err(here)
    }

    /// Reads this column beside the features, the value of an option. To be called before the data is read.
    pub(super) fn withhold_by(&self, option: &'static str, column: &str) {
        self.withheld_by.get_or_init(|| (option, column.to_owned()));
    }

    /// Returns the values of the column of a set that was read after [`withhold_by`](Self::withhold_by). They are its
    /// identifiers, unless another column is. Only then is the file read again.
    pub(super) fn withheld_by(&self, data: &Dataset) -> Result<Vec<String>, CliError> {
        let Some((_, column)) = self.second_column() else {
            return Ok(data.ids().unwrap_or_default().to_vec());
        };
        let values = self.read(&ReadOptions {
            id: Some(column.to_owned()),
            ignore_untyped: true,
            ..self.options()
        })?;
        Ok(values.ids().unwrap_or_default().to_vec())
    }

    /// The column that is read as identifiers.
    pub(super) fn identifying(&self) -> Option<&str> {
        let withheld_by = self.withheld_by.get().map(|(_, column)| column);
        self.id.as_ref().or(withheld_by).map(String::as_str)
    }

    /// The column by which samples are withheld and the option that names it, if another one is read as identifiers.
    pub(super) fn second_column(&self) -> Option<(&'static str, &str)> {
        let (option, column) = self.withheld_by.get()?;
        (self.identifying() != Some(column)).then_some((option, column))
    }

    /// Adds the option that named a column to an error.
    fn with_option(&self, mut e: ReadError) -> ReadError {
        let withholding = |name: &str| {
            let withheld_by = self.withheld_by.get();
            withheld_by
                .filter(|(_, column)| column == name)
                .map(|(option, _)| *option)
        };
        match &mut e.kind {
            ReadErrorKind::UnknownColumn { option, name, .. } if *option == "id" => {
                *option = withholding(name).unwrap_or("--id");
            }
            ReadErrorKind::Option { option, .. } if *option == "id" && self.id.is_none() => {
                if let Some((by, _)) = self.withheld_by.get() {
                    *option = by;
                }
            }
            ReadErrorKind::TargetIsOther { name, other } => {
                if let Some(option) = withholding(name) {
                    *other = option;
                }
            }
            _ => {}
        }
        e
    }

    /// The name of the identifier column.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Refuses an identifier with the name of another column of what is written.
    pub(crate) fn check_written_id(
        &self,
        written: &str,
        is_taken: impl FnOnce(&str) -> bool,
    ) -> Result<(), CliError> {
        match self.id().filter(|id| is_taken(id)) {
            Some(id) => Err(CliError::Usage(format!(
                "--id {id:?} is also the name of a column of {written}; rename the column of identifiers"
            ))),
            None => Ok(()),
        }
    }

    /// Reads a table with the given outputs.
    pub(super) fn read_table(
        &self,
        schema: &Schema,
        options: &ReadOptions,
        targets: Targets,
        outputs: OutputsOf,
    ) -> Result<Dataset, CliError> {
        let of_schema = schema.read_options();
        let ignore_untyped = of_schema.is_some();
        let ReadOptions { mut types, texts, .. } = of_schema.unwrap_or_default();
        // Columns beside those of the model.
        types.extend(options.types.clone());
        let (task, class_columns) = match outputs {
            OutputsOf::Model => (Some(schema.task), Some(schema.class_columns.clone())),
            OutputsOf::Data => (options.task, None),
        };
        let missing_values = match options.missing_values.is_empty() {
            true => schema.missing_values.clone(),
            false => options.missing_values.clone(),
        };
        let mut of_table = ReadOptions {
            targets,
            task,
            types,
            texts,
            class_columns,
            ignore_untyped,
            missing_values,
            ..options.clone()
        };
        let data = match self.read(&of_table) {
            // Other formats than CSV have missing values themselves.
            Err(e) if is_for_csv_alone(&e) => {
                of_table.missing_values.clone_from(&options.missing_values);
                self.read(&of_table)?
            }
            read => read?,
        };
        self.check_id(schema)?;
        Ok(data)
    }

    /// Refuses a column of identifiers, or by which samples are withheld, that a model needs as a feature.
    fn check_id(&self, schema: &Schema) -> Result<(), CliError> {
        let id = self.id.iter().map(|id| ("--id", id));
        let mut others = id.chain(self.withheld_by.get().map(|(option, column)| (*option, column)));
        // A column of dates or texts is not a feature itself.
        let types = schema
            .read_options()
            .map(|options| options.types)
            .unwrap_or_default();
        let is_needed =
            |column: &str| types.contains_key(column) || schema.feature_names.position(column).is_some();
        match others.find(|(_, column)| is_needed(column)) {
            Some((option, column)) => Err(CliError::Usage(format!(
                "{option} {column:?} is a feature of the model: a column is one or the other"
            ))),
            None => Ok(()),
        }
    }

    /// Reads a table with the given outputs, or a format with numbered columns, with as many columns as the model.
    /// Unless the format is given, it is recognized while reading: only tables accept outputs.
    pub(super) fn read_for(
        &self,
        schema: &Schema,
        options: ReadOptions,
        targets: Targets,
        outputs: OutputsOf,
    ) -> Result<Dataset, CliError> {
        let format = match self.format.format {
            format @ (Format::XmlRepo | Format::SvmLight) => format,
            _ => match self.read_table(schema, &options, targets, outputs) {
                Err(CliError::Read(ReadError {
                    kind:
                        ReadErrorKind::Option {
                            option: "targets",
                            format,
                        },
                    ..
                })) => format,
                result => return result,
            },
        };
        let options = ReadOptions {
            first_feature: first_feature(schema, format, options.first_feature)?,
            n_features: Some(schema.feature_names.iter().len()),
            n_outputs: (outputs == OutputsOf::Model).then(|| schema.target_names().iter().len()),
            leave_out: true,
            // These formats have numbers alone.
            types: BTreeMap::new(),
            ..options
        };
        Ok(self.read(&options)?)
    }

    /// Notes what a user may not expect of the data, and stores them in the layout of the options. Refuses data
    /// without samples.
    pub(super) fn finish(&self, data: Dataset) -> Result<Dataset, CliError> {
        if data.n_samples() == 0 {
            return Err(self.problem("the set is empty: it has no samples"));
        }
        self.finish_any(data)
    }

    /// Like [`finish`](Self::finish), also for data without samples, for which there is nothing to write.
    pub(super) fn finish_any(&self, data: Dataset) -> Result<Dataset, CliError> {
        if let Some(lines) = data.notes.empty_lines {
            note(&lines.to_string());
        }
        note_index(&data);
        note_blank(&data);
        note_rounded(&data);
        let layout = match self.layout {
            LayoutName::Auto => Layout::Auto,
            LayoutName::Dense => Layout::Dense,
            LayoutName::Sparse => Layout::Sparse,
        };
        data.with_layout(layout, DEFAULT_MEMORY_LIMIT)
            .map_err(|source| CliError::Dataset {
                data: self.name().to_owned(),
                source,
            })
    }

    /// Refuses data without outputs to train on.
    pub(super) fn check_outputs(&self, data: &Dataset) -> Result<(), CliError> {
        if data.n_outputs() > 0 {
            return Ok(());
        }
        Err(self.problem(
            "there are no outputs; in ARFF, CSV, Parquet and Arrow files name them by --targets, --labels or --label-list, or \
             count them by --n-targets; other files mark labels themselves, and this one has none",
        ))
    }

    pub(super) fn problem(&self, problem: &str) -> CliError {
        CliError::Data {
            data: self.name().to_owned(),
            problem: problem.to_owned(),
        }
    }
}

/// Returns true if a file cannot have texts of missing values, as it is no CSV file.
fn is_for_csv_alone(e: &ReadError) -> bool {
    matches!(
        e.kind,
        ReadErrorKind::Option {
            option: "missing_values",
            ..
        }
    )
}

/// The index of the first feature in a file that is read for a model: as in the training file, if both are svmlight files.
fn first_feature(
    schema: &Schema,
    format: Format,
    given: Option<FirstFeature>,
) -> Result<Option<FirstFeature>, CliError> {
    let Some(first) = schema.first_feature.filter(|_| format == Format::SvmLight) else {
        return Ok(given);
    };
    if given.is_none_or(|given| given == first) {
        return Ok(Some(first));
    }
    let index = u8::from(first == FirstFeature::One);
    Err(CliError::Usage(format!(
        "--first-feature: the features of the training file count from {index}, and so do those of other files"
    )))
}
