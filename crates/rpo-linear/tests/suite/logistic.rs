//! Logistic regression on sparse features: reference values, properties of a fit, and what it does not depend on.

use crate::common::{csr, features, labels, on_threads};
use ndarray::{Array2, Axis, array, concatenate};
use rpo_core::{Learner, MatrixView, Predictor};
use rpo_linear::projections::least_squares::PenaltyDiagonal;
use rpo_linear::{LinearModel, LogisticRegressionParams, Penalty, RegressionOptions};

/// The most exact parameters for coordinate descent in single precision, keeping all weights.
fn exact(lambda: Penalty) -> LogisticRegressionParams {
    LogisticRegressionParams {
        lambda,
        tolerance: 1e-7,
        max_steps: 2000,
        prune: 0.0,
    }
}

fn fit(params: &LogisticRegressionParams, x: &Array2<f32>, y: &Array2<f32>) -> LinearModel {
    params.fit(x.into(), y.into()).unwrap()
}

fn dense(model: &LinearModel) -> Array2<f64> {
    model.weights().to_dense(usize::MAX).unwrap().mapv(f64::from)
}

/// Coefficients and intercept from scikit-learn 1.9.1 on these numbers:
/// `LogisticRegression(C=1/lambda, tol=1e-12, solver="newton-cholesky")`.
#[test]
fn weights_are_those_of_scikit_learn() {
    let (n, p) = (24, 12);
    let x = Array2::from_shape_fn((n, p), |(i, j)| match (i * 5 + j * 7) % 6 {
        0 => ((i * (j + 3) * 7) % 11) as f32 / 5.0 + 0.2,
        _ => 0.0,
    });
    let positives: [&[usize]; 2] = [&[0, 3, 5, 6, 10, 13, 14, 20, 22], &[2, 11]];
    let y = Array2::from_shape_fn((n, 2), |(i, j)| f32::from(u8::from(positives[j].contains(&i))));
    let mean_square = x.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>() / p as f64;
    for (lambda, label, expected) in [
        (
            0.5,
            0,
            [
                -0.2773, -1.01048, 0.4215, -0.11317, -0.40154, 0.18542, 0.13101, 0.23399, -0.05178, -0.06301,
                0.657, -0.33071, -0.40767,
            ],
        ),
        (
            0.5,
            1,
            [
                -0.48702, -0.3925, 0.17516, -0.32547, -0.48102, -0.12394, -0.34191, -0.53205, 0.12081,
                -0.57267, -0.37822, -0.36036, -1.80646,
            ],
        ),
        (
            2.0,
            1,
            [
                -0.16231, -0.15012, 0.17459, -0.11829, -0.16023, -0.03634, -0.11781, -0.20149, 0.05023,
                -0.20955, -0.12413, -0.10829, -2.18873,
            ],
        ),
    ] {
        let model = fit(&exact(Penalty::Relative(lambda / mean_square)), &x, &y);
        assert!(model.residual.is_some_and(|residual| residual <= 1.5e-7));
        let weights = dense(&model);
        let found = weights.column(label).to_vec().into_iter();
        let found = found.chain([model.intercepts()[label]]);
        for (found, expected) in found.zip(expected) {
            assert!(
                (found - expected).abs() < 1e-4,
                "{lambda} {label}: {found} {expected}"
            );
        }
    }
}

/// The gradient vanishes for the weights and the intercept, for frequent and for rare labels.
#[test]
fn what_is_found_is_stationary() {
    let x = features(300, 30, 0.15, 1);
    let mut y = labels(&x, 40, 2);
    for label in 30..39 {
        let rare = 300 / (label - 29);
        (0..300)
            .filter(|i| i % rare != 0)
            .for_each(|i| y[[i, label]] = 0.0);
    }
    let squares: f64 = x.iter().map(|v| f64::from(*v).powi(2)).sum();
    for lambda in [0.05, 0.5] {
        let model = fit(&exact(Penalty::Relative(lambda)), &x, &y);
        let residual = (model.predict((&x).into()).unwrap() - &y).mapv(f64::from);
        let gradient = x.mapv(f64::from).t().dot(&residual) + dense(&model) * (lambda * squares / 30.0);
        for label in 1..39 {
            let n = y.column(label).iter().filter(|v| **v != 0.0).count() as f64;
            if n == 0.0 {
                continue;
            }
            let constant = residual.column(label).sum();
            assert!(constant.abs() < 3e-4 * (n + 0.1), "{lambda} {label}: {constant}");
            let largest = gradient.column(label).iter().fold(0.0_f64, |a, g| a.max(g.abs()));
            assert!(largest < 3e-4 * (n + 0.1), "{lambda} {label}: {largest}");
        }
    }
}

