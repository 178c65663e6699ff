//! The files of a command: none is written over another, nor over one that is read.

use crate::error::CliError;
use rpo::FileTarget;
use std::path::Path;

/// An option and the file that it names, if it names one.
pub(crate) type NamedFile<'a> = (&'static str, Option<&'a Path>);

/// The file of an option that names data; standard input, sets of the catalogue and no data at all are none.
pub(crate) fn data_file(data: &str) -> Option<&Path> {
    let is_file = !matches!(data, "" | "-") && !data.starts_with('@');
    is_file.then(|| Path::new(data))
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
