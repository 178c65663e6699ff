//! Invariants of boosting: relations between the algorithms, and invariance to data layout, threads and forms.
//!
//! Models store `f32`, so identities of real numbers hold to about 1e-6 here; training losses are `f64`.

use super::boosting_common::{Fitted, PAPER_LOSSES, Setup};
use super::common::{Given, csr, labelled, layouts, on_threads, regression, uniform};
use ndarray::{Array2, ArrayView2, Axis};
use rpo_core::{FeatureImportances, Matrix, Predictor, Seed, TreeEnsemble};
use rpo_ensemble::boosting::{
    Algorithm, Boosted, BoostingOptions, BoostingParams, LineSearch, LossKind, Stages, StepScope, StepValues,
    Stop, TrainingForm,
};
use rpo_ensemble::{MaxFeatures, OutputScaling, ProjectionScope};
use rpo_projections::{Components, LinearMap, Projection, ProjectionError, ProjectionInput, ProjectionKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn fit(setup: impl Into<Setup>, x: &Matrix, y: &Matrix) -> Fitted {
    setup.into().fit(x.view(), y.view()).unwrap()
}

fn scores(fit: &Fitted, x: &Matrix) -> Array2<f32> {
    fit.model.scores(x.view()).unwrap()
}

/// Returns the largest difference relative to the size of the compared values.
fn distance(a: ArrayView2<'_, f32>, b: ArrayView2<'_, f32>) -> f64 {
    assert_eq!(a.dim(), b.dim());
    let size = a.iter().fold(1.0_f64, |max, v| max.max(f64::from(v.abs())));
    let pairs = a.iter().zip(b).map(|(a, b)| f64::from((a - b).abs()));
    pairs.fold(0.0, f64::max) / size
}

/// Sets a projection by a given matrix.
fn given(params: BoostingParams, phi: Array2<f32>) -> Setup {
    let q = phi.nrows();
    Setup::from(params).projection(Arc::new(Given(phi)), q)
}

fn data(loss: LossKind, seed: u64, n: usize) -> (Matrix, Array2<f32>) {
    let (x, y) = if loss == LossKind::Logistic {
        labelled(seed, n)
    } else {
        regression(seed, n)
    };
    (x.into(), y)
}

/// With every algorithm, loss, projection and subsample.
#[test]
fn the_training_loss_never_grows() {
    for loss in PAPER_LOSSES {
        let (x, y) = data(loss, 1, 50);
        for algorithm in Algorithm::ALL {
            for (rate, subsample) in [(1.0, 1.0), (0.5, 0.7), (0.1, 1.0)] {
                let params = BoostingParams {
                    loss: Some(loss),
                    learning_rate: rate,
                    subsample: Some(subsample),
                    iterations: 15,
                    max_leaves: Some(4),
                    max_features: MaxFeatures::Sqrt,
                    ..BoostingParams::paper(algorithm)
                };
                let history = fit(params, &x, &y.clone().into()).history;
                let losses = history.training_loss;
                assert_eq!((losses.len(), history.stop), (16, Stop::Iterations));
                for pair in losses.windows(2) {
                    assert!(
                        pair[1] <= pair[0] * (1.0 + 1e-9),
                        "{loss} {algorithm:?} {rate}: {losses:?}"
                    );
                }
                assert!(
                    losses[15] < 0.98 * losses[0],
                    "{loss} {algorithm:?}: nothing is learnt"
                );
            }
        }
    }
}

/// Whole steps of Algorithm 3: the loss decreases as computed from the stored values.
#[test]
fn square_steps_take_off_what_they_promise() {
    let (x, y) = data(LossKind::Square, 2, 60);
    let rate = 0.3;
    let params = BoostingParams {
        learning_rate: rate,
        iterations: 10,
        ..BoostingParams::paper(Algorithm::GbrtRpo)
    };
    let fit = fit(params, &x, &y.clone().into());
    let n = y.nrows() as f64;
    for (tree, losses) in fit.model.trees().iter().zip(fit.history.training_loss.windows(2)) {
        let StepValues::Product { leaves, outputs } = &tree.values else {
            panic!("a step of Algorithm 3")
        };
        let of_row = tree.structure.apply(x.view()).unwrap();
        let squares: f64 = of_row
            .iter()
            .map(|&l| f64::from(leaves[l as usize]).powi(2))
            .sum();
        let rho: f64 = outputs.iter().map(|&v| (f64::from(v) / rate).powi(2)).sum();
        let expected = 0.5 * rate * (2.0 - rate) * rho * squares / n;
        assert!(
            (losses[0] - losses[1] - expected).abs() < 1e-6 * losses[0],
            "{losses:?} {expected}"
        );
    }
}

/// Returns data on which algorithms grow the same trees although their seeds differ. Residuals of the absolute loss are
/// 1 or -1, so that features tie; only one feature is kept for this loss.
fn data_without_ties(loss: LossKind, seed: u64, n: usize) -> (Matrix, Array2<f32>) {
    match data(loss, seed, n) {
        (Matrix::Dense(x), y) if loss == LossKind::Absolute => (x.select(Axis(1), &[0]).into(), y),
        data => data,
    }
}

/// With identical outputs all algorithms are equivalent.
#[test]
fn identical_outputs_make_all_algorithms_one() {
    for loss in PAPER_LOSSES {
        let (x, y) = data_without_ties(loss, 3, 60);
        let one: Matrix = y.select(Axis(1), &[1]).into();
        let same: Matrix = y.select(Axis(1), &[1; 6]).into();
        let set = |p: BoostingParams| BoostingParams {
            loss: Some(loss),
            iterations: 8,
            max_leaves: Some(5),
            ..p
        };
        let single = scores(
            &fit(set(BoostingParams::paper(Algorithm::SingleTarget)), &x, &one),
            &x,
        );
        let subsample = BoostingParams {
            projection: Some(ProjectionKind::Subsample.into()),
            components: Some(Components::Exact(1)),
            ..set(BoostingParams::paper(Algorithm::GbrtRpo))
        };
        for params in [
            set(BoostingParams::paper(Algorithm::Gbmort)),
            subsample,
            set(BoostingParams::paper(Algorithm::GbrtRpo)),
            set(BoostingParams::paper(Algorithm::GbrtRelabelRpo)),
        ] {
            // Scores in `f64`, as those of one output: features tie up to rounding.
            let setup = Setup::from(params.clone()).form(TrainingForm::Scores);
            let found = scores(&fit(setup, &x, &same), &x);
            for column in found.axis_iter(Axis(1)) {
                let error = distance(single.view(), column.insert_axis(Axis(1)));
                assert!(error < 2e-6, "{loss} {params:?}: {error}");
            }
        }
    }
}

/// With one output all algorithms are equivalent.
#[test]
fn one_output_makes_all_algorithms_one() {
    for loss in PAPER_LOSSES {
        let (x, y) = data_without_ties(loss, 4, 60);
        let y: Matrix = y.select(Axis(1), &[2]).into();
        let found = Algorithm::ALL.map(|algorithm| {
            let params = BoostingParams {
                loss: Some(loss),
                iterations: 10,
                max_leaves: Some(4),
                ..BoostingParams::paper(algorithm)
            };
            let setup = if algorithm.projects() {
                given(params, Array2::ones((1, 1)))
            } else {
                params.into()
            };
            scores(&fit(setup, &x, &y), &x)
        });
        for other in &found[1..] {
            assert!(distance(found[0].view(), other.view()) < 2e-6, "{loss}");
        }
    }
}

/// Algorithm 4 with the identity is Algorithm 2, bit for bit.
#[test]
fn the_identity_is_no_projection() {
    for loss in PAPER_LOSSES {
        let (x, y) = data(loss, 5, 60);
        for y in layouts(&y) {
            let set = |p: BoostingParams| BoostingParams {
                loss: Some(loss),
                iterations: 6,
                max_features: MaxFeatures::Count(2),
                seed: 3,
                ..p
            };
            let relabelled = set(BoostingParams::paper(Algorithm::GbrtRelabelRpo));
            for identity in [
                BoostingParams {
                    projection: Some(ProjectionKind::Identity.into()),
                    components: Some(Components::Exact(8)),
                    ..relabelled.clone()
                }
                .into(),
                given(relabelled.clone(), Array2::eye(8)),
            ] {
                let plain = fit(set(BoostingParams::paper(Algorithm::Gbmort)), &x, &y);
                assert_eq!(fit(identity, &x, &y).model, plain.model, "{loss}");
            }
        }
    }
}

/// A projection that steps share is drawn once, and with as many components as outputs nothing is lost.
#[test]
fn steps_may_share_a_projection() {
    /// Counts how often a projection is fitted.
    #[derive(Debug)]
    struct Counted(AtomicUsize);

    impl Projection for Counted {
        fn fit(
            &self,
            y: ProjectionInput<'_>,
            q: usize,
            seed: Seed,
        ) -> Result<Box<dyn LinearMap>, ProjectionError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            ProjectionKind::Gaussian.fit(y, q, seed)
        }
    }

    let (x, y) = data(LossKind::Logistic, 12, 60);
    let y = y.into();
    for (scope, draws) in [(ProjectionScope::Shared, 1), (ProjectionScope::Tree, 9)] {
        let counted = Arc::new(Counted(AtomicUsize::new(0)));
        let params = BoostingParams {
            loss: Some(LossKind::Logistic),
            iterations: 9,
            projection_scope: Some(scope),
            ..BoostingParams::paper(Algorithm::GbrtRelabelRpo)
        };
        let setup = |params: BoostingParams| Setup::from(params).projection(Arc::clone(&counted) as _, 3);
        let whole = fit(setup(params.clone()), &x, &y).model;
        assert_eq!(counted.0.load(Ordering::Relaxed), draws);
        // A continued model uses the same projection.
        let first = fit(
            setup(BoostingParams {
                iterations: 4,
                ..params.clone()
            }),
            &x,
            &y,
        )
        .model;
        let options = BoostingOptions {
            start: Some(&first),
            ..BoostingOptions::default()
        };
        let rest = setup(BoostingParams {
            iterations: 5,
            ..params
        });
        let rest = rest.fit_with(x.view(), y.view(), options).unwrap().model;
        let same = distance(
            whole.scores(x.view()).unwrap().view(),
            rest.scores(x.view()).unwrap().view(),
        );
        assert!(same < 1e-5, "{same}");
    }
}

