//! Writers for all formats that can be read.
//!
//! Numbers are written as the shortest decimal that reads back as the same `f32`, beyond 2^24 as the same `f64`. The
//! formats of sparse labels omit zeros and support neither missing values nor names; tables support both.
//!
//! ```
//! use ndarray::array;
//! use rpo_data::read::Format;
//! use rpo_data::{Dataset, Task, write};
//! let data = Dataset::new(array![[0.0, 1.5]].into(), array![[1.0, 0.0, 1.0]].into(), Task::MultiLabel)?;
//! let mut text = Vec::new();
//! write::write(&data, Format::XmlRepo, &mut text)?;
//! assert_eq!(text, b"1 2 3\n0,2 1:1.5\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "arrow")]
mod columns;
mod number;
mod table;
mod targets;
mod untyped;

#[cfg(feature = "arrow")]
pub(crate) use columns::BatchWriter;
#[cfg(feature = "arrow")]
pub use columns::{ColumnContent, ColumnWriter};
pub use table::{CsvField, label_file};
pub use untyped::untyped_in_csv;

use crate::dataset::{Dataset, Task};
use crate::message::quoted;
use crate::read::{FirstFeature, Format, ReadErrorKind, check_delimiter, refuse_others};
use number::Number;
use std::io::{self, Write};

/// The reason why a set cannot be written.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Options with which no file is read: one that the format does not have ([`ReadErrorKind::Option`]), or a character
    /// that cannot separate columns ([`ReadErrorKind::Delimiter`]).
    #[error(transparent)]
    Options(#[from] ReadErrorKind),
    /// The system could not write the data.
    #[error("cannot write: {message}")]
    Io {
        /// The kind of error.
        kind: io::ErrorKind,
        /// The system's message.
        message: String,
    },
    /// Parquet or Arrow for a program that was built without the feature `arrow`.
    #[error("{0} files are not written: the program was built without the feature arrow")]
    NotBuilt(Format),
    /// A format that is not written column by column, unlike Parquet and Arrow.
    #[error("{0} files cannot be written column by column; only parquet and arrow can")]
    NotColumns(Format),
    /// Data that a Parquet or Arrow file cannot store.
    #[error("cannot encode: {0}")]
    Encode(String),
    /// Two columns of a table with the same name.
    #[error(
        "two columns are named {}; the column names of a table must be unique",
        quoted(name)
    )]
    TwoColumns {
        /// The name.
        name: String,
    },
    /// A category, class or label that would be read as a missing value.
    #[error(
        "the value {} of column {} reads as a missing value in CSV",
        quoted(value),
        quoted(column)
    )]
    ReadsAsMissing {
        /// Name of the feature or target.
        column: String,
        /// The value.
        value: String,
    },
    /// A column of classes, by its name, in a label file, which names labels.
    #[error("column {} holds classes, but a label file can only list labels", quoted(.0))]
    ClassesInLabelFile(String),
    /// A regression set, although the format stores labels.
    #[error("the format stores only labels, but the outputs are numbers")]
    NotLabels,
    /// A missing feature.
    #[error(
        "the feature {} of sample {sample} (from 0) is missing, which the format cannot express",
        quoted(name)
    )]
    MissingFeature {
        /// Sample, from 0.
        sample: usize,
        /// Name of the feature.
        name: String,
    },
    /// A missing label.
    #[error(
        "the label {} of sample {sample} (from 0) is missing, which the format cannot express",
        quoted(name)
    )]
    MissingLabel {
        /// Sample, from 0.
        sample: usize,
        /// Name of the label.
        name: String,
    },
}

impl From<io::Error> for WriteError {
    fn from(e: io::Error) -> Self {
        Self::Io {
            kind: e.kind(),
            message: e.to_string(),
        }
    }
}

/// Options for writing a file. A [`Format`] converts to options with the defaults for the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteOptions {
    /// The format; [`Format::Auto`], the default, means ARFF.
    pub format: Format,
    /// The index of the first feature in an svmlight file; 1 by default. Other formats refuse the option.
    pub first_feature: Option<FirstFeature>,
    /// The character between the columns of a CSV file, an ASCII character that cannot be part of a number; a comma by
    /// default. Other formats refuse the option.
    pub delimiter: Option<char>,
}

