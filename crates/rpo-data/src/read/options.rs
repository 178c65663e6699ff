//! Options for reading files.

use super::csv::MissingTexts;
use super::format::Format;
use super::line::DEFAULT_LONGEST_LINE;
use crate::dataset::{ClassColumn, LabelColumn, Task};
use crate::text::{TextColumn, TextOptions};
use rpo_core::{DEFAULT_MEMORY_LIMIT, Mismatch};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

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

impl FirstFeature {
    pub(crate) fn index(self) -> u64 {
        match self {
            Self::Zero => 0,
            Self::One => 1,
        }
    }
}

/// The output columns of an ARFF, CSV, Parquet or Arrow file, in the order of the columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Targets {
    /// No outputs: every column is a feature. The right choice for formats that mark labels themselves.
    #[default]
    None,
    /// The columns named by a MULAN label file, which are labels.
    LabelFile(PathBuf),
    /// The given number of last columns.
    Last(usize),
    /// The given number of first columns.
    First(usize),
    /// The columns with these names; each must exist. In a name that is not that of a column, `*` matches any
    /// characters and `?` matches one.
    Names(Vec<String>),
    /// The columns with these names, if they exist: for files to predict, with or without outputs.
    NamesIfPresent(Vec<String>),
    /// The labels that a column lists for each sample.
    List(LabelList),
}

/// A column of a CSV, Parquet or Arrow file that lists the labels of each sample: `red;round`, or a list of texts in
/// Parquet and Arrow.
///
/// Blanks around a label are dropped. A missing or empty value is a sample without labels.
///
/// ```
/// use rpo_data::read::{LabelList, ReadOptions, Targets, read_from};
/// let text = "x,tags\n1,red; round\n2,\n3,red\n";
/// let targets = Targets::List(LabelList { column: "tags".into(), ..LabelList::default() });
/// let data = read_from(text.as_bytes(), &ReadOptions { targets, ..ReadOptions::default() })?;
/// assert_eq!(data.output_names().iter().collect::<Vec<_>>(), ["red", "round"]);
/// assert_eq!(data.label_statistics().counts, [2, 1]);
/// # Ok::<(), rpo_data::read::ReadError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelList {
    /// The name of the column.
    pub column: String,
    /// The character that separates labels; a semicolon by default.
    pub separator: char,
    /// The labels to read, such as those of a model; others are left out and counted in
    /// [`ReadNotes::other_labels`](crate::ReadNotes::other_labels). The default is every label that a sample has, in
    /// alphabetical order.
    pub labels: Option<Vec<String>>,
}

impl Default for LabelList {
    /// All labels, separated by semicolons; the name of the column must be set.
    fn default() -> Self {
        Self {
            column: String::new(),
            separator: ';',
            labels: None,
        }
    }
}

/// The label column of a set, with all its labels.
impl From<LabelColumn> for LabelList {
    fn from(column: LabelColumn) -> Self {
        Self {
            column: column.name,
            separator: column.separator,
            ..Self::default()
        }
    }
}

/// The type of a column of a CSV, Parquet or Arrow file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnType {
    /// Numbers; true and false, in any case, are 1 and 0.
    Number,
    /// Words, one nominal feature. Its values are in alphabetical order, or in numerical order if all are numbers. True
    /// and false are one value each, in lower case, however they are written.
    Category,
    /// Dates, as 2024-01-31, 2024/01/31 or 31.01.2024 (day, month, year): the features `column[days]` since 1970-01-01, `column[month]` (1 to 12) and
    /// `column[weekday]` (1 for Monday to 7).
    Date,
    /// Dates, most with a time, such as 2024-01-31T18:30:00 (or with a blank in place of the T), optionally with a
    /// fraction of a second and an offset from UTC; times with an offset are converted to UTC. The features are those
    /// of a date, with fractional days, and `column[hour]` with a fraction.
    DateTime,
    /// Texts: one feature `column[term]` per term of [`ReadOptions::text`], after all other features.
    Text,
}

rpo_core::impl_names!(ColumnType, "a type of columns");

/// Treatment of missing values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Keep them as NaN.
    #[default]
    Keep,
    /// Refuse the file at the first missing value.
    Refuse,
}

