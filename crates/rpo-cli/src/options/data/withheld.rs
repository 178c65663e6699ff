//! Columns by which samples are withheld together or in order.

use super::{DataOptions, InputOptions};
use crate::error::CliError;
use crate::options::FitOptions;
use clap::Args;
use rpo::Schema;
use rpo::data::Dataset;
use rpo::data::read::Time;
use rpo::data::split::{Withheld, group_numbers};

/// Withholds groups of samples as a whole.
#[derive(Debug, Args)]
pub(crate) struct GroupOptions {
    /// Keep samples together that have the same value in this column of a table, such as a customer, wherever samples
    /// are withheld, also in training (to stop boosting early, and to find thresholds, intervals, costs or the weights
    /// of members): scores and what is found then hold for new customers. The column is not a feature. If --id names
    /// another column, the file is read once more.
    #[arg(long, value_name = "COLUMN")]
    group: Option<String>,
}

impl GroupOptions {
    /// Groups by a column, for a command that describes the option in its own words.
    pub(crate) fn of(group: Option<String>) -> Self {
        Self { group }
    }

    /// Returns true if samples have groups.
    pub(crate) fn are_given(&self) -> bool {
        self.group.is_some()
    }

    /// Reads the data of a fit with their groups.
    pub(crate) fn load(&self, fit: &FitOptions) -> Result<Dataset, CliError> {
        let column = Column::of(self.group.as_deref(), None);
        Ok(load(fit.data.input(), column, || fit.load())?.0)
    }

    /// Reads data by `read` with their groups.
    pub(crate) fn load_by(
        &self,
        data: &DataOptions,
        read: impl FnOnce() -> Result<Dataset, CliError>,
    ) -> Result<Dataset, CliError> {
        let column = Column::of(self.group.as_deref(), None);
        Ok(load(&data.input, column, read)?.0)
    }

    /// Reads data that models were not fitted to with their groups.
    pub(crate) fn load_evaluation(&self, data: &DataOptions, schema: &Schema) -> Result<Dataset, CliError> {
        self.load_by(data, || data.load_evaluation(schema))
    }
}

/// Withholds groups of samples, or the latest ones.
#[derive(Debug, Args)]
pub(crate) struct WithheldOptions {
    #[command(flatten)]
    groups: GroupOptions,

    /// Fit to earlier samples and score on later ones, by this column of a table (numbers or dates): scores
    /// then hold for the future. The column is not a feature. With --id the file is read once more.
    #[arg(long, value_name = "COLUMN", conflicts_with = "group")]
    time_column: Option<String>,
}

impl WithheldOptions {
    /// Reads the data of a fit with their groups. Also returns how their samples are withheld.
    pub(crate) fn load(&self, fit: &FitOptions) -> Result<(Dataset, Withheld), CliError> {
        let column = Column::of(self.groups.group.as_deref(), self.time_column.as_deref());
        load(fit.data.input(), column, || fit.load())
    }
}

/// Reads data with a column by which samples are withheld.
fn load(
    input: &InputOptions,
    column: Option<Column<'_>>,
    read: impl FnOnce() -> Result<Dataset, CliError>,
) -> Result<(Dataset, Withheld), CliError> {
    let Some(column) = column else {
        return Ok((read()?, Withheld::Stratified));
    };
    input.withhold_by(column.option(), column.name());
    let data = read()?;
    let values = input.withheld_by(&data)?;
    column
        .apply(data, &values)
        .map_err(|problem| input.problem(&problem))
}

/// A column by which samples are withheld.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column<'a> {
    Group(&'a str),
    Time(&'a str),
}

impl<'a> Column<'a> {
    /// The column that one of the options names, which exclude each other.
    pub(crate) fn of(group: Option<&'a str>, time: Option<&'a str>) -> Option<Self> {
        group.map(Self::Group).or(time.map(Self::Time))
    }

    pub(crate) fn name(self) -> &'a str {
        match self {
            Self::Group(name) | Self::Time(name) => name,
        }
    }

    /// The option that names the column.
    pub(crate) fn option(self) -> &'static str {
        match self {
            Self::Group(_) => "--group",
            Self::Time(_) => "--time-column",
        }
    }

    /// Returns data whose samples have these values with their groups, and how samples are withheld; the error is the
    /// problem.
    pub(crate) fn apply(self, data: Dataset, values: &[String]) -> Result<(Dataset, Withheld), String> {
        let name = self.name();
        let is_missing = |value: &String| matches!(value.as_str(), "" | "NA");
        if let Some(sample) = values.iter().position(is_missing) {
            return Err(format!("sample {sample} (from 0) has no value of {name:?}"));
        }
        match self {
            Self::Group(_) => {
                let grouped = data.with_groups(group_numbers(values));
                Ok((grouped.map_err(|e| e.to_string())?, Withheld::Stratified))
            }
            Self::Time(_) => Ok((data, Withheld::Latest(times(name, values)?))),
        }
    }
}

/// Returns the time of each sample, all of the same kind.
fn times(name: &str, values: &[String]) -> Result<Vec<f64>, String> {
    let mut first = None;
    let time = |(sample, value): (usize, &String)| {
        let place = || format!("{value:?} in {name:?} of sample {sample} (from 0)");
        let time = Time::parse(value).ok_or_else(|| {
            format!(
                "{} is neither a number nor a date; dates are read in the forms 2024-01-31, 2024/01/31 and 31.01.2024",
                place()
            )
        })?;
        let kinds = match (time, *first.get_or_insert(time)) {
            (Time::Days(time), Time::Days(_)) | (Time::Number(time), Time::Number(_)) => return Ok(time),
            (Time::Days(_), Time::Number(_)) => ("date", "number"),
            (Time::Number(_), Time::Days(_)) => ("number", "date"),
        };
        Err(format!(
            "{} is a {}, that of sample 0 a {}, {:?}",
            place(),
            kinds.0,
            kinds.1,
            values[0]
        ))
    };
    values.iter().enumerate().map(time).collect()
}
