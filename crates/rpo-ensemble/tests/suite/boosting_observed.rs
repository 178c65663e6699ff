//! Boosting counts what is observed, by its weight, and nothing else.

use super::boosting_common::Setup;
use ndarray::{Array2, Axis, array, concatenate, s};
use proptest::prelude::*;
use rpo_core::{FeatureImportances, Learner, Predictor, Seed, TreeEnsemble};
use rpo_ensemble::boosting::{Algorithm, Boosted, BoostingOptions, BoostingParams, LossKind};
use rpo_ensemble::{Bins, MaxFeatures, OutputScaling};

const NAN: f32 = f32::NAN;

fn unit(seed: u64, i: usize, j: usize) -> f32 {
    (Seed::new(seed).child(i as u64).hash(j as u64) >> 40) as f32 / (1 << 24) as f32
}

/// Numbers that depend on two of three features.
fn numbers(n: usize) -> (Array2<f32>, Array2<f32>) {
    let x = Array2::from_shape_fn((n, 3), |(i, j)| unit(1, i, j));
    let y = Array2::from_shape_fn((n, 3), |(i, j)| {
        (1 + j) as f32 * (x[[i, j % 2]] * 4.0).floor() + unit(2, i, j)
    });
    (x, y)
}

/// The defaults and the settings of the paper, for every algorithm.
fn settings() -> Vec<BoostingParams> {
    let both = |algorithm| [BoostingParams::from(algorithm), BoostingParams::paper(algorithm)];
    let few = |params| BoostingParams {
        iterations: 5,
        ..params
    };
    Algorithm::ALL.into_iter().flat_map(both).map(few).collect()
}

fn fit(params: &BoostingParams, x: &Array2<f32>, y: &Array2<f32>, cells: Option<&Array2<f32>>) -> Boosted {
    let options = BoostingOptions {
        missing_outputs: true,
        cell_weights: cells.map(Array2::view),
        ..BoostingOptions::default()
    };
    params.fit_with(x.into(), y.into(), options).unwrap()
}

fn assert_same(a: &Boosted, b: &Boosted, params: &BoostingParams) {
    assert_eq!(a.initial(), b.initial(), "{params:?}");
    assert_eq!(a.trees(), b.trees(), "{params:?}");
}

/// Also where outputs are brought to a common unit.
#[test]
fn outputs_of_weight_zero_are_missing() {
    let (x, y) = numbers(60);
    let is_ignored = |(i, j): (usize, usize)| (i * 5 + j * 3) % 7 == 0;
    let cells = Array2::from_shape_fn(y.dim(), |cell| if is_ignored(cell) { 0.0 } else { 1.5 });
    let of =
        |value: f32| Array2::from_shape_fn(y.dim(), |cell| if is_ignored(cell) { value } else { y[cell] });
    for params in settings() {
        let missing = fit(&params, &x, &of(NAN), Some(&cells));
        assert_same(&fit(&params, &x, &of(1e6), Some(&cells)), &missing, &params);
    }
}

/// They count neither in bins, of which there are fewer with fewer samples, nor in draws, nor in sizes of trees.
#[test]
fn samples_without_an_observed_output_do_not_exist() {
    let (x, y) = numbers(400);
    let (others, no_y) = (
        Array2::from_shape_fn((700, 3), |(i, j)| unit(3, i, j)),
        Array2::from_elem((700, 3), NAN),
    );
    let all_x = concatenate![Axis(0), x.slice(s![..150, ..]), others, x.slice(s![150.., ..])];
    let all_y = concatenate![Axis(0), y.slice(s![..150, ..]), no_y, y.slice(s![150.., ..])];
    let cells = all_y.map(|v| f32::from(u8::from(!v.is_nan())));
    let zeros = all_y.map(|v| if v.is_nan() { 0.0 } else { *v });
    for params in settings() {
        let without = fit(&params, &x, &y, None);
        let with = fit(&params, &all_x, &all_y, None);
        assert_same(&with, &without, &params);
        let ones = Array2::ones(y.dim());
        let weighted = fit(&params, &x, &y, Some(&ones));
        assert_same(&fit(&params, &all_x, &zeros, Some(&cells)), &weighted, &params);
    }
}