/// The scale and the sign of a projection change nothing.
#[test]
fn the_scale_of_a_projection_does_not_matter() {
    for loss in PAPER_LOSSES {
        let (x, y) = data(loss, 6, 60);
        let y = y.into();
        let phi = Array2::from_shape_fn((1, 8), |(_, j)| [0.7, -0.2, 1.1, 0.4, -0.9, 0.3, 0.8, -1.3][j]);
        for params in [
            BoostingParams::paper(Algorithm::GbrtRpo),
            BoostingParams::paper(Algorithm::GbrtRelabelRpo),
        ] {
            let params = BoostingParams {
                loss: Some(loss),
                iterations: 6,
                max_leaves: Some(4),
                ..params
            };
            let plain = scores(&fit(given(params.clone(), phi.clone()), &x, &y), &x);
            for scale in [-1.0, 4.0, 1e-6, -3.7e5] {
                let scaled = scores(&fit(given(params.clone(), phi.mapv(|v| v * scale)), &x, &y), &x);
                assert!(distance(plain.view(), scaled.view()) < 1e-5, "{loss} {scale}");
            }
        }
    }
}

/// The square loss follows shifts, scales and permutations of the outputs.
#[test]
fn the_square_loss_follows_the_outputs() {
    let (x, y) = regression(7, 60);
    let x: Matrix = x.into();
    let order = [3, 0, 7, 5, 1, 2, 6, 4];
    let phi = Array2::from_shape_fn((2, 8), |(i, j)| ((3 * i + j * j) % 5) as f32 - 1.7);
    for algorithm in Algorithm::ALL {
        let with = |phi: &Array2<f32>| {
            let params = BoostingParams {
                iterations: 8,
                max_leaves: Some(4),
                ..BoostingParams::paper(algorithm)
            };
            match algorithm {
                Algorithm::GbrtRpo => given(params, phi.slice(ndarray::s![..1, ..]).to_owned()),
                Algorithm::GbrtRelabelRpo => given(params, phi.clone()),
                _ => params.into(),
            }
        };
        let plain = scores(&fit(with(&phi), &x, &y.clone().into()), &x);
        let shifted = fit(with(&phi), &x, &y.mapv(|v| v + 4.0).into());
        assert!(
            distance(plain.mapv(|v| v + 4.0).view(), scores(&shifted, &x).view()) < 1e-5,
            "{algorithm:?}"
        );
        let scaled = fit(with(&phi), &x, &y.mapv(|v| v * 0.25).into());
        assert_eq!(plain.mapv(|v| v * 0.25), scores(&scaled, &x), "{algorithm:?}");
        let permuted = fit(
            with(&phi.select(Axis(1), &order)),
            &x,
            &y.select(Axis(1), &order).into(),
        );
        let expected = plain.select(Axis(1), &order);
        assert!(
            distance(expected.view(), scores(&permuted, &x).view()) < 1e-5,
            "{algorithm:?}"
        );
    }
}

