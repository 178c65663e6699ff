//! A forest for each output alone.

use crate::method::{Estimator, FitContext, Needs, OnCheckpoint, grow_in_parts, parameters_of};
use crate::{Model, ModelError};
use rpo_data::Dataset;
use rpo_ensemble::{CriterionKind, FitOptions, ForestParams};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Parameters of the forest of each output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct SingleTargetParams(pub(super) ForestParams);

impl SingleTargetParams {
    fn grow(
        &self,
        data: &Dataset,
        trees: Range<usize>,
        context: &FitContext<'_>,
    ) -> Result<Model, ModelError> {
        let grown = AtomicUsize::new(0);
        let on_tree = || {
            // A step is a tree of every output.
            let before = grown.fetch_add(1, Ordering::Relaxed);
            if (before + 1).is_multiple_of(data.n_outputs()) {
                context.on_step.iter().for_each(|on_step| on_step());
            }
        };
        let options = FitOptions {
            weights: data.weights(),
            missing_outputs: data.n_missing_outputs() > 0,
            on_step: Some(&on_tree),
            stop: context.stop,
            ..FitOptions::default()
        };
        let (x, y) = (data.features().view(), data.outputs().view());
        let forests = self.0.of_trees(trees).fit_single_targets(x, y, options)?;
        Model::new(forests, data)
    }
}

impl Estimator for SingleTargetParams {
    fn method(&self) -> &str {
        "single-target-forest"
    }

    fn parameters(&self) -> Map<String, Value> {
        parameters_of(self)
    }

    fn check(&self) -> Result<(), ModelError> {
        Ok(self.0.check()?)
    }

    fn needs(&self) -> Needs {
        Needs {
            labels: (self.0.criterion == CriterionKind::Entropy).then_some("set `criterion` to variance"),
            ..Needs::default()
        }
    }

    fn n_steps(&self) -> usize {
        self.0.trees
    }

    fn has_oob(&self) -> bool {
        self.0.has_oob()
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError> {
        self.grow(data, self.0.indices(), context)
    }

    fn fit_in_parts(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        on_checkpoint: &mut OnCheckpoint<'_>,
    ) -> Result<Model, ModelError> {
        let grow = |trees| self.grow(data, trees, context);
        grow_in_parts(self.0.indices(), steps, grow, on_checkpoint)
    }
}
