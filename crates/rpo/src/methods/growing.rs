//! Forests as estimators whose trees can be grown in parts.

use crate::method::{Estimator, FitContext, Needs, OnCheckpoint, StreamingFit, parameters_of};
use crate::{Model, ModelError, Predict};
use rpo_core::{CheckParams, ForestLearner};
use rpo_data::Dataset;
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt;
use std::ops::Range;

/// Parameters of a forest. Parts that are grown separately merge into exactly the whole forest.
pub(super) trait ForestMethod:
    ForestLearner<Model: Predict, Error: Into<ModelError>> + Serialize + fmt::Debug + Send + Sync
{
    fn name(&self) -> &str;

    fn needs(&self) -> Needs {
        Needs::FEW
    }

    fn has_oob(&self) -> bool {
        false
    }

    fn has_unit_of_weights(&self) -> bool {
        false
    }

    /// Grows the trees with the given indices.
    fn grow(
        &self,
        trees: Range<usize>,
        data: &Dataset,
        context: &FitContext<'_>,
    ) -> Result<Self::Model, Self::Error>;

    fn streaming(&self) -> Option<&dyn StreamingFit> {
        None
    }
}

impl<P: ForestMethod> Estimator for P {
    fn method(&self) -> &str {
        self.name()
    }

    fn parameters(&self) -> Map<String, Value> {
        parameters_of(self)
    }

    fn check(&self) -> Result<(), ModelError> {
        CheckParams::check(self).map_err(Into::into)
    }

    fn needs(&self) -> Needs {
        ForestMethod::needs(self)
    }

    fn n_steps(&self) -> usize {
        let (_, trees) = self.tree_range();
        trees
    }

    fn has_oob(&self) -> bool {
        ForestMethod::has_oob(self)
    }

    fn has_unit_of_weights(&self) -> bool {
        ForestMethod::has_unit_of_weights(self)
    }

    fn fit(&self, data: &Dataset, context: &FitContext<'_>) -> Result<Model, ModelError> {
        let forest = self.indices().and_then(|trees| self.grow(trees, data, context));
        Model::new(forest.map_err(Into::into)?, data)
    }

    /// Grows every tree only once.
    fn fit_in_parts(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        steps: &[usize],
        on_checkpoint: &mut OnCheckpoint<'_>,
    ) -> Result<Model, ModelError> {
        let trees = self.indices().map_err(Into::into)?;
        let mut grown: Option<(usize, Model)> = None;
        let before = steps.iter().copied().filter(|&end| end < trees.len());
        for end in before.chain([trees.len()]) {
            let start = grown.as_ref().map_or(0, |(n, _)| *n);
            if end <= start {
                continue;
            }
            let part = self.grow(trees.start + start..trees.start + end, data, context);
            let part = Model::new(part.map_err(Into::into)?, data)?;
            let model = match grown.take() {
                None => part,
                Some((_, earlier)) => earlier.merge(part)?,
            };
            let stop = on_checkpoint(end, &model)?.is_break();
            grown = Some((end, model));
            if stop {
                break;
            }
        }
        let (_, model) = grown.expect("a checked forest has at least one tree");
        Ok(model)
    }

    fn streaming(&self) -> Option<&dyn StreamingFit> {
        ForestMethod::streaming(self)
    }
}
