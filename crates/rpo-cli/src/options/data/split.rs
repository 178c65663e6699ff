//! A file that is split.

use super::format::FormatOptions;
use super::not_read::note_numbers_as_names;
use super::source::Source;
use super::targets::TargetOptions;
use super::withheld::Column;
use crate::error::CliError;
use crate::files::NamedFile;
use clap::Args;
use rpo::data::Dataset;
use rpo::data::read::{Missing, ReadError, ReadErrorKind, ReadOptions, read};
use std::path::{Path, PathBuf};

/// A file to split, of which only the outputs are read.
#[derive(Debug, Args)]
pub(crate) struct SplitDataOptions {
    /// The data: an ARFF, CSV, Parquet, Arrow IPC (Feather), svmlight or Extreme Classification Repository file, plain or
    /// compressed by gzip.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    data: PathBuf,

    #[command(flatten)]
    format: FormatOptions,

    #[command(flatten)]
    outputs: TargetOptions,
}

impl SplitDataOptions {
    pub(crate) fn path(&self) -> &Path {
        &self.data
    }

    /// The files that are read.
    pub(crate) fn files(&self) -> [NamedFile<'_>; 2] {
        [("--data", Some(&self.data)), self.outputs.file()]
    }

    pub(crate) fn options(&self) -> ReadOptions {
        self.format.options()
    }

    /// Reads the outputs, and a column (if given) as identifiers.
    pub(crate) fn load(&self, column: Option<Column<'_>>) -> Result<Dataset, CliError> {
        if Source::of(&self.data) != Source::File {
            let message = format!(
                "--data {}: split reads the data twice and needs a file: write what comes to one first",
                self.data.display()
            );
            return Err(CliError::Usage(message));
        }
        if let Some(name) = self.data.to_str().and_then(|data| data.strip_prefix('@')) {
            let message = format!(
                "--data @{name}: split copies the lines of a file; the sets of the catalogue have a training and a test part"
            );
            return Err(CliError::Usage(message));
        }
        let targets = self.outputs.targets()?;
        let options = ReadOptions {
            missing_outputs: targets.as_ref().map(|_| Missing::Keep),
            targets: targets.unwrap_or_default(),
            ignore_untyped: true,
            id: column.map(|column| column.name().to_owned()),
            ..self.options()
        };
        let data = read(&self.data, &options).map_err(|e| self.with_option(e, column))?;
        note_numbers_as_names(&data);
        Ok(data)
    }

    /// Adds the option that named a column to an error.
    fn with_option(&self, mut e: ReadError, column: Option<Column<'_>>) -> CliError {
        let Some(column) = column else { return e.into() };
        match &mut e.kind {
            ReadErrorKind::Option { option: "id", .. } => {
                self.problem("--group and --time-column name a column of a CSV, Parquet or Arrow file")
            }
            ReadErrorKind::TargetIsOther { name, .. } => self.problem(&format!(
                "{name:?} is named both as a target and by {}: leave one out",
                column.option()
            )),
            ReadErrorKind::UnknownColumn { option: of_id, .. } => {
                *of_id = column.option();
                e.into()
            }
            _ => e.into(),
        }
    }

    pub(crate) fn problem(&self, problem: &str) -> CliError {
        CliError::Data {
            data: self.data.display().to_string(),
            problem: problem.to_owned(),
        }
    }
}
