//! Gradient boosting.

mod fit;
mod losses;
mod params;
mod scorer;

use crate::method::MethodEntry;
use params::Boosting;
use rpo_ensemble::boosting::{Algorithm, Boosted, BoostingParams};

/// The parameter that is hidden because the method name determines the algorithm.
const ALGORITHM: &str = "algorithm";
/// Parameters of algorithms that project the outputs.
const PROJECTION: [&str; 3] = ["projection", "components", "projection_scope"];

/// Parameters of second-order leaf steps, which trees shared by all outputs do not have.
const PENALTIES: [&str; 3] = ["leaf_l2", "leaf_l1", "min_child_weight"];

pub(super) fn entries() -> Vec<MethodEntry> {
    let entry = |name, summary, algorithm, without| {
        MethodEntry::new(name, summary, Boosting::new(BoostingParams::from(algorithm)))
            .preset("paper", Boosting::new(BoostingParams::paper(algorithm)))
            .without(without)
            .native_categories()
            .label_defaults(&[("loss", "logistic")])
            .clearing("output_losses", &[], &["loss"])
            .model::<Boosted>("boosting")
    };
    vec![
        entry(
            "single-target-gbrt",
            "Boosting of each output alone",
            Algorithm::SingleTarget,
            &[
                ALGORITHM,
                PROJECTION[0],
                PROJECTION[1],
                PROJECTION[2],
                "leaf_values",
                "scale_outputs",
                "trees_ahead",
                "groups",
            ],
        ),
        entry(
            "gbmort",
            "Boosting with trees of all outputs",
            Algorithm::Gbmort,
            &[ALGORITHM, PROJECTION[0], PROJECTION[1], PROJECTION[2]],
        ),
        entry(
            "gbrt-rpo",
            "Boosting with trees on one random projection of the outputs, fitted to each output",
            Algorithm::GbrtRpo,
            &[ALGORITHM, "leaf_values", PENALTIES[0], PENALTIES[1], PENALTIES[2]],
        ),
        entry(
            "gbrt-relabel-rpo",
            "Boosting with trees on random projections of the outputs, relabelled with all outputs",
            Algorithm::GbrtRelabelRpo,
            &[ALGORITHM],
        ),
    ]
}
