//! The Huber, quantile, Poisson and Tweedie losses, which are not in the paper, in whole models.

use super::boosting_common::{Setup, try_fit};
use super::common::{csr, on_threads, regression, uniform};
use ndarray::{Array2, array};
use rpo_core::{CheckParams, InverseLink, Matrix, ParameterError, Predictor};
use rpo_ensemble::EnsembleError;
use rpo_ensemble::boosting::{Algorithm, BoostingOptions, BoostingParams, LineSearch, LossKind, StepScope};

const LOSSES: [LossKind; 4] = [
    LossKind::Huber,
    LossKind::Quantile,
    LossKind::Poisson,
    LossKind::Tweedie,
];

fn has_curvature(loss: LossKind) -> bool {
    matches!(loss, LossKind::Poisson | LossKind::Tweedie)
}

/// Generates counts, some of them 0, whose means depend on a feature.
fn counts(seed: u64, n: usize) -> (Array2<f32>, Array2<f32>) {
    let (x, y) = regression(seed, n);
    let mut uniform = uniform(seed + 7);
    (
        x,
        y.mapv(|v| ((v - 10.0) * 3.0 * uniform() as f32).floor().max(0.0)),
    )
}

#[test]
fn exact_steps_never_grow_the_loss() {
    let (x, y) = counts(1, 50);
    for loss in LOSSES {
        for algorithm in Algorithm::ALL {
            let params = BoostingParams {
                loss: Some(loss),
                iterations: 12,
                learning_rate: 0.7,
                max_leaves: Some(4),
                ..BoostingParams::paper(algorithm)
            };
            let fit = Setup::from(params).fit((&x).into(), (&y).into()).unwrap();
            let losses = fit.history.training_loss;
            let grows = losses.windows(2).any(|pair| pair[1] > pair[0] * (1.0 + 1e-9));
            assert!(
                !grows && losses[12] < 0.98 * losses[0],
                "{loss} {algorithm:?}: {losses:?}"
            );
        }
    }
}

/// Targets in another unit, with δ in that unit, give the same model in that unit.
#[test]
fn huber_models_do_not_depend_on_the_unit() {
    let (x, y) = counts(3, 80);
    for algorithm in Algorithm::ALL {
        let predict = |unit: f32| {
            let params = BoostingParams {
                loss: Some(LossKind::Huber),
                huber_delta: Some(f64::from(unit)),
                iterations: 8,
                max_leaves: Some(4),
                ..BoostingParams::from(algorithm)
            };
            let y = y.mapv(|v| v * unit);
            let fit = Setup::from(params).fit((&x).into(), (&y).into()).unwrap();
            fit.model.predict((&x).into()).unwrap()
        };
        let expected = predict(1.0);
        for unit in [2.0_f32.powi(-100), 2.0_f32.powi(100)] {
            assert_eq!(predict(unit), expected.mapv(|v| v * unit), "{algorithm:?} {unit}");
        }
    }
}

#[test]
fn defaults_learn_with_weights_and_missing_targets_on_any_thread() {
    let (x, mut y) = counts(2, 80);
    y.indexed_iter_mut()
        .filter(|((i, j), _)| (i * 5 + j * 3) % 11 == 0)
        .for_each(|(_, v)| *v = f32::NAN);
    let y: Matrix = csr(&y).into();
    let weights: Vec<f32> = (0..80).map(|i| [1.0, 2.0, 0.5, 0.0][i % 4]).collect();
    for loss in LOSSES {
        for algorithm in Algorithm::ALL {
            let params = Setup::from(BoostingParams {
                loss: Some(loss),
                iterations: 15,
                ..BoostingParams::from(algorithm)
            });
            let fit = |threads| {
                on_threads(threads, || {
                    let options = BoostingOptions {
                        weights: Some(&weights),
                        missing_outputs: true,
                        ..BoostingOptions::default()
                    };
                    params.fit_with((&x).into(), y.view(), options).unwrap()
                })
            };
            let one = fit(1);
            assert_eq!(one, fit(3), "{loss} {algorithm:?}");
            let losses = &one.history.training_loss;
            assert!(losses[15] < 0.99 * losses[0], "{loss} {algorithm:?}: {losses:?}");
            let predicted = one.model.predict((&x).into()).unwrap();
            assert!(predicted.iter().all(|v| v.is_finite()));
            let scores = one.model.scores((&x).into()).unwrap();
            if has_curvature(loss) {
                assert_eq!(one.model.links()[0].link, InverseLink::Exponential);
                let pairs = predicted.iter().zip(&scores);
                assert!(
                    pairs
                        .clone()
                        .all(|(p, f)| *p > 0.0 && (p - f.exp()).abs() <= 1e-5 * p)
                );
            } else {
                assert_eq!(predicted, scores);
            }
        }
    }
}

