//! The files of a command: none is written over another, nor over one that is read.

use crate::error::CliError;
use rpo::FileTarget;
use rpo::data::Catalogue;
use std::path::{Path, PathBuf};

/// An option and the file that it names, if it names one.
pub(crate) type NamedFile<'a> = (&'static str, Option<&'a Path>);

/// The files of an option that names data; standard input and no data at all have none.
pub(crate) fn data_files(data: &str) -> Vec<PathBuf> {
    let of_set = |name: &str| Catalogue::from_env()?.files(name);
    match (data, data.strip_prefix('@')) {
        ("" | "-", _) => Vec::new(),
        // What is wrong with a catalogue ends the command where the set is read.
        (_, Some(name)) => of_set(name).unwrap_or_default(),
        (path, None) => vec![path.into()],
    }
}

/// Refuses, before anything is read or written, files to write that are one file or files that are read, and those that
/// cannot be written.
///
/// Links and different spellings of a path lead to one file; devices and pipes may be given more than once.
pub(crate) fn check<'a>(
    read: impl IntoIterator<Item = NamedFile<'a>>,
    written: impl IntoIterator<Item = NamedFile<'a>>,
) -> Result<(), CliError> {
    let given = |(option, path): NamedFile<'a>| Some((option, path?, FileTarget::place(path?)?));
    let mut taken: Vec<_> = read.into_iter().filter_map(given).collect();
    let written: Vec<_> = written.into_iter().collect();
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