/// A number with its own penalty beside sparse features changes nothing of how these are fitted, and both penalties hold.
#[test]
fn a_number_beside_sparse_features_is_fitted_by_coordinate_descent_too() {
    let (n, alpha) = (300, 0.1);
    let sparse = features(n, 30, 0.1, 1);
    let number = features(n, 1, 1.0, 2);
    let number = (&number - number.mean().unwrap()) * 100.0;
    let y = labels(&concatenate![Axis(1), sparse, number], 6, 3);
    for (shift, is_sparse) in [(0.0, true), (500.0, false)] {
        let x = concatenate![Axis(1), sparse, &number + shift];
        let model = fit(&exact(Penalty::Variance(alpha)), &x, &y);
        assert_eq!(model.residual.is_some(), is_sparse);
        let PenaltyDiagonal::PerFeature(penalties) = Penalty::Variance(alpha).on(&MatrixView::from(&x), None)
        else {
            panic!("the number has its own penalty")
        };
        assert!(penalties[30] > 100.0 * penalties[0]);
        let residual = (model.predict((&x).into()).unwrap() - &y).mapv(f64::from);
        let weights = dense(&model);
        for label in 1..5 {
            let of_label = residual.column(label);
            assert!(of_label.sum().abs() < 0.02, "{label}: {}", of_label.sum());
            for (j, penalty) in penalties.iter().enumerate() {
                let column = x.column(j).mapv(f64::from);
                let gradient = column.dot(&of_label) + penalty * weights[[j, label]];
                let size = column.iter().map(|v| v * v).sum::<f64>().sqrt();
                assert!(gradient.abs() < 2e-3 * size, "{label} {j}: {gradient} {size}");
            }
        }
    }
}

#[test]
fn labels_that_do_not_vary_have_a_finite_intercept() {
    for density in [0.1, 1.0] {
        let x = features(99, 20, density, 3);
        let y = labels(&x, 5, 4);
        let model = fit(&LogisticRegressionParams::default(), &x, &y);
        for (label, expected) in [(0, -f64::ln(199.0)), (4, f64::ln(199.0))] {
            assert!(dense(&model).column(label).iter().all(|w| *w == 0.0));
            assert!((model.intercepts()[label] - expected).abs() < 1e-5);
        }
        // A sample of weight 2 counts as two.
        let options = RegressionOptions {
            weights: Some(&[2.0; 99]),
            ..Default::default()
        };
        let params = LogisticRegressionParams::default();
        let model = params.fit_with((&x).into(), (&y).into(), options).unwrap();
        assert!((model.intercepts()[0] + f64::ln(397.0)).abs() < 1e-5, "{density}");
    }
}

/// Weights below the limit are left out; no W of all labels is ever dense.
#[test]
fn small_weights_are_left_out() {
    let (n, p, d) = (100, 400, 500);
    let x = features(n, p, 0.05, 5);
    let y = Array2::from_shape_fn((n, d), |(i, j)| f32::from(u8::from((i * 7 + j * 3) % 50 < 2)));
    let all = fit(&exact(Penalty::Variance(0.1)), &x, &y);
    let params = LogisticRegressionParams {
        prune: 0.3,
        ..exact(Penalty::Variance(0.1))
    };
    let options = RegressionOptions {
        memory_limit: Some((n + p) * 32 * 4 * 2),
        ..RegressionOptions::default()
    };
    let few = on_threads(2, || params.fit_with((&x).into(), (&y).into(), options)).unwrap();
    let mean_square = x.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>() / n as f64;
    let limit = 0.3 / mean_square.sqrt();
    let (all, few) = (dense(&all), dense(&few));
    let mut n_left_out = 0;
    for (all, few) in all.iter().zip(&few) {
        // Except where rounding decides.
        if (all.abs() - limit).abs() > 1e-6 {
            assert_eq!(*few, if all.abs() < limit { 0.0 } else { *all });
        }
        n_left_out += usize::from(few != all);
    }
    assert!(n_left_out > p * d / 20, "{n_left_out}");
}

/// If the penalty is so weak that coordinate descent would not end, and on features that are not sparse, Newton's
/// method replaces it: the losses for penalties on both sides of the boundary are close.
#[test]
fn weak_penalties_are_fitted_too() {
    let x = features(200, 20, 0.2, 7);
    let y = labels(&x, 6, 8);
    let fit = |lambda| {
        let params = LogisticRegressionParams {
            tolerance: 1e-5,
            max_steps: 1000,
            prune: 0.0,
            lambda: Penalty::Relative(lambda),
        };
        fit(&params, &x, &y)
    };
    // The mean of ‖x‖² over λ is p / (λ n).
    let (sparse, other) = (fit(0.1 / 49.0), fit(0.1 / 51.0));
    assert!(sparse.residual.is_some() && other.residual.is_none());
    let scores = |model: &LinearModel| model.predict((&x).into()).unwrap();
    for (a, b) in scores(&sparse).iter().zip(&scores(&other)) {
        assert!((a - b).abs() < 0.02, "{a} {b}");
    }
    let dense = array![[1.0, 2.0], [0.5, -1.0], [2.0, 0.1]];
    let model = LogisticRegressionParams::default()
        .fit((&dense).into(), (&array![[0.0], [1.0], [0.0]]).into())
        .unwrap();
    assert!(model.residual.is_none() && matches!(model.weights(), MatrixView::Dense(_)));
}

#[test]
fn threads_and_storage_change_no_bit_of_sparse_regressions() {
    let x = features(150, 30, 0.2, 9);
    let y = labels(&x, 100, 10);
    let params = LogisticRegressionParams::default();
    let model = on_threads(1, || fit(&params, &x, &y));
    assert!(
        model
            .residual
            .is_some_and(|residual| f64::from(residual) <= params.tolerance)
    );
    assert_eq!(on_threads(5, || fit(&params, &x, &y)), model);
    let (sparse_x, sparse_y) = (csr(&x), csr(&y));
    assert_eq!(params.fit((&sparse_x).into(), (&sparse_y).into()).unwrap(), model);
}
