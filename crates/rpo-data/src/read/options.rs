//! What to read, and how.

use super::format::Format;
use super::line::DEFAULT_LONGEST_LINE;
use crate::dataset::{LabelColumn, Task};
use crate::text::{TextColumn, TextOptions};
use rpo_core::{DEFAULT_MEMORY_LIMIT, Mismatch};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
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

/// The columns of an ARFF, CSV, Parquet or Arrow file that are outputs. They keep the order of the columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Targets {
    /// None: every column is a feature. The right choice for formats that mark labels themselves.
    #[default]
    None,
    /// The columns that a MULAN label file names; they are labels.
    LabelFile(PathBuf),
    /// The last columns, this many.
    Last(usize),
    /// The first columns, this many.
    First(usize),
    /// The columns with these names; each must exist. In a name that no column has, `*` stands for any characters and `?`
    /// for one.
    Names(Vec<String>),
    /// The columns with these names that exist: for files to predict, with or without outputs.
    NamesIfPresent(Vec<String>),
    /// The labels that a column lists for each sample.
    List(LabelList),
}

/// A column of a CSV, Parquet or Arrow file that lists the labels of each sample: `red;round`, or a list of texts of
/// Parquet and Arrow.
///
/// Blanks around a label are not part of it. A missing or empty value is a sample without labels.
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
    /// The character between two labels; a semicolon by default.
    pub separator: char,
    /// The labels there are, such as those of a model: others are left out, and counted by
    /// [`Dataset::other_labels`](crate::Dataset::other_labels). By default every label that a sample has, in
    /// alphabetical order.
    pub labels: Option<Vec<String>>,
}

impl Default for LabelList {
    /// Whichever labels there are, with semicolons between them; the column is yet to be named.
    fn default() -> Self {
        Self {
            column: String::new(),
            separator: ';',
            labels: None,
        }
    }
}

/// The labels of a column that a set had, whichever there are.
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
    /// Words, one nominal feature. Its values are in the order of the alphabet, or of size if all are numbers.
    Category,
    /// Dates of ISO 8601, such as 2024-01-31: the features `column[days]` since 1970-01-01, `column[month]` (1 to 12)
    /// and `column[weekday]` (1 for Monday to 7).
    Date,
    /// Dates, most with a time, such as 2024-01-31T18:30:00 (a blank may stand for the T), with a fraction of a second
    /// and an offset from UTC or not; times with an offset are converted to UTC. The features of a date, days with a
    /// fraction, and `column[hour]` with a fraction.
    DateTime,
    /// Texts: the features `column[term]` of the terms of [`ReadOptions::text`], after all other features.
    Text,
}

impl ColumnType {
    /// All types with their names on a command line.
    pub const NAMES: [(Self, &'static str); 5] = [
        (Self::Number, "number"),
        (Self::Category, "category"),
        (Self::Date, "date"),
        (Self::DateTime, "date-time"),
        (Self::Text, "text"),
    ];
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(kind, _)| kind == self);
        f.write_str(name.expect("every type is listed").1)
    }
}

/// A name that is not a type of columns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a type; number, category, date, date-time or text is")]
pub struct UnknownColumnType(pub String);

impl FromStr for ColumnType {
    type Err = UnknownColumnType;

    fn from_str(name: &str) -> Result<Self, UnknownColumnType> {
        let found = Self::NAMES.iter().find(|(_, n)| *n == name);
        found
            .map(|(kind, _)| *kind)
            .ok_or_else(|| UnknownColumnType(name.to_owned()))
    }
}

/// What to do about missing values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Keep them as NaN.
    #[default]
    Keep,
    /// Refuse the file at the first missing value.
    Refuse,
}