impl From<Format> for WriteOptions {
    fn from(format: Format) -> Self {
        Self {
            format,
            ..Self::default()
        }
    }
}

/// Writes a set in a format that [`read`](crate::read::read) reads.
///
/// * *CSV*: a line of names, then for each sample its identifier, if there is one (in a column `id`), its features and
///   its outputs. Categories are written as words, outputs that are the classes of a column as one column of words,
///   missing values as empty cells, and as `""` in a table of one column, as readers skip empty lines. If features and
///   outputs are both numbered, outputs are named `output 0`, `output 1` and so on.
/// * *Parquet* and *Arrow*: the columns of CSV, with texts for words, 8-bit numbers for labels, and null for missing
///   values.
/// * *ARFF*: features, then outputs. Labels are declared `{0,1}`, categories with their values, everything else
///   numeric. Rows are sparse if the features are. Missing values are `?`. Identifiers are not written. [`label_file`]
///   writes the names of the outputs.
/// * *The Extreme Classification Repository's format*: labels only; a sample without labels and features is one blank.
/// * *svmlight*: labels only; since readers skip blank lines, a sample without labels and features is written as
///   `qid:0`.
///
/// ```
/// use ndarray::array;
/// use rpo_data::read::Format;
/// use rpo_data::{Dataset, Task, write};
/// let data = Dataset::new(array![[0.5, f32::NAN]].into(), array![[3.0]].into(), Task::Regression)?;
/// let mut text = Vec::new();
/// write::write(&data, Format::Csv, &mut text)?;
/// assert_eq!(text, b"0,1,output 0\n0.5,,3\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`WriteError`]: options that the format does not have, data that it cannot express, two columns of a table with the
/// same name, a system error. Data written before the error stay written.
pub fn write(
    data: &Dataset,
    options: impl Into<WriteOptions>,
    to: impl Write + Send,
) -> Result<(), WriteError> {
    let WriteOptions {
        format,
        first_feature,
        delimiter,
    } = options.into();
    let format = match format {
        Format::Auto => Format::Arff,
        given => given,
    };
    refuse_others(
        format,
        [
            ("first_feature", Format::SvmLight, first_feature.is_some()),
            ("delimiter", Format::Csv, delimiter.is_some()),
        ],
    )?;
    match format {
        Format::Auto | Format::Arff => table::arff(data, to),
        Format::Csv => {
            let delimiter = check_delimiter(delimiter.unwrap_or(','))?;
            table::csv(data, delimiter.into(), to)
        }
        Format::XmlRepo => xmlrepo(data, to),
        Format::SvmLight => svmlight(data, first_feature.unwrap_or_default(), to),
        #[cfg(feature = "arrow")]
        Format::Parquet | Format::Arrow => columns::columns(data, format, to),
        #[cfg(not(feature = "arrow"))]
        Format::Parquet | Format::Arrow => Err(WriteError::NotBuilt(format)),
    }
}

fn xmlrepo(data: &Dataset, mut to: impl Write) -> Result<(), WriteError> {
    check(data)?;
    writeln!(
        to,
        "{} {} {}",
        data.n_samples(),
        data.n_features(),
        data.n_outputs()
    )?;
    for row in 0..data.n_samples() {
        let n_written = sample(data, row, 0, &mut to)?;
        writeln!(to, "{}", if n_written == 0 { " " } else { "" })?;
    }
    Ok(to.flush()?)
}

fn svmlight(data: &Dataset, first_feature: FirstFeature, mut to: impl Write) -> Result<(), WriteError> {
    check(data)?;
    for row in 0..data.n_samples() {
        let n_written = sample(data, row, first_feature.index(), &mut to)?;
        writeln!(to, "{}", if n_written == 0 { " qid:0" } else { "" })?;
    }
    Ok(to.flush()?)
}

fn check(data: &Dataset) -> Result<(), WriteError> {
    if data.task() == Task::MultiLabel {
        Ok(())
    } else {
        Err(WriteError::NotLabels)
    }
}