/// A step along a tree grown on one of several unrelated outputs hardly changes the others.
#[test]
fn unrelated_outputs_stay() {
    let n = 4000;
    let mut uniform = uniform(8);
    let x = Array2::from_shape_fn((n, 4), |_| uniform() as f32);
    let y = x.mapv(|v| 5.0 * v);
    let phi = Array2::from_shape_fn((1, 4), |(_, j)| f32::from(u8::from(j == 1)));
    let params = given(
        BoostingParams {
            iterations: 1,
            learning_rate: 1.0,
            scale_outputs: OutputScaling::None,
            ..BoostingParams::paper(Algorithm::GbrtRpo)
        },
        phi,
    );
    let fit = fit(params, &x.into(), &y.into());
    let StepValues::Product { outputs, .. } = &fit.model.trees()[0].values else {
        panic!("a step of Algorithm 3")
    };
    assert!((outputs[1] - 1.0).abs() < 1e-5);
    // The correlation with an unrelated output is of the order of 1/sqrt n; six times that is beyond chance.
    let bound = 6.0 / (n as f32).sqrt();
    assert!([0, 2, 3].iter().all(|&j| outputs[j].abs() < bound), "{outputs:?}");
}

/// No more than asked for; two leaves are a stump.
#[test]
fn trees_keep_to_their_leaves() {
    let (x, y) = data(LossKind::Square, 9, 80);
    for algorithm in Algorithm::ALL {
        for max_leaves in [1, 2, 3, 7] {
            let params = BoostingParams {
                iterations: 4,
                max_leaves: Some(max_leaves),
                ..BoostingParams::paper(algorithm)
            };
            let fit = fit(params, &x, &y.clone().into());
            let leaves = fit.model.trees().iter().map(|tree| tree.structure.n_leaves());
            assert!(leaves.clone().all(|n| n <= max_leaves) && leaves.max() == Some(max_leaves));
        }
    }
}

