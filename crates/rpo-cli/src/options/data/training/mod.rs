//! A file to train on.

mod suspicions;
mod types;
mod values;

use super::DataOptions;
use super::classes::note_classes;
use super::input::{InputOptions, Part};
use super::not_read::note_numbers_as_names;
use super::task::TaskOptions;
use super::unseparated::note_unseparated;
use crate::error::CliError;
use crate::files::NamedFile;
use crate::options::names::{List, all};
use crate::options::{TextColumnOptions, WeightOptions};
use clap::Args;
use rpo::Schema;
use rpo::data::read::{ReadOptions, read_names};
use rpo::data::{Columns, Dataset, Names};
use rpo::ensemble::MAX_OUTPUTS;
use std::path::PathBuf;
use suspicions::note_suspicions;
use types::Typed;
use values::note_values;

/// A file to train on.
#[derive(Debug, Args)]
pub(crate) struct TrainingOptions {
    #[command(flatten)]
    data: DataOptions,

    #[command(flatten)]
    task: TaskOptions,

    /// Columns of a CSV, Parquet, Arrow or ARFF file that are not read; * matches any characters, ? one. Naming a
    /// column both here and as a target is refused; a pattern does not leave out a target that is given by name.
    #[arg(long, value_name = "NAME,...", help_heading = "Data")]
    ignore: Vec<List<String>>,

    /// Number of features of an svmlight file, if more than its largest index implies; other files must have the same
    /// number.
    #[arg(long, value_name = "N", help_heading = "Data")]
    n_features: Option<usize>,

    /// Number of labels of an svmlight file, if more than its largest label implies: labels without samples count too,
    /// such as those that only occur in other files of a set. Other files must have the same number of outputs.
    #[arg(long, value_name = "N", help_heading = "Data")]
    n_labels: Option<usize>,

    /// Names of the features of svmlight and Extreme Classification Repository files: a file with a name on each line.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    feature_names: Option<PathBuf>,

    /// Names of the labels of svmlight and Extreme Classification Repository files: a file with a name on each line.
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    label_names: Option<PathBuf>,

    /// Columns of a CSV, Parquet or Arrow file that are categories, whatever their values look like. Columns of words
    /// are categories by default.
    #[arg(long, value_name = "NAME,...", help_heading = "Data")]
    categorical: Vec<List<String>>,

    /// Columns of a CSV, Parquet or Arrow file that are dates: any other value is an error, not a word. Columns of
    /// dates are dates by default.
    #[arg(long, value_name = "NAME,...", help_heading = "Data")]
    dates: Vec<List<String>>,

    /// Types of columns of a CSV, Parquet or Arrow file: number, category, date, date-time or text; a name takes
    /// precedence over a pattern. By default the types follow from the values of a CSV file, and are those stored in
    /// the other files: dates (in CSV as 2024-01-31 or 31.01.2024) become days since 1970, month, weekday and, if there
    /// are times, hour.
    #[arg(long, value_name = "NAME=TYPE,...", help_heading = "Data")]
    types: Vec<List<Typed>>,

    #[command(flatten)]
    texts: TextColumnOptions,
}

