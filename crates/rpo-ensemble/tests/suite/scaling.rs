//! Output scaling: the unit of one output does not decide the splits of all.

use super::common::regression;
use ndarray::{Array2, Axis, concatenate, s};
use rpo_core::{CheckParams, Learner, MatrixView, Predictor};
use rpo_ensemble::boosting::{Algorithm, BoostingOptions, BoostingParams, LossKind, TrainingForm};
use rpo_ensemble::{EnsembleError, ForestParams, ForestPreset, MaxFeatures, OutputScaling, ProjectionKind};

/// Returns the outputs with the first one in a unit a thousandth as large.
fn in_other_units(y: &Array2<f32>) -> Array2<f32> {
    let mut y = y.clone();
    y.column_mut(0).mapv_inplace(|v| 1000.0 * v);
    y
}

/// Returns the predictions of models for outputs in two units, with the first output converted to its original unit.
fn predictions(fit: impl Fn(MatrixView<'_>) -> Array2<f32>, y: &Array2<f32>) -> [Array2<f32>; 2] {
    let mut other = fit((&in_other_units(y)).into());
    other.column_mut(0).mapv_inplace(|v| v / 1000.0);
    [fit(y.into()), other]
}

fn mean_square(a: &Array2<f32>, b: &Array2<f32>) -> f64 {
    let others = s![.., 1..];
    let (a, b) = (a.slice(others), b.slice(others));
    let squares = a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2));
    squares.sum::<f64>() / a.len() as f64
}

/// Checks that scaled models do not depend on units, and that unscaled ones do.
fn check(what: &str, fit: impl Fn(OutputScaling, MatrixView<'_>, MatrixView<'_>) -> Array2<f32>) {
    let (x, y) = regression(23, 240);
    // The outputs depend on different features, so that splits for the first help none of the others.
    let y = y.slice(s![.., 0..4]).to_owned();
    let of = |scaling| predictions(|y| fit(scaling, (&x).into(), y), &y);
    for scaling in [OutputScaling::Auto, OutputScaling::Deviation] {
        let [a, b] = of(scaling);
        // Rounding may only change the choice between equal splits.
        assert!(mean_square(&a, &b) < 1e-3, "{what}: {}", mean_square(&a, &b));
    }
    let [scaled, _] = of(OutputScaling::Auto);
    let [_, own] = of(OutputScaling::None);
    let errors = [&scaled, &own].map(|found| mean_square(found, &y));
    assert!(errors[1] > 1.1 * errors[0], "{what}: {errors:?}");
}

#[test]
fn units_decide_no_splits_of_forests() {
    let base = ForestParams {
        trees: 20,
        max_leaves: Some(6),
        ..ForestParams::default()
    };
    for params in [
        base.clone(),
        base.clone().project(ProjectionKind::Gaussian, 2),
        ForestParams {
            max_leaves: Some(6),
            ..ForestPreset::Cart.into()
        },
    ] {
        check(&format!("{params:?}"), |scale_outputs, x, y| {
            let params = ForestParams {
                scale_outputs,
                ..params.clone()
            };
            params.fit(x.reborrow(), y).unwrap().predict(x).unwrap()
        });
    }
}

#[test]
fn units_decide_no_splits_of_boosting() {
    for algorithm in [Algorithm::Gbmort, Algorithm::GbrtRpo, Algorithm::GbrtRelabelRpo] {
        for base in [BoostingParams::from(algorithm), BoostingParams::paper(algorithm)] {
            let params = BoostingParams {
                iterations: 15,
                learning_rate: 0.2,
                max_leaves: Some(3),
                max_features: MaxFeatures::All,
                ..base
            };
            check(&format!("{params:?}"), |scale_outputs, x, y| {
                let params = BoostingParams {
                    scale_outputs,
                    ..params.clone()
                };
                params.fit(x.reborrow(), y).unwrap().predict(x).unwrap()
            });
        }
    }
}

/// Rare counts are learned beside frequent ones that depend on other features.
#[test]
fn frequent_counts_do_not_starve_rare_ones() {
    let (x, levels) = regression(31, 600);
    let means = [0.5_f32, 5000.0, 3000.0, 8000.0];
    // Each count is one of two numbers, by the level of another output.
    let count = |(i, j): (usize, usize)| {
        let doubled = if levels[[i, j]] > 12.0 { 2.0 } else { 0.5 };
        // Rare counts alternate between the two whole numbers beside their mean.
        let mean = means[j] * doubled;
        if j == 0 {
            (mean + (i % 4) as f32 / 4.0).floor()
        } else {
            mean
        }
    };
    let y = Array2::from_shape_fn((600, 4), count);
    for algorithm in [Algorithm::Gbmort, Algorithm::GbrtRelabelRpo] {
        let error = |scale_outputs| {
            let params = BoostingParams {
                iterations: 60,
                loss: Some(LossKind::Poisson),
                max_leaves: Some(3),
                max_features: MaxFeatures::All,
                scale_outputs,
                ..BoostingParams::from(algorithm)
            };
            let model = params.fit((&x).into(), (&y).into()).unwrap();
            let predicted = model.predict((&x).into()).unwrap();
            let pairs = predicted.column(0).into_iter().zip(y.column(0));
            pairs.map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>()
        };
        let [scaled, own] = [OutputScaling::Auto, OutputScaling::None].map(error);
        assert!(own > 1.2 * scaled, "{algorithm:?}: {own} and {scaled}");
    }
}

