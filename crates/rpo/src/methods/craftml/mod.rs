//! CRAFTML forests.

use super::growing::ForestMethod;
use crate::ModelError;
use crate::method::{
    FitContext, MethodEntry, Needs, OutputNeed, StandardizedBy, StreamDestination, StreamingFit,
};
use crate::model_file::CraftmlFile;
use rpo_core::{ForestLearner, Learner};
use rpo_data::Dataset;
use rpo_ensemble::{Craftml, CraftmlParams, CraftmlVariant, EnsembleError};
use std::ops::Range;

pub(super) fn entries() -> Vec<MethodEntry> {
    let summary = "Trees of many children by clusters of the labels, for very many labels";
    let entry = MethodEntry::new("craftml", summary, CraftmlParams::default())
        .preset("paper", CraftmlParams::from(CraftmlVariant::Original))
        .preset("report", CraftmlParams::from(CraftmlVariant::Report))
        .preset("report-quirks", CraftmlParams::from(CraftmlVariant::ReportQuirks))
        .standardized(StandardizedBy::Directions);
    vec![entry.model::<Craftml>("craftml")]
}

impl ForestMethod for CraftmlParams {
    fn name(&self) -> &str {
        "craftml"
    }

    fn needs(&self) -> Needs {
        Needs {
            observed_features: true,
            missing_categories: false,
            observed_outputs: true,
            equal_weights: true,
            equal_outputs: true,
            outputs: OutputNeed::Any,
        }
    }

    fn grow(
        &self,
        trees: Range<usize>,
        data: &Dataset,
        context: &FitContext<'_>,
    ) -> Result<Craftml, EnsembleError> {
        let (x, y) = (data.features().view(), data.outputs().view());
        self.of_trees(trees).fit_with(x, y, context.observers())
    }

    fn streaming(&self) -> Option<&dyn StreamingFit> {
        Some(self)
    }
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
        let observers = context.observers();
        for index in self.indices()? {
            if observers.is_stopped() {
                return Err(EnsembleError::Stopped.into());
            }
            file.push(&trainer.tree(index)?)?;
            observers.step();
        }
        Ok(file.finish(data, destination)?)
    }
}
