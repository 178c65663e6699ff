//! The settings of the papers, as their presets have them.

use rpo::ensemble::boosting::Algorithm;
use rpo::parameters_of;
use rpo::prelude::*;
use serde_json::{Map, Value, json};

/// Asserts that parameters have the expected values; others are not stated.
fn assert_has(preset: &str, parameters: &Map<String, Value>, expected: &Value) {
    for (name, value) in expected.as_object().unwrap() {
        assert_eq!(&parameters[name], value, "{name} of {preset}");
    }
}

/// Joly, Geurts, Wehenkel 2014, section 4.2; Daniels, Metaxas 2017, section 4.1 (rf-cost).
#[test]
fn forests_have_the_settings_of_their_papers() {
    for (preset, expected) in [
        (
            ForestPreset::RandomForest,
            json!({"trees": 100, "max_features": "sqrt", "splitter": "best", "min_samples_leaf": 1, "scale_outputs": "none"}),
        ),
        (
            ForestPreset::ExtraTrees,
            json!({"trees": 100, "max_features": "sqrt", "splitter": "random", "bootstrap": false, "min_samples_leaf": 1}),
        ),
        (
            ForestPreset::RfCost,
            json!({"trees": 50, "row_share": 0.75, "feature_share": 0.75, "criterion": "entropy", "min_samples_leaf": 3}),
        ),
    ] {
        assert_has(
            &format!("{preset:?}"),
            &parameters_of(&ForestParams::from(preset)),
            &expected,
        );
    }
}

/// Joly, Wehenkel, Geurts 2019, sections 2 and 4.1.
#[test]
fn boosting_has_the_settings_of_its_paper() {
    for algorithm in Algorithm::ALL {
        let expected = json!({
            "learning_rate": 0.1, "line_search": "exact", "step_scope": "output", "subsample": null, "bins": "exact",
            "max_features": "all", "leaf_l2": null, "leaf_l1": 0.0, "min_child_weight": 0.0, "min_split_gain": 0.0,
            "trees_ahead": 0,
        });
        assert_has(
            &format!("{algorithm:?}"),
            &parameters_of(&BoostingParams::paper(algorithm)),
            &expected,
        );
    }
}

/// Daniels, Metaxas 2017, sections 3.2, 3.3 and 4.1.
#[test]
fn structured_forests_have_the_settings_of_their_paper() {
    let expected = json!({
        "variant": "sf-h-cs", "trees": 50, "row_share": 0.75, "feature_share": 0.75, "label_share": 0.75,
        "min_samples_leaf": 3, "scaling": "standard", "prune": 0.0,
    });
    assert_has(
        "paper",
        &parameters_of(&StructuredForestParams::paper()),
        &expected,
    );
}

/// Siblini, Kuntz, Meyer 2018, section 4.1, and the tables of the report on it.
#[test]
fn craftml_has_the_settings_of_its_paper_and_of_the_report() {
    let report = json!({
        "trees": 4, "clusters": 9, "feature_width": "0.7,0.6", "label_width": "0.7,0.6", "node_sample": 0.6,
        "min_samples_split": 200, "passes": 300, "starts": 10, "centroid_entries": "all", "max_depth": null,
    });
    for (variant, expected) in [
        (
            CraftmlVariant::Original,
            json!({
                "trees": 50, "clusters": 10, "feature_width": 10000, "label_width": 10000, "node_sample": 20000,
                "min_samples_split": 10, "passes": 5, "starts": 1, "centroid_entries": 1000,
            }),
        ),
        (CraftmlVariant::Report, report),
    ] {
        assert_has(
            &format!("{variant:?}"),
            &parameters_of(&CraftmlParams::from(variant)),
            &expected,
        );
    }
}

/// Karampatziakis, Mineiro 2015, section 7.1, and the software of its authors.
#[test]
fn label_embeddings_have_the_settings_of_their_paper() {
    let expected = json!({
        "mode": "full", "rank": "labels:0.9", "kernel": null, "embedding_passes": 2, "embedding_lambda": 1e-4,
        "final_lambda_ratio": 1e-6, "oversampling": null,
    });
    assert_has("paper", &parameters_of(&LabelEmbeddingParams::paper()), &expected);
}
