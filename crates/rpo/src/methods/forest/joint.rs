//! Forests whose trees predict all outputs.

use crate::method::{FitContext, categorical};
use crate::methods::growing::ForestMethod;
use rpo_core::{ForestLearner, Learner};
use rpo_data::Dataset;
use rpo_ensemble::{EnsembleError, Forest, ForestOptions, ForestParams, Splitting};
use std::ops::Range;

impl ForestMethod for ForestParams {
    fn name(&self) -> &str {
        match self.splitter {
            Splitting::Best => "random-forest",
            Splitting::Random => "extra-trees",
        }
    }

    fn has_oob(&self) -> bool {
        self.has_oob()
    }

    fn grow(
        &self,
        trees: Range<usize>,
        data: &Dataset,
        context: &FitContext<'_>,
    ) -> Result<Forest, EnsembleError> {
        let options = ForestOptions {
            weights: data.weights(),
            missing_outputs: data.outputs().view().has_missing(),
            categorical: &categorical(data),
            projection: context.wrapped(self.projection.family()),
            observers: context.observers(),
        };
        let (x, y) = (data.features().view(), data.outputs().view());
        self.of_trees(trees).fit_with(x, y, options)
    }
}
