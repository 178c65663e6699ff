//! Checks the files of a command: no file is written over another, or over one that is read.

use crate::error::CliError;
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

/// Checks the files before anything is read or written: refuses a file to write that equals another or one that is
/// read, or that cannot be written, and `-`, which is no file in other programs.
///
/// Files are compared after resolving links and spellings of paths; devices and pipes may be given more than once.
pub(crate) fn check<'a>(
    read: impl IntoIterator<Item = NamedFile<'a>>,
    written: impl IntoIterator<Item = NamedFile<'a>>,
) -> Result<(), CliError> {
    let given = |(option, path): NamedFile<'a>| Some((option, path?, FileTarget::place(path?)?));
    let mut taken: Vec<_> = read.into_iter().filter_map(given).collect();
    let written: Vec<_> = written.into_iter().collect();
    if let Some((option, _)) = written.iter().find(|(_, path)| *path == Some(Path::new("-"))) {
        let message = format!("{option} -: a file is expected; standard output is /dev/stdout");
        return Err(CliError::Usage(message));
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