/// Options for reading a file. The default detects the format and reads every column as a feature.
///
/// ```
/// use rpo_data::read::{Format, ReadOptions, Targets};
/// let options = ReadOptions { format: Format::Arff, targets: Targets::Last(3), ..ReadOptions::default() };
/// # let _ = options;
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// The file format; detected by default.
    pub format: Format,
    /// The output columns; none by default.
    pub targets: Targets,
    /// The kind of the outputs. By default the targets of a label file are labels; other targets of an ARFF file are
    /// labels if all are declared as such (see [`Format::Arff`]) and numbers if all are numeric; those of a CSV file are labels if there is a
    /// row and every value that is not missing is 0 or 1.
    ///
    /// Labels that are declared numeric are accepted only if this is set accordingly, and must be 0 or 1.
    pub task: Option<Task>,
    /// The required number of features. An svmlight file, which does not declare it, gets this number; the default is
    /// one more than its largest index, which must then be below 2^27.
    pub n_features: Option<usize>,
    /// The required number of outputs, in the same sense.
    pub n_outputs: Option<usize>,
    /// Leaves out the features and labels of an svmlight file, or of one of the Extreme Classification Repository whatever
    /// its header, beyond `n_features` and `n_outputs`, and counts them in
    /// [`ReadNotes::other_features`](crate::ReadNotes::other_features) and
    /// [`ReadNotes::other_labels`](crate::ReadNotes::other_labels). For files read for a model, whose training set need
    /// not contain the last columns. False by default: a larger index is an error.
    pub leave_out: bool,
    /// Treatment of missing features; kept by default.
    pub missing: Missing,
    /// Treatment of missing targets: `?` in ARFF, an empty cell or `NA` in CSV. Refused by default, as a target that is
    /// missing by mistake would silently change training and evaluation; if kept, the result is a
    /// [`Dataset::with_missing`](crate::Dataset::with_missing). The formats of sparse labels have no missing labels and
    /// refuse the option.
    pub missing_outputs: Option<Missing>,
    /// The index of the first feature in an svmlight file; 1 by default. A file that is read for a model has that of its
    /// training file, [`Dataset::first_feature`](crate::Dataset::first_feature).
    pub first_feature: Option<FirstFeature>,
    /// The character between the columns of a CSV file. The default is a comma or, if the first line has none, the most
    /// frequent of semicolon, tab and vertical bar. If some of these divide the header and the first row into the same
    /// number of fields, at least two, it is the one of the most fields: the name of a column may contain a comma. A line
    /// such as `sep=;` above the header, which spreadsheets write, names it.
    pub delimiter: Option<char>,
    /// Numbers of a CSV file have decimal commas, `0,57`. Columns are then separated by commas only if that is the given
    /// delimiter, or if the first row has such a number in quotes. A number with a point, in any column, is an error, as
    /// the point may separate thousands. False by default.
    pub decimal_comma: bool,
    /// Texts of a CSV file that are missing values beside an empty cell and `NA`, such as `n/a`; also numbers, such as
    /// `-999`, as they are written. None by default.
    pub missing_values: Vec<String>,
    /// Types of columns of a CSV, Parquet or Arrow file, by name. In CSV, the type of other columns is that of their
    /// values: numbers, dates, or else categories; a column in which most, but not all, values are numbers is an error.
    /// In Parquet and Arrow, it is that of the file: numbers and booleans are numbers, texts and dictionaries are
    /// categories, as they are written, unless this option has them read as in CSV; null, and NaN among floats, is a
    /// missing value; the columns of an index of pandas that no option names are not read
    /// ([`ReadNotes::index_columns`](crate::ReadNotes::index_columns)). In a name that is not that of a column, `*`
    /// matches any characters and `?` matches one; an exact name takes precedence over a pattern. Other formats refuse
    /// this option, `ignore` and `id`; with `ignore_untyped` they ignore the types.
    pub types: BTreeMap<String, ColumnType>,
    /// The conversion of text columns to features.
    pub text: TextOptions,
    /// Text columns that are read with the vocabulary of another set: those in
    /// [`Dataset::texts`](crate::Dataset::texts) and in the schema of a model. Not part of the serialized form.
    #[serde(skip)]
    pub texts: Vec<Arc<TextColumn>>,
    /// The columns of classes of another set: those in [`Dataset::class_columns`](crate::Dataset::class_columns) and in
    /// the schema of a model. Targets with these names have these classes; others in the file are left out and counted
    /// in [`ReadNotes::other_labels`](crate::ReadNotes::other_labels), and other targets have no classes. The default,
    /// `None`, is what the words of a target are: 0 and 1 in one of several spellings make a label, others classes, in
    /// alphabetical order, or in numerical order if all are numbers; those of an ARFF file in the order of their
    /// declaration. Not part of the serialized form.
    #[serde(skip)]
    pub class_columns: Option<Vec<ClassColumn>>,
    /// Columns of a CSV, Parquet, Arrow or ARFF file that are not read, by name or by pattern: `*` matches any characters,
    /// `?` matches one. A pattern does not apply to columns that the targets name; an exact name of such a column is
    /// refused.
    pub ignore: Vec<String>,
    /// Reads only the columns of a CSV, Parquet or Arrow file that are targets or have a type in `types`, and allows
    /// types of columns that do not exist: for files to predict, whose other columns a model does not need. If a column
    /// of dates does not exist, the columns named like its parts are read instead, as numbers; if one of `texts` does
    /// not exist, those named like its terms. False by default.
    pub ignore_untyped: bool,
    /// The column of a CSV, Parquet or Arrow file that identifies samples: it becomes
    /// [`Dataset::ids`](crate::Dataset::ids), not a feature. A column that the targets name is refused.
    pub id: Option<String>,
    /// Length of the longest accepted line in bytes; 1 GiB by default. A longer line is an error, as a file of another
    /// kind would be read into memory whole.
    pub longest_line: usize,
    /// Memory limit in bytes for the rows of a Parquet or Arrow file, and for the terms of a column of texts; 4 GiB by
    /// default. A small file can contain any number of equal rows.
    pub memory_limit: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: Format::default(),
            targets: Targets::default(),
            task: None,
            n_features: None,
            n_outputs: None,
            leave_out: false,
            missing: Missing::default(),
            missing_outputs: None,
            first_feature: None,
            delimiter: None,
            decimal_comma: false,
            missing_values: Vec::new(),
            types: BTreeMap::new(),
            text: TextOptions::default(),
            texts: Vec::new(),
            class_columns: None,
            ignore: Vec::new(),
            ignore_untyped: false,
            id: None,
            longest_line: DEFAULT_LONGEST_LINE,
            memory_limit: DEFAULT_MEMORY_LIMIT,
        }
    }
}

