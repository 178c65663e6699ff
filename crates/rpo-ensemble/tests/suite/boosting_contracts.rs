//! Edge cases of boosting: degenerate training sets, stopping, and input that is refused.

use super::boosting_common::{PAPER_LOSSES, Setup, try_fit};
use super::common::{csr, labelled, layouts, regression};
use ndarray::{Array2, ArrayView2, Axis, array};
use rpo_core::{
    CheckParams, Learner, Matrix, MatrixError, MatrixView, Mismatch, Observers, ParameterError, Predictor,
    Seed, TooFew, TreeEnsemble, WeightError,
};
use rpo_ensemble::boosting::{
    Algorithm, BoostingOptions, BoostingParams, History, LineSearch, Loss, LossKind, Progress, Stages,
    StepScope, StepValues, Stop, TrainingForm, Validation,
};
use rpo_ensemble::{EnsembleError, MaxFeatures, ProjectionChoice, ProjectionScope};
use rpo_projections::{Components, LinearMap, Projection, ProjectionError, ProjectionInput, ProjectionKind};
use rpo_tree::TreeError;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns small parameters for every algorithm with every loss.
fn every_kind() -> Vec<BoostingParams> {
    let kinds = |algorithm| {
        PAPER_LOSSES.map(|loss| BoostingParams {
            loss: Some(loss),
            iterations: 4,
            ..BoostingParams::paper(algorithm)
        })
    };
    Algorithm::ALL.into_iter().flat_map(kinds).collect()
}

