//! Streaming readers of ARFF, CSV, svmlight, the Extreme Classification Repository's format, Parquet and Arrow IPC.
//!
//! [`read`] takes a path, [`read_from`] any [`BufRead`]; both return a [`Dataset`]. They hold one line of the file at a
//! time (for Parquet and Arrow one batch of rows), accept LF and CR LF line ends and a UTF-8 byte order mark, and
//! refuse malformed input with a [`ReadError`] that names the line.

mod arff;
mod columns;
#[cfg(feature = "arrow")]
mod container;
mod csv;
mod date;
mod detect;
mod error;
mod format;
mod in_memory;
mod known_values;
mod label_file;
mod label_lists;
mod label_words;
mod labelled_line;
mod line;
mod names_file;
mod narrow;
mod number;
mod options;
mod pattern;
mod quoted_text;
mod row;
mod sample_sets;
mod split_lists;
mod svmlight;
mod table;
mod text_of_samples;
mod typed;
mod xmlrepo;

pub use date::Time;
pub use error::{ReadError, ReadErrorKind};
pub use format::Format;
pub use in_memory::{Cell, read_rows};
pub use known_values::known_positions;
pub use label_file::LabelFile;
pub use names_file::read_names;
pub use options::{ColumnType, FirstFeature, LabelList, Missing, ReadOptions, Targets};
pub use split_lists::read_split;
pub use text_of_samples::TextOfSamples;

pub(crate) use csv::check_delimiter;
pub(crate) use typed::is_typed;

use crate::dataset::Dataset;
use csv::Delimiter;
use detect::{decompressed, format_of_content, open};
use line::LineReader;
use std::io::BufRead;
use std::path::Path;

/// Reads a data set from a file, which may be compressed by gzip. The set is named after the file.
///
/// Dense rows give dense features, sparse rows give CSR features; labels are always CSR. Zeros are not stored in CSR.
///
/// # Errors
/// [`ReadError`] with path, line and, if applicable, column.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Dataset, ReadError> {
    let path = path.as_ref();
    let read = || {
        let reader = open(path)?;
        let (format, reader) = match options.format {
            Format::Auto => match Format::of_name(path) {
                Some(format) => (format, reader),
                None => format_of_content(reader, options.delimiter)?,
            },
            given => (given, reader),
        };
        refuse_options_of_others(format, options)?;
        // A file is reopened, as its columns may have to be read twice; a pipe is read once.
        if format == Format::Csv && path.is_file() {
            return table::read_csv(|| open(path), Delimiter::of_file(path, options)?, options);
        }
        #[cfg(feature = "arrow")]
        if matches!(format, Format::Parquet | Format::Arrow) && path.is_file() {
            return table::read_container(container::open(format, path, options.memory_limit)?, options);
        }
        read_format(format, reader, options)
    };
    let mut data = read().map_err(|e| e.in_file(path))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    stem.clone_into(&mut data.name);
    Ok(data)
}

/// Reads a data set from a reader, whose content may be compressed by gzip. A set from ARFF has the name of its
/// relation. The text of a CSV file is held in memory, as its columns may have to be read twice.
///
/// ```
/// use rpo_data::read::{ReadOptions, Targets, read_from};
/// let text = "width,height,area\n2,3,6\n1.5,2,3\n";
/// let options = ReadOptions { targets: Targets::Last(1), ..ReadOptions::default() };
/// let data = read_from(text.as_bytes(), &options)?;
/// assert_eq!((data.n_samples(), data.n_features(), data.n_outputs()), (2, 2, 1));
/// assert_eq!(data.output_names().get(0).as_deref(), Some("area"));
/// # Ok::<(), rpo_data::read::ReadError>(())
/// ```
///
/// Columns of words become nominal features, dates their parts (see [`ColumnType`]):
///
/// ```
/// use rpo_data::read::{ReadOptions, Targets, read_from};
/// let text = "colour,since,price\nred,2024-01-31,3\nblue,2024-02-01,4\n";
/// let options = ReadOptions { targets: Targets::Last(1), ..ReadOptions::default() };
/// let data = read_from(text.as_bytes(), &options)?;
/// let names: Vec<_> = data.feature_names().iter().collect();
/// assert_eq!(names, ["colour", "since[days]", "since[month]", "since[weekday]"]);
/// assert_eq!(data.nominal()[&0][..], ["blue", "red"]);
/// # Ok::<(), rpo_data::read::ReadError>(())
/// ```
///
/// # Errors
/// [`ReadError`] with line and, if applicable, column.
pub fn read_from(reader: impl BufRead, options: &ReadOptions) -> Result<Dataset, ReadError> {
    let reader = decompressed(reader)?;
    let (format, reader) = match options.format {
        Format::Auto => format_of_content(reader, options.delimiter)?,
        given => (given, reader),
    };
    refuse_options_of_others(format, options)?;
    read_format(format, reader, options)
}