/// Writes the labels and the features of a sample; returns their number.
fn sample(data: &Dataset, row: usize, first: u64, to: &mut impl Write) -> Result<usize, WriteError> {
    let mut n_written = 0;
    let mut result = Ok(());
    data.outputs().view().for_each_in_row(row, |label, value| {
        if result.is_ok() {
            let comma = if n_written == 0 { "" } else { "," };
            result = if value.is_nan() {
                let name = data.output_names().get(label as usize).unwrap_or_default();
                let (sample, name) = (row, name.into_owned());
                Err(WriteError::MissingLabel { sample, name })
            } else {
                write!(to, "{comma}{label}").map_err(WriteError::from)
            };
            n_written += 1;
        }
    });
    data.features().view().for_each_in_row(row, |feature, value| {
        if result.is_ok() && value != 0.0 {
            result = if value.is_nan() {
                let name = data.feature_names().get(feature as usize).unwrap_or_default();
                let (sample, name) = (row, name.into_owned());
                Err(WriteError::MissingFeature { sample, name })
            } else {
                write!(to, " {}:{}", u64::from(feature) + first, Number(value)).map_err(WriteError::from)
            };
            n_written += 1;
        }
    });
    result.map(|()| n_written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;

    #[test]
    fn options_that_no_file_is_read_with_are_refused() {
        let data = Dataset::new(array![[1.0]].into(), array![[1.0]].into(), Task::MultiLabel).unwrap();
        let written = |options: WriteOptions| write(&data, options, Vec::new());
        let csv = |delimiter| WriteOptions {
            delimiter: Some(delimiter),
            ..Format::Csv.into()
        };
        for delimiter in ['"', '\n', '\r', '.', '-', '+', '7', 'x', '\u{b7}'] {
            let refused = WriteError::Options(ReadErrorKind::Delimiter(delimiter));
            assert_eq!(written(csv(delimiter)), Err(refused));
        }
        assert_eq!(written(csv('\t')), Ok(()));
        let others = [
            Format::Auto,
            Format::Arff,
            Format::Csv,
            Format::XmlRepo,
            Format::SvmLight,
        ];
        for format in others {
            let is_written = match format {
                Format::Auto => Format::Arff,
                given => given,
            };
            let refused = |option, of: Format| match of == format {
                true => Ok(()),
                false => Err(WriteError::Options(ReadErrorKind::Option {
                    option,
                    format: is_written,
                })),
            };
            let delimited = WriteOptions { format, ..csv(';') };
            assert_eq!(written(delimited), refused("delimiter", Format::Csv));
            let counted = WriteOptions {
                first_feature: Some(FirstFeature::One),
                ..format.into()
            };
            assert_eq!(written(counted), refused("first_feature", Format::SvmLight));
        }
    }

    #[test]
    fn what_the_format_cannot_express_is_refused() {
        let set = |x: f32, task| Dataset::new(array![[0.0, x]].into(), array![[1.0]].into(), task).unwrap();
        assert_eq!(
            xmlrepo(&set(1.0, Task::Regression), Vec::new()),
            Err(WriteError::NotLabels)
        );
        assert_eq!(
            xmlrepo(&set(f32::NAN, Task::MultiLabel), Vec::new()),
            Err(WriteError::MissingFeature {
                sample: 0,
                name: "1".to_owned()
            })
        );
        let outputs = array![[1.0, 0.0], [0.0, f32::NAN]];
        let partial = Dataset::with_missing(array![[1.0], [1.0]].into(), outputs.into(), Task::MultiLabel);
        assert_eq!(
            xmlrepo(&partial.unwrap(), Vec::new()),
            Err(WriteError::MissingLabel {
                sample: 1,
                name: "1".to_owned()
            })
        );
        let full = &mut [0_u8; 3][..];
        assert!(matches!(
            svmlight(&set(1.0, Task::MultiLabel), FirstFeature::One, full),
            Err(WriteError::Io {
                kind: io::ErrorKind::WriteZero,
                ..
            })
        ));
    }
}
