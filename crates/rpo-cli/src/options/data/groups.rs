//! Values by which samples are kept together or in order.

use super::TrainingOptions;
use crate::error::CliError;
use clap::Args;
use rpo::data::Dataset;
use std::borrow::Cow;

/// Keeps groups of samples together.
#[derive(Debug, Args)]
pub(crate) struct GroupOptions {
    /// Keep samples together that have the same value in this column of a table, such as a customer: scores then hold
    /// for new customers. The column is not a feature. With --id another column identifies the samples, for which the
    /// file is read once more.
    #[arg(long, value_name = "COLUMN")]
    group: Option<String>,
}

impl GroupOptions {
    /// Reads the groups with the data, if there is such a column.
    pub(crate) fn apply(&self, data: &TrainingOptions) {
        if let Some(column) = &self.group {
            data.group_by(column);
        }
    }

    /// Returns the groups of the samples, if they are kept together.
    pub(crate) fn of<'d>(
        &self,
        data: &'d Dataset,
        options: &TrainingOptions,
    ) -> Result<Option<Cow<'d, [String]>>, CliError> {
        let Some(column) = &self.group else {
            return Ok(None);
        };
        let groups = options.groups(data)?;
        check_values(&groups, column).map_err(|problem| CliError::Data {
            data: options.name().to_owned(),
            problem,
        })?;
        Ok(Some(groups))
    }
}

/// Refuses samples without a value in a column; returns the problem.
pub(crate) fn check_values(values: &[String], column: &str) -> Result<(), String> {
    let is_missing = |value: &String| matches!(value.as_str(), "" | "NA");
    match values.iter().position(is_missing) {
        None => Ok(()),
        Some(sample) => Err(format!("sample {sample} (from 0) has no value of {column:?}")),
    }
}