/// Scaling by a power of 2 changes no digit, so that predictions are the same numbers in the other unit.
#[test]
fn boosting_learns_the_same_in_any_unit() {
    let (x, y) = regression(29, 120);
    for algorithm in Algorithm::ALL {
        for scale_outputs in [OutputScaling::Auto, OutputScaling::None] {
            let params = BoostingParams {
                iterations: 10,
                scale_outputs,
                ..BoostingParams::from(algorithm)
            };
            let predict = |y: &Array2<f32>| {
                let model = params.fit((&x).into(), y.into()).unwrap();
                model.predict((&x).into()).unwrap()
            };
            let expected = predict(&y);
            for exponent in [-60, -30, 30, 45, 90] {
                let unit = 2.0_f32.powi(exponent);
                let found = predict(&(&y * unit)) / unit;
                let equal = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-3 * (1.0 + b.abs());
                assert!(
                    found.iter().zip(&expected).all(equal),
                    "{params:?}, unit 2^{exponent}"
                );
            }
        }
    }
}

/// Labels have no unit, and a single output shares its tree with no other.
#[test]
fn labels_and_single_outputs_stay_as_they_are() {
    let (x, y) = super::common::labelled(3, 60);
    let numbers = regression(3, 60).1.slice(s![.., ..1]).to_owned();
    for y in [&y, &numbers] {
        let forest = |scale_outputs| {
            let params = ForestParams {
                trees: 4,
                scale_outputs,
                ..ForestParams::default()
            };
            params.fit((&x).into(), y.into()).unwrap()
        };
        assert_eq!(forest(OutputScaling::Auto), forest(OutputScaling::None));
        let boosted = |scale_outputs| {
            let params = BoostingParams {
                iterations: 4,
                scale_outputs,
                ..BoostingParams::from(Algorithm::GbrtRelabelRpo)
            };
            params.fit((&x).into(), y.into()).unwrap()
        };
        assert_eq!(boosted(OutputScaling::Auto), boosted(OutputScaling::None));
    }
}

/// Scaled or not, factored residuals of sparse numeric outputs give the same models as scores, for few outputs and for
/// so many that scores are summed leaf by leaf. Weights of 1 for all cells equal no weights.
#[test]
fn forms_agree() {
    for (n, copies) in [(60, 1), (400, 40)] {
        let (x, y) = regression(9, n);
        let copied: Vec<_> = (0..copies)
            .map(|copy| y.mapv(|v| v + (copy % 7) as f32))
            .collect();
        let views: Vec<_> = copied.iter().map(Array2::view).collect();
        let y = MatrixView::from(&concatenate(Axis(1), &views).unwrap()).to_csr();
        let ones = Array2::ones((n, y.cols()));
        for algorithm in [Algorithm::Gbmort, Algorithm::GbrtRelabelRpo, Algorithm::GbrtRpo] {
            let params = BoostingParams {
                iterations: 8,
                scale_outputs: OutputScaling::Deviation,
                ..BoostingParams::from(algorithm)
            };
            let predicted = |training_form, cell_weights| {
                let options = BoostingOptions {
                    training_form,
                    cell_weights,
                    ..BoostingOptions::default()
                };
                let y = MatrixView::Sparse(y.view());
                let model = params.fit_with((&x).into(), y, options).unwrap();
                model.predict((&x).into()).unwrap()
            };
            let scores = predicted(TrainingForm::Scores, None);
            let factored = predicted(TrainingForm::Factored, None);
            let differences = scores.iter().zip(&factored).map(|(a, b)| (a - b).abs());
            let largest = differences.fold(0.0, f32::max);
            assert!(largest < 1e-3, "{algorithm:?}, {copies}: {largest}");
            assert_eq!(
                predicted(TrainingForm::Scores, Some(ones.view())),
                scores,
                "{algorithm:?}, {copies}"
            );
        }
    }
}

#[test]
fn scales_need_a_unit_and_company() {
    for (algorithm, loss) in [
        (Algorithm::SingleTarget, LossKind::Square),
        (Algorithm::Gbmort, LossKind::Logistic),
        (Algorithm::Gbmort, LossKind::Absolute),
    ] {
        let with = |scale_outputs| BoostingParams {
            loss: Some(loss),
            scale_outputs,
            ..BoostingParams::from(algorithm)
        };
        assert_eq!(with(OutputScaling::Auto).check(), Ok(()));
        match with(OutputScaling::Deviation).check().unwrap_err() {
            EnsembleError::Parameter(error) => assert_eq!(error.name(), "scale_outputs"),
            other => panic!("{other:?}"),
        }
    }
}
