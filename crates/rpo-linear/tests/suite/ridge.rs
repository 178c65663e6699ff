//! Ridge regression: leave-one-out predictions, against fits without the sample.

use crate::common::{csr, features, labels, on_threads};
use ndarray::{Array2, Axis};
use rpo_core::{Learner, Matrix, MatrixView, Predictor, WeightError};
use rpo_linear::{
    ClassifierOptions, LabelTreeParams, LinearError, LogisticRegressionParams, MarginLoss, OneVsRestParams,
    Penalty, RegressionOptions, RidgeParams,
};
use rpo_projections::least_squares::{Design, Ridge, RidgeSolver};

fn params(lambda: Penalty) -> RidgeParams {
    RidgeParams { lambda: Some(lambda) }
}

/// Predicts a sample by the fit to all others, with the penalties for all samples.
fn naive(lambda: Penalty, x: &Array2<f32>, y: &Array2<f32>, sample: usize) -> Vec<f64> {
    let others: Vec<usize> = (0..x.nrows()).filter(|&other| other != sample).collect();
    let penalty = lambda.on(&MatrixView::from(x), None);
    let (rest, y) = (x.select(Axis(0), &others), y.select(Axis(0), &others));
    let rest = MatrixView::from(&rest);
    let design = Design {
        rows: &rest,
        intercept: true,
        factors: None,
    };
    let ridge = Ridge::new(design, penalty, RidgeSolver::Cholesky).unwrap();
    let z = ridge
        .solve(&MatrixView::from(&y), Array2::eye(y.ncols()).view())
        .unwrap();
    let scores = z.columns().into_iter().map(|z| {
        let products = x.row(sample).into_iter().zip(z).map(|(x, z)| f64::from(*x) * z);
        products.sum::<f64>() + z[x.ncols()]
    });
    scores.collect()
}

/// The digits of outputs are kept where features are far from 0.
#[test]
fn features_far_from_zero_cost_no_digits() {
    let near = features(200, 5, 1.0, 7);
    // The normal equations themselves lose digits at the largest offset.
    for (offset, most) in [(0.0, 1e-11), (1e3, 1e-11), (1e5, 1e-7)] {
        // The offset may round features; outputs are linear in what is left.
        let x = near.mapv(|v| v + offset);
        let left = x.mapv(|v| v - offset);
        let y = left
            .map_axis(Axis(1), |x| x[0] - 2.0 * x[1] + 0.5 * x[3])
            .insert_axis(Axis(1));
        let dense = Matrix::from(x.clone());
        for x in [dense, csr(&x).into()] {
            let model = params(Penalty::Variance(1e-9))
                .fit(x.view(), (&y).into())
                .unwrap();
            let errors = model.predict(x.view()).unwrap() - &y;
            let squares = |a: &Array2<f32>| a.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>();
            let lost = squares(&errors) / squares(&(&y - y.mean().unwrap()));
            assert!(lost < most, "{offset}: {lost}");
        }
    }
}

#[test]
fn a_sample_is_predicted_as_by_the_fit_to_all_others() {
    for (n, p, density) in [(40, 6, 1.0), (30, 50, 0.3)] {
        let x = features(n, p, density, 1);
        // More labels than a panel has, and numbers on another scale.
        for y in [labels(&x, 19, 2), features(n, 2, 1.0, 3) * 1e3] {
            for lambda in [
                Penalty::Variance(0.3),
                Penalty::Variance(0.01),
                Penalty::Relative(1.0),
            ] {
                let samples: Vec<usize> = (0..n).step_by(3).rev().collect();
                let fit = |x: MatrixView<'_>, y: MatrixView<'_>| {
                    let found = params(lambda)
                        .fit_leaving_one_out(x, y, &samples, RegressionOptions::default())
                        .unwrap();
                    found.expect("the equations are factored")
                };
                let (model, scores) = fit((&x).into(), (&y).into());
                assert_eq!(model, params(lambda).fit((&x).into(), (&y).into()).unwrap());
                assert_eq!(scores.dim(), (samples.len(), y.ncols()));
                let scale = y.iter().fold(1.0_f32, |most, v| most.max(v.abs()));
                for (&sample, scores) in samples.iter().zip(scores.rows()) {
                    for (score, naive) in scores.iter().zip(naive(lambda, &x, &y, sample)) {
                        let error = (f64::from(*score) - naive).abs();
                        assert!(error < 2e-4 * f64::from(scale), "{lambda}: {score} {naive}");
                    }
                }
                let sparse = [csr(&x), csr(&y)].map(Matrix::Sparse);
                let (_, of_sparse) = fit(sparse[0].view(), sparse[1].view());
                let worst = (&of_sparse - &scores)
                    .iter()
                    .fold(0.0_f32, |most, v| most.max(v.abs()));
                assert!(worst < 1e-4 * scale, "{worst}");
                let threads = on_threads(3, || fit((&x).into(), (&y).into()));
                assert_eq!(threads, (model, scores));
            }
        }
    }
}

