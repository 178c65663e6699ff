//! Options for reading data.

use super::{TextColumnOptions, WeightOptions};
use crate::error::CliError;
use crate::files::{NamedFile, data_files};
use crate::output::note;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use rpo::Predictor;
use rpo::core::Matrix;
use rpo::data::read::{
    ColumnType, FirstFeature, Format, LabelList, Missing, ReadError, ReadErrorKind, ReadOptions, Targets,
    UnknownColumnType, read, read_from, read_names,
};
use rpo::data::{
    Catalogue, Columns, DEFAULT_MEMORY_LIMIT, Dataset, Layout, LeftOut, Names, Task, suspicious_features,
};
use rpo::ensemble::MAX_OUTPUTS;
use rpo::{Model, ModelError, Schema};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The format of a file.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
struct FormatOptions {
    /// Format of the file; by default detected from its name or its first bytes.
    #[arg(long, value_name = "FORMAT", default_value = "auto", value_parser = formats())]
    format: Format,

    /// Character between the columns of a CSV file; by default a comma or, if the first line has none, the most
    /// frequent of semicolon, tab and |.
    #[arg(long, value_name = "CHAR", value_parser = parse_delimiter)]
    delimiter: Option<char>,

    /// Memory limit in MiB for the rows of a Parquet or Arrow file, as a small file can hold any number of equal rows,
    /// and for the terms of a column of texts.
    #[arg(long, value_name = "MIB", default_value_t = 4096)]
    table_memory: usize,

    /// Index of the first feature in svmlight files.
    #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1))]
    first_feature: Option<u8>,
}

impl FormatOptions {
    fn options(&self) -> ReadOptions {
        let first_feature = self.first_feature.map(|first| match first {
            0 => FirstFeature::Zero,
            _ => FirstFeature::One,
        });
        ReadOptions {
            format: self.format,
            first_feature,
            delimiter: self.delimiter,
            memory_limit: self.table_memory.saturating_mul(1 << 20),
            ..ReadOptions::default()
        }
    }
}

/// A file and how to read it.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct InputOptions {
    /// The data: an ARFF, CSV, Parquet, Arrow IPC (Feather), svmlight or Extreme Classification Repository file, plain
    /// or compressed by gzip; - is standard input. @NAME is a set of the catalogue in the folder that the variable
    /// RPO_DATA names: its training samples for training, its test samples for prediction and evaluation.
    #[arg(long, value_name = "FILE|@NAME|-")]
    data: String,

    /// The text of standard input, which may have to be read twice.
    #[arg(skip)]
    text: OnceLock<Vec<u8>>,

    /// The files of the data.
    #[arg(skip)]
    files: OnceLock<Vec<PathBuf>>,

    #[command(flatten)]
    format: FormatOptions,

    /// Column of a CSV, Parquet or Arrow file that identifies the samples: it is not a feature, and is written with the
    /// predictions.
    #[arg(long, value_name = "NAME")]
    id: Option<String>,

    /// Layout of the features in memory; auto is sparse if fewer than one in four values is not zero.
    #[arg(long, value_enum, default_value_t = LayoutName::Auto)]
    layout: LayoutName,
}

/// Selects the columns of a file that are outputs.
#[derive(Debug, Clone, Args)]
struct TargetOptions {
    /// Outputs of ARFF, CSV, Parquet and Arrow files: the columns named in a MULAN label file.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    labels: Option<PathBuf>,

    /// Outputs of ARFF, CSV, Parquet and Arrow files: the columns with these names. In a name that no column has, *
    /// matches any characters and ? matches one.
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        help_heading = "Data",
        conflicts_with = "labels"
    )]
    targets: Vec<String>,

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

    /// Character between the labels of --label-list.
    #[arg(
        long,
        value_name = "CHAR",
        default_value = ";",
        value_parser = parse_delimiter,
        requires = "label_list",
        help_heading = "Data"
    )]
    label_separator: char,

    /// Outputs of ARFF, CSV, Parquet and Arrow files: the last N columns.
    #[arg(
        long,
        value_name = "N",
        help_heading = "Data",
        conflicts_with_all = ["labels", "targets", "label_list"]
    )]
    n_targets: Option<usize>,

    /// The outputs counted by --n-targets are the first columns instead.
    #[arg(long, help_heading = "Data", requires = "n_targets")]
    targets_first: bool,
}

