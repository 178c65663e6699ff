//! Streaming readers of ARFF, CSV, svmlight and the Extreme Classification Repository's format.
//!
//! [`read`] takes a path, [`read_from`] any [`BufRead`]; both return a [`Dataset`]. The readers of the single
//! formats return one row at a time, in `f64`, for other uses. All keep one line of the file at a time, accept LF and
//! CR LF line ends and a UTF-8 byte order mark, and refuse malformed input with a [`ReadError`] that names the line.

mod arff;
mod csv;
mod detect;
mod error;
mod format;
mod label_file;
mod line;
mod number;
mod options;
mod row;
mod sample;
mod samples;
mod svmlight;
mod table;
mod text;
mod xmlrepo;

pub use arff::{ArffReader, Attribute, AttributeKind};
pub use csv::CsvReader;
pub use error::{ReadError, ReadErrorKind};
pub use format::{Format, UnknownFormatName};
pub use label_file::LabelFile;
pub use options::{FirstFeature, Missing, ReadOptions, Targets};
pub use row::Row;
pub use sample::Sample;
pub use svmlight::SvmLightReader;
pub use xmlrepo::XmlRepoReader;

use crate::dataset::Dataset;
use detect::{decompressed, format_of_content, format_of_name, open};
use std::io::BufRead;
use std::path::Path;

/// Reads a data set from a file, which may be compressed by gzip. It is named after the file.
///
/// Dense rows give dense features, sparse rows CSR ones; labels are CSR always. Zeros are not stored in CSR.
///
/// # Errors
/// [`ReadError`] with path, line and, where it makes sense, column.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Dataset, ReadError> {
    let path = path.as_ref();
    let mut options = options.clone();
    if options.format == Format::Auto {
        options.format = format_of_name(path).unwrap_or(Format::Auto);
    }
    let data = open(path)
        .and_then(|reader| read_decompressed(reader, &options))
        .map_err(|e| e.in_file(path))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    Ok(data.named(stem))
}

/// Reads a data set from a reader, whose content may be compressed by gzip. A set from ARFF has the name of its
/// relation.
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
/// # Errors
/// [`ReadError`] with line and, where it makes sense, column.
pub fn read_from(reader: impl BufRead, options: &ReadOptions) -> Result<Dataset, ReadError> {
    read_decompressed(decompressed(reader)?, options)
}

fn read_decompressed(reader: Box<dyn BufRead + '_>, options: &ReadOptions) -> Result<Dataset, ReadError> {
    match options.format {
        Format::Auto => {
            let (format, reader) = format_of_content(reader)?;
            let options = ReadOptions {
                format,
                ..options.clone()
            };
            read_decompressed(reader, &options)
        }
        Format::XmlRepo => samples::read_xmlrepo(reader, options),
        Format::SvmLight => samples::read_svmlight(reader, options),
        Format::Arff | Format::Csv if options.first_feature.is_some() => {
            let (option, format) = ("first_feature", options.format);
            Err(ReadErrorKind::Option { option, format }.into())
        }
        Format::Arff => table::read_arff(reader, options),
        Format::Csv => table::read_csv(reader, options),
    }
}
