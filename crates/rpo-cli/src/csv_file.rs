//! CSV files with results: their names and lines.

use crate::error::CliError;
use crate::files::NamedFile;
use rpo::data::read::Format;
use rpo::data::write::CsvField;
use std::path::Path;

/// Extensions of formats of tables and of compression that are not written.
const UNWRITTEN: [&str; 21] = [
    "7z", "avro", "br", "bz2", "h5", "hdf5", "html", "json", "jsonl", "lz4", "ndjson", "npy", "npz", "ods",
    "orc", "rpo", "xls", "xlsx", "xz", "zip", "zst",
];

/// Returns the character between the columns of a file of this name; a comma on standard output.
pub(crate) fn delimiter(path: Option<&Path>) -> char {
    path.and_then(Format::delimiter_of_name).unwrap_or(',')
}

/// A text as a field, quoted where it would be misread.
pub(crate) fn field(text: &str, delimiter: char) -> String {
    CsvField { text, delimiter }.to_string()
}

/// A number as a field; an undefined one is an empty field.
pub(crate) fn number(value: f64) -> String {
    match value.is_nan() {
        true => String::new(),
        false => value.to_string(),
    }
}

/// A line of fields, with its end. A single empty field is quoted, as readers skip empty lines.
pub(crate) fn line(fields: impl IntoIterator<Item = String>, delimiter: char) -> String {
    let fields: Vec<String> = fields.into_iter().collect();
    match fields.as_slice() {
        [only] if only.is_empty() => CsvField::missing(1).to_owned() + "\n",
        fields => fields.join(&delimiter.to_string()) + "\n",
    }
}

/// Refuses the name of another format, as which the file could not be read.
pub(crate) fn check((option, path): NamedFile<'_>) -> Result<(), CliError> {
    let Some(path) = path else { return Ok(()) };
    match is_other(path) {
        true => Err(CliError::Usage(format!(
            "{option} {}: the file is CSV; give it a name in .csv or .tsv, or one of these and .gz",
            path.display()
        ))),
        false => Ok(()),
    }
}

/// Returns true for the name of another format than CSV. A name without an extension, or with that of no format, is
/// none.
pub(crate) fn is_other(path: &Path) -> bool {
    let is_unwritten = |extension: String| UNWRITTEN.contains(&extension.as_str());
    match Format::of_name(path) {
        Some(format) => format != Format::Csv,
        None => Format::extension_of_name(path).is_some_and(is_unwritten),
    }
}
