//! Checks the files of a command: no file is written over another, or over one that is read.

use crate::error::CliError;
use crate::output;
use clap::builder::{PathBufValueParser, TypedValueParser};
use rpo::FileTarget;
use rpo::data::Catalogue;
use std::path::{Path, PathBuf};

/// An option and the file that it names, if any.
pub(crate) type NamedFile<'a> = (&'static str, Option<&'a Path>);

/// The files of an option that names data; empty for standard input and for no data.
pub(crate) fn data_files(data: &str) -> Vec<PathBuf> {
    let of_set = |name: &str| Catalogue::from_env()?.files(name);
    match (data, data.strip_prefix('@')) {
        ("" | "-", _) => Vec::new(),
        // Errors of a catalogue end the command later, when the set is read.
        (_, Some(name)) => of_set(name).unwrap_or_default(),
        (path, None) => vec![path.into()],
    }
}

/// Parses the name of a file to write: `-` is standard output, as in other programs.
pub(crate) fn written() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| match path == Path::new("-") {
        true => PathBuf::from("/dev/stdout"),
        false => path,
    })
}

/// Checks the files before anything is read or written: refuses a file to write that equals another or one that is
/// read, or that cannot be written. If one is standard output, the report of the command goes to standard error.
///
/// Files are compared after resolving links and spellings of paths; devices and pipes may be given more than once, but
/// only one file is standard output.
pub(crate) fn check<'a>(
    read: impl IntoIterator<Item = NamedFile<'a>>,
    written: impl IntoIterator<Item = NamedFile<'a>>,
) -> Result<(), CliError> {
    let given = |(option, path): NamedFile<'a>| Some((option, path?, FileTarget::place(path?)?));
    let mut taken: Vec<_> = read.into_iter().filter_map(given).collect();
    let written: Vec<_> = written.into_iter().collect();
    let is_standard_output = |(_, path): &&NamedFile<'_>| path.is_some_and(FileTarget::is_standard_output);
    let mut in_standard_output = written.iter().filter(is_standard_output);
    if let Some((option, _)) = in_standard_output.next() {
        if let Some((other, _)) = in_standard_output.next() {
            let message =
                format!("{option} and {other} are both standard output; name a file for one of them");
            return Err(CliError::Usage(message));
        }
        output::give_to_data();
    }
    for file in written.iter().copied().filter_map(given) {
        let (option, path, place) = &file;
        if let Some((other, ..)) = taken.iter().find(|(_, _, taken)| taken == place) {
            let path = path.display();
            let message = format!("{option} {path} would overwrite the file of {other}; name another file");
            return Err(CliError::Usage(message));
        }
        taken.push(file);
    }
    for path in written.into_iter().filter_map(|(_, path)| path) {
        FileTarget::check(path)?;
    }
    Ok(())
}
