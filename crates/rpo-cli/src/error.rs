//! What ends a command.

use rpo::ModelError;
use rpo::TargetError;
use rpo::data::read::{ReadError, ReadErrorKind};
use rpo::data::{CatalogueError, DatasetError};
use rpo::ensemble::EnsembleError;
use rpo::linear::LinearError;
use rpo::metrics::MetricError;
use rpo::model_file::ModelFileError;
use rpo::tune::{HoldoutError, SearchError, SpaceError};
use std::error::Error;
use std::fmt::Write;
use std::io;
use std::path::PathBuf;

/// Everything that can end a command, with what it was about where the error itself does not say.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message of a variant says what it is")]
pub enum CliError {
    /// Arguments that do not go together.
    #[error("{0}")]
    Usage(String),
    /// Data that holds nothing to work on.
    #[error("{data}: {problem}")]
    Data { data: String, problem: String },
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    #[error("{data}: {source}")]
    Dataset { data: String, source: DatasetError },
    /// Data that does not fit the model.
    #[error("{data} does not fit the model: {source}")]
    Fit { data: String, source: ModelError },
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    ModelFile(#[from] ModelFileError),
    #[error("training on {data}: {source}")]
    Train {
        data: String,
        source: Box<dyn Error + Send + Sync>,
    },
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    #[error(transparent)]
    Linear(#[from] LinearError),
    #[error("evaluating on {data}: {source}")]
    Metric { data: String, source: MetricError },
    #[error("{data}: {source}")]
    Holdout { data: String, source: HoldoutError },
    /// A parameter of `rpo tune` or its law.
    #[error("--space {text}: {source}")]
    Space { text: String, source: SpaceError },
    #[error("{0}")]
    Search(#[source] Box<SearchError<CliError>>),
    #[error("{}: {source}", path.display())]
    Merge { path: PathBuf, source: ModelError },
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error("standard output: {0}")]
    Output(#[source] io::Error),
    #[error("cannot start {threads} threads: {message}")]
    Threads { threads: usize, message: String },
}

impl CliError {
    /// Whether standard output went away.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(e) if e.kind() == io::ErrorKind::BrokenPipe)
    }

    /// The error with rows counted from the first of the data, where it came from a block that begins at `start`.
    pub(crate) fn of_block(mut self, start: usize) -> Self {
        if let Self::Model(ModelError::MissingFeature { row, .. }) = &mut self {
            *row += start;
        }
        self
    }

    /// The error with the name of the data, if it is about what they hold.
    pub(crate) fn about(self, data: &str) -> Self {
        match self {
            Self::Model(source @ ModelError::MissingFeature { .. }) => Self::Fit {
                data: data.to_owned(),
                source,
            },
            e => e,
        }
    }

    /// What to do about it, where an option does it.
    fn advice(&self) -> Option<&'static str> {
        if let Self::Fit {
            source: ModelError::MissingFeature { .. },
            ..
        } = self
        {
            return Some("rpo train --impute keeps in the model what to fill in");
        }
        let Self::Read(error) = self else { return None };
        Some(match &error.kind {
            ReadErrorKind::MissingTarget { .. } => "--missing-outputs takes missing outputs for unknown",
            ReadErrorKind::IndexZero => "--first-feature 0 reads files that count from 0",
            ReadErrorKind::UnknownFormat { .. } => "--format says which format it is",
            ReadErrorKind::NotFinite { .. } => {
                "a missing value is written ? in ARFF and as an empty cell or NA in CSV"
            }
            ReadErrorKind::NotANumber { .. } => {
                "columns of words are for ARFF, as nominal attributes; in CSV, write them as numbers or leave them out"
            }
            ReadErrorKind::Option { option, .. } => match *option {
                "targets" => {
                    "--labels, --targets and --n-targets are for ARFF and CSV files; here each line names its labels"
                }
                "missing_targets" => "--missing-outputs is for ARFF and CSV files",
                "task" => "--task is for ARFF and CSV files",
                "first_feature" => "--first-feature is for svmlight files",
                _ => return None,
            },
            _ => return None,
        })
    }

    /// What standard error shows: the error, its causes as far as they add anything, and what to do.
    pub(crate) fn report(&self) -> String {
        let mut last = self.to_string();
        let mut report = format!("error: {last}\n");
        let mut cause = self.source();
        while let Some(e) = cause {
            let text = e.to_string();
            if !last.contains(&text) {
                // Writing to a string does not fail.
                let _ = writeln!(report, "  caused by: {text}");
                last = text;
            }
            cause = e.source();
        }
        if let Some(advice) = self.advice() {
            let _ = writeln!(report, "  help: {advice}");
        }
        report
    }
}
