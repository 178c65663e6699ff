//! Boosting against scikit-learn and an independent loop around its trees.
//!
//! `RPO_FIXTURES` names a folder with `boosting.json`; its layout is described in the folder's README and its header.

use super::boosting_common::{Fitted, Setup};
use super::common::Given;
use ndarray::{Array2, ArrayView2, Axis};
use rpo_core::{Seed, TreeEnsemble};
use rpo_ensemble::boosting::{Algorithm, BoostingParams, LossKind, StepScope, StepValues};
use rpo_ensemble::{Bins, OutputScaling};
use rpo_projections::{LinearMap, Projection, ProjectionError, ProjectionInput};
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Deserialize)]
struct Fixture {
    header: Header,
    single_target: Vec<SingleTarget>,
    multi_output: Vec<MultiOutput>,
}

#[derive(Deserialize)]
struct Header {
    tolerance: Tolerance,
}

#[derive(Deserialize, Clone, Copy)]
struct Tolerance {
    square_absolute: f64,
    logistic_absolute: f64,
    single_target_absolute: f64,
}

#[derive(Deserialize, Clone, Copy)]
struct TreeParams {
    max_depth: Option<u32>,
    min_samples_split: usize,
    min_samples_leaf: usize,
    max_leaf_nodes: Option<usize>,
}

#[derive(Deserialize)]
struct SingleTarget {
    name: String,
    loss: String,
    n_stages: usize,
    learning_rate: f64,
    tree_params: TreeParams,
    x: Vec<Vec<f32>>,
    y: Vec<Vec<f32>>,
    x_test: Vec<Vec<f32>>,
    expected: SingleExpected,
}

/// Indexed by output, then stage, then row.
#[derive(Deserialize)]
struct SingleExpected {
    initial_prediction: Vec<f64>,
    staged_test_predictions: Vec<Vec<Vec<f64>>>,
    train_predictions: Vec<Vec<f64>>,
    staged_train_loss: Vec<Vec<f64>>,
    leaves_per_stage: Vec<Vec<usize>>,
}

#[derive(Deserialize)]
struct MultiOutput {
    name: String,
    algorithm: String,
    loss: String,
    n_stages: usize,
    learning_rate: f64,
    tree_params: TreeParams,
    x: Vec<Vec<f32>>,
    y: Vec<Vec<f32>>,
    x_test: Vec<Vec<f32>>,
    projections: Option<Vec<Vec<Vec<f64>>>>,
    expected: MultiExpected,
}

/// Indexed by stage, then row, then output.
#[derive(Deserialize)]
struct MultiExpected {
    initial_prediction: Vec<f64>,
    rho: Vec<Vec<f64>>,
    staged_train_loss: Vec<f64>,
    staged_test_predictions: Vec<Vec<Vec<f64>>>,
    leaves_per_stage: Vec<usize>,
    train_predictions: Vec<Vec<f64>>,
}

/// Projections by given matrices, one per step in order.
#[derive(Debug)]
struct InOrder(Vec<Array2<f32>>, AtomicUsize);

impl Projection for InOrder {
    fn fit(
        &self,
        y: ProjectionInput<'_>,
        m: usize,
        seed: Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        let step = self.1.fetch_add(1, Ordering::Relaxed);
        Given(self.0[step].clone()).fit(y, m, seed)
    }
}

fn matrix(rows: &[Vec<f32>]) -> Array2<f32> {
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j])
}

fn params(algorithm: Algorithm, tree: TreeParams, bins: Bins) -> BoostingParams {
    BoostingParams {
        // scikit-learn grows trees without limits fully.
        max_depth: tree
            .max_depth
            .or(tree.max_leaf_nodes.is_none().then_some(u32::MAX)),
        min_samples_split: tree.min_samples_split,
        min_samples_leaf: Some(tree.min_samples_leaf),
        max_leaves: tree.max_leaf_nodes,
        bins,
        scale_outputs: OutputScaling::None,
        ..BoostingParams::paper(algorithm)
    }
}

/// Predictions are `f32` sums of `f32` values, so a few units in the last place are allowed besides the tolerance.
fn check_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let tolerance = tolerance + 8.0 * f64::from(f32::EPSILON) * (1.0 + expected.abs());
    assert!(
        (found - expected).abs() <= tolerance,
        "{what}: {found} for {expected}"
    );
}

/// Returns the scores of every stage, from truncated models.
fn staged(fit: &Fitted, x: &Array2<f32>) -> Vec<Array2<f32>> {
    (1..=fit.model.n_steps())
        .map(|m| fit.model.clone().truncate(m).scores(x.into()).unwrap())
        .collect()
}