impl TargetOptions {
    /// The file that is read.
    fn file(&self) -> NamedFile<'_> {
        ("--labels", self.labels.as_deref())
    }

    fn targets(&self) -> Option<Targets> {
        if !self.targets.is_empty() {
            return Some(Targets::Names(self.targets.clone()));
        }
        if let Some(column) = &self.label_list {
            return Some(Targets::List(LabelList {
                column: column.clone(),
                separator: self.label_separator,
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

/// A file, how to read it, and which of its columns are outputs.
#[derive(Debug, Clone, Args)]
pub(crate) struct DataOptions {
    #[command(flatten)]
    input: InputOptions,

    #[command(flatten)]
    outputs: TargetOptions,

    /// Outputs of ARFF, CSV, Parquet and Arrow files may be missing: ? in ARFF, an empty cell or NA in CSV, null.
    /// Missing outputs are ignored in training (by methods that support them) and in metrics; without this option they
    /// are refused.
    #[arg(long, help_heading = "Data")]
    missing_outputs: bool,
}

/// A file to train on.
#[derive(Debug, Args)]
pub(crate) struct TrainingOptions {
    #[command(flatten)]
    data: DataOptions,

    /// Kind of the outputs, if the file does not determine it: labels are 0 or 1.
    #[arg(long, value_enum, help_heading = "Data")]
    task: Option<TaskName>,

    /// Columns of a CSV, Parquet or Arrow file that are not read; * matches any characters, ? one. A column that is
    /// also named as a target is refused; a target that only matches a pattern stays a target.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "Data")]
    ignore: Vec<String>,

    /// Number of features of an svmlight file, if more than its largest index implies; other files must have the same
    /// number.
    #[arg(long, value_name = "N", help_heading = "Data")]
    n_features: Option<usize>,

    /// Number of labels of an svmlight file, if more than its largest label implies: labels without samples count too,
    /// such as those that only occur in other files of a set. Other files must have the same number of outputs.
    #[arg(long, value_name = "N", help_heading = "Data")]
    n_labels: Option<usize>,

    /// Names of the features of svmlight and Extreme Classification Repository files: a file with a name on each line.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    feature_names: Option<PathBuf>,

    /// Names of the labels of svmlight and Extreme Classification Repository files: a file with a name on each line.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    label_names: Option<PathBuf>,

    /// Columns of a CSV, Parquet or Arrow file that are categories, whatever their values look like. Columns of words
    /// are categories by default.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "Data")]
    categorical: Vec<String>,

    /// Columns of a CSV, Parquet or Arrow file that are dates: any other value is an error, not a word. Columns of
    /// dates are dates by default.
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help_heading = "Data")]
    dates: Vec<String>,

    /// Types of columns of a CSV, Parquet or Arrow file: number, category, date, date-time or text; a name takes
    /// precedence over a pattern. By default the types follow from the values of a CSV file, and are those stored in
    /// the other files: dates (in CSV of ISO 8601) become days since 1970, month, weekday and, if there are times,
    /// hour.
    #[arg(long, value_name = "NAME=TYPE,...", value_delimiter = ',', value_parser = parse_type, help_heading = "Data")]
    types: Vec<(String, ColumnType)>,

    #[command(flatten)]
    texts: TextColumnOptions,
}

/// The treatment of words that are unseen in training.
#[derive(Debug, Args)]
pub(crate) struct UnseenOptions {
    /// Values of categories that were not in the training data: missing treats them as missing values and reports their
    /// number, error refuses them.
    #[arg(long, value_enum, default_value_t = Unseen::Missing, help_heading = "Data")]
    unseen: Unseen,
}

/// The treatment of a category's value that is unseen in training.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum Unseen {
    Missing,
    Error,
}

impl UnseenOptions {
    /// Returns true if values unseen in training are errors.
    pub(crate) fn refuses(&self) -> bool {
        self.unseen == Unseen::Error
    }

    /// Notes or refuses values unseen in training. They are refused if the model needs every feature.
    pub(crate) fn check(&self, model: &Model, data: &Dataset, name: &str) -> Result<(), CliError> {
        let schema = model.schema();
        let misfit = |source| CliError::Fit {
            data: name.to_owned(),
            source,
        };
        let unseen = schema.unseen_values(data).map_err(misfit)?;
        let Some(first) = unseen.first() else {
            return Ok(());
        };
        let can_predict = || {
            let sample = data.select_samples(&[first.sample]).map_err(ModelError::from)?;
            model.predict(schema.align_features(&sample)?.as_ref().into())
        };
        if self.refuses() || can_predict().is_err() {
            return Err(misfit(ModelError::UnknownValue {
                row: first.sample,
                name: first.feature.clone(),
                value: first.value.clone(),
            }));
        }
        let count: usize = unseen.iter().map(|values| values.count).sum();
        let features = match unseen.len() {
            1 => String::new(),
            n => format!(" and {} other features", n - 1),
        };
        let (feature, value) = (&first.feature, &first.value);
        note(&match count {
            1 => format!(
                "the value {value:?} of {feature:?} was not in the training data and counts as missing; --unseen error \
                 refuses it"
            ),
            _ => format!(
                "{count} values of {feature:?}{features}, {value:?} for one, were not in the training data and count as \
                 missing; --unseen error refuses them"
            ),
        });
        Ok(())
    }
}

/// The owner of the columns, as named in notes.
const THE_MODEL: &str = "the model's";

/// Notes labels and features of samples that are not among these columns.
fn note_left_out(data: &Dataset, owner: &str) {
    for (what, others) in [("label", &data.other_labels), ("feature", &data.other_features)] {
        let LeftOut { count, first, .. } = others;
        let Some(first) = first else { continue };
        let times = match count {
            1 => "once".to_owned(),
            n => format!("{n} times"),
        };
        note(&match others.n_distinct() {
            1 => format!("{what} {first:?}, which samples have {times}, is none of {owner}: it is left out"),
            n => format!(
                "{n} {what}s, the first {first:?}, which samples have {times}, are none of {owner}: they are left out"
            ),
        });
    }
}

/// The labels of a model, as listed in a column.
fn labels_of(schema: &Schema, list: LabelList) -> Targets {
    let labels = schema.target_names().iter().map(Cow::into_owned).collect();
    let labels = Some(labels);
    Targets::List(LabelList { labels, ..list })
}

fn parse_delimiter(text: &str) -> Result<char, String> {
    let mut characters = text.chars();
    match (characters.next(), characters.next(), text) {
        (Some(character), None, _) => Ok(character),
        (_, _, "tab" | "\\t") => Ok('\t'),
        _ => Err("one character is expected, or tab".to_owned()),
    }
}

fn parse_type(text: &str) -> Result<(String, ColumnType), String> {
    let (name, kind) = text.rsplit_once('=').ok_or("NAME=TYPE is expected")?;
    let kind = kind.parse().map_err(|e: UnknownColumnType| e.to_string())?;
    Ok((name.to_owned(), kind))
}

/// Names of tasks.
#[derive(Debug, Clone, Copy, PartialEq, ValueEnum)]
enum TaskName {
    MultiLabel,
    Regression,
}

impl From<TaskName> for Task {
    fn from(name: TaskName) -> Self {
        match name {
            TaskName::MultiLabel => Self::MultiLabel,
            TaskName::Regression => Self::Regression,
        }
    }
}

/// Names of layouts.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum LayoutName {
    Auto,
    Dense,
    Sparse,
}

/// The training or test samples of a set in the catalogue.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    Train,
    Test,
}

