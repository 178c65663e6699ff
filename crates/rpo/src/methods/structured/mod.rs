//! Structured forests: SOSHF and its variants.

use super::growing::ForestMethod;
use crate::method::{FitContext, MethodEntry, Needs, OutputNeed};
use rpo_core::{ForestLearner, Learner};
use rpo_data::Dataset;
use rpo_ensemble::EnsembleError;
use rpo_ensemble::structured::{StructuredForest, StructuredForestParams};
use rpo_ensemble::thresholds::ThresholdRule;
use std::ops::Range;

pub(super) fn entries() -> Vec<MethodEntry> {
    let summary =
        "Trees that separate clusters of label sets by sparse hyperplanes, for imbalanced labels (SOSHF)";
    let entry = MethodEntry::new("structured-forest", summary, StructuredForestParams::default());
    vec![
        entry
            .preset("paper", StructuredForestParams::paper())
            .clearing("variant", &["sf", "sf-cs"], &["scaling", "prune"])
            .clearing("variant", &["sf-lr", "sf-lr-cs"], &["prune"])
            .alias(&["soshf"])
            .deciding(ThresholdRule::MacroF)
            .presets_deciding(ThresholdRule::LabelF)
            .model::<StructuredForest>("structured-forest"),
    ]
}

impl ForestMethod for StructuredForestParams {
    fn name(&self) -> &str {
        "structured-forest"
    }

    fn needs(&self) -> Needs {
        Needs {
            observed_features: self.variant.is_oblique(),
            missing_categories: false,
            observed_outputs: true,
            equal_weights: true,
            equal_outputs: true,
            outputs: OutputNeed::Labels,
        }
    }

    fn has_oob(&self) -> bool {
        self.row_share < 1.0
    }

    fn grow(
        &self,
        trees: Range<usize>,
        data: &Dataset,
        context: &FitContext<'_>,
    ) -> Result<StructuredForest, EnsembleError> {
        let (x, y) = (data.features().view(), data.outputs().view());
        self.of_trees(trees).fit_with(x, y, context.observers())
    }
}
