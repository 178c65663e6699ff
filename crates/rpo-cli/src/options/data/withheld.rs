//! Columns by which samples are withheld together or in order.

use super::TrainingOptions;
use crate::error::CliError;
use clap::Args;
use rpo::data::Dataset;
use rpo::data::read::time_of;
use rpo::data::split::Withheld;

/// Withholds groups of samples, or the latest ones.
#[derive(Debug, Args)]
pub(crate) struct WithheldOptions {
    /// Keep samples together that have the same value in this column of a table, such as a customer: scores then hold
    /// for new customers. The column is not a feature. With --id another column identifies the samples, for which the
    /// file is read once more.
    #[arg(long, value_name = "COLUMN", conflicts_with = "time_column")]
    group: Option<String>,

    /// Score on samples that are later, by this column of a table (numbers or ISO 8601 dates), than all samples of the
    /// fit: scores then hold for the future. The column is not a feature. With --id the file is read once more.
    #[arg(long, value_name = "COLUMN")]
    time_column: Option<String>,
}

impl WithheldOptions {
    fn column(&self) -> Option<Column<'_>> {
        Column::of(self.group.as_deref(), self.time_column.as_deref())
    }

    /// Reads the column with the data, if there is one.
    pub(crate) fn apply(&self, data: &TrainingOptions) {
        if let Some(column) = self.column() {
            data.withhold_by(column.option(), column.name());
        }
    }

    /// How the samples of a set are withheld.
    pub(crate) fn of(&self, data: &Dataset, options: &TrainingOptions) -> Result<Withheld, CliError> {
        let Some(column) = self.column() else {
            return Ok(Withheld::Stratified);
        };
        let values = options.withheld_by(data)?;
        column.withheld(&values).map_err(|problem| CliError::Data {
            data: options.name().to_owned(),
            problem,
        })
    }
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

    /// How samples with these values are withheld; the error is the problem.
    pub(crate) fn withheld(self, values: &[String]) -> Result<Withheld, String> {
        let name = self.name();
        let is_missing = |value: &String| matches!(value.as_str(), "" | "NA");
        if let Some(sample) = values.iter().position(is_missing) {
            return Err(format!("sample {sample} (from 0) has no value of {name:?}"));
        }
        let time = |(sample, value): (usize, &String)| {
            time_of(value).ok_or_else(|| {
                format!("{value:?} in {name:?} of sample {sample} (from 0) is neither a number nor a date")
            })
        };
        match self {
            Self::Group(_) => Ok(Withheld::Groups(values.to_vec())),
            Self::Time(_) => {
                let times: Result<_, _> = values.iter().enumerate().map(time).collect();
                Ok(Withheld::Latest(times?))
            }
        }
    }
}
