//! Errors that end a command.

mod advice;

use crate::interrupt::INTERRUPTED;
use crate::output::{harmless, has_data};
use rpo::data::generate::GenerateError;
use rpo::data::read::{ReadError, ReadErrorKind};
use rpo::data::write::WriteError;
use rpo::data::{CatalogueError, DatasetError};
use rpo::model_file::{ModelFileError, ModelFileErrorKind};
use rpo::tune::TuneError;
use rpo::{MethodError, ModelError, Registry, TargetError};
use std::error::Error;
use std::fmt::Write;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

/// Every error that can end a command, with its context if the error itself lacks it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// Incompatible arguments.
    #[error("{0}")]
    Usage(String),
    /// Data without the necessary contents.
    #[error("{data}: {problem}")]
    Data { data: String, problem: String },
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    #[error("{data}: {source}")]
    Dataset { data: String, source: DatasetError },
    /// Data that does not match the model.
    #[error("{data} does not fit the model: {source}")]
    ModelMismatch { data: String, source: ModelError },
    /// Data that does not match other data.
    #[error("{data} does not match the other data: {source}")]
    DataMismatch { data: String, source: ModelError },
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Method(#[from] MethodError),
    /// Errors of the parameters in a file.
    #[error("{}: {source}", path.display())]
    Params { path: PathBuf, source: ModelError },
    #[error(transparent)]
    ModelFile(#[from] ModelFileError),
    #[error("training on {data}: {source}")]
    Train { data: String, source: ModelError },
    #[error("evaluating on {data}: {source}")]
    Evaluate { data: String, source: ModelError },
    #[error("predicting for {data}: {source}")]
    Predict { data: String, source: ModelError },
    #[error(transparent)]
    Tune(#[from] TuneError),
    #[error("{}: {source}", path.display())]
    Merge { path: PathBuf, source: ModelError },
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(transparent)]
    Write(WriteError),
    /// The system could not write a file, which the message names.
    #[error("{message}")]
    NotWritten { kind: io::ErrorKind, message: String },
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// Work that was interrupted before it had a result.
    #[error("interrupted before there was a result")]
    Interrupted,
    /// A server of lines that was interrupted, which may have left requests unread.
    #[error("interrupted")]
    InterruptedServer,
    #[error("standard input: {0}")]
    Input(#[source] io::Error),
    #[error("cannot serve at {address}: {source}")]
    Listen { address: String, source: io::Error },
    #[error("standard output: {0}")]
    Output(#[source] io::Error),
    #[error("cannot start {threads} threads: {message}")]
    Threads { threads: usize, message: String },
}

impl CliError {
    /// Returns true if standard output was closed.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        let kind = match self {
            Self::Output(e) => e.kind(),
            Self::NotWritten { kind, .. } | Self::Target(TargetError::Io { kind, .. }) if has_data() => *kind,
            Self::ModelFile(e) if has_data() => match &e.kind {
                ModelFileErrorKind::Write(TargetError::Io { kind, .. }) => *kind,
                _ => return false,
            },
            _ => return false,
        };
        kind == io::ErrorKind::BrokenPipe
    }

    /// The status of the process: as the shell returns it for a program that was interrupted.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Interrupted | Self::InterruptedServer => INTERRUPTED.into(),
            _ => ExitCode::FAILURE,
        }
    }

    /// The error of a server that cannot have its address.
    pub(crate) fn listen(address: &str, source: io::Error) -> Self {
        let address = address.to_owned();
        Self::Listen { address, source }
    }

    /// The error of a model that was evaluated on data.
    pub(crate) fn of_data(source: ModelError, data: &str) -> Self {
        let data = data.to_owned();
        match source {
            // The error is independent of the data.
            ModelError::Parameter(_)
            | ModelError::NoIntervals
            | ModelError::MetricForLabels { .. }
            | ModelError::MetricForLabelsAlone { .. }
            | ModelError::MetricNotOfBest { .. } => Self::Model(source),
            ModelError::Metric(_) | ModelError::MemoryLimit(_) | ModelError::TooFew(_) => {
                Self::Evaluate { data, source }
            }
            source => Self::ModelMismatch { data, source },
        }
    }

    /// The error of a model that predicts for data.
    pub(crate) fn of_prediction(source: ModelError, data: &str) -> Self {
        match Self::of_data(source, data) {
            Self::Evaluate { data, source } => Self::Predict { data, source },
            e => e,
        }
    }

    /// Returns true if a file has no column with the name of an output.
    pub(crate) fn is_unknown_target(&self) -> bool {
        matches!(self, Self::Read(e) if matches!(e.kind, ReadErrorKind::UnknownTarget { .. }))
    }

    /// Returns true if the format of a file has no lists of labels.
    pub(crate) fn is_without_lists(&self) -> bool {
        let option = "label_list";
        matches!(self, Self::Read(e) if matches!(e.kind, ReadErrorKind::Option { option: of, .. } if of == option))
    }

    /// The text for standard error: the error, those of its causes that add information, and advice.
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
        if let Some(advice) = advice::of(self) {
            let _ = writeln!(report, "  help: {advice}");
        }
        // An invalid parameter in a file is a field of the file, even if an option has its name.
        let report = match self {
            Self::Params { .. } | Self::ModelFile(_) | Self::Model(ModelError::File(_)) => report,
            _ => as_options(report),
        };
        harmless(&report).into_owned()
    }
}

impl From<WriteError> for CliError {
    fn from(e: WriteError) -> Self {
        match e {
            // Data are written to files, whose errors name the file and the action that failed.
            WriteError::Io { kind, message } => Self::NotWritten { kind, message },
            e => Self::Write(e),
        }
    }
}

impl From<io::Error> for CliError {
    fn from(e: io::Error) -> Self {
        WriteError::from(e).into()
    }
}

/// Replaces the names of parameters in a message by those of their options, and advice by what is to be typed.
fn as_options(message: String) -> String {
    let parameters = Registry::standard()
        .into_iter()
        .flat_map(|entry| entry.parameters());
    let parameters = parameters.map(|info| (info.name.as_str(), info.is_switch));
    let others = [
        "propensity_a",
        "propensity_b",
        "repetition",
        "folds",
        "hold_out",
        "weights",
    ];
    let others = others.map(|name| (name, false));
    parameters
        .chain(others)
        .fold(message, |message, (name, is_switch)| {
            let option = format!("--{}", name.replace('_', "-"));
            let before_value = if is_switch { "=" } else { " " };
            message
                .replace(
                    &format!("set `{name}` = "),
                    &format!("set {option}{before_value}"),
                )
                .replace(&format!("`{name}`"), &option)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rpo::core::ParameterError;

    #[test]
    fn fields_of_files_are_no_options() {
        let message = "missing field `normalize`".to_owned();
        let file = ModelFileError::from(ModelFileErrorKind::Description { message });
        assert!(CliError::from(file).report().contains("field `normalize`"));
        let parameter = ParameterError::out_of_range("normalize", 3, "l2");
        let method = CliError::Model(parameter.into());
        assert_eq!(method.report(), "error: --normalize must be l2, got 3\n");
    }

    #[test]
    fn advice_can_be_typed_as_it_is_printed() {
        let shown = |text: &str| as_options(text.to_owned());
        assert_eq!(shown("set `impute` = median to"), "set --impute median to");
        assert_eq!(shown("set `bootstrap` = false"), "set --bootstrap=false");
        assert_eq!(shown("`decide` = f1 is refused"), "--decide = f1 is refused");
    }
}
