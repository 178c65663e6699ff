//! A random forest for every output by itself.

use super::{FitContext, Groups, Method, Recipe, forest};
use crate::error::CliError;
use rpo::Model;
use rpo::data::Dataset;
use rpo::ensemble::{FitOptions, ValidForestParams};
use serde_json::{Map, Value, json};

/// Forests to be grown, one per output.
pub(super) struct SingleTargetRecipe {
    params: ValidForestParams,
    n_trees: usize,
    record: Map<String, Value>,
}

impl SingleTargetRecipe {
    pub(super) fn new(groups: &Groups, seed: u64) -> Result<Self, CliError> {
        let whole = forest::ForestRecipe::new(Method::RandomForest, groups, seed)?;
        let mut record = whole.record();
        record.insert("method".to_owned(), json!(Method::SingleTargetForest.name()));
        for name in ["first_tree", "leaves", "projection"] {
            record.remove(name);
        }
        Ok(Self {
            params: forest::params(Method::RandomForest, groups, seed)?.check()?,
            n_trees: whole.n_steps(),
            record,
        })
    }
}

impl Recipe for SingleTargetRecipe {
    /// Trees of each output.
    fn n_steps(&self) -> usize {
        self.n_trees
    }

    fn record(&self) -> Map<String, Value> {
        self.record.clone()
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, CliError> {
        let options = FitOptions {
            missing_outputs: data.n_missing_outputs() > 0,
            ..FitOptions::default()
        };
        let (x, y) = (data.features().view(), data.outputs().view());
        let forests = self.params.fit_single_targets(x, y, options);
        let forests = forests.map_err(|e| context.error(data, e))?;
        Ok(Model::new(forests, data)?.with_parameters(self.record()))
    }
}