#[test]
fn degenerate_sets_are_learnt() {
    let (wide, labels) = labelled(1, 12);
    let twice = ndarray::concatenate![ndarray::Axis(1), wide, wide];
    for params in every_kind() {
        // One row; equal rows; constant outputs; one feature; a feature of missing values alone; duplicated
        // columns; fewer rows than two leaves need.
        for (x, y) in [
            (array![[1.0, 2.0]], array![[1.0, 0.0]]),
            (Array2::ones((5, 1)), Array2::ones((5, 3))),
            (array![[1.0], [2.0], [3.0]], Array2::zeros((3, 2))),
            (array![[1.0], [2.0], [3.0]], array![[0.0], [1.0], [1.0]]),
            (
                Array2::from_elem((4, 2), f32::NAN),
                array![[0.0], [1.0], [0.0], [1.0]],
            ),
            (twice.clone(), labels.clone()),
        ] {
            for y in layouts(&y) {
                for params in [
                    params.clone(),
                    BoostingParams {
                        min_samples_leaf: Some(50),
                        ..params.clone()
                    },
                ] {
                    let fit = Setup::from(params.clone()).fit((&x).into(), y.view()).unwrap();
                    let found = fit.model.predict((&x).into()).unwrap();
                    assert!(found.iter().all(|v| v.is_finite()), "{params:?}");
                    assert_eq!(fit.model.n_steps(), 4);
                    let losses = fit.history.training_loss;
                    assert!(
                        losses.windows(2).all(|w| w[1] <= w[0] * (1.0 + 1e-9)),
                        "{params:?} {losses:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn constant_outputs_are_predicted() {
    let (x, _) = labelled(2, 30);
    for algorithm in Algorithm::ALL {
        let square = BoostingParams {
            iterations: 5,
            ..BoostingParams::paper(algorithm)
        };
        let y = Array2::from_elem((30, 3), 2.5);
        let found = try_fit(square.clone(), &x, &y)
            .unwrap()
            .predict((&x).into())
            .unwrap();
        assert!(found.iter().all(|v| (v - 2.5).abs() < 1e-6));
        for value in [0.0, 1.0] {
            let logistic = BoostingParams {
                loss: Some(LossKind::Logistic),
                ..square.clone()
            };
            let y = Array2::from_elem((30, 3), value);
            let found = try_fit(logistic, &x, &y).unwrap().predict((&x).into()).unwrap();
            // At least as close to 0 or 1 as the initial constant, which is 1/60 away.
            assert!(
                found.iter().all(|v| (v - value).abs() <= 1.0 / 60.0 + 1e-6),
                "{algorithm:?}: {found}"
            );
        }
    }
}

/// Residuals of perfectly learned labels shrink until they vanish; long before that, a step along a tree of such
/// numbers exceeds the range of `f32`.
#[test]
fn labels_without_exception_are_learnt_for_long() {
    let x = array![[0.1, 0.9], [0.3, 0.2], [0.2, 0.5]];
    for (y, rate) in [
        (array![[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]], 0.1),
        (array![[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], 1.0),
    ] {
        for params in every_kind() {
            for line_search in [LineSearch::Exact, LineSearch::Newton] {
                for form in [TrainingForm::Auto, TrainingForm::Scores, TrainingForm::Odds] {
                    let params = BoostingParams {
                        iterations: 150,
                        learning_rate: rate,
                        ..params.clone()
                    };
                    let params = BoostingParams {
                        line_search: Some(line_search),
                        ..params
                    };
                    let model = match Setup::from(params.clone())
                        .form(form)
                        .fit((&x).into(), (&y).into())
                    {
                        // Newton steps need a loss with curvature, odds need the logistic loss and several outputs.
                        Err(EnsembleError::Parameter(ParameterError::Conflict { .. })) => continue,
                        fit => fit.unwrap().model,
                    };
                    let found = model.predict((&x).into()).unwrap();
                    assert!(
                        found.iter().zip(&y).all(|(f, y)| (f - y).abs() < 0.2),
                        "{params:?} {found}"
                    );
                }
            }
        }
    }
}

#[test]
fn rows_without_weight_do_not_exist() {
    let (x, y) = labelled(3, 40);
    let weights: Vec<f32> = (0..40).map(|i| f32::from(u8::from(i < 30))).collect();
    for params in every_kind() {
        let params = Setup::from(params);
        let options = BoostingOptions {
            weights: Some(&weights),
            ..Default::default()
        };
        let weighted = params.fit_with((&x).into(), (&y).into(), options).unwrap().model;
        let (fewer_x, fewer_y) = (x.slice(ndarray::s![..30, ..]), y.slice(ndarray::s![..30, ..]));
        let fewer = params.fit(fewer_x.into(), fewer_y.into()).unwrap().model;
        assert_eq!(weighted.trees(), fewer.trees());
        assert_eq!(weighted.initial(), fewer.initial());
    }
}

#[test]
fn nothing_to_predict_is_nothing() {
    let (x, y) = labelled(4, 20);
    for params in every_kind() {
        let model = try_fit(params, &x, &y).unwrap();
        for x in layouts(&Array2::zeros((0, 5))) {
            assert_eq!(model.predict(x.view()).unwrap().dim(), (0, 8));
            assert_eq!(model.predict_top_k(x.view(), 3).unwrap().shape(), (0, 8));
        }
    }
}

#[test]
fn the_largest_predictions() {
    let (x, y) = labelled(5, 50);
    for params in every_kind() {
        for leaf_values in [None, Some(2)] {
            let relabelled = BoostingParams {
                iterations: 4,
                leaf_values,
                ..BoostingParams::paper(Algorithm::GbrtRelabelRpo)
            };
            for model in [
                try_fit(params.clone(), &x, &y).unwrap(),
                try_fit(relabelled, &x, &y).unwrap(),
            ] {
                let all = model.predict((&x).into()).unwrap();
                let scores = model.scores((&x).into()).unwrap();
                for k in [1, 3, 20] {
                    let top = MatrixView::Sparse(model.predict_top_k((&x).into(), k).unwrap().view())
                        .to_dense(usize::MAX)
                        .unwrap();
                    for ((all, scores), top) in all.rows().into_iter().zip(scores.rows()).zip(top.rows()) {
                        // Zeros are scores like others where one is negative.
                        let is_signed = all.iter().any(|score| *score < 0.0);
                        let mut order: Vec<usize> = (0..8).filter(|&j| is_signed || all[j] != 0.0).collect();
                        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
                        order.truncate(k);
                        for j in 0..8 {
                            let expected = if order.contains(&j) { all[j] } else { 0.0 };
                            assert_eq!(top[j], expected, "{top} {all}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn observers_see_and_stop() {
    let (x, y) = labelled(6, 40);
    for params in every_kind() {
        let params = Setup::from(params);
        let whole = params.fit((&x).into(), (&y).into()).unwrap();
        let mut seen = Vec::new();
        let mut on_progress = |progress: &Progress<'_>| {
            assert_eq!(*progress.model, whole.model.clone().truncate(progress.step));
            seen.push((progress.step, progress.training_loss));
            if progress.step == 3 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let mut history = History::default();
        let options = BoostingOptions {
            on_progress: Some(&mut on_progress),
            history: Some(&mut history),
            ..Default::default()
        };
        let stopped = params.params.fit_with((&x).into(), (&y).into(), options).unwrap();
        assert_eq!(stopped, whole.model.clone().truncate(3));
        assert_eq!(history.stop, Stop::Progress);
        assert_eq!(history.training_loss, whole.history.training_loss[..4]);
        assert_eq!(seen.iter().map(|p| p.0).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(
            seen.iter()
                .zip(&whole.history.training_loss[1..])
                .all(|(p, l)| p.1 == Some(*l))
        );
    }
}

/// A request to stop ends a fit before its next step, and comes too late after the last.
#[test]
fn a_fit_stops_between_steps() {
    let (x, y) = labelled(6, 40);
    for params in every_kind() {
        let stopped_after = |n: usize| {
            let made = AtomicUsize::new(0);
            let on_step = || {
                made.fetch_add(1, Ordering::Relaxed);
            };
            let stop = || made.load(Ordering::Relaxed) >= n;
            let observers = Observers {
                on_step: Some(&on_step),
                stop: Some(&stop),
            };
            let options = BoostingOptions {
                observers,
                ..Default::default()
            };
            let fitted = params.fit_with((&x).into(), (&y).into(), options);
            (fitted, made.into_inner())
        };
        assert_eq!(stopped_after(0), (Err(EnsembleError::Stopped), 0));
        assert_eq!(stopped_after(1), (Err(EnsembleError::Stopped), 1));
        let whole = params.fit((&x).into(), (&y).into());
        assert_eq!(stopped_after(4), (whole, 4));
    }
}

#[test]
fn validation_finds_the_best_step() {
    let ((x, y), (x_valid, y_valid)) = (labelled(7, 60), labelled(8, 40));
    for algorithm in Algorithm::ALL {
        let params = BoostingParams {
            loss: Some(LossKind::Logistic),
            learning_rate: 1.0,
            iterations: 25,
            ..BoostingParams::paper(algorithm)
        };
        let params = Setup::from(params);
        let whole = params.fit((&x).into(), (&y).into()).unwrap().model;
        let metric = |p: ArrayView2<'_, f32>| -f64::from((&p - &y_valid).mapv(|v| v * v).sum());
        let expected: Vec<f64> = (0..=25)
            .map(|m| {
                metric(
                    whole
                        .clone()
                        .truncate(m)
                        .predict((&x_valid).into())
                        .unwrap()
                        .view(),
                )
            })
            .collect();
        let best = |values: &[f64], steps: &[usize]| {
            let best = values.iter().fold(f64::NEG_INFINITY, |m, v| m.max(*v));
            steps[values.iter().position(|v| *v == best).unwrap()]
        };
        for (patience, every) in [(None, 1), (None, 4), (Some(3), 1), (Some(6), 2), (Some(5), 10)] {
            let validation = Some(Validation {
                x: (&x_valid).into(),
                metric: &metric,
                patience,
                every,
            });
            let options = BoostingOptions {
                validation,
                ..Default::default()
            };
            let fit = params.fit_with((&x).into(), (&y).into(), options).unwrap();
            let (steps, values): (Vec<usize>, Vec<f64>) = fit.history.validation.iter().copied().unzip();
            assert!(steps.iter().zip(&values).all(|(&m, v)| *v == expected[m]));
            assert_eq!(
                fit.model,
                whole.clone().truncate(best(&values, &steps)),
                "{algorithm:?}"
            );
            let last = *steps.last().unwrap();
            match fit.history.stop {
                Stop::Iterations => assert_eq!(last, 25),
                Stop::Patience => assert!(last - fit.model.n_steps() >= patience.unwrap()),
                Stop::Progress => panic!("nobody ends it"),
            }
            let steps_made = fit.history.training_loss.len() - 1;
            assert!(patience.is_none_or(|p| steps_made < fit.model.n_steps() + p + every));
            assert!(patience.is_some() || steps_made == 25);
        }
        // A metric that is always NaN selects no step.
        let nan = |_: ArrayView2<'_, f32>| f64::NAN;
        let validation = Some(Validation {
            x: (&x_valid).into(),
            metric: &nan,
            patience: Some(5),
            every: 1,
        });
        let options = BoostingOptions {
            validation,
            ..Default::default()
        };
        assert_eq!(
            params
                .fit_with((&x).into(), (&y).into(), options)
                .unwrap()
                .model
                .n_steps(),
            5
        );
    }
}

#[test]
fn parameters_are_checked_at_their_bounds() {
    let refused = |error: EnsembleError| match error {
        EnsembleError::Parameter(error) | EnsembleError::Tree(TreeError::Parameter(error)) => error.name(),
        EnsembleError::Projection(_) => "projection",
        other => panic!("{other:?}"),
    };
    let name = |params: BoostingParams| refused(params.check().unwrap_err());
    let base = || BoostingParams::paper(Algorithm::GbrtRelabelRpo);
    assert_eq!(
        name(BoostingParams {
            iterations: 0,
            ..base()
        }),
        "iterations"
    );
    for bad in [0.0, -0.1, 1.0 + f64::EPSILON, f64::NAN, f64::INFINITY] {
        assert_eq!(
            name(BoostingParams {
                learning_rate: bad,
                ..base()
            }),
            "learning_rate"
        );
        assert_eq!(
            name(BoostingParams {
                subsample: Some(bad),
                ..base()
            }),
            "subsample"
        );
    }
    assert_eq!(
        name(BoostingParams {
            max_features: MaxFeatures::Count(0),
            ..base()
        }),
        "max_features"
    );
    assert_eq!(
        name(BoostingParams {
            max_leaves: Some(0),
            ..base()
        }),
        "max_leaves"
    );
    assert_eq!(
        name(BoostingParams {
            min_samples_leaf: Some(0),
            ..base()
        }),
        "min_samples_leaf"
    );
    assert_eq!(
        name(BoostingParams {
            projection: Some(ProjectionKind::Gaussian.into()),
            components: Some(Components::Exact(0)),
            ..base()
        }),
        "projection"
    );
    assert_eq!(
        name(BoostingParams {
            leaf_values: Some(0),
            ..base()
        }),
        "leaf_values"
    );
    assert_eq!(
        name(BoostingParams {
            loss: Some(LossKind::Absolute),
            line_search: Some(LineSearch::Newton),
            ..base()
        }),
        "line_search"
    );
    let (x, y) = labelled(1, 9);
    let logistic = BoostingParams {
        loss: Some(LossKind::Logistic),
        ..base()
    };
    for (params, form) in [
        (base(), TrainingForm::Odds),
        (logistic.clone(), TrainingForm::Factored),
        (
            BoostingParams::paper(Algorithm::SingleTarget),
            TrainingForm::Factored,
        ),
        (
            BoostingParams {
                step_scope: Some(StepScope::Leaf),
                ..logistic.clone()
            },
            TrainingForm::Odds,
        ),
    ] {
        let refusal = try_fit(Setup::from(params).form(form), &x, &y).unwrap_err();
        assert_eq!(refused(refusal), "training_form");
    }
    let options = BoostingOptions {
        loss: Some(Arc::new(Positive)),
        ..Default::default()
    };
    let refusal = logistic.fit_with((&x).into(), (&y).into(), options).unwrap_err();
    assert_eq!(refused(refusal), "loss");
    let family: Arc<dyn Projection> = Arc::new(ProjectionKind::Gaussian);
    let options = BoostingOptions {
        projection: Some(family),
        ..Default::default()
    };
    let plain = BoostingParams::paper(Algorithm::Gbmort);
    let refusal = plain.fit_with((&x).into(), (&y).into(), options).unwrap_err();
    assert_eq!(refused(refusal), "projection");
    assert_eq!(
        name(BoostingParams {
            projection: Some(ProjectionChoice::None),
            ..base()
        }),
        "projection"
    );
    let embedding = Some(ProjectionKind::LabelEmbedding.into());
    assert_eq!(
        name(BoostingParams {
            projection: embedding,
            ..BoostingParams::paper(Algorithm::GbrtRpo)
        }),
        "projection"
    );
    let gaussian = |params: BoostingParams, q| BoostingParams {
        projection: Some(ProjectionKind::Gaussian.into()),
        components: Some(Components::Exact(q)),
        ..params
    };
    assert_eq!(
        name(gaussian(BoostingParams::paper(Algorithm::GbrtRpo), 2)),
        "components"
    );
    let shared = BoostingParams {
        projection_scope: Some(ProjectionScope::Shared),
        ..BoostingParams::paper(Algorithm::GbrtRpo)
    };
    assert_eq!(name(shared), "projection_scope");
    assert_eq!(
        name(gaussian(BoostingParams::paper(Algorithm::Gbmort), 2)),
        "projection"
    );
    assert_eq!(
        name(BoostingParams {
            step_scope: Some(StepScope::Leaf),
            ..BoostingParams::paper(Algorithm::GbrtRpo)
        }),
        "step_scope"
    );
    assert_eq!(
        name(BoostingParams {
            leaf_values: Some(3),
            ..BoostingParams::paper(Algorithm::GbrtRpo)
        }),
        "leaf_values"
    );
    for good in [1.0, f64::MIN_POSITIVE] {
        assert!(
            BoostingParams {
                learning_rate: good,
                subsample: Some(good),
                iterations: 1,
                ..base()
            }
            .check()
            .is_ok()
        );
    }
}

#[test]
fn training_sets_are_checked() {
    let (x, y) = labelled(9, 10);
    let refusal = |params: &BoostingParams, x: &Array2<f32>, y: &Array2<f32>| {
        try_fit(params.clone(), x, y).unwrap_err()
    };
    for params in every_kind() {
        let mut infinite = y.clone();
        infinite[[3, 2]] = f32::INFINITY;
        let expected = MatrixError::NonFinite {
            row: 3,
            column: 2,
            value: f32::INFINITY,
        };
        assert_eq!(refusal(&params, &x, &infinite), EnsembleError::Outputs(expected));
        let mut bad_x = x.clone();
        bad_x[[1, 0]] = f32::NEG_INFINITY;
        assert!(matches!(
            refusal(&params, &bad_x, &y),
            EnsembleError::Tree(TreeError::InfiniteFeature {
                sample: 1,
                column: 0,
                ..
            })
        ));
        let short = y.slice(ndarray::s![..9, ..]).to_owned();
        assert!(matches!(
            refusal(&params, &x, &short),
            EnsembleError::Mismatch(Mismatch {
                expected: 10,
                given: 9,
                ..
            })
        ));
        assert!(matches!(
            refusal(&params, &x, &Array2::zeros((10, 0))),
            EnsembleError::NoOutputs
        ));
        assert!(matches!(
            refusal(&params, &Array2::zeros((0, 5)), &Array2::zeros((0, 8))),
            EnsembleError::Tree(TreeError::Empty { .. })
        ));
        let mut unknown = y.clone();
        unknown.column_mut(4).fill(f32::NAN);
        assert!(matches!(
            refusal(&params, &x, &unknown),
            EnsembleError::Outputs(MatrixError::NonFinite {
                row: 0,
                column: 4,
                ..
            })
        ));
        let options = BoostingOptions {
            missing_outputs: true,
            ..Default::default()
        };
        let found = params.fit_with((&x).into(), (&unknown).into(), options);
        assert_eq!(found.unwrap_err(), EnsembleError::NoTarget { output: 4 });
    }
    let mut other = y.clone();
    other[[2, 5]] = -1.0;
    let expected = EnsembleError::Target {
        sample: 2,
        output: 5,
        value: -1.0,
        expected: "0 or 1",
    };
    let logistic = BoostingParams {
        loss: Some(LossKind::Logistic),
        ..BoostingParams::paper(Algorithm::Gbmort)
    };
    assert_eq!(refusal(&logistic, &x, &other), expected);
}

/// A loss that accepts only positive targets: zeros that are not stored are targets too.
#[derive(Debug)]
struct Positive;

impl Loss for Positive {
    fn value(&self, y: f64, score: f64) -> f64 {
        (y - score).abs()
    }

    fn residual(&self, y: f64, score: f64) -> f64 {
        (y - score).signum()
    }

    fn refuses(&self, y: f64) -> Option<&'static str> {
        (y <= 0.0).then_some("positive")
    }
}

#[test]
fn zeros_that_are_not_stored_are_targets() {
    let (x, y) = (array![[1.0], [2.0]], array![[1.0, 2.0, 3.0], [1.0, 0.0, 1.0]]);
    let params = BoostingParams::paper(Algorithm::Gbmort);
    for y in layouts(&y) {
        let options = BoostingOptions {
            loss: Some(Arc::new(Positive)),
            ..Default::default()
        };
        let found = params.fit_with((&x).into(), y.view(), options).unwrap_err();
        let expected = EnsembleError::Target {
            sample: 1,
            output: 1,
            value: 0.0,
            expected: "positive",
        };
        assert_eq!(found, expected);
    }
}

#[test]
fn options_are_checked() {
    let (x, y) = labelled(10, 10);
    let params = BoostingParams {
        iterations: 2,
        ..BoostingParams::paper(Algorithm::Gbmort)
    };
    let refusal =
        |options: BoostingOptions<'_>| params.fit_with((&x).into(), (&y).into(), options).unwrap_err();
    for (weights, expected) in [
        (vec![0.0; 10], WeightError::AllZero),
        (
            [vec![1.0; 9], vec![-1.0]].concat(),
            WeightError::OutOfRange {
                sample: 9,
                value: -1.0,
            },
        ),
    ] {
        let options = BoostingOptions {
            weights: Some(&weights),
            ..Default::default()
        };
        assert_eq!(refusal(options), EnsembleError::Weight(expected));
    }
    let mut cells = Array2::ones((10, 8));
    cells[[7, 3]] = f32::NAN;
    let options = BoostingOptions {
        cell_weights: Some(cells.view()),
        ..Default::default()
    };
    assert!(matches!(
        refusal(options),
        EnsembleError::CellWeight {
            sample: 7,
            output: 3,
            ..
        }
    ));
    let metric = |_: ArrayView2<'_, f32>| 0.0;
    for (rows, columns, patience, every, expected) in [
        (0, 5, None, 1, "validation samples"),
        (3, 4, None, 1, "features"),
        (3, 5, Some(0), 1, "patience"),
        (3, 5, None, 0, "every"),
    ] {
        let valid = Array2::zeros((rows, columns));
        let validation = Some(Validation {
            x: (&valid).into(),
            metric: &metric,
            patience,
            every,
        });
        let options = BoostingOptions {
            validation,
            ..Default::default()
        };
        match refusal(options) {
            EnsembleError::Parameter(ParameterError::OutOfRange { name, .. }) => assert_eq!(name, expected),
            EnsembleError::Mismatch(Mismatch { what, .. }) | EnsembleError::TooFew(TooFew { what, .. }) => {
                assert_eq!(what, expected);
            }
            other => panic!("{other}"),
        }
    }
    let other = try_fit(
        BoostingParams {
            loss: Some(LossKind::Logistic),
            ..BoostingParams::paper(Algorithm::Gbmort)
        },
        &x,
        &y,
    )
    .unwrap();
    let options = BoostingOptions {
        start: Some(&other),
        ..Default::default()
    };
    assert!(matches!(refusal(options), EnsembleError::Continue(_)));
}

#[test]
fn training_beyond_the_budget_is_refused() {
    let (x, y) = labelled(11, 50);
    let limited = || BoostingOptions {
        memory_limit: Some(100),
        ..Default::default()
    };
    for algorithm in Algorithm::ALL {
        for loss in PAPER_LOSSES {
            let params = BoostingParams {
                loss: Some(loss),
                ..BoostingParams::paper(algorithm)
            };
            let found = params.fit_with((&x).into(), (&y).into(), limited());
            assert!(
                matches!(found, Err(EnsembleError::Training(_))),
                "{algorithm:?} {loss}"
            );
        }
    }
    // Odds take four bytes each, and those of a sample are padded to eight.
    let params = BoostingParams {
        iterations: 2,
        loss: Some(LossKind::Logistic),
        ..BoostingParams::paper(Algorithm::GbrtRelabelRpo)
    };
    let bytes = y.nrows() * y.ncols().next_multiple_of(8) * 4;
    for (limit, is_enough) in [(bytes, true), (bytes - 1, false)] {
        let options = BoostingOptions {
            training_form: TrainingForm::Odds,
            memory_limit: Some(limit),
            ..Default::default()
        };
        let found = params.fit_with((&x).into(), (&y).into(), options);
        assert_eq!(found.is_ok(), is_enough, "{limit} bytes");
    }
    // Without trees ahead there is a target of 4 bytes per sample, and with them two for each.
    let projected = |trees_ahead, limit| {
        let (wide, params) = (
            csr(&Array2::<f32>::eye(50)),
            BoostingParams {
                iterations: 2,
                trees_ahead,
                ..BoostingParams::from(Algorithm::GbrtRelabelRpo)
            },
        );
        let options = BoostingOptions {
            training_form: TrainingForm::Factored,
            memory_limit: Some(limit),
            ..Default::default()
        };
        params
            .fit_with((&x).into(), MatrixView::Sparse(wide.view()), options)
            .is_ok()
    };
    // The projection itself has a row of 50 coefficients.
    for (trees_ahead, bytes) in [(None, 50 * 2 * 2 * 4), (Some(0), (50 + 50) * 4)] {
        assert!(
            projected(trees_ahead, bytes) && !projected(trees_ahead, bytes - 1),
            "{trees_ahead:?}"
        );
    }
    // Single targets: the output and its score, a gradient and a second derivative.
    let single = |limit| {
        let params = BoostingParams {
            iterations: 2,
            loss: Some(LossKind::Logistic),
            ..BoostingParams::from(Algorithm::SingleTarget)
        };
        let options = BoostingOptions {
            memory_limit: Some(limit),
            ..Default::default()
        };
        params.fit_with((&x).into(), (&y).into(), options).is_ok()
    };
    let bytes = y.len() * (4 + 8 + 4 + 4);
    assert!(single(bytes) && !single(bytes - 1));
    // Validation samples have scores and predictions.
    let validated = |limit| {
        let x_valid = x.select(Axis(0), &[0; 400]);
        let metric = |_: ArrayView2<'_, f32>| 0.0;
        let params = BoostingParams {
            iterations: 2,
            ..BoostingParams::from(Algorithm::Gbmort)
        };
        let options = BoostingOptions {
            validation: Some(Validation {
                x: (&x_valid).into(),
                metric: &metric,
                patience: None,
                every: 1,
            }),
            memory_limit: Some(limit),
            ..Default::default()
        };
        params.fit_with((&x).into(), (&y).into(), options).map(|_| ())
    };
    let bytes = 400 * y.ncols() * 12;
    assert_eq!(validated(bytes), Ok(()));
    assert!(matches!(validated(bytes - 1), Err(EnsembleError::Memory(_))));
    // The square loss on sparse outputs needs no n x d array, which would take 1,600 bytes.
    let params = BoostingParams {
        iterations: 3,
        ..BoostingParams::paper(Algorithm::GbrtRpo)
    };
    let sparse = csr(&y);
    let options = BoostingOptions {
        memory_limit: Some(1000),
        ..Default::default()
    };
    let found = params.fit_with((&x).into(), MatrixView::Sparse(sparse.view()), options);
    assert!(found.is_ok());
    let model = try_fit(
        BoostingParams {
            iterations: 2,
            ..BoostingParams::paper(Algorithm::Gbmort)
        },
        &x,
        &y,
    )
    .unwrap();
    assert!(matches!(
        model.predict_with_limit((&x).into(), 100),
        Err(EnsembleError::Predictions(_))
    ));
    assert!(matches!(
        model.predict_top_k((&x).into(), 0),
        Err(EnsembleError::Parameter(ParameterError::OutOfRange {
            name: "k",
            ..
        }))
    ));
    let narrow = x.slice(ndarray::s![.., ..4]);
    assert!(matches!(
        model.predict(narrow.into()),
        Err(EnsembleError::Mismatch(Mismatch {
            expected: 5,
            given: 4,
            ..
        }))
    ));
}

#[test]
fn forms_that_do_not_fit_the_data_are_refused() {
    let (x, y) = labelled(12, 20);
    let factored = Setup::from(BoostingParams::paper(Algorithm::GbrtRpo)).form(TrainingForm::Factored);
    let refusal = try_fit(factored, &x, &y).unwrap_err();
    assert!(matches!(refusal, EnsembleError::Form { form: "factored", .. }));
    let mut holes = y.clone();
    holes[[0, 0]] = f32::NAN;
    let odds = BoostingParams {
        loss: Some(LossKind::Logistic),
        ..BoostingParams::paper(Algorithm::GbrtRpo)
    };
    let options = BoostingOptions {
        missing_outputs: true,
        training_form: TrainingForm::Odds,
        ..Default::default()
    };
    let refusal = odds.fit_with((&x).into(), (&holes).into(), options).unwrap_err();
    assert!(matches!(refusal, EnsembleError::Form { form: "odds", .. }));
}

/// The loss is computed only if it is requested; the model does not depend on this.
#[test]
fn the_model_is_the_same_whether_the_loss_is_read() {
    let (x, y) = labelled(14, 40);
    for params in every_kind() {
        let mut forms = vec![TrainingForm::Scores];
        if params.loss == Some(LossKind::Logistic) && params.algorithm != Algorithm::SingleTarget {
            forms.push(TrainingForm::Odds);
        }
        for training_form in forms {
            let fit = |history| {
                let options = BoostingOptions {
                    training_form,
                    history,
                    ..Default::default()
                };
                params.fit_with((&x).into(), (&y).into(), options).unwrap()
            };
            let mut history = History::default();
            assert_eq!(fit(Some(&mut history)), fit(None), "{params:?}");
            assert!(history.training_loss.iter().all(|loss| *loss > 0.0), "{params:?}");
        }
    }
}

/// A projection family whose first maps are 0.
#[derive(Debug)]
struct MostlyZero(std::sync::atomic::AtomicUsize, usize);

impl Projection for MostlyZero {
    fn fit(
        &self,
        data: ProjectionInput<'_>,
        m: usize,
        seed: rpo_core::Seed,
    ) -> Result<Box<dyn LinearMap>, ProjectionError> {
        let draw = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let value = f32::from(u8::from(draw >= self.1));
        super::common::Given(Array2::from_elem((m, data.outputs.n_cols()), value)).fit(data, m, seed)
    }
}

#[test]
fn projections_of_zero_are_drawn_again() {
    let (x, y) = labelled(13, 30);
    let with = |n_zero| {
        let family = MostlyZero(std::sync::atomic::AtomicUsize::new(0), n_zero);
        let params = BoostingParams {
            iterations: 3,
            ..BoostingParams::paper(Algorithm::GbrtRpo)
        };
        try_fit(Setup::from(params).projection(Arc::new(family), 1), &x, &y)
    };
    assert_eq!(with(7).unwrap().trees(), with(0).unwrap().trees());
    assert_eq!(
        with(usize::MAX).unwrap_err(),
        EnsembleError::ZeroProjection { step: 0 }
    );
}

/// The next step starts from truncated leaf vectors, so that the reported loss is that of the model.
#[test]
fn truncated_leaves_are_accounted_for() {
    let (x, y) = regression(15, 60);
    for algorithm in [Algorithm::Gbmort, Algorithm::GbrtRelabelRpo] {
        let params = BoostingParams {
            leaf_values: Some(2),
            iterations: 30,
            ..BoostingParams::paper(algorithm)
        };
        let fit = Setup::from(params).fit((&x).into(), (&y).into()).unwrap();
        for tree in fit.model.trees() {
            let StepValues::Sparse(values) = &tree.values else {
                panic!("kept in part")
            };
            assert!(values.nnz() <= 2 * values.rows());
        }
        let error = &y - &fit.model.predict((&x).into()).unwrap();
        let loss = f64::from(error.mapv(|v| 0.5 * v * v).sum()) / 60.0;
        let found = *fit.history.training_loss.last().unwrap();
        assert!((loss - found).abs() < 1e-5 * (1.0 + loss), "{loss} {found}");
        assert!(found < 0.8 * fit.history.training_loss[0]);
    }
}

#[test]
fn stages_are_the_predictions_of_truncated_models() {
    let (x, y) = labelled(1, 40);
    let x = MatrixView::from(&x);
    for params in every_kind() {
        let model = Setup::from(params.clone()).fit(x, (&y).into()).unwrap().model;
        let of_steps = |m| model.clone().truncate(m).predict(x).unwrap();
        let stages: Result<Vec<_>, _> = Stages::new(&model, x.to_owned()).unwrap().collect();
        let stages = stages.unwrap();
        assert_eq!(stages.len(), 4);
        for (m, predictions) in (1..).zip(stages) {
            assert_eq!(predictions, of_steps(m), "{params:?}");
        }
    }
}

#[test]
fn stages_take_samples_with_the_features_of_the_model() {
    let (x, y) = labelled(1, 20);
    let params = BoostingParams {
        iterations: 2,
        ..BoostingParams::from(Algorithm::Gbmort)
    };
    let model = params.fit((&x).into(), (&y).into()).unwrap();
    let narrow = Matrix::from(x.slice(ndarray::s![.., 1..]).to_owned());
    match Stages::new(&model, &narrow) {
        Err(EnsembleError::Mismatch(mismatch)) => assert_eq!(mismatch.what, "features"),
        other => panic!("{other:?}"),
    }
}

/// By default trees have more leaves for more samples, and fewer for labels than for numbers. Samples of weight 0 do
/// not count.
#[test]
fn the_default_number_of_leaves_follows_the_samples() {
    let n_leaves = |n: usize, n_absent: usize, params: BoostingParams| {
        let x = Array2::from_shape_fn((n + n_absent, 1), |(i, _)| i as f32);
        // Every split has a gain, however many samples are left.
        let y = x.mapv(|v| (v / 7.0) % 2.0).mapv(f32::floor);
        let weights: Vec<f32> = (0..n + n_absent).map(|i| f32::from(u8::from(i < n))).collect();
        let options = BoostingOptions {
            weights: Some(&weights),
            ..BoostingOptions::default()
        };
        let model = params.fit_with((&x).into(), (&y).into(), options).unwrap();
        model.trees()[0].structure.n_leaves()
    };
    for algorithm in [Algorithm::Gbmort, Algorithm::SingleTarget] {
        let with = |loss| BoostingParams {
            iterations: 1,
            loss: Some(loss),
            ..BoostingParams::from(algorithm)
        };
        for (n, of_labels, of_numbers) in [(500, 8, 8), (2400, 12, 24), (13_000, 64, 64)] {
            assert_eq!(n_leaves(n, 0, with(LossKind::Logistic)), of_labels);
            assert_eq!(n_leaves(n, 0, with(LossKind::Square)), of_numbers);
        }
        assert_eq!(n_leaves(2400, 800, with(LossKind::Logistic)), 12);
        let paper = BoostingParams {
            iterations: 1,
            ..BoostingParams::paper(algorithm)
        };
        assert_eq!(n_leaves(2400, 0, paper), 8);
    }
}

/// Also with fewer bins than values, and where most values are 0.
#[test]
fn the_layout_of_features_does_not_change_a_model() {
    let unit =
        |i: usize, j: usize| (Seed::new(8).child(i as u64).hash(j as u64) >> 40) as f32 / (1 << 24) as f32;
    let x = Array2::from_shape_fn((1200, 3), |(i, j)| match unit(i, j) {
        v if v < 0.3 * j as f32 => 0.0,
        v => v - 0.7,
    });
    let y = Array2::from_shape_fn((1200, 2), |(i, j)| x[[i, j]] - x[[i, 2]] + 0.1 * unit(i, 9 + j));
    let sparse = MatrixView::from(&x).to_csr();
    for algorithm in Algorithm::ALL {
        let params = BoostingParams {
            iterations: 3,
            ..BoostingParams::from(algorithm)
        };
        let dense = params.fit((&x).into(), (&y).into()).unwrap();
        assert_eq!(
            params
                .fit(MatrixView::Sparse(sparse.view()), (&y).into())
                .unwrap(),
            dense
        );
    }
}