/// Reads all of standard input.
fn standard_input() -> Result<Vec<u8>, ReadErrorKind> {
    let mut text = Vec::new();
    let limit = DEFAULT_MEMORY_LIMIT;
    let read = std::io::stdin()
        .lock()
        .take(limit as u64 + 1)
        .read_to_end(&mut text);
    read.map_err(|e| ReadErrorKind::from(&e))?;
    if text.len() > limit {
        return Err(ReadErrorKind::TooMuchText { limit });
    }
    Ok(text)
}

fn in_standard_input(mut e: ReadError) -> ReadError {
    e.path = Some(Path::new("standard input").into());
    e
}

/// Returns true if a file was refused because its format has no columns to choose outputs from.
fn takes_no_targets(kind: &ReadErrorKind) -> bool {
    matches!(kind, ReadErrorKind::Option { option, .. } if *option == "targets")
}

pub(super) fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::NAMES.map(|(_, name)| name)).try_map(|name| name.parse::<Format>())
}

impl InputOptions {
    /// The files that are read.
    pub(crate) fn files(&self) -> impl Iterator<Item = NamedFile<'_>> {
        let files = self.files.get_or_init(|| data_files(&self.data));
        files.iter().map(|file| ("--data", Some(file.as_path())))
    }

    /// The name of the data in messages.
    pub(crate) fn name(&self) -> &str {
        &self.data
    }

    /// Reads features to predict for, whether or not the file also has outputs.
    pub(crate) fn load_features(&self, schema: &Schema) -> Result<Dataset, CliError> {
        let data = match self.catalogue_name() {
            Some(name) => self.catalogued(name, Part::Test)?,
            // Outputs of a table are read as features that the model does not need, so they may be missing.
            None => {
                let none = Targets::NamesIfPresent(Vec::new());
                self.read_for(schema, self.options(), none, false)?
            }
        };
        note_left_out(&data, THE_MODEL);
        self.finish(data)
    }

    /// The features in the order of a model.
    pub(crate) fn align<'a>(&self, schema: &Schema, data: &'a Dataset) -> Result<Cow<'a, Matrix>, CliError> {
        schema.align_features(data).map_err(|e| self.misfit(e))
    }

    fn misfit(&self, source: ModelError) -> CliError {
        CliError::Fit {
            data: self.data.clone(),
            source,
        }
    }

    fn catalogue_name(&self) -> Option<&str> {
        self.data.strip_prefix('@')
    }

    fn catalogued(&self, name: &str, part: Part) -> Result<Dataset, CliError> {
        let FormatOptions {
            format,
            delimiter,
            first_feature,
            ..
        } = &self.format;
        if *format != Format::Auto || delimiter.is_some() || first_feature.is_some() {
            let message = "the catalogue knows the format of its sets: --format, --delimiter and --first-feature are for files";
            return Err(CliError::Usage(message.to_owned()));
        }
        if self.id.is_some() {
            let message = "no column of the catalogue's sets identifies samples: --id is for files";
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

    fn options(&self) -> ReadOptions {
        ReadOptions {
            id: self.id.clone(),
            ..self.format.options()
        }
    }

    /// Reads the file, or standard input.
    fn read(&self, options: &ReadOptions) -> Result<Dataset, ReadError> {
        if self.data != "-" {
            return read(&self.data, options);
        }
        let text = match self.text.get() {
            Some(text) => text,
            None => {
                let text = standard_input().map_err(|kind| in_standard_input(kind.into()))?;
                self.text.get_or_init(|| text)
            }
        };
        read_from(text.as_slice(), options).map_err(in_standard_input)
    }

    /// The name of the identifier column.
    pub(crate) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Reads a table with the given outputs.
    fn read_table(
        &self,
        schema: &Schema,
        options: &ReadOptions,
        targets: Targets,
    ) -> Result<Dataset, ReadError> {
        let of_schema = schema.read_options();
        let ignore_untyped = of_schema.is_some();
        let ReadOptions { types, texts, .. } = of_schema.unwrap_or_default();
        self.read(&ReadOptions {
            targets,
            task: Some(schema.task),
            types,
            texts,
            ignore_untyped,
            ..options.clone()
        })
    }

    /// Reads a table with the given outputs, or a format with numbered columns, with as many columns as the model.
    /// Unless the format is given, it is recognized while reading: only tables accept outputs.
    fn read_for(
        &self,
        schema: &Schema,
        options: ReadOptions,
        targets: Targets,
        with_outputs: bool,
    ) -> Result<Dataset, CliError> {
        if !matches!(self.format.format, Format::XmlRepo | Format::SvmLight) {
            match self.read_table(schema, &options, targets) {
                Err(e) if takes_no_targets(&e.kind) => {}
                result => return Ok(result?),
            }
        }
        let options = ReadOptions {
            n_features: Some(schema.feature_names.iter().len()),
            n_outputs: with_outputs.then(|| schema.target_names().iter().len()),
            leave_out: true,
            ..options
        };
        Ok(self.read(&options)?)
    }

    fn finish(&self, data: Dataset) -> Result<Dataset, CliError> {
        if data.n_samples() == 0 {
            return Err(self.problem("the set is empty: it has no samples"));
        }
        if let Some(lines) = data.empty_lines {
            note(&lines.to_string());
        }
        let layout = match self.layout {
            LayoutName::Auto => Layout::Auto,
            LayoutName::Dense => Layout::Dense,
            LayoutName::Sparse => Layout::Sparse,
        };
        data.with_layout(layout, DEFAULT_MEMORY_LIMIT)
            .map_err(|source| CliError::Dataset {
                data: self.data.clone(),
                source,
            })
    }

    fn problem(&self, problem: &str) -> CliError {
        CliError::Data {
            data: self.data.clone(),
            problem: problem.to_owned(),
        }
    }
}

/// A file to split, of which only the outputs are read.
#[derive(Debug, Args)]
pub(crate) struct SplitDataOptions {
    /// The data: an ARFF, CSV, Parquet, Arrow IPC (Feather), svmlight or Extreme Classification Repository file, plain or
    /// compressed by gzip.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    data: PathBuf,

    #[command(flatten)]
    format: FormatOptions,

    #[command(flatten)]
    outputs: TargetOptions,
}

impl SplitDataOptions {
    pub(crate) fn path(&self) -> &Path {
        &self.data
    }

    /// The files that are read.
    pub(crate) fn files(&self) -> [NamedFile<'_>; 2] {
        [("--data", Some(&self.data)), self.outputs.file()]
    }

    pub(crate) fn options(&self) -> ReadOptions {
        self.format.options()
    }

    /// Reads the outputs, and the column of an option (if given) as identifiers.
    pub(crate) fn load(&self, column: Option<(&'static str, &str)>) -> Result<Dataset, CliError> {
        if self.data == Path::new("-") {
            let message =
                "--data -: split reads the data twice and needs a file: write standard input to one first";
            return Err(CliError::Usage(message.to_owned()));
        }
        let options = ReadOptions {
            targets: self.outputs.targets().unwrap_or_default(),
            missing_targets: self.outputs.targets().map(|_| Missing::Keep),
            ignore_untyped: true,
            id: column.map(|(_, name)| name.to_owned()),
            ..self.options()
        };
        let Some((option, _)) = column else {
            return Ok(read(&self.data, &options)?);
        };
        read(&self.data, &options).map_err(|mut e| match &mut e.kind {
            ReadErrorKind::Option { option: "id", .. } => {
                self.problem("--group and --time name a column of a CSV, Parquet or Arrow file")
            }
            ReadErrorKind::TargetIsOther { name, .. } => self.problem(&format!(
                "{name:?} is named both as a target and by {option}: leave one out"
            )),
            ReadErrorKind::UnknownColumn { option: of_id, .. } => {
                *of_id = option;
                e.into()
            }
            _ => e.into(),
        })
    }

    pub(crate) fn problem(&self, problem: &str) -> CliError {
        CliError::Data {
            data: self.data.display().to_string(),
            problem: problem.to_owned(),
        }
    }
}

impl TrainingOptions {
    /// The files that are read.
    pub(crate) fn files(&self) -> Vec<NamedFile<'_>> {
        let mut files = self.data.files();
        files.push(("--feature-names", self.feature_names.as_deref()));
        files.push(("--label-names", self.label_names.as_deref()));
        files
    }

    /// The name of the data in messages.
    pub(crate) fn name(&self) -> &str {
        self.data.name()
    }

    /// Reads a set, with outputs or without.
    pub(crate) fn load_any(&self) -> Result<Dataset, CliError> {
        let DataOptions { input, .. } = &self.data;
        let data = match self.data.catalogue_name()? {
            Some(name) => {
                let has_numbers = self.n_features.or(self.n_labels).is_some();
                if !self.types()?.is_empty() || !self.ignore.is_empty() || has_numbers {
                    let message = "the catalogue knows the columns of its sets: --types, --categorical, --dates, --text, --ignore, --n-features and --n-labels are for files";
                    return Err(CliError::Usage(message.to_owned()));
                }
                input.catalogued(name, Part::Train)?
            }
            None => {
                let options = ReadOptions {
                    targets: self.data.outputs.targets().unwrap_or_default(),
                    task: self.task.map(Into::into),
                    n_features: self.n_features,
                    n_outputs: self.n_labels,
                    types: self.types()?,
                    text: self.texts.options()?,
                    ignore: self.ignore.clone(),
                    ..self.data.options()
                };
                input.read(&options).map_err(|e| self.with_option(e))?
            }
        };
        self.named(input.finish(data)?)
    }

    /// Adds the names in files to data with numbered columns.
    fn named(&self, mut data: Dataset) -> Result<Dataset, CliError> {
        let options = [
            ("--feature-names", Columns::Features, &self.feature_names),
            ("--label-names", Columns::Outputs, &self.label_names),
        ];
        for (option, columns, path) in options {
            let Some(path) = path else { continue };
            let old = match columns {
                Columns::Features => data.feature_names(),
                Columns::Outputs => data.output_names(),
            };
            if let Names::Given(_) = old {
                let message =
                    format!("{option} is for formats that number their columns; this file names them");
                return Err(self.data.input.problem(&message));
            }
            let names = read_names(path)?;
            data = data
                .with_names(columns, names)
                .map_err(|source| CliError::Dataset {
                    data: path.display().to_string(),
                    source,
                })?;
        }
        Ok(data)
    }

    /// Reads another file with the options and the schema of this one.
    pub(crate) fn load_beside(&self, file: &str, schema: &Schema) -> Result<Dataset, CliError> {
        let mut other = self.data.clone();
        file.clone_into(&mut other.input.data);
        other.load_for(schema, "the data's")
    }

    /// Reads a training set.
    pub(crate) fn load(&self, weights: Option<&WeightOptions>) -> Result<Dataset, CliError> {
        let input = &self.data.input;
        let data = self.load_any()?;
        let data = match weights {
            Some(weights) => weights.apply(data, input.name())?,
            None => data,
        };
        if data.n_outputs() == 0 {
            let problem = "there are no outputs; in ARFF, CSV, Parquet and Arrow files name them by --targets or --labels, or count them \
                by --n-targets; other files mark labels themselves, and this one has none";
            return Err(input.problem(problem));
        }
        if data.n_features() == 0 {
            return Err(input.problem("every column is an output; there are no features"));
        }
        let (n_features, n_outputs) = (data.n_features(), data.n_outputs());
        for (what, n) in [("features", n_features), ("outputs", n_outputs)] {
            if n > MAX_OUTPUTS {
                return Err(input.problem(&format!(
                    "there are {n} {what}, at most {MAX_OUTPUTS} are supported"
                )));
            }
        }
        for suspicion in suspicious_features(&data) {
            note(&suspicion.to_string());
        }
        Ok(data)
    }

    /// The options that set types of columns, with the names of the columns and the types.
    fn typed(&self) -> impl Iterator<Item = (&'static str, &String, ColumnType)> {
        let of = |option, kind| move |name| (option, name, kind);
        let categorical = self.categorical.iter();
        let categorical = categorical.map(of("--categorical", ColumnType::Category));
        let dates = self.dates.iter().map(of("--dates", ColumnType::Date));
        let texts = self.texts.columns().map(of("--text", ColumnType::Text));
        let types = self.types.iter().map(|(name, kind)| ("--types", name, *kind));
        categorical.chain(dates).chain(texts).chain(types)
    }

    /// The types of columns, one per column.
    fn types(&self) -> Result<BTreeMap<String, ColumnType>, CliError> {
        let mut types = BTreeMap::new();
        for (option, name, kind) in self.typed() {
            match types.insert(name.clone(), (option, kind)) {
                Some((other, earlier)) if earlier != kind => {
                    return Err(CliError::Usage(format!(
                        "{other} reads {name:?} as {earlier}, {option} as {kind}: a column has one type, leave one out"
                    )));
                }
                _ => {}
            }
        }
        Ok(types.into_iter().map(|(name, (_, kind))| (name, kind)).collect())
    }

    /// Adds the option that named a column to an error.
    fn with_option(&self, mut e: ReadError) -> ReadError {
        if let ReadErrorKind::UnknownColumn { option, name, .. } = &mut e.kind {
            *option = match *option {
                "types" => self
                    .typed()
                    .find(|(_, named, _)| *named == name)
                    .map_or("--types", |(option, ..)| option),
                "ignore" => "--ignore",
                "id" => "--id",
                other => other,
            };
        }
        e
    }
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
            None => match self.outputs.targets() {
                Some(Targets::List(list)) => {
                    self.input
                        .read_table(schema, &self.options(), labels_of(schema, list))?
                }
                Some(targets) => self.input.read_table(schema, &self.options(), targets)?,
                None => self.load_targets(schema)?,
            },
        };
        note_left_out(&data, owner);
        self.input.finish(data)
    }

    /// Reads a set whose outputs have the model's names, or are listed in the same column as in training.
    fn load_targets(&self, schema: &Schema) -> Result<Dataset, CliError> {
        let read = |targets| self.input.read_for(schema, self.options(), targets, true);
        let names = Targets::Names(schema.target_names().iter().map(Cow::into_owned).collect());
        let Some(ref column) = schema.label_column else {
            return read(names);
        };
        match read(labels_of(schema, column.clone().into())) {
            Err(lacks_column) if lacks_column.is_unknown_target() => match read(names) {
                Err(e) if e.is_unknown_target() => Err(lacks_column),
                read => read,
            },
            read => read,
        }
    }

    fn options(&self) -> ReadOptions {
        ReadOptions {
            missing_targets: self.missing_outputs.then_some(Missing::Keep),
            ..self.input.options()
        }
    }

    fn catalogue_name(&self) -> Result<Option<&str>, CliError> {
        let name = self.input.catalogue_name();
        if name.is_some() && self.outputs.targets().is_some() {
            let message = "the catalogue knows the outputs of its sets: --labels, --targets and --n-targets are for files";
            return Err(CliError::Usage(message.to_owned()));
        }
        if name.is_some() && self.missing_outputs {
            let message = "no output of the catalogue's sets is missing: --missing-outputs is for files";
            return Err(CliError::Usage(message.to_owned()));
        }
        Ok(name)
    }
}