/// How to read a file. The default detects the format and reads every column as a feature.
///
/// ```
/// use rpo_data::read::{Format, ReadOptions, Targets};
/// let options = ReadOptions { format: Format::Arff, targets: Targets::Last(3), ..ReadOptions::default() };
/// # let _ = options;
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// The format; detected by default.
    pub format: Format,
    /// The columns that are outputs; none by default.
    pub targets: Targets,
    /// The kind of the outputs. By default a label file's are labels; other targets of an ARFF file are labels if all
    /// are declared `{0,1}` and numbers if all are numeric; those of a CSV file are labels if there is a row and every
    /// value that is not missing is 0 or 1.
    ///
    /// Labels that are declared numeric are accepted only if this says so, and must be 0 or 1.
    pub task: Option<Task>,
    /// The number of features there must be. An svmlight file, which does not declare it, gets that many; by default
    /// one more than its largest index, which then is below 2^27.
    pub n_features: Option<usize>,
    /// The number of outputs there must be, in the same sense.
    pub n_outputs: Option<usize>,
    /// Leaves out what an svmlight file has beyond `n_features` and `n_outputs`, and counts it in
    /// [`Dataset::other_features`](crate::Dataset::other_features) and
    /// [`Dataset::other_labels`](crate::Dataset::other_labels): for files read for a model, as its training set need not have
    /// had the last columns that there are. False by default: an index beyond is an error.
    pub leave_out: bool,
    /// What to do about missing features; kept by default.
    pub missing: Missing,
    /// What to do about missing targets: `?` in ARFF, an empty cell or `NA` in CSV. Refused by default, as a target
    /// that is missing by mistake would silently change what is learnt and measured; kept, they make a
    /// [`Dataset::with_missing`](crate::Dataset::with_missing). The formats of sparse labels have no missing labels and refuse
    /// the option.
    pub missing_targets: Option<Missing>,
    /// The index of the first feature in an svmlight file; 1 by default.
    pub first_feature: Option<FirstFeature>,
    /// The character between the columns of a CSV file. By default a comma or, where the first line has none, the most
    /// frequent of semicolon, tab and vertical bar.
    pub delimiter: Option<char>,
    /// Types of columns of a CSV, Parquet or Arrow file, by name. In CSV, columns not named here have the type of their
    /// values: numbers, dates, or else categories, unless most of a column's values are numbers, which is an error. In
    /// Parquet and Arrow they have the type that the file gives them: numbers and booleans are numbers, texts and
    /// dictionaries are categories, as they are written; null, and NaN among floats, is a missing value. In a name that no
    /// column has, `*` stands for any characters and `?` for one; the type of a column's own name comes before that of a pattern.
    /// Other formats refuse this option, `ignore` and `id`; with `ignore_untyped` they leave the types aside.
    pub types: BTreeMap<String, ColumnType>,
    /// How columns of the type text become features.
    pub text: TextOptions,
    /// Columns of texts that are read as those of another set were, with its vocabulary: those that
    /// [`Dataset::texts`](crate::Dataset::texts) and the schema of a model have. No part of a serialized form.
    #[serde(skip)]
    pub texts: Vec<Arc<TextColumn>>,
    /// Columns of a CSV, Parquet or Arrow file that are not read, by name or by pattern: `*` stands for any characters, `?` for one.
    /// A pattern leaves out no column that the targets name; a name that they name too is refused.
    pub ignore: Vec<String>,
    /// Reads those columns of a CSV, Parquet or Arrow file only that are targets or have a type in `types`, and allows types of columns
    /// that do not exist: for files to predict, whose other columns a model does not ask for. In place of a column of dates that
    /// does not exist, the columns named like its parts are read, as numbers; in place of one of `texts`, those named like its
    /// terms. False by default.
    pub ignore_untyped: bool,
    /// The column of a CSV, Parquet or Arrow file that identifies samples: it becomes [`Dataset::ids`](crate::Dataset::ids), not a feature.
    /// One that the targets name is refused.
    pub id: Option<String>,
    /// Bytes of the longest line that is read; 1 GiB by default. A longer one is an error: a file of another kind
    /// would be read into memory whole.
    pub longest_line: usize,
    /// Bytes that the rows of a Parquet or Arrow file may take in memory, and the terms of a column of texts; 4 GiB by
    /// default. A small file can hold any number of rows that are alike.
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
            missing_targets: None,
            first_feature: None,
            delimiter: None,
            types: BTreeMap::new(),
            text: TextOptions::default(),
            texts: Vec::new(),
            ignore: Vec::new(),
            ignore_untyped: false,
            id: None,
            longest_line: DEFAULT_LONGEST_LINE,
            memory_limit: DEFAULT_MEMORY_LIMIT,
        }
    }
}

impl ReadOptions {
    /// Refuses another number of features or outputs than the options demand.
    pub(super) fn check_columns(&self, n_features: usize, n_outputs: usize) -> Result<(), Mismatch> {
        Mismatch::check("features", self.n_features.unwrap_or(n_features), n_features)?;
        Mismatch::check("outputs", self.n_outputs.unwrap_or(n_outputs), n_outputs)
    }
}
