//! Forests whose trees predict all outputs.

use crate::method::{Estimator, FitContext, OnCheckpoint, grow_in_parts, parameters_of};
use crate::{Model, ModelError};
use rpo_data::Dataset;
use rpo_ensemble::{FitOptions, ForestParams, Splitting};
use serde_json::{Map, Value};
use std::ops::Range;

impl Estimator for ForestParams {
    fn method(&self) -> &str {
        match self.splitter {
            Splitting::Best => "random-forest",
            Splitting::Random => "extra-trees",
        }
    }

    fn parameters(&self) -> Map<String, Value> {
        parameters_of(self)
    }

    fn check(&self) -> Result<(), ModelError> {
        Ok(self.check()?)
    }

    fn n_steps(&self) -> usize {
        self.trees
    }

    fn has_oob(&self) -> bool {
        self.has_oob()
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError> {
        grow(self, data, self.indices(), context)
    }

    fn fit_in_parts(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        on_checkpoint: &mut OnCheckpoint<'_>,
    ) -> Result<Model, ModelError> {
        let grow = |trees| grow(self, data, trees, context);
        grow_in_parts(self.indices(), steps, grow, on_checkpoint)
    }
}

/// Grows some of the trees.
fn grow(
    params: &ForestParams,
    data: &Dataset,
    trees: Range<usize>,
    context: &FitContext<'_>,
) -> Result<Model, ModelError> {
    let params = params.of_trees(trees);
    let options = FitOptions {
        weights: data.weights(),
        missing_outputs: data.n_missing_outputs() > 0,
        on_step: context.on_step,
        stop: context.stop,
        projection: context.wrapped(params.projection.family()),
    };
    let forest = params.fit_with(data.features().view(), data.outputs().view(), options)?;
    Model::new(forest, data)
}
