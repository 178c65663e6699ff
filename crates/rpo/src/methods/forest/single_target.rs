//! Forests with separate trees for each output.

use crate::method::{FitContext, Needs, OutputNeed, categorical};
use crate::methods::growing::ForestMethod;
use rpo_core::{ForestLearner, Learner, Observers};
use rpo_data::Dataset;
use rpo_ensemble::{
    CriterionKind, EnsembleError, SingleTargetForest, SingleTargetOptions, SingleTargetParams,
};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

impl ForestMethod for SingleTargetParams {
    fn name(&self) -> &str {
        "single-target-forest"
    }

    fn needs(&self) -> Needs {
        Needs {
            outputs: match self.0.criterion {
                CriterionKind::Entropy => OutputNeed::LabelsUnless("set `criterion` = variance"),
                _ => OutputNeed::Any,
            },
            ..Needs::FEW
        }
    }

    fn has_oob(&self) -> bool {
        self.0.has_oob()
    }

    fn grow(
        &self,
        trees: Range<usize>,
        data: &Dataset,
        context: &FitContext<'_>,
    ) -> Result<SingleTargetForest, EnsembleError> {
        let observers = context.observers();
        let grown = AtomicUsize::new(0);
        let on_tree = || {
            // A step is one tree for every output.
            let before = grown.fetch_add(1, Ordering::Relaxed);
            if (before + 1).is_multiple_of(data.n_outputs()) {
                observers.step();
            }
        };
        let options = SingleTargetOptions {
            weights: data.weights(),
            missing_outputs: data.outputs().view().has_missing(),
            categorical: &categorical(data),
            observers: Observers {
                on_step: Some(&on_tree),
                ..observers
            },
        };
        let (x, y) = (data.features().view(), data.outputs().view());
        self.of_trees(trees).fit_with(x, y, options)
    }
}
