//! One extreme target leaves the others their digits.

use super::common::uniform;
use ndarray::{Array1, Array2, Axis, s};
use proptest::prelude::*;
use rpo_core::{Learner, MatrixView, Predictor};
use rpo_ensemble::{
    Bins, ForestOptions, ForestParams, ForestPreset, SingleTargetOptions, SingleTargetParams,
};

fn numbers(seed: u64, rows: usize, columns: usize) -> Array2<f32> {
    let mut next = uniform(seed);
    Array2::from_shape_simple_fn((rows, columns), || next() as f32)
}

/// Returns forests that fit distinct samples exactly.
fn learners() -> [ForestParams; 3] {
    let cart = || ForestParams::from(ForestPreset::Cart);
    let binned = ForestParams {
        bins: Bins::AtMost(255),
        ..cart()
    };
    let extra = ForestParams {
        trees: 2,
        ..ForestPreset::ExtraTrees.into()
    };
    [cart(), extra, binned]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn grown_trees_give_back_every_target(
        seed in 0_u64..1000,
        exponent in 8_i32..36,
        at in 0_usize..600,
        two in any::<bool>(),
        weight in prop::sample::select(vec![1.0_f32, 0.7]),
    ) {
        let x = numbers(seed, 600, 3);
        let mut y = numbers(seed + 1, 600, if two { 2 } else { 1 });
        y[[at, 0]] = 10.0_f32.powi(exponent);
        let weights = vec![weight; 600];
        let of_all = ForestOptions { weights: Some(&weights), ..ForestOptions::default() };
        let of_each = SingleTargetOptions { weights: Some(&weights), ..SingleTargetOptions::default() };
        for params in learners() {
            let check = |found: Array2<f32>| {
                // 2⁻¹⁶ of the spread of the others. A leaf of two outputs may keep two samples.
                let is_given_back = |(a, b): &(&f32, &f32)| (*a - *b).abs() <= 1e-4 * b.abs().max(0.1);
                let kept = found.iter().zip(&y).filter(is_given_back).count();
                kept as f64 >= 0.98 * y.len() as f64
            };
            let (x, given) = (MatrixView::from(&x), MatrixView::from(&y));
            let forest = params.fit_with(x, given, of_all.clone()).unwrap();
            prop_assert!(check(forest.predict(x).unwrap()), "{params:?}");
            let forests = SingleTargetParams(params.clone()).fit_with(x, given, of_each).unwrap();
            prop_assert!(check(forests.predict(x).unwrap()), "{params:?}");
        }
    }
}

/// Beside the leaf of an extreme target, a forest predicts as without its sample.
#[test]
fn a_forest_is_as_accurate_beside_an_extreme_target() {
    let (x, x_new) = (numbers(1, 2000, 4), numbers(2, 500, 4));
    let truth = |x: &Array2<f32>| x.map_axis(Axis(1), |x| 3.0 * x[0] + (6.0 * x[1]).sin());
    let error = |y: Array1<f32>| {
        let params = ForestParams {
            trees: 20,
            ..ForestParams::default()
        };
        let forest = params.fit((&x).into(), (&y.insert_axis(Axis(1))).into()).unwrap();
        let found = forest.predict((&x_new).into()).unwrap();
        let mut errors: Vec<f32> = (found.column(0).to_owned() - truth(&x_new))
            .mapv(f32::abs)
            .to_vec();
        errors.sort_by(f32::total_cmp);
        errors[250]
    };
    let plain = error(truth(&x));
    let mut y = truth(&x);
    y[17] = 1e20;
    let beside = error(y);
    assert!(beside < 1.3 * plain, "{beside} {plain}");
}

/// Whatever the targets of samples of weight 0 are, the others keep their digits.
#[test]
fn samples_of_weight_0_are_as_if_left_out() {
    let (x, plain) = (numbers(5, 200, 3), numbers(6, 200, 2));
    let is_left_out = |row: usize| row % 5 < 3;
    let weights: Vec<f32> = (0..200)
        .map(|row| f32::from(u8::from(!is_left_out(row))))
        .collect();
    let kept: Vec<usize> = (0..200).filter(|&row| !is_left_out(row)).collect();
    for offset in [0.0, 1e6] {
        let mut y = plain.mapv(|v| v * 100.0 + offset);
        let expected = y.select(Axis(0), &kept);
        for row in (0..200).filter(|&row| is_left_out(row)) {
            y.row_mut(row).fill((row as f32 - 100.0) * 1e12);
        }
        for d in [1, 2] {
            let (y, expected) = (y.slice(s![.., ..d]), expected.slice(s![.., ..d]));
            for params in learners() {
                let options = ForestOptions {
                    weights: Some(&weights),
                    ..ForestOptions::default()
                };
                let forest = params.fit_with((&x).into(), y.into(), options).unwrap();
                let found = forest
                    .predict(MatrixView::from(&x))
                    .unwrap()
                    .select(Axis(0), &kept);
                let error = (&found - &expected).mapv(f32::abs);
                // 2⁻¹⁶ of the spread, and what `f32` can tell apart.
                let tolerance = 0.01 + 2.0 * offset * f32::EPSILON;
                assert!(
                    error.iter().all(|error| *error <= tolerance),
                    "{params:?} {offset}"
                );
            }
        }
    }
}
