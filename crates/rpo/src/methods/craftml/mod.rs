//! CRAFTML forests.

use crate::method::{
    Estimator, FitContext, MethodEntry, Needs, OnCheckpoint, StreamDestination, StreamingFit, grow_in_parts,
    parameters_of,
};
use crate::{CraftmlFile, Model, ModelError};
use rpo_data::Dataset;
use rpo_ensemble::{Craftml, CraftmlParams, FitOptions};
use serde_json::{Map, Value};
use std::ops::Range;

pub(super) fn entries() -> Vec<MethodEntry> {
    let summary = "Trees of many children by clusters of the labels, for very many labels";
    let entry = MethodEntry::new("craftml", summary, CraftmlParams::original())
        .preset("original", CraftmlParams::original())
        .preset("report", CraftmlParams::report())
        .preset("report-quirks", CraftmlParams::report_quirks());
    vec![entry.model::<Craftml>("craftml")]
}

impl Estimator for CraftmlParams {
    fn method(&self) -> &str {
        "craftml"
    }

    fn parameters(&self) -> Map<String, Value> {
        parameters_of(self)
    }

    fn check(&self) -> Result<(), ModelError> {
        Ok(self.check()?)
    }

    fn needs(&self) -> Needs {
        Needs {
            observed_features: true,
            observed_outputs: true,
            equal_weights: true,
            labels: None,
        }
    }

    fn n_steps(&self) -> usize {
        self.trees
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

    fn streaming(&self) -> Option<&dyn StreamingFit> {
        Some(self)
    }
}

/// Grows some of the trees.
fn grow(
    params: &CraftmlParams,
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

impl StreamingFit for CraftmlParams {
    fn fit_to_file(
        &self,
        data: &Dataset,
        context: &FitContext<'_>,
        destination: &StreamDestination<'_>,
    ) -> Result<u64, ModelError> {
        let mut file = CraftmlFile::create(destination.path)?;
        let trainer = self.trainer(data.features().view(), data.outputs().view())?;
        for index in trainer.indices() {
            file.push(&trainer.tree(index)?)?;
            context.on_step.iter().for_each(|on_step| on_step());
        }
        Ok(file.finish(data, destination)?)
    }
}