/// Without a penalty and with fewer samples than features, each sample determines its own prediction; with many
/// features there is no factor.
#[test]
fn there_are_none_where_they_would_not_be_exact() {
    let y = labels(&features(10, 3, 1.0, 1), 3, 2);
    for (p, lambda) in [(40, Penalty::Relative(1e-7)), (2100, Penalty::Variance(0.3))] {
        let x = features(10, p, 0.5, 4);
        let found =
            params(lambda).fit_leaving_one_out((&x).into(), (&y).into(), &[0], RegressionOptions::default());
        assert_eq!(found, Ok(None), "{p} features");
    }
    let x = features(10, 3, 1.0, 1) * 3e38;
    let model = params(Penalty::Variance(0.3)).fit_leaving_one_out(
        (&x).into(),
        (&x).into(),
        &[1],
        RegressionOptions::default(),
    );
    assert!(
        !matches!(&model, Ok(Some((_, scores))) if scores.iter().any(|v| !v.is_finite())),
        "{model:?}"
    );
    let refused = params(Penalty::Variance(-1.0)).fit_leaving_one_out(
        (&y).into(),
        (&y).into(),
        &[0],
        RegressionOptions::default(),
    );
    assert!(matches!(refused, Err(LinearError::Parameter(_))));
}

/// A sample of weight w equals one that occurs w times, also for penalties in units of the data; a sample of weight 0
/// is ignored.
#[test]
fn weights_count_samples() {
    let (n, p) = (60, 5);
    for density in [1.0, 0.15] {
        let x = features(n, p, density, 5);
        let y = labels(&x, 3, 6);
        let weights: Vec<f32> = (0..n).map(|i| (i % 4) as f32).collect();
        let repeated: Vec<usize> = (0..n).flat_map(|i| std::iter::repeat_n(i, i % 4)).collect();
        let [many_x, many_y] = [&x, &y].map(|a| a.select(Axis(0), &repeated));
        let of_regression = RegressionOptions {
            weights: Some(&weights),
            ..RegressionOptions::default()
        };
        let of_classifiers = ClassifierOptions {
            weights: Some(&weights),
            ..ClassifierOptions::default()
        };
        for lambda in [Penalty::Variance(0.3), Penalty::Relative(0.5)] {
            let ridge = params(lambda);
            let logistic = LogisticRegressionParams {
                lambda,
                tolerance: 1e-6,
                max_steps: 200,
                prune: 0.0,
            };
            // Probabilities of the squared hinge depend on which samples are withheld.
            let one_vs_rest = OneVsRestParams {
                loss: MarginLoss::Logistic,
                cost: Some(1.0),
                tolerance: 1e-5,
                max_passes: 2000,
                prune: 0.0,
                ..OneVsRestParams::default()
            };
            let (weighted_x, weighted_y) = (MatrixView::from(&x), MatrixView::from(&y));
            let (many_x, many_y) = (MatrixView::from(&many_x), MatrixView::from(&many_y));
            let tree = LabelTreeParams {
                classifiers: one_vs_rest.clone(),
                trees: 1,
                ..LabelTreeParams::default()
            };
            let predicted = |model: &dyn Predictor<Error = LinearError>| model.predict(weighted_x).unwrap();
            for (found, expected, tolerance) in [
                (
                    predicted(&ridge.fit_with(weighted_x, weighted_y, of_regression).unwrap()),
                    predicted(&ridge.fit(many_x, many_y).unwrap()),
                    1e-5,
                ),
                (
                    predicted(&logistic.fit_with(weighted_x, weighted_y, of_regression).unwrap()),
                    predicted(&logistic.fit(many_x, many_y).unwrap()),
                    1e-2,
                ),
                (
                    predicted(
                        &one_vs_rest
                            .fit_with(weighted_x, weighted_y, of_classifiers)
                            .unwrap(),
                    ),
                    predicted(&one_vs_rest.fit(many_x, many_y).unwrap()),
                    1e-2,
                ),
                (
                    predicted(&tree.fit_with(weighted_x, weighted_y, of_classifiers).unwrap()),
                    predicted(&tree.fit(many_x, many_y).unwrap()),
                    1e-2,
                ),
            ] {
                let worst = (&found - &expected)
                    .iter()
                    .fold(0.0_f32, |most, v| most.max(v.abs()));
                assert!(worst < tolerance, "{lambda}: {worst}");
            }
        }
        let left_out = params(Penalty::Variance(0.3))
            .fit_leaving_one_out((&x).into(), (&y).into(), &[0, 4], of_regression)
            .unwrap();
        let (model, scores) = left_out.expect("the equations are factored");
        // Samples of weight 0 had no influence on the fit.
        let predicted = model.predict((&x.select(Axis(0), &[0, 4])).into()).unwrap();
        assert!((&scores - &predicted).iter().all(|v| v.abs() < 1e-5));
    }
}

