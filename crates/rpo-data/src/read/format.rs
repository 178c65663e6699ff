//! The file formats and their names.

use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::path::Path;

/// File formats. All of them may be compressed by gzip, which is recognised by its first bytes. Reading and writing
/// Parquet and Arrow requires the feature `arrow`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Detected by the extension of the file name (`.arff`, `.csv`, `.tsv`, `.tab`, `.svm`, `.svmlight`, `.libsvm`,
    /// `.parquet`, `.arrow`, `.arrows`, `.feather`, `.ipc`; `.gz` is stripped), otherwise by the first bytes or the first
    /// line. A file of another name that is not recognized is CSV if a delimiter is given.
    #[default]
    Auto,
    /// ARFF.
    ///
    /// * Keywords and types in upper or lower case. Types `numeric`, `real`, `integer` and `{value,...}`; string and date
    ///   attributes are refused unless [`ignore`](super::ReadOptions::ignore) leaves them out, relational ones always.
    /// * Labels are declared `{0,1}`, `{false,true}`, `{no,yes}`, `{n,y}` or `{f,t}`, in any case and order: the second
    ///   of these is 1.
    /// * Names and values are bare or quoted by `'` or `"`. A backslash escapes inside quotes only.
    /// * `?` is a missing value. A nominal value becomes its position in the declaration.
    /// * Rows are dense (`1,2,3`) or sparse (`{0 1,2 3}`, increasing indices). Values that a sparse row omits are 0,
    ///   which for a nominal attribute is the value declared first.
    /// * Lines that start with `%` are comments. `@data` ends the header; `@relation` may be missing.
    Arff,
    /// The Extreme Classification Repository's text format: a line `n p d` (samples, features, labels), then a line per
    /// sample, `label,label feature:value feature:value`, all indices from 0.
    ///
    /// A line without labels starts with a blank, so that a single blank is a sample without labels and features.
    /// Labels and features may come in any order, but not twice. An empty line is not a sample: it is refused before
    /// the last sample and ignored after it.
    #[serde(rename = "xmlrepo")]
    XmlRepo,
    /// Multi-label svmlight: a line per sample, `label,label index:value index:value`.
    ///
    /// Labels are integers from 0. Features count from 1 (or 0, see [`FirstFeature`](super::FirstFeature)) and
    /// increase. A line that starts with a blank or a pair has no labels. `qid:` and its integer are ignored; text
    /// after `#` is a comment. Empty lines are skipped; those between two samples are counted, see
    /// [`EmptyLines`](crate::EmptyLines).
    ///
    /// A line that contains only blanks is refused: some programs write a sample without labels and features in this
    /// way, others skip it, and one sample more or less would shift the rest. `qid:0` after a blank is such a sample
    /// for all programs.
    #[serde(rename = "svmlight")]
    SvmLight,
    /// CSV: a line of column names, then one line per row, with columns separated by commas, semicolons, tabs or
    /// vertical bars: [`delimiter`](super::ReadOptions::delimiter) describes which. In files named `.tsv` or `.tab` it
    /// is the tab if the first line has one.
    ///
    /// A field may be quoted by `"`, which is doubled inside; it may contain line ends, which are read as LF. Blanks
    /// around a field are dropped, and within quotes those around a number, a date or a missing value; blank lines are
    /// skipped. Columns with neither a name nor a value are not read
    /// ([`ReadNotes::n_blank_columns`](crate::ReadNotes::n_blank_columns)), and names repeat only in columns
    /// that the options leave out. A field that is empty or `NA` is a missing value, and so are those of
    /// [`missing_values`](super::ReadOptions::missing_values).
    Csv,
    /// Parquet, with columns of numbers, booleans, texts (including dictionaries), dates and date-times.
    Parquet,
    /// Arrow IPC with the same types of columns: a file, which is Feather version 2, or a stream.
    Arrow,
}

impl Format {
    /// Returns the format for the extension of a file name; `None` if there is none.
    pub fn of_name(path: &Path) -> Option<Self> {
        match Self::extension_of_name(path)?.as_str() {
            "arff" => Some(Self::Arff),
            "csv" | "tsv" | "tab" => Some(Self::Csv),
            "parquet" | "pq" | "parq" => Some(Self::Parquet),
            "arrow" | "arrows" | "feather" | "ipc" => Some(Self::Arrow),
            "svm" | "svmlight" | "libsvm" => Some(Self::SvmLight),
            _ => None,
        }
    }

    /// Returns the character between the columns of a CSV file that the extension of its name implies: a tab for `.tsv`
    /// and `.tab`; `None` for others.
    pub fn delimiter_of_name(path: &Path) -> Option<char> {
        matches!(Self::extension_of_name(path)?.as_str(), "tsv" | "tab").then_some('\t')
    }

    /// Returns the extension of a file name in lower case, or the one before `.gz`.
    pub fn extension_of_name(path: &Path) -> Option<String> {
        let lower = |text: &OsStr| text.to_string_lossy().to_ascii_lowercase();
        match path.extension().map(lower)?.as_str() {
            "gz" => path.file_stem().map(Path::new)?.extension().map(lower),
            other => Some(other.to_owned()),
        }
    }
}

rpo_core::impl_names!(Format, "a format");
