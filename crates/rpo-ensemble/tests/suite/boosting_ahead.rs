//! Trees that grow ahead of their steps, against trees that grow one after the other.

use super::boosting_common::{Fitted, PAPER_LOSSES, Setup};
use super::common::{Given, csr, labelled, on_threads, regression};
use ndarray::{Array2, Axis};
use rpo_core::{Matrix, TreeEnsemble};
use rpo_ensemble::boosting::{
    Algorithm, Boosted, BoostingOptions, BoostingParams, LossKind, StepValues, Stop, TrainingForm,
};
use rpo_ensemble::{EnsembleError, MaxFeatures, ProjectionScope};
use rpo_projections::ProjectionKind;
use std::ops::ControlFlow;
use std::sync::Arc;

const SHARED: [Algorithm; 3] = [Algorithm::Gbmort, Algorithm::GbrtRpo, Algorithm::GbrtRelabelRpo];

fn data(loss: LossKind, n: usize) -> (Matrix, Matrix) {
    let (x, y) = match loss {
        LossKind::Logistic => labelled(21, n),
        _ => regression(21, n),
    };
    (x.into(), csr(&y).into())
}

fn params(algorithm: Algorithm, loss: LossKind, trees_ahead: usize, iterations: usize) -> BoostingParams {
    BoostingParams {
        loss: Some(loss),
        trees_ahead: Some(trees_ahead),
        iterations,
        max_leaves: Some(4),
        ..BoostingParams::from(algorithm)
    }
}

fn continued(setup: &Setup, start: &Boosted, x: &Matrix, y: &Matrix) -> Fitted {
    let options = BoostingOptions {
        start: Some(start),
        ..BoostingOptions::default()
    };
    setup.fit_with(x.view(), y.view(), options).unwrap()
}

/// A tree that grows ahead is that of a model which lacks the steps of its group and of the group before. Without any
/// draw, trees depend on the residuals alone.
#[test]
fn splits_are_those_of_the_residuals_before_the_group_that_is_made() {
    let phi = Array2::from_shape_fn((2, 8), |(k, j)| {
        [0.7, -0.2, 1.1, 0.4, -0.9, 0.3, 0.8, -1.3][(j + 3 * k) % 8]
    });
    for loss in [LossKind::Square, LossKind::Logistic] {
        let (x, y) = data(loss, 80);
        for (algorithm, ahead) in [
            (Algorithm::Gbmort, 1),
            (Algorithm::Gbmort, 3),
            (Algorithm::GbrtRelabelRpo, 2),
            (Algorithm::GbrtRelabelRpo, 4),
        ] {
            let setup = |ahead, iterations| {
                let params = BoostingParams {
                    max_features: MaxFeatures::All,
                    subsample: Some(1.0),
                    ..params(algorithm, loss, ahead, iterations)
                };
                match algorithm {
                    Algorithm::Gbmort => Setup::from(params),
                    _ => Setup::from(params).projection(Arc::new(Given(phi.clone())), 2),
                }
            };
            let model = setup(ahead, 10).fit(x.view(), y.view()).unwrap().model;
            let mut n_different = 0;
            for (step, tree) in model.trees().iter().enumerate() {
                let known = (step / ahead).saturating_sub(1) * ahead;
                let before = continued(&setup(0, 1), &model.clone().truncate(known), &x, &y).model;
                assert_eq!(
                    before.trees()[known].structure,
                    tree.structure,
                    "{algorithm:?} {loss} {ahead}: step {step}"
                );
                let current = continued(&setup(0, 1), &model.clone().truncate(step), &x, &y).model;
                n_different += usize::from(current.trees()[step].structure != tree.structure);
            }
            assert!(
                n_different > 0,
                "{algorithm:?} {loss} {ahead}: all trees are those of current residuals"
            );
        }
    }
}