/// Staged predictions are those of the truncated model, bit for bit.
#[test]
fn stages_are_cut_models() {
    for (loss, storage) in [(LossKind::Logistic, None), (LossKind::Square, Some(3))] {
        let (x, y) = data(loss, 10, 70);
        for algorithm in Algorithm::ALL {
            let mut params = BoostingParams {
                loss: Some(loss),
                iterations: 5,
                ..BoostingParams::paper(algorithm)
            };
            if matches!(algorithm, Algorithm::Gbmort | Algorithm::GbrtRelabelRpo) {
                params = BoostingParams {
                    leaf_values: storage,
                    ..params
                };
            }
            let model = fit(params, &x, &y.clone().into()).model;
            for (m, predictions) in (1..=4).zip(Stages::new(&model, &x).unwrap()) {
                let cut = model.clone().truncate(m);
                assert_eq!(cut.n_steps(), m);
                assert_eq!(cut.predict(x.view()).unwrap(), predictions.unwrap());
            }
            assert_eq!(model.clone().truncate(99), model);
        }
    }
}

/// In every form of the training scores.
#[test]
fn threads_do_not_matter() {
    for (algorithm, loss, form, line_search) in every_form() {
        let (x, y) = data(loss, 11, 90);
        let (x, y): (Matrix, Matrix) = (x, csr(&y).into());
        let params = BoostingParams {
            loss: Some(loss),
            line_search: Some(line_search),
            iterations: 6,
            subsample: Some(0.8),
            max_features: MaxFeatures::Sqrt,
            ..BoostingParams::paper(algorithm)
        };
        let params = Setup::from(params).form(form);
        let [one, two, eight] = [1, 2, 8].map(|n| {
            on_threads(n, || {
                let fit = fit(params.clone(), &x, &y);
                let predictions = fit.model.predict(x.view()).unwrap();
                let top = fit.model.predict_top_k(x.view(), 3).unwrap();
                (fit, predictions, top)
            })
        });
        assert!(one == two && one == eight, "{params:?}");
    }
}

