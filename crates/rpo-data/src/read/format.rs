//! The file formats and their names.

use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// File formats. Any of them may be compressed by gzip, which is recognised by its first bytes. Parquet and Arrow are read
/// and written with the feature `arrow`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Detected by the extension of the file name (`.arff`, `.csv`, `.svm`, `.svmlight`, `.libsvm`, `.parquet`, `.arrow`,
    /// `.arrows`, `.feather`, `.ipc`; `.gz` stripped), else by the first bytes or the first line.
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
    /// Parquet, with columns of numbers, booleans, texts (dictionaries too), dates and times.
    Parquet,
    /// Arrow IPC with the same columns: a file, which is Feather version 2, or a stream.
    Arrow,
}

impl Format {
    /// All formats with their names on a command line.
    pub const NAMES: [(Self, &'static str); 7] = [
        (Self::Auto, "auto"),
        (Self::Arff, "arff"),
        (Self::XmlRepo, "xmlrepo"),
        (Self::SvmLight, "svmlight"),
        (Self::Csv, "csv"),
        (Self::Parquet, "parquet"),
        (Self::Arrow, "arrow"),
    ];

    /// The format of files whose names end as this one, `None` if there is none.
    pub fn of_name(path: &Path) -> Option<Self> {
        let lower = |text: &OsStr| text.to_string_lossy().to_ascii_lowercase();
        let extension = match path.extension().map(lower)?.as_str() {
            "gz" => path.file_stem().map(Path::new)?.extension().map(lower)?,
            other => other.to_owned(),
        };
        match extension.as_str() {
            "arff" => Some(Self::Arff),
            "csv" => Some(Self::Csv),
            "parquet" => Some(Self::Parquet),
            "arrow" | "arrows" | "feather" | "ipc" => Some(Self::Arrow),
            "svm" | "svmlight" | "libsvm" => Some(Self::SvmLight),
            _ => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(format, _)| format == self);
        f.write_str(name.expect("every format is listed").1)
    }
}

/// A name that is not a format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown format {0:?}; auto, arff, xmlrepo, svmlight, csv, parquet or arrow expected")]
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