/// Leaf values are those of the current residuals: of the square loss, the sum of residuals by n + λ.
#[test]
fn leaf_values_are_those_of_the_current_residuals() {
    let (x, y) = data(LossKind::Square, 80);
    let truth = y.view().to_dense(usize::MAX).unwrap();
    for ahead in [1, 3, 4] {
        let params = BoostingParams {
            leaf_l2: Some(2.0),
            subsample: Some(0.6),
            ..params(Algorithm::GbrtRelabelRpo, LossKind::Square, ahead, 9)
        };
        let model = Setup::from(params).fit(x.view(), y.view()).unwrap().model;
        for (step, tree) in model.trees().iter().enumerate() {
            let residual = &truth - &model.clone().truncate(step).scores(x.view()).unwrap();
            let StepValues::Vectors(values) = &tree.values else {
                panic!("a step of Algorithm 4")
            };
            let leaves = tree.structure.apply(x.view()).unwrap();
            for (leaf, values) in values.axis_iter(Axis(0)).enumerate() {
                let members: Vec<usize> = (0..80).filter(|&i| leaves[i] as usize == leaf).collect();
                let sums = residual.select(Axis(0), &members).sum_axis(Axis(0));
                for (value, sum) in values.iter().zip(sums) {
                    let expected = 0.1 * sum / (members.len() as f32 + 2.0);
                    assert!(
                        (value - expected).abs() < 1e-4,
                        "{ahead}, step {step}: {value} {expected}"
                    );
                }
            }
        }
    }
}

/// With steps too small to move anything, all residuals are the first, and trees differ by what is drawn for their steps
/// alone: samples, features and projections.
#[test]
fn draws_are_those_of_the_step() {
    for loss in [LossKind::Square, LossKind::Logistic] {
        let (x, y) = data(loss, 80);
        for algorithm in SHARED {
            let structures = |ahead| {
                let params = BoostingParams {
                    learning_rate: 1e-12,
                    subsample: Some(0.6),
                    max_features: MaxFeatures::Share(0.5),
                    ..params(algorithm, loss, ahead, 11)
                };
                let model = Setup::from(params).fit(x.view(), y.view()).unwrap().model;
                let trees = model.trees().iter().map(|tree| tree.structure.clone());
                trees.collect::<Vec<_>>()
            };
            let expected = structures(0);
            assert!((1..11).any(|step| expected[step] != expected[0]));
            for ahead in [1, 3, 4] {
                assert_eq!(structures(ahead), expected, "{algorithm:?} {loss} {ahead}");
            }
        }
    }
}

#[test]
fn threads_do_not_matter() {
    for loss in PAPER_LOSSES {
        let (x, y) = data(loss, 90);
        for algorithm in SHARED {
            for (ahead, scope) in [(1, None), (3, None), (4, Some(ProjectionScope::Shared))] {
                let scope = scope.filter(|_| algorithm == Algorithm::GbrtRelabelRpo);
                let setup = Setup::from(BoostingParams {
                    subsample: Some(0.8),
                    projection_scope: scope,
                    ..params(algorithm, loss, ahead, 11)
                });
                let [one, others @ ..] =
                    [1, 2, 3, 8].map(|n| on_threads(n, || setup.fit(x.view(), y.view()).unwrap()));
                for other in others {
                    assert_eq!(other, one, "{algorithm:?} {loss} {ahead}");
                }
            }
        }
    }
}

/// Any number of steps is the beginning of more, and may be continued.
#[test]
fn models_may_end_anywhere() {
    for loss in [LossKind::Square, LossKind::Logistic] {
        let (x, y) = data(loss, 60);
        for algorithm in SHARED {
            // The form that is chosen depends on the number of steps.
            let setup = |n| Setup::from(params(algorithm, loss, 3, n)).form(TrainingForm::Scores);
            let fit = |n| setup(n).fit(x.view(), y.view()).unwrap();
            let whole = fit(10);
            assert_eq!(whole.history.training_loss.len(), 11);
            for n in 1..10 {
                let start = fit(n);
                assert_eq!(
                    start.model,
                    whole.model.clone().truncate(n),
                    "{algorithm:?} {loss} {n}"
                );
                let losses = start
                    .history
                    .training_loss
                    .iter()
                    .zip(&whole.history.training_loss);
                assert!(
                    losses.clone().count() == n + 1
                        && losses.into_iter().all(|(a, b)| (a - b).abs() < 1e-9 * b)
                );
                // But for the rounding of stored steps.
                let rest = continued(&setup(10 - n), &start.model, &x, &y);
                let scores = [&whole, &rest].map(|fit| fit.model.scores(x.view()).unwrap());
                let error = (&scores[0] - &scores[1]).fold(0.0_f32, |max, v| max.max(v.abs()));
                assert!(error < 1e-3, "{algorithm:?} {loss} {n}: {error}");
                assert!((rest.history.training_loss[0] - whole.history.training_loss[n]).abs() < 1e-5);
            }
        }
    }
}

