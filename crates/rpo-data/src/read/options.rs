//! What to read, and how.

use super::svmlight::FirstFeature;
use crate::dataset::Task;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// File formats. Any of them may be compressed by gzip, which is recognised by its first bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// By the file name's extension (`.arff`, `.csv`, `.svm`, `.svmlight`, `.libsvm`; `.gz` stripped), else by
    /// the first line.
    #[default]
    Auto,
    /// ARFF, see [`ArffReader`](super::ArffReader).
    Arff,
    /// The Extreme Classification Repository's format, see [`XmlRepoReader`](super::XmlRepoReader).
    XmlRepo,
    /// Multi-label svmlight, see [`SvmLightReader`](super::SvmLightReader).
    SvmLight,
    /// CSV, see [`CsvReader`](super::CsvReader).
    Csv,
}

impl Format {
    /// Every format with its name on a command line.
    pub const NAMES: [(Self, &'static str); 5] = [
        (Self::Auto, "auto"),
        (Self::Arff, "arff"),
        (Self::XmlRepo, "xmlrepo"),
        (Self::SvmLight, "svmlight"),
        (Self::Csv, "csv"),
    ];
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(format, _)| format == self);
        f.write_str(name.expect("every format is listed").1)
    }
}

/// A name that is no format's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown format {0:?}; auto, arff, xmlrepo, svmlight or csv expected")]
pub struct UnknownFormatName(pub String);

impl FromStr for Format {
    type Err = UnknownFormatName;

    fn from_str(name: &str) -> Result<Self, UnknownFormatName> {
        let found = Self::NAMES.iter().find(|(_, n)| *n == name);
        found
            .map(|(format, _)| *format)
            .ok_or_else(|| UnknownFormatName(name.to_owned()))
    }
}

/// Which columns of an ARFF or CSV file are outputs. They keep the order of the columns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Targets {
    /// None: every column is a feature. The right choice for formats that mark labels themselves.
    #[default]
    None,
    /// Those that a MULAN label file names; they are labels.
    LabelFile(PathBuf),
    /// The last so many.
    Last(usize),
    /// The first so many.
    First(usize),
    /// Those with these names; each must exist.
    Names(Vec<String>),
    /// Those with these names as far as they exist: for files to predict, with or without outputs.
    NamesIfPresent(Vec<String>),
}

/// What to do about missing values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Keep them as NaN.
    #[default]
    Keep,
    /// Refuse the file at the first.
    Refuse,
}

/// How to read a file. The default detects the format and takes no column for an output.
///
/// ```
/// use rpo_data::read::{Format, ReadOptions, Targets};
/// let options = ReadOptions::default().format(Format::Arff).targets(Targets::Last(3));
/// # let _ = options;
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadOptions {
    pub(super) format: Format,
    pub(super) targets: Targets,
    pub(super) task: Option<Task>,
    pub(super) n_features: Option<usize>,
    pub(super) n_outputs: Option<usize>,
    pub(super) missing: Missing,
    pub(super) missing_targets: Option<Missing>,
    pub(super) first_feature: Option<FirstFeature>,
}

impl ReadOptions {
    /// The format; detected by default.
    #[must_use]
    pub fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// Which columns are outputs; none by default.
    #[must_use]
    pub fn targets(mut self, targets: Targets) -> Self {
        self.targets = targets;
        self
    }

    /// What the outputs are. By default a label file's are labels; other targets of an ARFF file are labels if
    /// all are declared `{0,1}` and numbers if all are numeric; those of a CSV file are labels if there is a
    /// row and every value that is not missing is 0 or 1.
    ///
    /// Labels that are declared numeric are accepted only if this says so, and must be 0 or 1.
    #[must_use]
    pub fn task(mut self, task: Task) -> Self {
        self.task = Some(task);
        self
    }

    /// The number of features there must be. An svmlight file, which does not say, gets that many; without
    /// it, one more than its largest index.
    #[must_use]
    pub fn n_features(mut self, n: usize) -> Self {
        self.n_features = Some(n);
        self
    }

    /// The number of outputs there must be, in the same sense.
    #[must_use]
    pub fn n_outputs(mut self, n: usize) -> Self {
        self.n_outputs = Some(n);
        self
    }

    /// What to do about missing features; kept by default.
    #[must_use]
    pub fn missing(mut self, missing: Missing) -> Self {
        self.missing = missing;
        self
    }

    /// What to do about missing targets: `?` in ARFF, an empty cell or `NA` in CSV. Refused by default, as a
    /// target that is missing by mistake would silently change what is learnt and measured; kept, they make a
    /// [`Dataset::partial`](crate::Dataset::partial). The formats of sparse labels cannot say that a label is
    /// missing and refuse the option.
    #[must_use]
    pub fn missing_targets(mut self, missing: Missing) -> Self {
        self.missing_targets = Some(missing);
        self
    }

    /// Where an svmlight file starts to count features; at 1 by default.
    #[must_use]
    pub fn first_feature(mut self, first: FirstFeature) -> Self {
        self.first_feature = Some(first);
        self
    }
}