/// Returns every algorithm and loss with every form of the training scores that supports it.
fn every_form() -> Vec<(Algorithm, LossKind, TrainingForm, LineSearch)> {
    let mut forms = Vec::new();
    for algorithm in Algorithm::ALL {
        for loss in PAPER_LOSSES {
            forms.push((algorithm, loss, TrainingForm::Scores, LineSearch::Exact));
        }
        if algorithm != Algorithm::SingleTarget {
            forms.push((
                algorithm,
                LossKind::Square,
                TrainingForm::Factored,
                LineSearch::Exact,
            ));
            forms.push((
                algorithm,
                LossKind::Logistic,
                TrainingForm::Odds,
                LineSearch::Exact,
            ));
            forms.push((
                algorithm,
                LossKind::Logistic,
                TrainingForm::Odds,
                LineSearch::Newton,
            ));
        }
    }
    forms
}

/// Factored residuals and odds give the same results as scores, up to rounding.
#[test]
fn forms_agree() {
    let weights: Vec<f32> = (0..80).map(|i| (i % 4) as f32 * 0.5).collect();
    for (algorithm, loss, form, line_search) in every_form() {
        let (x, y) = data(loss, 12, 80);
        let y: Matrix = csr(&y).into();
        for (weights, subsample) in [(None, 1.0), (Some(&weights[..]), 0.9)] {
            let fits = [TrainingForm::Scores, form].map(|form| {
                let options = BoostingOptions {
                    weights,
                    ..Default::default()
                };
                let params = BoostingParams {
                    loss: Some(loss),
                    line_search: Some(line_search),
                    subsample: Some(subsample),
                    iterations: 12,
                    max_leaves: Some(4),
                    ..BoostingParams::paper(algorithm)
                };
                Setup::from(params)
                    .form(form)
                    .fit_with(x.view(), y.view(), options)
                    .unwrap()
            });
            let [a, b] = fits.each_ref().map(|fit| scores(fit, &x));
            let what = format!("{algorithm:?} {loss} {form:?} {line_search:?}");
            assert!(
                distance(a.view(), b.view()) < 2e-5,
                "{what}: {}",
                distance(a.view(), b.view())
            );
            let losses = fits.each_ref().map(|fit| &fit.history.training_loss);
            for (a, b) in losses[0].iter().zip(losses[1]) {
                assert!((a - b).abs() < 1e-5 * (1.0 + a), "{what}: {a} {b}");
            }
        }
    }
}