#[test]
fn observers_see_every_step() {
    let (x, y) = data(LossKind::Square, 60);
    let mut seen = Vec::new();
    let mut on_progress = |progress: &rpo_ensemble::boosting::Progress<'_>| {
        seen.push((progress.step, progress.model.n_steps()));
        match progress.step {
            6 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    let mut history = rpo_ensemble::boosting::History::default();
    let options = BoostingOptions {
        on_progress: Some(&mut on_progress),
        history: Some(&mut history),
        ..BoostingOptions::default()
    };
    let params = params(Algorithm::GbrtRelabelRpo, LossKind::Square, 4, 20);
    let model = rpo_core::Learner::fit_with(&params, x.view(), y.view(), options).unwrap();
    assert_eq!((model.n_steps(), history.stop), (6, Stop::Progress));
    assert_eq!(seen, (1..=6).map(|step| (step, step)).collect::<Vec<_>>());
}

#[test]
fn the_default_depends_on_rate_and_draws() {
    let (x, y) = data(LossKind::Square, 60);
    let set = |algorithm, trees_ahead| BoostingParams {
        trees_ahead,
        iterations: 12,
        max_leaves: Some(4),
        ..BoostingParams::from(algorithm)
    };
    let fit = |params: BoostingParams| Setup::from(params).fit(x.view(), y.view()).unwrap().model;
    let rate = |rate, trees_ahead| BoostingParams {
        learning_rate: rate,
        ..set(Algorithm::GbrtRelabelRpo, trees_ahead)
    };
    let same =
        |rate_of_default, ahead| fit(rate(rate_of_default, None)) == fit(rate(rate_of_default, Some(ahead)));
    for (rate, ahead) in [(0.01, 4), (0.1, 4), (0.2, 2), (0.3, 1), (0.5, 0)] {
        assert!(same(rate, ahead), "{rate}");
    }
    assert!(!same(0.1, 0) && !same(0.1, 2));
    let all = |trees_ahead| BoostingParams {
        max_features: MaxFeatures::All,
        subsample: Some(1.0),
        ..set(Algorithm::Gbmort, trees_ahead)
    };
    assert_eq!(fit(all(None)), fit(all(Some(0))));
    let projected = |trees_ahead| BoostingParams {
        algorithm: Algorithm::GbrtRelabelRpo,
        ..all(trees_ahead)
    };
    assert_eq!(fit(projected(None)), fit(projected(Some(4))));
    // Which draws nothing.
    let identity = |trees_ahead| BoostingParams {
        projection: Some(ProjectionKind::Identity.into()),
        ..projected(trees_ahead)
    };
    assert_eq!(fit(identity(None)), fit(identity(Some(0))));
    let one: Matrix = y
        .view()
        .to_dense(usize::MAX)
        .unwrap()
        .select(Axis(1), &[0])
        .into();
    let alone = |trees_ahead| {
        let setup = Setup::from(set(Algorithm::Gbmort, trees_ahead));
        setup.fit(x.view(), one.view()).unwrap().model
    };
    assert_eq!(alone(None), alone(Some(0)));
    assert_ne!(alone(None), alone(Some(4)));
    assert_eq!(
        fit(set(Algorithm::SingleTarget, None)),
        fit(set(Algorithm::SingleTarget, Some(0)))
    );
    let refused = |params: BoostingParams| Setup::from(params).fit(x.view(), y.view()).unwrap_err();
    for params in [
        set(Algorithm::SingleTarget, Some(1)),
        set(Algorithm::Gbmort, Some(65)),
    ] {
        let error = refused(params);
        assert!(matches!(error, EnsembleError::Parameter(_)), "{error}");
        assert!(error.to_string().contains("trees_ahead"), "{error}");
    }
}
