//! Fits do not depend on the units and the zero of features.

use crate::common::{csr, features, labels};
use ndarray::{Array2, Zip};
use rpo_core::{Learner, Predictor, TreeEnsemble};
use rpo_linear::{
    ClassifierOptions, LabelTreeParams, LinearError, LinearModel, LogisticRegressionParams, MarginLoss,
    OneVsRestParams, Penalty, RidgeParams, RowNorm,
};

/// Labels of which the last ones are rarer and rarer, none and all samples included.
fn labels_with_noise(x: &Array2<f32>, d: usize, seed: u64) -> Array2<f32> {
    let mut y = labels(x, d, seed);
    Zip::from(&mut y)
        .and(&features(x.nrows(), d, 0.3, seed + 1))
        .for_each(|y, noise| *y = if *noise > 0.5 { 1.0 - *y } else { *y });
    for label in d / 2..d - 1 {
        let rare = label - d / 2 + 2;
        (0..x.nrows())
            .filter(|i| i % rare != 0)
            .for_each(|i| y[[i, label]] = 0.0);
    }
    y
}

fn predict<P>(params: &P, x: &Array2<f32>, y: &Array2<f32>) -> Array2<f32>
where
    P: Learner<Error = LinearError, Model = LinearModel>,
{
    params.fit(x.into(), y.into()).unwrap().predict(x.into()).unwrap()
}

fn worst(a: &Array2<f32>, b: &Array2<f32>) -> f32 {
    (a - b).iter().fold(0.0, |most, v| most.max(v.abs()))
}

/// Multiplies column j by `scale(j)` after adding `zero(j)`.
fn moved(x: &Array2<f32>, scale: impl Fn(usize) -> f32, zero: impl Fn(usize) -> f32) -> Array2<f32> {
    Array2::from_shape_fn(x.dim(), |(i, j)| (x[[i, j]] + zero(j)) * scale(j))
}

/// Units that are powers of 2 change no bit, others only what is rounded.
#[test]
fn logistic_regression_does_not_depend_on_units() {
    let x = features(300, 12, 1.0, 1);
    let y = labels_with_noise(&x, 20, 2);
    let params = LogisticRegressionParams::default();
    let expected = predict(&params, &x, &y);
    let binary = moved(&x, |j| f32::powi(2.0, 7 * j as i32 - 40), |_| 0.0);
    assert_eq!(predict(&params, &binary, &y), expected);
    for scale in [1e-5, 1e5] {
        let one = |j| if j == 3 { scale } else { 1.0 };
        for zero in [0.0, 5.0, -100.0] {
            let found = predict(
                &params,
                &moved(&x, one, |j| if j % 2 == 1 { 100.0 } else { 0.0 }),
                &y,
            );
            assert!(
                worst(&found, &expected) < 1e-4,
                "{scale} {zero}: {}",
                worst(&found, &expected)
            );
        }
    }
}

/// Sparse features whose penalty is the same for all: the default tolerance ends as near to the minimum if one of them
/// is large, or far from 0, as otherwise.
#[test]
fn large_features_leave_none_unfitted() {
    let x = features(400, 20, 0.2, 4);
    let y = labels_with_noise(&x, 18, 5);
    let predict = |x: &Array2<f32>, tolerance| {
        let params = LogisticRegressionParams {
            lambda: Penalty::Relative(1e-9),
            tolerance,
            max_steps: 200,
            prune: 0.0,
        };
        let model = params.fit((&csr(x)).into(), (&y).into()).unwrap();
        assert!(model.residual.is_none(), "fitted by Newton's method");
        model.predict(x.into()).unwrap()
    };
    for (scale, zero) in [(1.0, 0.0), (1e4, 0.0), (1e4, 3.0)] {
        let x = moved(
            &x,
            |j| if j == 3 { scale } else { 1.0 },
            |j| if j == 3 { 100.0 } else { 0.0 },
        );
        let (found, exact) = (predict(&x, 1e-3), predict(&x, 1e-9));
        assert!(
            worst(&found, &exact) < 1e-2,
            "{scale} {zero}: {}",
            worst(&found, &exact)
        );
    }
}

/// Also where features are too many for a factor, and for numbers far from 0.
#[test]
fn ridge_does_not_depend_on_units() {
    for p in [10, 2100] {
        let x = features(150, p, 1.0, 6);
        let y = features(150, 3, 1.0, 7) + &x.dot(&features(p, 3, 1.0, 8));
        let params = RidgeParams::default();
        let expected = predict(&params, &x, &y);
        for scale in [1e-5, 1e5] {
            let scales = |j: usize| if j % 7 == 3 { scale } else { 1.0 };
            let x = moved(&x, scales, |j| if j % 2 == 1 { 100.0 } else { 0.0 });
            let found = predict(&params, &x, &y);
            assert!(
                worst(&found, &expected) < 1e-3,
                "{p} {scale}: {}",
                worst(&found, &expected)
            );
        }
        // A prediction is a sum of p + 1 numbers that are rounded to multiples of 128.
        let far = predict(&params, &x, &y.mapv(|v| v * 1e6 + 1.7e9)).mapv(|v| (v - 1.7e9) / 1e6);
        assert!(worst(&far, &expected) < 1e-2, "{p}: {}", worst(&far, &expected));
    }
}