/// With exact steps the loss does not increase in odds form either, up to the precision of `f32` sums.
#[test]
fn exact_steps_of_odds_do_not_grow_the_loss() {
    let (x, y) = data(LossKind::Logistic, 13, 120);
    for algorithm in [Algorithm::Gbmort, Algorithm::GbrtRpo, Algorithm::GbrtRelabelRpo] {
        let params = BoostingParams {
            loss: Some(LossKind::Logistic),
            learning_rate: 1.0,
            iterations: 40,
            ..BoostingParams::paper(algorithm)
        };
        let params = Setup::from(params).form(TrainingForm::Odds);
        let losses = fit(params, &x, &csr(&y).into()).history.training_loss;
        for pair in losses.windows(2) {
            assert!(pair[1] <= pair[0] + 1e-5 * losses[0], "{algorithm:?}: {losses:?}");
        }
    }
}

/// Rows of weight 2 count as two rows, and dense and sparse data give the same model.
#[test]
fn weights_are_repetitions_and_layouts_do_not_matter() {
    let (x, y) = labelled(14, 40);
    let rows: Vec<usize> = (0..40).flat_map(|i| vec![i; 1 + i % 2]).collect();
    let weights: Vec<f32> = (0..40).map(|i| (1 + i % 2) as f32).collect();
    let (twice_x, twice_y) = (x.select(Axis(0), &rows), y.select(Axis(0), &rows));
    for (algorithm, loss) in [
        (Algorithm::SingleTarget, LossKind::Logistic),
        (Algorithm::Gbmort, LossKind::Square),
        (Algorithm::GbrtRpo, LossKind::Absolute),
        (Algorithm::GbrtRelabelRpo, LossKind::Logistic),
    ] {
        let params = BoostingParams {
            loss: Some(loss),
            iterations: 8,
            max_leaves: Some(4),
            ..BoostingParams::paper(algorithm)
        };
        let params = Setup::from(params);
        let twice = params.fit((&twice_x).into(), (&twice_y).into()).unwrap();
        let twice = twice.model.scores((&x).into()).unwrap();
        for x in layouts(&x) {
            for y in layouts(&y) {
                let options = BoostingOptions {
                    weights: Some(&weights),
                    ..Default::default()
                };
                let weighted = params.fit_with(x.view(), y.view(), options).unwrap();
                let error = distance(twice.view(), scores(&weighted, &x).view());
                assert!(error < 1e-5, "{algorithm:?} {loss}: {error}");
            }
        }
    }
}

/// Cell weights of 1 change nothing, and in single-target boosting the cell weights of an output affect only that
/// output.
#[test]
fn cells_have_weights() {
    for loss in PAPER_LOSSES {
        let (x, y) = data(loss, 19, 50);
        let of_rows: Vec<f32> = (0..50).map(|i| [0.5, 1.0, 0.0, 2.25][i % 4]).collect();
        let apart = Array2::from_shape_fn(y.dim(), |(i, j)| 0.25 + ((i * 3 + j * 5) % 7) as f32);
        for algorithm in Algorithm::ALL {
            let params = BoostingParams {
                loss: Some(loss),
                iterations: 6,
                max_leaves: Some(4),
                ..BoostingParams::paper(algorithm)
            };
            let params = Setup::from(params);
            let with = |y: &Matrix, weights: Option<&[f32]>, cells: Option<&Array2<f32>>| {
                let options = BoostingOptions {
                    weights,
                    cell_weights: cells.map(Array2::view),
                    ..Default::default()
                };
                params.fit_with(x.view(), y.view(), options).unwrap()
            };
            let all: Matrix = y.clone().into();
            let by_rows = with(&all, Some(&of_rows), None);
            let by_cells = with(&all, Some(&of_rows), Some(&Array2::ones(y.dim())));
            let error = distance(scores(&by_rows, &x).view(), scores(&by_cells, &x).view());
            assert!(error < 1e-5, "{loss} {algorithm:?}: {error}");
            if algorithm == Algorithm::SingleTarget {
                let cells = scores(&with(&all, None, Some(&apart)), &x);
                for j in [0, 7] {
                    let output: Matrix = y.select(Axis(1), &[j]).into();
                    let own = apart.select(Axis(1), &[j]);
                    let alone = scores(&with(&output, None, Some(&own)), &x);
                    let error = distance(cells.select(Axis(1), &[j]).view(), alone.view());
                    assert!(error < 1e-5, "{loss} output {j}: {error}");
                }
            }
        }
    }
}