/// One step of stumps, of full length.
fn stump(params: BoostingParams) -> BoostingParams {
    BoostingParams {
        iterations: 1,
        learning_rate: 1.0,
        subsample: Some(1.0),
        max_leaves: Some(2),
        bins: Bins::Exact,
        max_features: rpo_ensemble::MaxFeatures::All,
        ..params
    }
}

/// Stumps whose splits minimise the squared error: Newton steps without penalty, and exact steps.
fn least_squares_stumps() -> Vec<BoostingParams> {
    let newton = |algorithm| BoostingParams {
        leaf_l2: Some(0.0),
        ..BoostingParams::from(algorithm)
    };
    vec![
        stump(newton(Algorithm::Gbmort)),
        stump(newton(Algorithm::SingleTarget)),
        stump(newton(Algorithm::GbrtRelabelRpo)),
        stump(BoostingParams::paper(Algorithm::Gbmort)),
        stump(BoostingParams::paper(Algorithm::SingleTarget)),
        stump(BoostingParams::paper(Algorithm::GbrtRpo)),
        stump(BoostingParams {
            bins: Bins::MOST,
            ..stump(newton(Algorithm::Gbmort))
        }),
    ]
}

/// Σ u (y − f)² with f the means on both sides of the best threshold.
fn least_error(y: &[f32], u: &[f32]) -> f64 {
    let error = |range: std::ops::Range<usize>| {
        let cells = || {
            range
                .clone()
                .filter(|&i| u[i] > 0.0)
                .map(|i| (f64::from(u[i]), f64::from(y[i])))
        };
        let total: f64 = cells().map(|(u, _)| u).sum();
        let mean = cells().map(|(u, y)| u * y).sum::<f64>() / total;
        cells().map(|(u, y)| u * (y - mean).powi(2)).sum::<f64>()
    };
    (0..y.len())
        .map(|i| error(0..i) + error(i..y.len()))
        .fold(f64::INFINITY, f64::min)
}

fn check_least_error(y: &[f32], u: &[f32]) {
    let n = y.len();
    let x = Array2::from_shape_fn((n, 1), |(i, _)| i as f32);
    let targets = Array2::from_shape_fn((n, 1), |(i, _)| y[i]);
    let cells = Array2::from_shape_fn((n, 1), |(i, _)| u[i]);
    let expected = least_error(y, u);
    for params in least_squares_stumps() {
        let f = fit(&params, &x, &targets, Some(&cells))
            .predict((&x).into())
            .unwrap();
        let errors = (0..n)
            .filter(|&i| u[i] > 0.0)
            .map(|i| f64::from(u[i]) * f64::from(y[i] - f[[i, 0]]).powi(2));
        let found = errors.sum::<f64>();
        assert!(
            (found - expected).abs() <= 1e-4 * (1.0 + expected),
            "{found} {expected} {params:?}"
        );
    }
}

#[test]
fn splits_count_observed_samples() {
    let y = [0.0, NAN, 2.0, NAN, 5.0, NAN, NAN, 4.0];
    check_least_error(&y, &y.map(|y| f32::from(u8::from(!y.is_nan()))));
    assert_eq!(least_error(&y, &y.map(|y| f32::from(u8::from(!y.is_nan())))), 2.5);
}

proptest! {
    #[test]
    fn splits_count_samples_by_weight(
        cells in prop::collection::vec((-9_f32..9.0, prop_oneof![Just(0.0_f32), 0.1_f32..4.0]), 2..20),
    ) {
        let (y, mut u): (Vec<f32>, Vec<f32>) = cells.into_iter().unzip();
        u[0] = 1.0;
        check_least_error(&y, &u);
    }
}

/// The second output is observed everywhere, so that all samples exist. A tree of gbrt-rpo has one step length per
/// output, which fits both leaves only of a single output.
#[test]
fn missing_is_no_residual_of_zero() {
    let x = Array2::from_shape_fn((200, 1), |(i, _)| f32::from(u8::from(i >= 100)));
    let y = Array2::from_shape_fn((200, 2), |(i, j)| match (i, j) {
        (_, 1) => 7.0,
        (0..90, _) => NAN,
        _ => 4.0 * x[[i, 0]],
    });
    let one = y.slice(s![.., ..1]).to_owned();
    for algorithm in Algorithm::ALL {
        let params = stump(BoostingParams::paper(algorithm));
        for y in [&one, &y] {
            if algorithm == Algorithm::GbrtRpo && y.ncols() > 1 {
                continue;
            }
            let f = fit(&params, &x, y, None)
                .predict((&array![[0.0], [1.0]]).into())
                .unwrap();
            let found = [f[[0, 0]], f[[1, 0]]];
            assert!(
                found[0].abs() < 1e-5 && (found[1] - 4.0).abs() < 1e-5,
                "{found:?} {params:?}"
            );
        }
    }
}