/// Label trees with several levels for a dozen labels.
fn trees_of(classifiers: &OneVsRestParams) -> LabelTreeParams {
    LabelTreeParams {
        leaf_labels: 4,
        clusters: 2,
        classifiers: classifiers.clone(),
        ..LabelTreeParams::default()
    }
}

/// Samples that keep their lengths, as those of few features do by default: units decide neither which weights are left
/// out nor what is predicted, with a cost that is found and one that is given.
#[test]
fn one_vs_rest_and_label_trees_do_not_depend_on_units() {
    let x = features(400, 5, 1.0, 9);
    let y = labels_with_noise(&x, 12, 10);
    for (loss, cost) in [
        (MarginLoss::SquaredHinge, None),
        (MarginLoss::Logistic, Some(2.0)),
    ] {
        // Rounding changes the order of steps, and so the weights by about the tolerance: by default by enough to move one
        // across a limit.
        let params = OneVsRestParams {
            loss,
            cost,
            tolerance: 1e-4,
            max_passes: 2000,
            ..OneVsRestParams::default()
        };
        let trees = trees_of(&params);
        let fit = |x: &Array2<f32>| {
            let model = params.fit(x.into(), (&y).into()).unwrap();
            let forest = trees.fit(x.into(), (&y).into()).unwrap();
            let n_weights = (
                model.weights().n_stored(),
                forest.trees().iter().map(|tree| tree.n_weights).sum(),
            );
            let predictions = [
                model.predict(x.into()).unwrap(),
                forest.predict(x.into()).unwrap(),
            ];
            (n_weights, model.cost, predictions)
        };
        let ((n, n_of_trees), found, expected): ((usize, usize), _, _) = fit(&x);
        assert!(n > 30 && n_of_trees > 30, "{n} {n_of_trees}");
        for power in [-30, 10, 30] {
            let binary = fit(&(&x * f32::powi(2.0, power)));
            assert_eq!(binary, ((n, n_of_trees), found, expected.clone()), "2^{power}");
        }
        for scale in [1e-3, 1e3] {
            let scaled = fit(&(&x * scale));
            assert_eq!((scaled.0, scaled.1), ((n, n_of_trees), found), "{scale}");
            for (scaled, expected) in scaled.2.iter().zip(&expected) {
                let most = worst(scaled, expected);
                assert!(most < 5e-3, "{scale}: {most}");
            }
        }
    }
}

/// Weights of samples count relative to each other if the cost is found: which weights of classifiers are left out, and
/// what is predicted, is the same to the bit for weights times any power of 2.
#[test]
fn one_vs_rest_and_label_trees_do_not_depend_on_the_unit_of_sample_weights() {
    let x = features(300, 12, 0.6, 13);
    let y = labels_with_noise(&x, 12, 14);
    for loss in [MarginLoss::SquaredHinge, MarginLoss::Logistic] {
        let params = OneVsRestParams {
            loss,
            ..OneVsRestParams::default()
        };
        let trees = trees_of(&params);
        let fit = |unit: f32| {
            let weights: Vec<f32> = (0..300).map(|i| unit * (i % 4) as f32).collect();
            let options = ClassifierOptions {
                weights: Some(&weights),
                ..ClassifierOptions::default()
            };
            let model = params.fit_with((&x).into(), (&y).into(), options).unwrap();
            let forest = trees.fit_with((&x).into(), (&y).into(), options).unwrap();
            [
                model.predict((&x).into()).unwrap(),
                forest.predict((&x).into()).unwrap(),
            ]
        };
        let expected = fit(1.0);
        for power in [-9, -20, 7] {
            assert_eq!(fit(f32::powi(2.0, power)), expected, "{loss:?} 2^{power}");
        }
    }
}

/// Samples of length 1 have no units.
#[test]
fn samples_of_length_1_are_fitted_as_they_are() {
    let x = features(200, 5, 1.0, 11);
    let y = labels_with_noise(&x, 6, 12);
    let params = OneVsRestParams {
        normalize: Some(RowNorm::L2),
        ..OneVsRestParams::default()
    };
    let expected = predict(&params, &x, &y);
    assert_eq!(predict(&params, &(&x * 1024.0), &y), expected);
}

/// Whether samples are scaled depends on the features that vary.
#[test]
fn constant_features_change_no_classifier() {
    let (few, zeros) = (features(200, 6, 1.0, 1), Array2::zeros((200, 20)));
    let y = labels_with_noise(&few, 4, 2);
    let params = OneVsRestParams::default();
    let both = ndarray::concatenate![ndarray::Axis(1), few, zeros];
    assert_eq!(predict(&params, &both, &y), predict(&params, &few, &y));
    let normalized = OneVsRestParams {
        normalize: Some(RowNorm::L2),
        ..params
    };
    assert_ne!(predict(&normalized, &few, &y), predict(&params, &few, &y));
}