/// A stump on two constant halves converges to the best constant of each half: means, quantiles, and the Huber
/// location.
#[test]
fn constants_are_those_of_the_losses() {
    let x = Array2::from_shape_fn((10, 1), |(i, _)| if i < 5 { 0.0 } else { 1.0 });
    let y = array![
        [0.0],
        [1.0],
        [2.0],
        [3.0],
        [100.0],
        [10.0],
        [11.0],
        [12.0],
        [13.0],
        [14.0]
    ];
    let check = |params: BoostingParams, expected: [f32; 2]| {
        let params = BoostingParams {
            iterations: 60,
            learning_rate: 1.0,
            max_leaves: Some(2),
            ..params
        };
        let found = try_fit(params.clone(), &x, &y)
            .unwrap()
            .predict((&x).into())
            .unwrap();
        for (found, expected) in [found[[0, 0]], found[[9, 0]]].into_iter().zip(expected) {
            assert!(
                (found - expected).abs() < 2e-3 * (1.0 + expected),
                "{params:?}: {found}"
            );
        }
    };
    let of = |loss| BoostingParams {
        loss: Some(loss),
        leaf_l2: has_curvature(loss).then_some(0.0),
        subsample: Some(1.0),
        min_samples_leaf: Some(1),
        ..BoostingParams::from(Algorithm::SingleTarget)
    };
    check(of(LossKind::Poisson), [21.2, 12.0]);
    check(of(LossKind::Tweedie), [21.2, 12.0]);
    let quantile = |level: f64| BoostingParams {
        quantile: Some(level.into()),
        ..of(LossKind::Quantile)
    };
    check(quantile(0.5), [2.0, 12.0]);
    check(quantile(0.7), [3.0, 13.0]);
    // Four residuals below δ and one above: Σ (y − c) over the four plus δ = 0.
    let huber = BoostingParams {
        huber_delta: Some(4.0),
        ..of(LossKind::Huber)
    };
    check(huber, [2.5, 12.0]);
}

/// Numbers of the events of a Poisson process before a time that depends on two features, and amounts that are
/// sums of as many exponential numbers.
fn events(seed: u64, n: usize) -> (Array2<f32>, [Array2<f32>; 2]) {
    let mut uniform = uniform(seed);
    let x = Array2::from_shape_fn((n, 6), |_| uniform() as f32);
    let mut exponential = || -uniform().max(1e-9).ln();
    let counts = Array2::from_shape_fn((n, 1), |(i, _)| {
        let mean = 0.1 * f64::from(3.0 * x[[i, 0]] + 1.5 * x[[i, 1]]).exp();
        let mut time = exponential();
        let mut count = 0.0;
        while time < mean {
            (count, time) = (count + 1.0, time + exponential());
        }
        count
    });
    let amounts = counts.mapv(|count| (0..count as usize).map(|_| 100.0 * exponential() as f32).sum());
    (x, [counts, amounts])
}

/// Leaves of few samples that are 0 must not move the means of new samples towards 0.
#[test]
fn totals_of_new_samples_are_near_the_truth() {
    let (x, train) = events(5, 1500);
    let (new_x, test) = events(6, 4000);
    let losses = [LossKind::Poisson, LossKind::Tweedie];
    for (loss, (y, truth)) in losses.into_iter().zip(train.iter().zip(&test)) {
        for algorithm in [
            Algorithm::SingleTarget,
            Algorithm::Gbmort,
            Algorithm::GbrtRelabelRpo,
        ] {
            let total = |params: BoostingParams| {
                let model = try_fit(params, &x, y).unwrap();
                let predicted = model.predict((&new_x).into()).unwrap();
                f64::from(predicted.sum() / truth.sum())
            };
            let params = BoostingParams {
                loss: Some(loss),
                ..BoostingParams::from(algorithm)
            };
            let limited = BoostingParams {
                subsample: Some(0.5),
                min_samples_leaf: Some(10),
                max_leaves: Some(4),
                ..params.clone()
            };
            let found = total(params.clone());
            assert!((found - 1.0).abs() < 0.1, "{loss} {algorithm:?}: {found}");
            assert_eq!(found, total(limited), "1.5 leaves are fewer than 4");
            let free = BoostingParams {
                subsample: Some(1.0),
                min_samples_leaf: Some(1),
                max_leaves: Some(15),
                ..params
            };
            let free = total(free);
            assert!(
                (found - 1.0).abs() < (free - 1.0).abs(),
                "{loss} {algorithm:?}: {found} {free}"
            );
        }
    }
}

