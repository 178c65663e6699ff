//! Options that solve a problem, which errors suggest.

use super::CliError;
use rpo::ModelError;
use rpo::data::preprocess::PreprocessError;
use rpo::data::read::{ReadError, ReadErrorKind};
use rpo::data::write::WriteError;
use rpo::metrics::MetricError;
use rpo::tune::{SearchError, TrialError, TuneError};

/// Suggests an option that solves the problem, if there is one.
pub(super) fn of(error: &CliError) -> Option<&'static str> {
    match error {
        CliError::ModelMismatch { source, .. } => of_model_mismatch(source),
        CliError::Evaluate {
            source: ModelError::MemoryLimit(_),
            ..
        } => Some("--memory raises the limit"),
        CliError::Evaluate { source, .. } | CliError::Predict { source, .. } | CliError::Model(source) => {
            of_scores(source)
        }
        CliError::Train {
            source: ModelError::Preprocess(PreprocessError::Indicators(_)),
            ..
        } => Some("--layout sparse makes the features sparse"),
        CliError::Write(error) => of_format_to_write(error),
        CliError::Read(error) => of_read(error),
        CliError::Tune(TuneError::Search(error)) => match **error {
            SearchError::AllFailed {
                failure: TrialError::NotANumber,
                ..
            } => Some("withhold more samples with --hold-out, or choose another --metric"),
            _ => None,
        },
        _ => None,
    }
}

/// For data that do not fit the model.
fn of_model_mismatch(error: &ModelError) -> Option<&'static str> {
    match error {
        ModelError::MissingFeature { .. } => {
            Some("rpo train --impute stores the values to fill in with the model")
        }
        ModelError::UnknownValue { .. } => Some(
            "forests and boosting take such a value as missing without --unseen error; for other methods, rpo train \
             --impute stores what to fill in",
        ),
        ModelError::MissingColumn { what: "column", .. } => Some(
            "a model of texts or dates takes their columns, or one column for every term that it knows and every part of \
             a date, as `rpo convert` writes for the training file; converted versions of other files have other terms",
        ),
        _ => None,
    }
}

/// For scores that are not what is asked of them.
fn of_scores(error: &ModelError) -> Option<&'static str> {
    matches!(error, ModelError::Metric(MetricError::NotAProbability { .. })).then_some(
        "log-loss, brier, ece, --rerank and --decide f1 are for methods whose scores are probabilities, such as forests \
         and logistic-regression",
    )
}

/// For data that a format cannot store.
fn of_format_to_write(error: &WriteError) -> Option<&'static str> {
    match error {
        WriteError::MissingFeature { .. } | WriteError::MissingLabel { .. } | WriteError::NotLabels => {
            Some("arff, csv, parquet and arrow can store missing values and numeric outputs")
        }
        WriteError::ReadsAsMissing { .. } => {
            Some("parquet and arrow can store it, and so can jsonl with predictions")
        }
        _ => None,
    }
}

