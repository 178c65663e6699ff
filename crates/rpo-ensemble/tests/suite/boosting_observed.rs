//! Boosting counts what is observed, by its weight, and nothing else.

use super::boosting_common::Setup;
use ndarray::{Array2, Axis, array, concatenate, s};
use proptest::prelude::*;
use rpo_core::{FeatureImportances, Learner, Predictor, Seed, TreeEnsemble};
use rpo_ensemble::Bins;
use rpo_ensemble::boosting::{Algorithm, Boosted, BoostingOptions, BoostingParams};

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
