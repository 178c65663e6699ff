//! The samples that predictions are compared with to explain them.

use super::InputOptions;
use super::format::FormatOptions;
use crate::error::CliError;
use clap::Args;
use rpo::Schema;
use rpo::core::Matrix;

/// Typical samples that explanations compare with, and how to read them.
#[derive(Debug, Clone, Args)]
pub(crate) struct BackgroundOptions {
    /// Typical samples, such as those of the training, which explanations compare with: requests may then ask for them. A
    /// file of any format, or @NAME for the training samples of a set of the catalogue. Some hundred samples are enough; each
    /// request with explanations counts them.
    #[arg(long, value_name = "FILE|@NAME")]
    background: Option<String>,

    #[command(flatten)]
    format: FormatOptions,
}

impl BackgroundOptions {
    /// Reads the features of the samples, if there are some, in the order of a model.
    pub(crate) fn load(&self, schema: &Schema) -> Result<Option<Matrix>, CliError> {
        let Some(file) = &self.background else {
            return Ok(None);
        };
        let input = InputOptions::of(file, &self.format);
        let data = input.load_background(schema)?;
        Ok(Some(input.align(schema, &data)?.into_owned()))
    }
}