/// For a file that cannot be read.
fn of_read(error: &ReadError) -> Option<&'static str> {
    Some(match &error.kind {
        ReadErrorKind::MissingOutput { .. } => {
            "--missing-outputs allows missing outputs; if a blank stands for no, write 0 in its place"
        }
        ReadErrorKind::UnknownTarget { columns, .. } if columns.iter().any(String::is_empty) => {
            "if the first line is not the header, delete the lines above the header"
        }
        ReadErrorKind::UnknownTarget { columns, .. } if columns.len() == 1 && !error.has_rows => {
            "set the character between the columns of CSV with --delimiter"
        }
        ReadErrorKind::UnknownTarget { .. } => {
            "select the outputs with --targets, --labels, --label-list or --n-targets"
        }
        ReadErrorKind::TargetOfWords { .. } => {
            "words are classes where a model is trained on them; this target is a number or a label"
        }
        ReadErrorKind::DeclaredTwice { what: "column", name } if name.is_empty() => {
            "the first line has columns without a name: delete the lines above the header, if there are some"
        }
        ReadErrorKind::DeclaredTwice { what: "column", .. } => "--ignore leaves out all columns of this name",
        ReadErrorKind::FieldCount { expected: 1, .. } => {
            "delete the lines above the header, if there are some, or set the character between the columns with --delimiter"
        }
        ReadErrorKind::FieldCount { .. } => {
            "set the character between the columns with --delimiter; a text that contains it is quoted"
        }
        ReadErrorKind::TargetIsOther { .. } => "take it out of the targets, or out of the other option",
        ReadErrorKind::TooManyImplied { what: "feature", .. } => {
            "check for a mistyped index, or declare the number of features with --n-features (train, describe, \
             convert)"
        }
        ReadErrorKind::TooManyImplied { .. } => "check for a mistyped index",
        // The texts of Parquet and Arrow files are UTF-8.
        ReadErrorKind::InvalidUtf8 { .. } if error.has_rows => return None,
        ReadErrorKind::InvalidUtf8 { .. } => {
            "`iconv -f WINDOWS-1252 -t UTF-8` converts a file that a spreadsheet or an older program wrote; \
             other encodings have other names"
        }
        ReadErrorKind::NulByte => {
            "`iconv -f UTF-16 -t UTF-8` converts text in UTF-16, such as the Unicode text of a spreadsheet; --format \
             reads a Parquet or Arrow file of another name"
        }
        ReadErrorKind::Json => {
            "save it as CSV or Parquet, in Python by pandas.read_json(\"FILE\", lines=True).to_parquet(\"FILE.parquet\")"
        }
        ReadErrorKind::Compressed("zip") => {
            "a spreadsheet (.xlsx, .ods) is such an archive, too: save it as CSV in UTF-8"
        }
        ReadErrorKind::IndexZero => {
            "--first-feature 0 reads files that count from 0; a file for a model counts as that of its training did"
        }
        ReadErrorKind::UnknownFormat { .. } => "choose the format with --format",
        // --missing-values is for CSV.
        ReadErrorKind::NotFinite { .. } if error.has_rows => return None,
        ReadErrorKind::NotFinite { .. } => {
            "a missing value is written ? in ARFF and as an empty cell or NA in CSV; --missing-values NaN also reads \
             NaN of CSV as one, and inf,-inf these, as they are written"
        }
        ReadErrorKind::MixedColumn { .. } | ReadErrorKind::MixedDates { .. } => {
            "--categorical reads a column as categories, --ignore leaves it out; a missing value is an empty cell, \
             NA, or what --missing-values names"
        }
        ReadErrorKind::UnsupportedColumn { found, .. } if found.contains("List(Utf8") => {
            "--label-list reads the texts of such a column as labels; --ignore leaves a column out"
        }
        ReadErrorKind::UnsupportedColumn { .. }
        | ReadErrorKind::UnsupportedType { .. }
        | ReadErrorKind::DateOutOfRange { .. } => "--ignore leaves a column out",
        ReadErrorKind::Memory(_) => "--table-memory allows more",
        ReadErrorKind::NoTerms { .. } => {
            "--text-min-samples 1 also keeps terms that occur in only one sample"
        }
        ReadErrorKind::NotANumber { text, .. }
            if text.contains(',') && text.replacen(',', ".", 1).parse::<f64>().is_ok() =>
        {
            "--decimal-comma reads numbers such as 0,57"
        }
        ReadErrorKind::DecimalComma { text, .. } if may_separate_thousands(text) => {
            "if commas separate thousands, remove them; --decimal-comma reads numbers such as 0,57"
        }
        ReadErrorKind::DecimalComma { .. } => {
            "--decimal-comma reads numbers such as 0,57; --categorical takes a column for categories"
        }
        ReadErrorKind::Option { option, .. } => return of_format(option),
        _ => return None,
    })
}

/// Returns true if the comma of a number may stand before thousands, as in 1,234.
fn may_separate_thousands(text: &str) -> bool {
    let parts = text.trim_start_matches(['-', '+']).split_once(',');
    parts.is_some_and(|(whole, rest)| rest.len() == 3 && whole.len() <= 3 && !whole.starts_with('0'))
}

/// For an option of the reader, by its name, that the format of the file does not have.
fn of_format(option: &str) -> Option<&'static str> {
    Some(match option {
        "decimal_comma" => "--decimal-comma is for CSV files",
        "targets" => {
            "--labels, --targets and --n-targets are for ARFF, CSV, Parquet and Arrow files; here each line names its labels"
        }
        "--group" | "--time-column" => {
            "--group and --time-column are for columns of CSV, Parquet and Arrow files"
        }
        "label_list" => "--label-list is for CSV, Parquet and Arrow files",
        "types" => {
            "--types, --categorical, --dates and --text are for columns of CSV, Parquet and Arrow files"
        }
        "ignore" => {
            "--ignore is for columns of CSV, Parquet and Arrow files, and for attributes of ARFF files"
        }
        "id" => "--id is for columns of CSV, Parquet and Arrow files",
        "missing_outputs" => "--missing-outputs is for ARFF, CSV, Parquet and Arrow files",
        "task" => "--task is for ARFF, CSV, Parquet and Arrow files",
        "first_feature" => "--first-feature is for svmlight files",
        "delimiter" => "--delimiter is for CSV files",
        "missing_values" => "--missing-values is for CSV files",
        _ => return None,
    })
}