impl SingleTarget {
    fn check(&self, tolerance: f64, bins: Bins) {
        let (x, y, x_test) = (matrix(&self.x), matrix(&self.y), matrix(&self.x_test));
        let loss = match self.loss.as_str() {
            "squared_error" => LossKind::Square,
            "absolute_error" => LossKind::Absolute,
            other => panic!("{}: loss {other}", self.name),
        };
        // scikit-learn replaces every leaf value by the best constant.
        let params = BoostingParams {
            loss: Some(loss),
            step_scope: Some(StepScope::Leaf),
            iterations: self.n_stages,
            learning_rate: self.learning_rate,
            ..params(Algorithm::SingleTarget, self.tree_params, bins)
        };
        let fit = Setup::from(params).fit((&x).into(), (&y).into()).unwrap();
        let (name, expected, d) = (&self.name, &self.expected, y.ncols());
        let train = fit.model.scores((&x).into()).unwrap();
        let test = staged(&fit, &x_test);
        for j in 0..d {
            check_close(
                fit.model.initial()[j],
                expected.initial_prediction[j],
                tolerance,
                name,
            );
            for (found, &expected) in train.column(j).iter().zip(&expected.train_predictions[j]) {
                check_close(f64::from(*found), expected, tolerance, name);
            }
            for m in 0..self.n_stages {
                let tree = &fit.model.trees()[m * d + j];
                assert_eq!(
                    tree.structure.n_leaves(),
                    expected.leaves_per_stage[j][m],
                    "{name}"
                );
                for (found, &expected) in test[m]
                    .column(j)
                    .iter()
                    .zip(&expected.staged_test_predictions[j][m])
                {
                    check_close(f64::from(*found), expected, tolerance, name);
                }
            }
        }
        for m in 0..self.n_stages {
            // The square loss of scikit-learn lacks the ½.
            let factor = if loss == LossKind::Square { 0.5 } else { 1.0 };
            let sum: f64 = expected
                .staged_train_loss
                .iter()
                .map(|loss| factor * loss[m])
                .sum();
            let found = fit.history.training_loss[m + 1];
            assert!(
                (found - sum).abs() <= tolerance * (1.0 + sum),
                "{name}: {found} for {sum}"
            );
        }
    }
}

impl MultiOutput {
    fn check(&self, tolerance: Tolerance, bins: Bins) {
        let (x, mut y, x_test) = (matrix(&self.x), matrix(&self.y), matrix(&self.x_test));
        let name = &self.name;
        let algorithm = Algorithm::ALL
            .into_iter()
            .find(|a| serde_json::json!(a) == self.algorithm.as_str());
        let algorithm = algorithm.unwrap_or_else(|| panic!("{name}: algorithm {}", self.algorithm));
        let loss: LossKind = self.loss.parse().unwrap();
        let mut tolerance = match loss {
            LossKind::Logistic => tolerance.logistic_absolute,
            _ => tolerance.square_absolute,
        };
        if loss == LossKind::Logistic {
            y.mapv_inplace(|v| (v + 1.0) / 2.0);
        }
        let params = BoostingParams {
            loss: Some(loss),
            iterations: self.n_stages,
            learning_rate: self.learning_rate,
            ..params(algorithm, self.tree_params, bins)
        };
        let mut setup = Setup::from(params);
        if let Some(projections) = &self.projections {
            let narrow = |rows: &Vec<Vec<f64>>| {
                Array2::from_shape_fn((rows.len(), rows[0].len()), |(k, j)| rows[k][j] as f32)
            };
            let exact = |v: &f64| f64::from(*v as f32) == *v;
            if algorithm == Algorithm::GbrtRpo && !projections.iter().flatten().flatten().all(exact) {
                // Projections are f32 here, and the leaf values of Algorithm 3 depend on them.
                tolerance = tolerance.max(1e-6);
            }
            let family = InOrder(projections.iter().map(narrow).collect(), AtomicUsize::new(0));
            setup = setup.projection(Arc::new(family), projections[0].len());
        }
        let fit = setup.fit((&x).into(), (&y).into()).unwrap();
        let expected = &self.expected;
        for (found, &expected) in fit.model.initial().iter().zip(&expected.initial_prediction) {
            assert!(
                (found - expected).abs() <= tolerance,
                "{name}: {found} for {expected}"
            );
        }
        assert_eq!(fit.history.training_loss.len(), expected.staged_train_loss.len());
        for (found, &expected) in fit.history.training_loss.iter().zip(&expected.staged_train_loss) {
            assert!(
                (found - expected).abs() <= tolerance * (1.0 + expected),
                "{name}: loss {found} for {expected}"
            );
        }
        let rate = self.learning_rate;
        for (tree, (&n_leaves, rho)) in fit
            .model
            .trees()
            .iter()
            .zip(expected.leaves_per_stage.iter().zip(&expected.rho))
        {
            assert_eq!(tree.structure.n_leaves(), n_leaves, "{name}");
            if let StepValues::Product { outputs, .. } = &tree.values {
                for (&found, &rho) in outputs.iter().zip(rho) {
                    check_close(f64::from(found), rate * rho, tolerance, name);
                }
            }
        }
        let compare = |found: ArrayView2<'_, f32>, expected: &[Vec<f64>]| {
            for (found, expected) in found.axis_iter(Axis(0)).zip(expected) {
                for (&found, &expected) in found.iter().zip(expected) {
                    check_close(f64::from(found), expected, tolerance, name);
                }
            }
        };
        compare(
            fit.model.scores((&x).into()).unwrap().view(),
            &expected.train_predictions,
        );
        for (found, expected) in staged(&fit, &x_test)
            .iter()
            .zip(&expected.staged_test_predictions)
        {
            compare(found.view(), expected);
        }
    }
}

#[test]
fn boosting_runs_of_others() {
    let Some(folder) = std::env::var_os("RPO_FIXTURES") else {
        eprintln!("skipped: RPO_FIXTURES, the folder with boosting.json, is not set");
        return;
    };
    let path = std::path::Path::new(&folder).join("boosting.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let fixture: Fixture = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    assert!(!fixture.single_target.is_empty() && !fixture.multi_output.is_empty());
    // Thresholds lie between any two values, because with so few samples each value has its own bin.
    for bins in [Bins::Exact, Bins::MOST] {
        for case in &fixture.single_target {
            case.check(fixture.header.tolerance.single_target_absolute, bins);
        }
        for case in &fixture.multi_output {
            case.check(fixture.header.tolerance, bins);
        }
    }
}
