//! Random forests and Extra-Trees, of all outputs or of each output alone.

mod joint;
mod single_target;

use crate::method::MethodEntry;
use rpo_ensemble::{Forest, ForestParams, OutputScaling, SingleTargetForest};
use single_target::SingleTargetParams;

/// Parameters that forests of single targets have no use for.
const JOINT_ONLY: &[&str] = &[
    "projection",
    "components",
    "projection_scope",
    "scale_outputs",
    "leaves",
];

pub(super) fn entries() -> Vec<MethodEntry> {
    let joint = |name, summary, paper: ForestParams| {
        let params = ForestParams {
            scale_outputs: OutputScaling::Auto,
            ..paper.clone()
        };
        MethodEntry::new(name, summary, params)
            .preset("paper", paper)
            .native_categories()
            .model::<Forest>("forest")
    };
    let single = |name, summary, params: ForestParams| {
        MethodEntry::new(name, summary, SingleTargetParams(params.clone()))
            .preset("paper", SingleTargetParams(params))
            .without(JOINT_ONLY)
            .replacing("bootstrap", "row_share")
            .native_categories()
            .model::<SingleTargetForest>("single-target-forest")
    };
    vec![
        joint(
            "random-forest",
            "Trees on bootstraps of the samples, with the best thresholds",
            ForestParams::random_forest(),
        ),
        joint(
            "extra-trees",
            "Trees on all samples, with random thresholds",
            ForestParams::extra_trees(),
        ),
        single(
            "single-target-forest",
            "A random forest for each output alone",
            ForestParams::random_forest(),
        ),
        single(
            "binary-relevance-forest",
            "A forest for each label alone, by entropy on 75 % of samples and features",
            ForestParams::rf_cost(),
        ),
    ]
}