#[test]
fn zeros_and_huge_counts_have_results() {
    let x = array![[0.0], [1.0], [2.0], [3.0]];
    for y in [
        Array2::zeros((4, 1)),
        array![[0.0], [0.0], [0.0], [1e6]],
        array![[1e-6], [1e6], [0.0], [3.0]],
    ] {
        for loss in LOSSES {
            for algorithm in Algorithm::ALL {
                let params = BoostingParams {
                    loss: Some(loss),
                    iterations: 50,
                    learning_rate: 1.0,
                    ..BoostingParams::from(algorithm)
                };
                let found = try_fit(params, &x, &y).unwrap().predict((&x).into()).unwrap();
                assert!(
                    found.iter().all(|v| v.is_finite()),
                    "{loss} {algorithm:?} {y}: {found}"
                );
            }
        }
    }
}

#[test]
fn parameters_and_targets_of_losses_are_checked() {
    let (x, y) = regression(3, 12);
    for loss in [LossKind::Poisson, LossKind::Tweedie] {
        let params = BoostingParams {
            loss: Some(loss),
            ..BoostingParams::from(Algorithm::Gbmort)
        };
        let error = try_fit(params, &x, &y.mapv(|v| v - 11.0)).unwrap_err();
        assert!(
            matches!(
                error,
                EnsembleError::Target {
                    expected: "at least 0",
                    ..
                }
            ),
            "{error:?}"
        );
    }
    let refused = |params: BoostingParams| match params.check().unwrap_err() {
        EnsembleError::Parameter(error) => error,
        other => panic!("{other:?}"),
    };
    type Change = fn(&mut BoostingParams, f64);
    let changes: [(&str, LossKind, Change, [f64; 4]); 3] = [
        (
            "huber_delta",
            LossKind::Huber,
            |p, v| p.huber_delta = Some(v),
            [0.0, -1.0, f64::NAN, f64::INFINITY],
        ),
        (
            "quantile",
            LossKind::Quantile,
            |p, v| p.quantile = Some(v.into()),
            [0.0, 1.0, f64::NAN, 1.5],
        ),
        (
            "tweedie_power",
            LossKind::Tweedie,
            |p, v| p.tweedie_power = Some(v),
            [1.0, 2.0, f64::NAN, 0.5],
        ),
    ];
    for (name, loss, change, bad) in changes {
        let with = |loss, value| {
            let mut params = BoostingParams {
                loss: Some(loss),
                ..BoostingParams::from(Algorithm::GbrtRelabelRpo)
            };
            change(&mut params, value);
            params
        };
        for value in bad {
            let error = refused(with(loss, value));
            assert!(matches!(error, ParameterError::OutOfRange { .. }));
            assert_eq!(error.name(), name);
        }
        let good = if name == "tweedie_power" { 1.9 } else { 0.9 };
        assert_eq!(with(loss, good).check(), Ok(()));
        let error = refused(with(LossKind::Square, good));
        assert!(matches!(error, ParameterError::Conflict { .. }));
        assert_eq!(error.name(), name);
    }
    // Without curvature there are no Newton steps, and their penalties are refused.
    for loss in [LossKind::Huber, LossKind::Quantile] {
        let params = BoostingParams {
            loss: Some(loss),
            step_scope: Some(StepScope::Leaf),
            ..BoostingParams::from(Algorithm::Gbmort)
        };
        assert_eq!(params.check(), Ok(()));
        let newton = BoostingParams {
            line_search: Some(LineSearch::Newton),
            ..params.clone()
        };
        assert_eq!(refused(newton).name(), "line_search");
        let penalized = BoostingParams {
            leaf_l2: Some(1.0),
            ..params
        };
        assert_eq!(refused(penalized).name(), "leaf_l2");
    }
}
