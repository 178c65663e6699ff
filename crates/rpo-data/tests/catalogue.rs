//! Every data set in the folder that the environment variable `RPO_DATA` names loads, and its counts are those
//! that the manifest gives.

use rpo_core::Matrix;
use rpo_data::{Catalogue, CatalogueError, Dataset, Task};
use serde_json::Value;
use std::path::Path;

#[test]
fn every_set_is_as_its_manifest_says() {
    let catalogue = match Catalogue::from_env() {
        Err(CatalogueError::NoFolder) => {
            eprintln!("RPO_DATA is not set: the data sets are not read");
            return;
        }
        opened => opened.unwrap(),
    };
    let folder = std::env::var_os("RPO_DATA").unwrap();
    let manifest = std::fs::read(Path::new(&folder).join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    let described = manifest["datasets"].as_array().unwrap();
    assert_eq!(catalogue.names().count(), described.len());
    for described in described {
        let name = described["name"].as_str().unwrap();
        catalogue.verify(name).unwrap();
        let loaded = catalogue.load(name).unwrap();
        let whole = loaded.clone().whole().unwrap();
        if let Some(test) = &loaded.test {
            check(name, described, "train", &loaded.train);
            check(name, described, "test", test);
        }
        check(name, described, "all", &whole);
        check_whole(name, described, &whole);
    }
}

/// The counts that the manifest gives of a part; it gives "all" for unsplit sets, and not every count of all.
fn check(name: &str, described: &Value, part: &str, data: &Dataset) {
    let sparse = matches!(data.features(), Matrix::Sparse(_));
    assert_eq!(sparse, described["storage"] == "sparse", "{name} {part}: storage");
    if data.task() == Task::MultiLabel {
        let found = data.label_statistics();
        let check = |key: &str, found: f64, tolerance: f64| {
            if let Some(expected) = described[key][part].as_f64() {
                assert!(
                    (found - expected).abs() <= tolerance,
                    "{name} {part} {key}: {found}, expected {expected}"
                );
            }
        };
        check("label_cardinality", found.cardinality(), 0.001);
        check("rows_without_label", found.n_unlabelled as f64, 0.0);
        check("labels_never_positive", found.n_never() as f64, 0.0);
        check(
            "mean_nonzero_features_per_row",
            data.mean_stored_features(),
            0.005001,
        );
    }
}

fn check_whole(name: &str, described: &Value, data: &Dataset) {
    let expected = if described["task"] == "regression" {
        Task::Regression
    } else {
        Task::MultiLabel
    };
    assert_eq!(data.task(), expected, "{name}");
    if let Some(expected) = described["missing_values"].as_u64() {
        assert_eq!(data.n_missing() as u64, expected, "{name}: missing values");
    }
    let numeric = described["attribute_kinds"]["features"]["numeric"].as_u64();
    if let Some(numeric) = numeric {
        assert_eq!(
            (data.n_features() - data.nominal().len()) as u64,
            numeric,
            "{name}: numeric features"
        );
    }
}
