//! Single trees of scikit-learn, grown and asked through a forest of one.
//!
//! `RPO_FIXTURES` names a folder with `tree_variance.json`; its layout is described in the folder's README. The
//! structures are compared in the tests of `rpo-tree`; here it is what a user of forests sees.

use crate::common::layouts;
use ndarray::Array2;
use rpo_core::Matrix;
use rpo_ensemble::{FitOptions, Forest, ForestParams};
use rpo_tree::LeafKind;
use serde::Deserialize;

#[derive(Deserialize)]
struct Fixture {
    header: Header,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Header {
    tolerance: Tolerance,
}

#[derive(Deserialize)]
struct Tolerance {
    predictions_absolute: f64,
    importances_absolute: f64,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    params: Params,
    x: Vec<Vec<Option<f32>>>,
    y: Vec<Vec<f32>>,
    sample_weight: Option<Vec<f32>>,
    x_test: Vec<Vec<Option<f32>>>,
    expected: Expected,
}

#[derive(Deserialize)]
struct Params {
    max_depth: Option<u32>,
    min_samples_split: usize,
    min_samples_leaf: usize,
    max_leaf_nodes: Option<usize>,
    min_impurity_decrease: f64,
}

#[derive(Deserialize)]
struct Expected {
    train_predictions: Option<Vec<Vec<f64>>>,
    test_predictions: Option<Vec<Vec<f64>>>,
    n_leaves: Option<usize>,
    depth: Option<usize>,
    feature_importances: Option<Vec<f64>>,
}

fn matrix(rows: &[Vec<Option<f32>>]) -> Array2<f32> {
    let p = rows.first().map_or(0, Vec::len);
    Array2::from_shape_fn((rows.len(), p), |(i, j)| rows[i][j].unwrap_or(f32::NAN))
}

impl Case {
    fn check(&self, tolerance: &Tolerance) {
        let params = &self.params;
        let base = ForestParams::cart()
            .max_depth(params.max_depth)
            .min_samples_split(params.min_samples_split)
            .min_samples_leaf(params.min_samples_leaf)
            .max_leaves(params.max_leaf_nodes)
            .min_impurity_decrease(params.min_impurity_decrease);
        let x = layouts(&matrix(&self.x));
        let x_test = layouts(&matrix(&self.x_test));
        let y = Array2::from_shape_fn((self.y.len(), self.y[0].len()), |(i, j)| self.y[i][j]);
        let options = FitOptions {
            weights: self.sample_weight.as_deref(),
            ..FitOptions::default()
        };
        for y in layouts(&y) {
            for leaves in [
                None,
                Some(LeafKind::Dense),
                Some(LeafKind::Sparse),
                Some(LeafKind::Samples),
            ] {
                let params = base.clone().leaves(leaves).check().unwrap();
                let forests = x
                    .each_ref()
                    .map(|x| params.fit_with(x.view(), y.view(), options).unwrap());
                assert_eq!(forests[0], forests[1], "{}: layouts of features", self.name);
                self.check_forest(&forests[0], [&x, &x_test], tolerance);
            }
        }
    }

    fn check_forest(&self, forest: &Forest, [x, x_test]: [&[Matrix; 2]; 2], tolerance: &Tolerance) {
        let (name, expected) = (&self.name, &self.expected);
        let structure = forest.trees()[0].tree.structure();
        if let Some(n_leaves) = expected.n_leaves {
            assert_eq!(structure.n_leaves(), n_leaves, "{name}: leaves");
        }
        if let Some(depth) = expected.depth {
            assert_eq!(structure.depth(), depth, "{name}: depth");
        }
        if let Some(importances) = &expected.feature_importances {
            let found = forest.importances();
            assert_eq!(found.len(), importances.len(), "{name}: importances");
            for (found, expected) in found.iter().zip(importances) {
                let error = (found - expected).abs();
                assert!(
                    error <= tolerance.importances_absolute,
                    "{name}: {found} for {expected}"
                );
            }
        }
        for (x, expected) in [
            (x, &expected.train_predictions),
            (x_test, &expected.test_predictions),
        ] {
            let Some(expected) = expected else { continue };
            for x in x {
                let found = forest.predict(x.view()).unwrap();
                assert_eq!(found.nrows(), expected.len());
                for (&found, &expected) in found.iter().zip(expected.iter().flatten()) {
                    // Predictions are f32.
                    let tolerance = tolerance.predictions_absolute + expected.abs() * f64::from(f32::EPSILON);
                    let error = (f64::from(found) - expected).abs();
                    assert!(error <= tolerance, "{name}: {found} for {expected}");
                }
            }
        }
    }
}

#[test]
fn trees_of_least_variance() {
    let Some(folder) = std::env::var_os("RPO_FIXTURES") else {
        eprintln!("skipped: RPO_FIXTURES, the folder with tree_variance.json, is not set");
        return;
    };
    let path = std::path::Path::new(&folder).join("tree_variance.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let fixture: Fixture = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert!(!fixture.cases.is_empty(), "{} holds cases", path.display());
    for case in &fixture.cases {
        case.check(&fixture.header.tolerance);
    }
}
