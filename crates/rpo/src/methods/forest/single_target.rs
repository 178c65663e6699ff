//! A forest for each output alone.

use crate::method::{FitContext, Needs, categorical};
use crate::methods::growing::ForestMethod;
use rpo_data::Dataset;
use rpo_ensemble::{CriterionKind, EnsembleError, FitOptions, ForestParams, SingleTargetForest};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Parameters of the forest of each output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct SingleTargetParams(pub(super) ForestParams);

impl ForestMethod for SingleTargetParams {
    type Forest = SingleTargetForest;
    type Error = EnsembleError;

    fn name(&self) -> &str {
        "single-target-forest"
    }

    fn check(&self) -> Result<(), EnsembleError> {
        self.0.check()
    }

    fn needs(&self) -> Needs {
        Needs {
            labels: (self.0.criterion == CriterionKind::Entropy).then_some("set `criterion` to variance"),
            ..Needs::default()
        }
    }

    fn has_oob(&self) -> bool {
        self.0.has_oob()
    }

    fn indices(&self) -> Range<usize> {
        self.0.indices()
    }

    fn grow(
        &self,
        trees: Range<usize>,
        data: &Dataset,
        context: &FitContext<'_>,
    ) -> Result<SingleTargetForest, EnsembleError> {
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
            missing_outputs: data.outputs().view().has_missing(),
            categorical: &categorical(data),
            on_step: Some(&on_tree),
            stop: context.stop,
            ..FitOptions::default()
        };
        let (x, y) = (data.features().view(), data.outputs().view());
        self.0.of_trees(trees).fit_single_targets(x, y, options)
    }
}
