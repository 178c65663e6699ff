//! CRAFTML forests.

use super::parts::TreeRecipe;
use super::{FitContext, Groups, Method, Stepwise, record};
use crate::error::CliError;
use clap::Args;
use rpo::data::Dataset;
use rpo::ensemble::craftml::{CentroidEntries, CentroidKind, CraftmlParams, CraftmlPreset, Width};
use rpo::ensemble::{EnsembleError, FitOptions};
use rpo::tree::centroid::NodeSample;
use rpo::{CraftmlFile, Model};
use serde_json::{Map, Value};
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

/// Nodes of centroids.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "CRAFTML")]
pub(crate) struct CraftmlOptions {
    /// Whose version of the method the other options start from: original (the paper's, the default), report (a
    /// student report's), or report-quirks (the same with the defects of its code).
    #[arg(long, value_name = "PRESET", value_parser = preset)]
    preset: Option<CraftmlPreset>,

    /// Largest number of children of a node; 10 by default (report: 9).
    #[arg(long, value_name = "K")]
    clusters: Option<usize>,

    /// Components that features are projected to: a number, or shares of the features that trees take in turn;
    /// 10000 by default (report: 0.7,0.6).
    #[arg(long, value_name = "N|SHARES")]
    feature_width: Option<Width>,

    /// Components that labels are projected to; 10000 by default (report: 0.7,0.6).
    #[arg(long, value_name = "N|SHARES")]
    label_width: Option<Width>,

    /// Samples of a node that are clustered: a number, or a share such as 0.6; 20000 by default (report: 0.6).
    #[arg(long, value_name = "N|SHARE")]
    node_sample: Option<SampleSize>,

    /// Largest number of passes of k-means; 5 by default (report: 300).
    #[arg(long, value_name = "N")]
    passes: Option<usize>,

    /// Number of starts of k-means, the best of which counts; 1 by default (report: 10).
    #[arg(long, value_name = "N")]
    starts: Option<usize>,

    /// Largest number of entries of a centroid, or all; 1000 by default (report: all).
    #[arg(long, value_name = "N|all")]
    centroid_entries: Option<CentroidEntries>,

    /// How the model file keeps centroids: as the training rows whose means they are (rows, the default: small, with the
    /// training rows in the file), or as they are (values, the default of the presets report and report-quirks).
    #[arg(long, value_parser = centroid_kind, value_name = "KIND")]
    centroids: Option<CentroidKind>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct SampleSize(NodeSample);

impl FromStr for SampleSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let count = text.parse().map(NodeSample::Count).ok();
        let share = || text.parse().map(NodeSample::Share).ok();
        let sample = count.or_else(share);
        sample
            .map(Self)
            .ok_or_else(|| "expected a number of samples or a share such as 0.6".to_owned())
    }
}

fn preset(name: &str) -> Result<CraftmlPreset, serde_json::Error> {
    serde_json::from_value(name.into())
}

fn centroid_kind(name: &str) -> Result<CentroidKind, serde_json::Error> {
    serde_json::from_value(name.into())
}

/// Options of other groups that apply.
pub(super) const SHARED: [&str; 3] = ["max-depth", "min-samples-split", "leaves"];

fn params(groups: &Groups, seed: u64) -> CraftmlParams {
    let given = &groups.craftml;
    let base = CraftmlParams::preset(given.preset.unwrap_or_default());
    CraftmlParams {
        trees: groups.ensemble.trees.unwrap_or(base.trees),
        first_tree: groups.ensemble.first_tree.unwrap_or(base.first_tree),
        max_depth: groups.tree.max_depth.or(base.max_depth),
        min_samples_split: groups.tree.min_samples_split.unwrap_or(base.min_samples_split),
        clusters: given.clusters.unwrap_or(base.clusters),
        feature_width: given.feature_width.clone().unwrap_or(base.feature_width),
        label_width: given.label_width.clone().unwrap_or(base.label_width),
        node_sample: given.node_sample.map_or(base.node_sample, |s| s.0),
        passes: given.passes.unwrap_or(base.passes),
        starts: given.starts.unwrap_or(base.starts),
        centroid_entries: given.centroid_entries.unwrap_or(base.centroid_entries),
        centroids: given.centroids.unwrap_or(base.centroids),
        leaves: groups.forest.leaf_choice(),
        seed,
        ..base
    }
}

/// A CRAFTML forest to be grown.
pub(super) struct CraftmlRecipe {
    params: CraftmlParams,
    record: Map<String, Value>,
}

impl CraftmlRecipe {
    pub(super) fn new(groups: &Groups, seed: u64) -> Result<Self, CliError> {
        let params = params(groups, seed);
        params.check()?;
        let described = serde_json::to_value(&params).unwrap_or_default();
        let described = described.as_object().cloned().unwrap_or_default();
        let parameters = described
            .iter()
            .filter(|(name, _)| *name != "seed")
            .map(|(name, value)| (name.as_str(), value.clone()));
        Ok(Self {
            record: record(Method::Craftml, seed, parameters.collect()),
            params,
        })
    }
}

impl TreeRecipe for CraftmlRecipe {
    fn trees(&self) -> Range<usize> {
        self.params.indices()
    }

    fn record(&self) -> &Map<String, Value> {
        &self.record
    }

    fn stepwise(&self) -> Option<&dyn Stepwise> {
        Some(self)
    }

    fn grow(&self, data: &Dataset, trees: Range<usize>, context: &FitContext<'_>) -> Result<Model, CliError> {
        let params = self.params.of_trees(trees);
        let (x, y) = (data.features().view(), data.outputs().view());
        let options = FitOptions {
            on_step: context.on_step,
            ..FitOptions::default()
        };
        let forest = params.fit_with(x, y, options);
        let forest = forest.map_err(|e: EnsembleError| context.error(data, e))?;
        Ok(Model::new(forest, data)?.with_parameters(self.record.clone()))
    }
}

impl Stepwise for CraftmlRecipe {
    fn fit_to_file(&self, data: &Dataset, context: &FitContext<'_>, path: &Path) -> Result<u64, CliError> {
        let failed = |e: EnsembleError| context.error(data, e);
        let mut file = CraftmlFile::create(path)?;
        let trainer = self
            .params
            .trainer(data.features().view(), data.outputs().view())
            .map_err(failed)?;
        for index in trainer.indices() {
            file.push(&trainer.tree(index).map_err(failed)?)?;
            if let Some(on_step) = context.on_step {
                on_step();
            }
        }
        Ok(file.finish(data, &self.record)?)
    }
}
