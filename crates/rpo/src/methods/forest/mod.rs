//! Random forests and Extra-Trees, for all outputs jointly or for each output separately.

mod joint;
mod single_target;

use crate::method::MethodEntry;
use rpo_ensemble::thresholds::ThresholdRule;
use rpo_ensemble::{
    Forest, ForestParams, ForestPreset, MaxFeatures, OutputScaling, SingleTargetForest, SingleTargetParams,
};

/// Parameters that single-target forests do not use.
const JOINT_ONLY: &[&str] = &[
    "projection",
    "components",
    "projection_scope",
    "scale_outputs",
    "leaves",
];

/// Defaults by task, for methods whose paper takes ⌊√p⌋ features at a node: a third of the features for numbers,
/// following Breiman, but at least 3, and ⌊√p⌋ for labels, which is returned separately.
fn by_task(paper: &ForestParams) -> (ForestParams, &'static [(&'static str, &'static str)]) {
    if paper.max_features != MaxFeatures::Sqrt {
        return (paper.clone(), &[]);
    }
    let numbers = ForestParams {
        max_features: MaxFeatures::ShareAtLeast(0.33, 3),
        ..paper.clone()
    };
    (numbers, &[("max_features", "sqrt")])
}

pub(super) fn entries() -> Vec<MethodEntry> {
    let joint = |name, summary, paper: ForestParams| {
        let (numbers, for_labels) = by_task(&paper);
        let params = ForestParams {
            scale_outputs: OutputScaling::Auto,
            ..numbers
        };
        MethodEntry::new(name, summary, params)
            .preset("paper", paper)
            .label_defaults(for_labels)
            .native_categories()
            .model::<Forest>("forest")
    };
    let single = |name, summary, paper: ForestParams| {
        let (numbers, for_labels) = by_task(&paper);
        MethodEntry::new(name, summary, SingleTargetParams(numbers))
            .preset("paper", SingleTargetParams(paper))
            .label_defaults(for_labels)
            .without(JOINT_ONLY)
            .clearing("bootstrap", &[], &["row_share"])
            .native_categories()
            .model::<SingleTargetForest>("single-target-forest")
    };
    vec![
        joint(
            "random-forest",
            "Trees on bootstraps of the samples, with the best thresholds",
            ForestParams::default(),
        ),
        joint(
            "extra-trees",
            "Trees on all samples, with random thresholds",
            ForestParams::from(ForestPreset::ExtraTrees),
        ),
        single(
            "single-target-forest",
            "A random forest for each output alone",
            ForestParams::default(),
        ),
        single(
            "binary-relevance-forest",
            "A forest for each label alone, by entropy on 75 % of samples and features",
            ForestParams::from(ForestPreset::RfCost),
        )
        .presets_deciding(ThresholdRule::LabelF),
    ]
}
