//! Structured forests: SOSHF and its variants.

use crate::method::{Estimator, FitContext, MethodEntry, Needs, OnCheckpoint, grow_in_parts, parameters_of};
use crate::{Model, ModelError};
use rpo_data::Dataset;
use rpo_ensemble::FitOptions;
use rpo_ensemble::structured::{StructuredForest, StructuredForestParams};
use serde_json::{Map, Value};
use std::ops::Range;

pub(super) fn entries() -> Vec<MethodEntry> {
    let summary =
        "Trees that separate clusters of label sets by sparse hyperplanes, for imbalanced labels (SOSHF)";
    let entry = MethodEntry::new("structured-forest", summary, StructuredForestParams::default());
    vec![
        entry
            .alias(&["soshf"])
            .model::<StructuredForest>("structured-forest"),
    ]
}

impl Estimator for StructuredForestParams {
    fn method(&self) -> &str {
        "structured-forest"
    }

    fn parameters(&self) -> Map<String, Value> {
        parameters_of(self)
    }

    fn check(&self) -> Result<(), ModelError> {
        Ok(self.check()?)
    }

    fn needs(&self) -> Needs {
        Needs {
            observed_features: self.variant.is_oblique(),
            observed_outputs: true,
            equal_weights: true,
            labels: Some(""),
        }
    }

    fn n_steps(&self) -> usize {
        self.trees
    }

    fn has_oob(&self) -> bool {
        self.row_share < 1.0
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
    params: &StructuredForestParams,
    data: &Dataset,
    trees: Range<usize>,
    context: &FitContext<'_>,
) -> Result<Model, ModelError> {
    let options = FitOptions {
        on_step: context.on_step,
        stop: context.stop,
        ..FitOptions::default()
    };
    let (x, y) = (data.features().view(), data.outputs().view());
    let forest = params.of_trees(trees).fit_with(x, y, options)?;
    Model::new(forest, data)
}
