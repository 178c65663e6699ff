//! Finding and reading description files.

use super::check::check;
use super::{DescribeError, Description};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Where the project keeps its experiments.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/experiments")
}

/// The experiment of a name, or the one described by the file of a path that ends in `.toml`.
pub(crate) fn find(name: &str) -> Result<Description, DescribeError> {
    if Path::new(name).extension().is_some_and(|e| e == "toml") {
        return read(Path::new(name));
    }
    let files = files()?;
    let stem = |path: &PathBuf| {
        path.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    match files.iter().find(|path| stem(path) == name) {
        Some(path) => read(path),
        None => Err(DescribeError::Unknown {
            name: name.to_owned(),
            known: files.iter().map(stem).collect(),
        }),
    }
}

/// All experiments of the project, by name.
pub(crate) fn list() -> Result<Vec<Description>, DescribeError> {
    files()?.iter().map(|path| read(path)).collect()
}

fn files() -> Result<Vec<PathBuf>, DescribeError> {
    let folder = folder();
    let entries = std::fs::read_dir(&folder).map_err(|e| io_error(&folder, &e))?;
    let paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| io_error(&folder, &e))?;
    let mut files: Vec<PathBuf> = paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    Ok(files)
}

fn read(path: &Path) -> Result<Description, DescribeError> {
    let text = std::fs::read_to_string(path).map_err(|e| io_error(path, &e))?;
    let file = Source { path, text: &text };
    let description: Description =
        toml::from_str(&text).map_err(|e| file.error(e.span().unwrap_or(0..0), e.message()))?;
    check(&description, &file)?;
    Ok(description)
}

fn io_error(path: &Path, e: &std::io::Error) -> DescribeError {
    DescribeError::Io {
        path: path.to_owned(),
        message: e.to_string(),
    }
}

/// A file being read, to say where something in it is.
pub(super) struct Source<'a> {
    /// Its path.
    pub(crate) path: &'a Path,
    /// Its text.
    pub(crate) text: &'a str,
}

impl Source<'_> {
    /// The error that something is wrong with the bytes at a place.
    pub(crate) fn error(&self, at: Range<usize>, message: impl Into<String>) -> DescribeError {
        let before = &self.text[..at.start.min(self.text.len())];
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[start..].lines().next().unwrap_or_default();
        DescribeError::Field {
            path: self.path.to_owned(),
            line: before.matches('\n').count() + 1,
            field: field(before, line),
            message: message.into(),
        }
    }
}

/// The key of a line and the table it is in: `method.components`.
fn field(before: &str, line: &str) -> String {
    let header = |line: &str| {
        let name = line.trim().strip_prefix('[')?;
        Some(name.trim_matches(['[', ']']).trim().to_owned())
    };
    if let Some(table) = header(line) {
        return table;
    }
    let key = line.split('=').next().unwrap_or_default().trim();
    match before.lines().rev().find_map(header) {
        Some(table) => format!("{table}.{key}"),
        None if key.is_empty() => "file".to_owned(),
        None => key.to_owned(),
    }
}
