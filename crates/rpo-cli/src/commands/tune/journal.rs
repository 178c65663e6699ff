//! The history of a search while it runs.

use super::history::{header, line};
use crate::csv_file;
use crate::data_file::is_gzip;
use crate::output::note;
use flate2::Compression;
use flate2::write::GzEncoder;
use rpo::tune::{Record, Space};
use rpo::{FileTarget, ModelError};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Appends a line to the file of the history whenever a trial ends, so that a search that is killed leaves the trials
/// that it made. In the end the whole history, in order, replaces the file.
pub(super) struct Journal<'a> {
    path: PathBuf,
    space: &'a Space,
    /// The file from the first trial on, until it cannot be written to.
    file: Mutex<Option<Box<dyn Write + Send>>>,
}

impl<'a> Journal<'a> {
    /// A journal in a file; `None` for devices and pipes, in which lines cannot be replaced.
    pub(super) fn new(path: &Path, space: &'a Space) -> Option<Self> {
        Some(Self {
            path: FileTarget::place(path)?,
            space,
            file: Mutex::new(None),
        })
    }

    /// Appends a trial. A file that cannot be written to is noted; it is written once more in the end.
    pub(super) fn append(&self, record: &Record<ModelError>) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(e) = self.write(&mut file, record) {
            *file = Some(Box::new(io::sink()));
            note(&format!("{}: cannot write: {e}", self.path.display()));
        }
    }

    fn write(&self, file: &mut Option<Box<dyn Write + Send>>, record: &Record<ModelError>) -> io::Result<()> {
        let delimiter = csv_file::delimiter(Some(&self.path));
        let mut text = String::new();
        let file = match file {
            Some(file) => file,
            none => {
                text = header(self.space, delimiter);
                none.insert(self.create()?)
            }
        };
        text += &line(record, self.space, delimiter);
        file.write_all(text.as_bytes())?;
        file.flush()
    }

    fn create(&self) -> io::Result<Box<dyn Write + Send>> {
        let file = File::create(&self.path)?;
        Ok(match is_gzip(&self.path) {
            true => Box::new(GzEncoder::new(file, Compression::default())),
            false => Box::new(file),
        })
    }
}
