//! `rpo merge`.

use crate::error::CliError;
use crate::output::Report;
use clap::Args;
use rpo::{FileTarget, Model};
use std::path::PathBuf;

/// Put forests that were grown apart on the same data together into one.
///
/// Parts grown with one --seed and successive --first-tree give exactly the model that one `rpo train` would
/// have given: `--trees 50` and `--trees 50 --first-tree 50` merge into `--trees 100`.
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Models to merge, in the order of their trees.
    #[arg(long, value_name = "FILE", num_args = 2.., required = true)]
    models: Vec<PathBuf>,

    /// File to save the merged model to.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Merge {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        FileTarget::check(&self.out)?;
        let mut merged: Option<Model> = None;
        for path in &self.models {
            let part = Model::load(path)?;
            merged = Some(match merged {
                None => part,
                Some(merged) => merged.merge(part).map_err(|source| CliError::Merge {
                    path: path.clone(),
                    source,
                })?,
            });
        }
        let Some(model) = merged else {
            return Err(CliError::Usage("no model to merge".to_owned()));
        };
        let mut report = Report::default();
        report.set("models", self.models.len());
        report.set("trees", model.predictor().tree_sizes().len());
        report.set("model_bytes", model.save(&self.out)?);
        report.print(self.json)
    }
}