impl ReadOptions {
    /// Returns true for a text that a CSV file or a [row](super::read_rows) has for a missing value: a blank one, `NA`, or
    /// one of [`missing_values`](Self::missing_values).
    pub fn reads_as_missing(&self, text: &str) -> bool {
        MissingTexts::of(self)
            .present(text.trim_ascii().as_bytes())
            .is_none()
    }

    /// Returns true if types or the id name the column exactly.
    pub(super) fn name_column(&self, column: &str) -> bool {
        self.types.contains_key(column) || self.id.as_deref() == Some(column)
    }

    /// Returns true if a target of this name, if it holds words, may have classes.
    pub(super) fn may_have_classes(&self, target: &str) -> bool {
        let known = self.class_columns.as_ref();
        known.is_none_or(|known| known.iter().any(|column| column.name == target))
    }

    /// Returns true if a target of this name has known classes, whatever its values look like.
    pub(super) fn has_known_classes(&self, target: &str) -> bool {
        self.class_columns.is_some() && self.may_have_classes(target)
    }

    /// Returns true if the targets name the column exactly, other than in a label file.
    #[cfg(feature = "arrow")]
    pub(super) fn name_target(&self, column: &str) -> bool {
        match &self.targets {
            Targets::Names(names) | Targets::NamesIfPresent(names) => names.iter().any(|name| name == column),
            Targets::List(list) => list.column == column,
            Targets::None | Targets::LabelFile(_) | Targets::Last(_) | Targets::First(_) => false,
        }
    }

    /// Refuses a number of features or outputs that differs from the required one.
    pub(super) fn check_columns(&self, n_features: usize, n_outputs: usize) -> Result<(), Mismatch> {
        Mismatch::check("features", self.n_features.unwrap_or(n_features), n_features)?;
        Mismatch::check("outputs", self.n_outputs.unwrap_or(n_outputs), n_outputs)
    }
}
