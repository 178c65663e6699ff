//! Single trees of scikit-learn, reproduced by a forest of one tree.
//!
//! `RPO_FIXTURES` names a folder with `tree_variance.json` and `tree_gini.json`; their layout is described in the
//! folder's README. The structures are compared in the tests of `rpo-tree`; these tests use the public interface of
//! forests.

#[path = "../../../rpo-tree/tests/suite/common/cases.rs"]
#[expect(dead_code, reason = "nodes and gains are compared in the tests of rpo-tree")]
mod cases;

use super::common::layouts;
use cases::{Case, Tolerance, matrix, read};
use ndarray::Array2;
use rpo_core::{FeatureImportances, Learner, Matrix, Predictor, TreeEnsemble};
use rpo_ensemble::{CriterionKind, Forest, ForestOptions, ForestParams, ForestPreset};
use rpo_tree::LeafKind;

impl Case {
    fn check(&self, tolerance: &Tolerance) {
        let params = &self.params;
        let criterion = match self.criterion.as_deref() {
            Some("gini") => CriterionKind::Gini,
            Some("entropy") => CriterionKind::Entropy,
            _ => CriterionKind::Variance,
        };
        let base = ForestParams {
            criterion,
            max_depth: params.max_depth,
            min_samples_split: params.min_samples_split,
            min_samples_leaf: params.min_samples_leaf,
            max_leaves: params.max_leaf_nodes,
            min_impurity_decrease: params.min_impurity_decrease,
            ..ForestPreset::Cart.into()
        };
        let x = layouts(&matrix(&self.x));
        let x_test = layouts(&matrix(&self.x_test));
        let y = Array2::from_shape_fn((self.y.len(), self.y[0].len()), |(i, j)| self.y[i][j]);
        let options = ForestOptions {
            weights: self.sample_weight.as_deref(),
            ..ForestOptions::default()
        };
        for y in layouts(&y) {
            for leaves in [
                None,
                Some(LeafKind::Dense),
                Some(LeafKind::Sparse),
                Some(LeafKind::Samples),
            ] {
                let params = ForestParams {
                    leaves: leaves.into(),
                    ..base.clone()
                };
                let forests = x
                    .each_ref()
                    .map(|x| params.fit_with(x.view(), y.view(), options.clone()).unwrap());
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
            let mut found = vec![0.0; importances.len()];
            for (feature, importance) in forest.importances() {
                found[feature as usize] = importance;
            }
            for (found, expected) in found.iter().zip(importances) {
                let error = (found - expected).abs();
                assert!(
                    error <= tolerance.importances_absolute,
                    "{name}: {found} for {expected}"
                );
            }
        }
        let test = expected.test_probability_of_1.as_ref();
        for (x, expected) in [
            (x, expected.train_predictions.as_ref()),
            (x_test, test.or(expected.test_predictions.as_ref())),
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

fn predict_alike(file: &str) {
    let Some(fixture) = read(file) else { return };
    for case in &fixture.cases {
        case.check(&fixture.header.tolerance);
    }
}

#[test]
fn trees_of_least_variance() {
    predict_alike("tree_variance.json");
}

#[test]
fn trees_of_least_gini_impurity_and_entropy() {
    predict_alike("tree_gini.json");
}