/// A missing target is equivalent to one of weight 0, and its value has no influence.
#[test]
fn missing_targets_take_no_part() {
    for loss in PAPER_LOSSES {
        let (x, y) = data(loss, 15, 60);
        let is_missing = |(i, j): (usize, usize)| (i * 5 + j * 3) % 7 == 0;
        let cells = Array2::from_shape_fn(y.dim(), |c| f32::from(u8::from(!is_missing(c))));
        let holes = Array2::from_shape_fn(y.dim(), |c| if is_missing(c) { f32::NAN } else { y[c] });
        let lies = Array2::from_shape_fn(y.dim(), |c| if is_missing(c) { 1.0 - y[c] } else { y[c] });
        for algorithm in Algorithm::ALL {
            let params = BoostingParams {
                loss: Some(loss),
                iterations: 8,
                max_leaves: Some(4),
                ..BoostingParams::paper(algorithm)
            };
            let params = Setup::from(params);
            let with = |y: &Matrix, cells: Option<ArrayView2<'_, f32>>| -> Boosted {
                let options = BoostingOptions {
                    cell_weights: cells,
                    missing_outputs: true,
                    ..Default::default()
                };
                params.fit_with(x.view(), y.view(), options).unwrap().model
            };
            let expected = with(&lies.clone().into(), Some(cells.view()));
            assert_ne!(expected, with(&lies.clone().into(), None));
            for holes in layouts(&holes) {
                assert_eq!(with(&holes, None), expected, "{loss} {algorithm:?}");
            }
        }
    }
}

/// Continuing a model gives the same result as one longer fit, except for the rounding of stored steps.
#[test]
fn models_can_be_continued() {
    for (algorithm, loss, form, line_search) in every_form() {
        let (x, y) = data(loss, 16, 60);
        let y: Matrix = csr(&y).into();
        let params = |m| {
            let params = BoostingParams {
                loss: Some(loss),
                line_search: Some(line_search),
                iterations: m,
                max_leaves: Some(3),
                ..BoostingParams::paper(algorithm)
            };
            Setup::from(params).form(form)
        };
        let whole = params(9).fit(x.view(), y.view()).unwrap();
        let start = params(4).fit(x.view(), y.view()).unwrap().model;
        assert_eq!(start, whole.model.clone().truncate(4));
        let options = BoostingOptions {
            start: Some(&start),
            ..Default::default()
        };
        let continued = params(5).fit_with(x.view(), y.view(), options).unwrap();
        assert_eq!(continued.model.clone().truncate(4), start);
        // Residuals of the absolute loss are signs, which rounding may flip: those models are compared by their loss.
        let error = distance(scores(&whole, &x).view(), scores(&continued, &x).view());
        assert!(
            error < 1e-4 || loss == LossKind::Absolute,
            "{algorithm:?} {loss} {form:?}: {error}"
        );
        let losses = [&whole, &continued].map(|fit| *fit.history.training_loss.last().unwrap());
        assert!(
            (losses[0] - losses[1]).abs() < 0.02 * losses[0],
            "{algorithm:?} {loss}: {losses:?}"
        );
    }
}

