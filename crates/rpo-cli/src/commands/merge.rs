//! `rpo merge`.

use crate::error::CliError;
use crate::files;
use crate::output::Report;
use clap::Args;
use rpo::{Merging, MergingError, Model};
use std::path::PathBuf;

/// Merge forests that were grown separately on the same data.
///
/// For random-forest, extra-trees, single-target-forest, binary-relevance-forest, structured-forest, craftml and
/// label-tree.
///
/// Parts grown with one --seed and successive --first-tree merge into exactly the model that a single `rpo train` would
/// produce: `--trees 50` and `--trees 50 --first-tree 50` merge into `--trees 100`. The data must be the same, with the
/// samples in the same order; columns, the number of samples, and the means or counts of their outputs are compared,
/// while the features are taken to be the same. Parts must have no prediction intervals and no decision thresholds:
/// train those of structured-forest with `--thresholds none`.
#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// Models to merge, in any order: their trees must be consecutive, and their other parameters equal.
    #[arg(long, value_name = "FILE", num_args = 2.., required = true)]
    models: Vec<PathBuf>,

    /// File to save the merged model to.
    #[arg(long, value_name = "FILE", value_parser = files::written())]
    out: PathBuf,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Merge {
    pub(crate) fn run(&self) -> Result<(), CliError> {
        let models = self.models.iter().map(|path| ("--models", Some(path.as_path())));
        files::check(models, [("--out", Some(self.out.as_path()))])?;
        let failed = |MergingError { part, source }| {
            let path = self.models[part].clone();
            CliError::Merge { path, source }
        };
        let mut merging = Merging::default();
        for path in &self.models {
            merging.push(Model::load(path)?).map_err(failed)?;
        }
        let merged = merging.finish().map_err(failed)?;
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