#[test]
fn bad_weights_are_refused() {
    let x = features(6, 2, 1.0, 7);
    let y = labels(&x, 2, 8);
    let fit = |weights: &[f32]| {
        let options = RegressionOptions {
            weights: Some(weights),
            ..RegressionOptions::default()
        };
        params(Penalty::Variance(0.3)).fit_with((&x).into(), (&y).into(), options)
    };
    assert_eq!(fit(&[0.0; 6]), Err(WeightError::AllZero.into()));
    let negative = [1.0, -1.0, 1.0, 1.0, 1.0, 1.0];
    assert_eq!(
        fit(&negative),
        Err(WeightError::OutOfRange {
            sample: 1,
            value: -1.0
        }
        .into())
    );
    assert!(matches!(fit(&[1.0; 5]), Err(LinearError::Mismatch(_))));
    assert!(matches!(
        fit(&[f32::NAN; 6]),
        Err(LinearError::Weight(WeightError::OutOfRange { sample: 0, .. }))
    ));
}

/// The mean over the outputs of the squared error of samples that are left out, relative to the variance.
fn error_left_out(alpha: f64, x: &Array2<f32>, y: &Array2<f32>) -> f64 {
    let scores: Vec<Vec<f64>> = (0..x.nrows())
        .map(|i| naive(Penalty::Variance(alpha), x, y, i))
        .collect();
    let of_output = |j: usize| {
        let column = y.column(j).mapv(f64::from);
        let error = |(scores, y): (&Vec<f64>, &f64)| (scores[j] - y).powi(2);
        let errors: f64 = scores.iter().zip(&column).map(error).sum();
        errors / (column.var(0.0) * column.len() as f64)
    };
    (0..y.ncols()).map(of_output).sum::<f64>() / y.ncols() as f64
}

/// Without noise the found penalty is small, with more noise than signal it is large, and neither neighbour has a
/// smaller error.
#[test]
fn the_found_penalty_has_the_smallest_error() {
    let (x, w, noise) = (
        features(60, 8, 1.0, 3),
        features(8, 2, 1.0, 4),
        features(60, 2, 1.0, 5),
    );
    let mut found = Vec::new();
    for scale in [0.0, 1.0, 20.0] {
        let y = x.dot(&w) + scale * &noise;
        let model = RidgeParams::default().fit((&x).into(), (&y).into()).unwrap();
        let Some(Penalty::Variance(alpha)) = model.penalty else {
            panic!("{:?}", model.penalty)
        };
        let least = error_left_out(alpha, &x, &y);
        if alpha > 3e-5 && alpha < 3e3 {
            for neighbour in [alpha / 3.2, alpha * 3.2] {
                assert!(
                    error_left_out(neighbour, &x, &y) > 0.99 * least,
                    "{scale}: {alpha}"
                );
            }
        }
        let given = params(Penalty::Variance(alpha));
        assert_eq!(given.fit((&x).into(), (&y).into()).unwrap(), model);
        let alone = on_threads(1, || {
            RidgeParams::default().fit((&x).into(), (&y).into()).unwrap()
        });
        assert_eq!(alone, model);
        found.push(alpha);
    }
    assert!(
        found[0] < 0.01 && found[0] < found[1] && found[1] < found[2] && found[2] > 0.3,
        "{found:?}"
    );
}

/// Where samples are not left out, the penalty is the usual one.
#[test]
fn the_usual_penalty_is_not_searched_for() {
    let (x, y) = (features(50, 4, 1.0, 1), features(50, 2, 1.0, 2));
    let usual = Some(Penalty::Variance(0.3));
    let grouped = RegressionOptions {
        is_grouped: true,
        ..RegressionOptions::default()
    };
    let fit = |x: &Array2<f32>, y: &Array2<f32>, options| {
        let model = RidgeParams::default().fit_with(x.into(), y.into(), options);
        model.unwrap().penalty
    };
    assert_eq!(fit(&x, &y, grouped), usual);
    assert_eq!(
        fit(&x, &Array2::ones((50, 2)), RegressionOptions::default()),
        usual
    );
    let wide = features(30, 2000, 0.01, 1);
    assert_eq!(
        fit(
            &wide,
            &y.slice(ndarray::s![..30, ..]).to_owned(),
            RegressionOptions::default()
        ),
        usual
    );
    let weights = vec![0.0; 50];
    let unweighted = RegressionOptions {
        weights: Some(&weights),
        ..RegressionOptions::default()
    };
    assert!(
        RidgeParams::default()
            .fit_with((&x).into(), (&y).into(), unweighted)
            .is_err()
    );
}