impl TrainingOptions {
    /// The files that are read.
    pub(crate) fn files(&self) -> Vec<NamedFile<'_>> {
        let mut files = self.data.files();
        files.push(("--feature-names", self.feature_names.as_deref()));
        files.push(("--label-names", self.label_names.as_deref()));
        files
    }

    /// The name of the data in messages.
    pub(crate) fn name(&self) -> &str {
        self.data.name()
    }

    /// The name of the column of identifiers, of which samples may have some without a name.
    pub(crate) fn identifying(&self) -> &str {
        self.data.input.identifying().unwrap_or("id")
    }

    /// The file.
    pub(super) fn input(&self) -> &InputOptions {
        &self.data.input
    }

    /// Reads a set, with outputs or without.
    fn load_any(&self) -> Result<Dataset, CliError> {
        self.named(self.data.input.finish(self.read()?)?)
    }

    /// Reads a set to convert it, with outputs or without, and with samples or without.
    pub(crate) fn load_to_convert(&self) -> Result<Dataset, CliError> {
        self.named(self.data.input.finish_any(self.read()?)?)
    }

    fn read(&self) -> Result<Dataset, CliError> {
        let DataOptions { input, .. } = &self.data;
        match self.data.catalogue_name()? {
            Some(name) => {
                let has_numbers = self.n_features.or(self.n_labels).is_some();
                if !self.types()?.is_empty() || !self.ignore.is_empty() || has_numbers {
                    let message = "the catalogue knows the columns of its sets: --types, --categorical, --dates, --text, --ignore, --n-features and --n-labels are for files";
                    return Err(CliError::Usage(message.to_owned()));
                }
                input.catalogued(name, Part::Train)
            }
            None => {
                let options = ReadOptions {
                    targets: self.data.outputs.targets()?.unwrap_or_default(),
                    task: self.task.given(),
                    n_features: self.n_features,
                    n_outputs: self.n_labels,
                    types: self.types()?,
                    text: self.texts.options()?,
                    ignore: all(&self.ignore)
                        .into_iter()
                        .chain(input.second_column().map(|(_, column)| column.to_owned()))
                        .collect(),
                    ..self.data.options()
                };
                let data = input.read(&options).map_err(|e| self.with_option(e))?;
                note_numbers_as_names(&data);
                note_unseparated(&data);
                Ok(data)
            }
        }
    }

    /// Adds the names in files to data with numbered columns.
    fn named(&self, mut data: Dataset) -> Result<Dataset, CliError> {
        let options = [
            ("--feature-names", Columns::Features, &self.feature_names),
            ("--label-names", Columns::Outputs, &self.label_names),
        ];
        for (option, columns, path) in options {
            let Some(path) = path else { continue };
            let old = match columns {
                Columns::Features => data.feature_names(),
                Columns::Outputs => data.output_names(),
            };
            if let Names::Given(_) = old {
                let message =
                    format!("{option} is for formats that number their columns; this file names them");
                return Err(self.data.input.problem(&message));
            }
            let names = read_names(path)?;
            data = data
                .with_names(columns, names)
                .map_err(|source| CliError::Dataset {
                    data: path.display().to_string(),
                    source,
                })?;
        }
        Ok(data)
    }

    /// Reads another file with the options and the schema of this one.
    pub(crate) fn load_beside(&self, file: &str, schema: &Schema) -> Result<Dataset, CliError> {
        let other = DataOptions {
            input: self.data.input.like(file),
            ..self.data.clone()
        };
        other.load_for(schema, "the data's")
    }

    /// Reads a training set.
    pub(crate) fn load(&self, weights: Option<&WeightOptions>) -> Result<Dataset, CliError> {
        let input = &self.data.input;
        let data = self.load_any()?;
        let data = match weights {
            Some(weights) => weights.apply(data, input.name())?,
            None => data,
        };
        input.check_outputs(&data)?;
        if data.n_features() == 0 {
            return Err(input.problem("there are no features: every column is an output or is left out"));
        }
        let (n_features, n_outputs) = (data.n_features(), data.n_outputs());
        for (what, n) in [("features", n_features), ("outputs", n_outputs)] {
            if n > MAX_OUTPUTS {
                return Err(input.problem(&format!(
                    "there are {n} {what}, at most {MAX_OUTPUTS} are supported"
                )));
            }
        }
        note_classes(&data, self.task.given().is_some());
        note_suspicions(&data);
        note_values(&data);
        Ok(data)
    }

    /// Reads a set to describe it, which may lack outputs.
    pub(crate) fn load_described(&self) -> Result<Dataset, CliError> {
        let data = self.load_any()?;
        note_classes(&data, self.task.given().is_some());
        note_suspicions(&data);
        Ok(data)
    }
}