fn read_format(
    format: Format,
    reader: Box<dyn BufRead + '_>,
    options: &ReadOptions,
) -> Result<Dataset, ReadError> {
    match format {
        Format::Auto => unreachable!("the format is known"),
        Format::XmlRepo => sample_sets::read_xmlrepo(reader, options),
        Format::SvmLight => sample_sets::read_svmlight(reader, options),
        Format::Arff => {
            refuse_column_options(format, options)?;
            table::read_arff(reader, options)
        }
        Format::Csv => {
            let text = read_lines(LineReader::with_longest(reader, options.longest_line))?;
            table::read_csv(|| Ok(Box::new(text.as_slice())), Delimiter::of(options)?, options)
        }
        #[cfg(feature = "arrow")]
        Format::Parquet | Format::Arrow => {
            let file = container::open_in_memory(format, reader, options.memory_limit)?;
            table::read_container(file, options)
        }
        #[cfg(not(feature = "arrow"))]
        Format::Parquet | Format::Arrow => Err(ReadErrorKind::NotBuilt(format).into()),
    }
}

/// Reads the text of a reader line by line, so that input that is not text is refused before it fills the memory.
fn read_lines(mut lines: LineReader<impl BufRead>) -> Result<Vec<u8>, ReadError> {
    let mut text = Vec::new();
    while lines.advance()? {
        text.extend_from_slice(lines.line());
        text.push(b'\n');
    }
    Ok(text)
}

/// Refuses options for individual columns in formats that do not support them. The types of a model's columns, which
/// apply to whichever columns a file has, are not refused.
fn refuse_column_options(format: Format, options: &ReadOptions) -> Result<(), ReadErrorKind> {
    let option = if !options.types.is_empty() && !options.ignore_untyped {
        "types"
    } else if !options.ignore.is_empty() && format != Format::Arff {
        "ignore"
    } else if options.id.is_some() {
        "id"
    } else {
        return Ok(());
    };
    Err(ReadErrorKind::Option { option, format })
}

/// Refuses options that only apply to another format.
fn refuse_options_of_others(format: Format, options: &ReadOptions) -> Result<(), ReadErrorKind> {
    refuse_others(
        format,
        [
            ("first_feature", Format::SvmLight, options.first_feature.is_some()),
            ("delimiter", Format::Csv, options.delimiter.is_some()),
            ("decimal_comma", Format::Csv, options.decimal_comma),
            ("missing_values", Format::Csv, !options.missing_values.is_empty()),
        ],
    )
}

/// Refuses the first option that is given and of another format. Options are names, with the format that has them and
/// true if they are given.
pub(crate) fn refuse_others<const N: usize>(
    format: Format,
    options: [(&'static str, Format, bool); N],
) -> Result<(), ReadErrorKind> {
    let mut options = options.into_iter();
    match options.find(|(_, of, is_given)| *is_given && *of != format) {
        Some((option, ..)) => Err(ReadErrorKind::Option { option, format }),
        None => Ok(()),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/parsing_fixtures.rs"]
mod parsing_fixtures;