/// Each output has its own trees, whose gains are comparable in a common unit only.
#[test]
fn importances_do_not_depend_on_units() {
    let (x, mut y) = numbers(100);
    for params in [
        BoostingParams::from(Algorithm::SingleTarget),
        BoostingParams::paper(Algorithm::SingleTarget),
    ] {
        let importances = |y: &Array2<f32>| {
            Setup::from(params.clone())
                .fit((&x).into(), y.into())
                .unwrap()
                .model
                .importances()
        };
        let before = importances(&y);
        y.column_mut(1).mapv_inplace(|v| 1024.0 * v);
        for ((feature, a), (other, b)) in before.into_iter().zip(importances(&y)) {
            assert!(feature == other && (a - b).abs() < 1e-4, "{a} {b}");
        }
    }
}

/// Trees of one output split by the samples in which it is observed, with and without bins.
#[test]
fn bins_hold_what_is_observed() {
    let (x, y) = numbers(200);
    let y = Array2::from_shape_fn(
        y.dim(),
        |(i, j)| if unit(4, i, j) < 0.5 { NAN } else { y[[i, j]] },
    );
    for loss in [LossKind::Square, LossKind::Absolute, LossKind::Poisson] {
        let params = BoostingParams {
            iterations: 4,
            loss: Some(loss),
            bins: Bins::Exact,
            max_features: MaxFeatures::All,
            subsample: Some(1.0),
            ..BoostingParams::from(Algorithm::SingleTarget)
        };
        let exact = fit(&params, &x, &y, None).predict((&x).into()).unwrap();
        for bins in [Bins::AtMost(255), Bins::AtMost(200)] {
            let binned = fit(
                &BoostingParams {
                    bins,
                    ..params.clone()
                },
                &x,
                &y,
                None,
            );
            let binned = binned.predict((&x).into()).unwrap();
            for ((at, &found), &expected) in binned.indexed_iter().zip(&exact) {
                if !y[at].is_nan() {
                    assert!(
                        (found - expected).abs() < 1e-3,
                        "{loss:?}, {bins:?}, {at:?}: {found} for {expected}"
                    );
                }
            }
        }
    }
}

/// Neither the unit of an output that is often missing nor small coefficients of what is observed decide the values of
/// leaves.
#[test]
fn units_of_missing_outputs_do_not_matter() {
    let (x, y) = numbers(300);
    let cells = |y: &Array2<f32>| {
        Array2::from_shape_fn(y.dim(), |(i, j)| match (i * 7 + j * 5) % 10 {
            0..4 => NAN,
            _ => y[[i, j]],
        })
    };
    let error = |params: &BoostingParams, unit: f32| {
        let given = Array2::from_shape_fn(y.dim(), |(i, j)| y[[i, j]] * if j == 2 { unit } else { 1.0 });
        let mut f = fit(params, &x, &cells(&given), None)
            .predict((&x).into())
            .unwrap();
        f.column_mut(2).mapv_inplace(|v| v / unit);
        (&f - &y).mapv(|v| f64::from(v).powi(2)).mean().unwrap()
    };
    let spread = y.var_axis(Axis(0), 0.0).mean().unwrap();
    for params in settings() {
        let params = BoostingParams {
            iterations: 60,
            ..params
        };
        let plain = error(&params, 1.0);
        assert!(plain < 0.5 * f64::from(spread), "{plain} {spread} {params:?}");
        for unit in [1e-6, 1e6] {
            let scaled = error(&params, unit);
            assert!(scaled < 1.2 * plain + 0.02, "{scaled} {plain} {params:?}");
        }
    }
    // Without a common unit, one output decides the splits, but no value is beyond all residuals.
    for unit in [1e-3, 1e3] {
        let params = BoostingParams {
            iterations: 60,
            scale_outputs: OutputScaling::None,
            ..BoostingParams::from(Algorithm::GbrtRpo)
        };
        let found = error(&params, unit);
        assert!(found < 1.5 * f64::from(spread), "{found} {spread} {unit}");
    }
}