/// Newton steps equal exact steps for the square loss; a single step per leaf is no worse than one per output.
#[test]
fn kinds_of_steps() {
    let (x, y) = data(LossKind::Square, 17, 60);
    let y: Matrix = y.into();
    for algorithm in Algorithm::ALL {
        let params = BoostingParams {
            iterations: 5,
            ..BoostingParams::paper(algorithm)
        };
        let newton = BoostingParams {
            line_search: Some(LineSearch::Newton),
            ..params.clone()
        };
        assert_eq!(
            fit(params, &x, &y).model,
            fit(newton, &x, &y).model,
            "{algorithm:?}"
        );
    }
    for loss in PAPER_LOSSES {
        let (x, y) = data(loss, 18, 60);
        for algorithm in [
            Algorithm::SingleTarget,
            Algorithm::Gbmort,
            Algorithm::GbrtRelabelRpo,
        ] {
            let params = BoostingParams {
                loss: Some(loss),
                iterations: 1,
                learning_rate: 1.0,
                ..BoostingParams::paper(algorithm)
            };
            let by_leaf = BoostingParams {
                step_scope: Some(StepScope::Leaf),
                ..params.clone()
            };
            let [output, leaf] =
                [params, by_leaf].map(|p| fit(p, &x, &y.clone().into()).history.training_loss[1]);
            assert!(
                leaf <= output * (1.0 + 1e-9),
                "{loss} {algorithm:?}: {leaf} {output}"
            );
        }
    }
}

/// Gains are the decrease of the loss by splits; for whole steps of the square loss on the outputs themselves they
/// equal the whole decrease.
#[test]
fn importances_are_shares_of_what_was_gained() {
    let (x, y) = data(LossKind::Square, 11, 60);
    let (n, d) = y.dim();
    let whole = BoostingParams {
        learning_rate: 1.0,
        iterations: 5,
        scale_outputs: OutputScaling::None,
        ..BoostingParams::paper(Algorithm::Gbmort)
    };
    let fitted = fit(whole, &x, &y.clone().into());
    let losses = fitted.history.training_loss.windows(2);
    for (tree, losses) in fitted.model.trees().iter().zip(losses) {
        let gained = tree.gains.iter().sum::<f64>() * d as f64 / (2.0 * n as f64);
        let taken = losses[0] - losses[1];
        assert!((gained - taken).abs() < 1e-5 * losses[0], "{gained} for {taken}");
    }
    // If only one feature varies, it has all the importance; the scale of a projection does not matter.
    let phi = Array2::from_shape_fn((1, d), |(_, j)| 0.3 * j as f32 - 1.0);
    for params in [
        BoostingParams::paper(Algorithm::GbrtRpo),
        BoostingParams::paper(Algorithm::GbrtRelabelRpo),
    ] {
        let of = |phi: &Array2<f32>, x: &Matrix| {
            let params = given(
                BoostingParams {
                    iterations: 6,
                    ..params.clone()
                },
                phi.clone(),
            );
            fit(params, x, &y.clone().into()).model
        };
        let importances = of(&phi, &x).importances();
        assert!((importances.iter().map(|v| v.1).sum::<f64>() - 1.0).abs() < 1e-9);
        for (a, b) in importances
            .iter()
            .zip(of(&(phi.clone() * -64.0), &x).importances())
        {
            assert_eq!(a.0, b.0);
            assert!((a.1 - b.1).abs() < 1e-5);
        }
        let mut dull = x.view().to_dense(usize::MAX).unwrap();
        (0..5)
            .filter(|j| *j != 3)
            .for_each(|j| dull.column_mut(j).fill(2.0));
        assert_eq!(of(&phi, &dull.into()).importances(), [(3, 1.0)]);
        assert_eq!(of(&phi, &x).truncate(0).importances(), []);
    }
}
