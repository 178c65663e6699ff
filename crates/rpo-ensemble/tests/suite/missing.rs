//! Forests with missing outputs.

use super::common::{
    OutputProjection, csr, every_kind, gaussian, labelled, layouts, on_threads, projected, regression,
    uniform,
};
use ndarray::Array2;
use rpo_core::{Apply, Learner, Matrix, MatrixError, ParameterError, Predictor};
use rpo_ensemble::{
    EnsembleError, Forest, ForestOptions, ForestParams, ForestPreset, LeafChoice, OutOfBagPredictor,
};

/// Replaces a random fraction of the outputs by missing values.
fn without(y: &Array2<f32>, share: f64, seed: u64) -> Array2<f32> {
    let mut uniform = uniform(seed);
    y.mapv(|v| if uniform() < share { f32::NAN } else { v })
}

fn try_fit(params: &ForestParams, x: &Array2<f32>, y: &Matrix) -> Result<Forest, EnsembleError> {
    let options = ForestOptions {
        missing_outputs: true,
        ..ForestOptions::default()
    };
    let params = params.clone();
    params.fit_with(x.into(), y.view(), options)
}

fn fit(params: &ForestParams, x: &Array2<f32>, y: &Matrix) -> Forest {
    try_fit(params, x, y).unwrap()
}

/// Boosting refuses such an output with the same error.
#[test]
fn an_output_that_no_sample_of_weight_has_is_refused() {
    let (x, y) = labelled(1, 30);
    let mut y = without(&y, 0.3, 2);
    y.column_mut(1).fill(f32::NAN);
    y[[4, 1]] = 1.0;
    let params = ForestParams {
        trees: 2,
        bootstrap: Some(false),
        ..ForestParams::default()
    };
    let mut weights = vec![1.0; 30];
    weights[4] = 0.0;
    for y in layouts(&y) {
        assert!(try_fit(&params, &x, &y).is_ok());
        let options = ForestOptions {
            missing_outputs: true,
            weights: Some(&weights),
            ..ForestOptions::default()
        };
        let found = params.fit_with((&x).into(), y.view(), options);
        assert_eq!(found.unwrap_err(), EnsembleError::NoTarget { output: 1 });
    }
}

fn squared_error(predicted: &Array2<f32>, truth: &Array2<f32>) -> f64 {
    let errors = predicted.iter().zip(truth).map(|(a, b)| f64::from(a - b).powi(2));
    errors.sum::<f64>() / truth.len() as f64
}

#[test]
fn missing_outputs_are_refused_unless_allowed() {
    let (x, y) = labelled(1, 30);
    let params = ForestParams {
        trees: 2,
        ..ForestParams::default()
    };
    for y in layouts(&without(&y, 0.3, 2)) {
        let found = params.clone().fit((&x).into(), y.view());
        assert!(matches!(
            found,
            Err(EnsembleError::Outputs(MatrixError::NonFinite { value, .. })) if value.is_nan()
        ));
        assert!(try_fit(&params, &x, &y).is_ok());
        let samples = ForestParams {
            leaves: LeafChoice::Samples,
            ..params.clone()
        };
        assert!(matches!(
            try_fit(&samples, &x, &y),
            Err(EnsembleError::Parameter(ParameterError::Conflict {
                name: "leaves",
                ..
            }))
        ));
    }
    let mut infinite = y;
    infinite[[7, 2]] = f32::INFINITY;
    for y in layouts(&infinite) {
        let (row, column, value) = (7, 2, f32::INFINITY);
        let expected = EnsembleError::Outputs(MatrixError::NonFinite { row, column, value });
        assert_eq!(try_fit(&params, &x, &y), Err(expected));
    }
}

#[test]
fn allowing_what_is_not_there_changes_nothing() {
    let (x, y) = labelled(4, 50);
    for params in every_kind() {
        for y in layouts(&y) {
            let plain = super::common::fit(params.clone(), &x.clone().into(), &y);
            assert!(fit(&params, &x, &y) == plain);
        }
    }
}

/// Trees have the splits of trees on the projection of outputs whose missing values are replaced by their mean.
#[test]
fn projections_see_the_mean_of_what_is_known() {
    let (x, y) = labelled(5, 60);
    let partial = without(&y, 0.3, 6);
    let mut filled = partial.clone();
    for mut column in filled.columns_mut() {
        let known: Vec<f64> = column
            .iter()
            .filter(|v| !v.is_nan())
            .map(|&v| f64::from(v))
            .collect();
        let mean = (known.iter().sum::<f64>() / known.len() as f64) as f32;
        column.iter_mut().filter(|v| v.is_nan()).for_each(|v| *v = mean);
    }
    let projections = [gaussian(3), gaussian(3).map(OutputProjection::shared)];
    for params in projections.map(|p| {
        projected(
            ForestParams {
                trees: 4,
                seed: 7,
                ..ForestParams::default()
            },
            p,
        )
    }) {
        for (partial, filled) in layouts(&partial).iter().zip(layouts(&filled)) {
            let found = fit(&params, &x, partial);
            let expected = super::common::fit(params.clone(), &x.clone().into(), &filled);
            assert_eq!(found.apply((&x).into()), expected.apply((&x).into()));
            // Leaf values are means of observed labels.
            let predicted = found.predict((&x).into()).unwrap();
            assert!(predicted.iter().all(|p| (0.0..=1.0).contains(p)));
        }
    }
}

/// A fully grown tree without bootstrap has one leaf per row, which predicts the observed outputs of the row.
#[test]
fn a_leaf_of_one_row_answers_with_what_the_row_knows() {
    let (x, y) = regression(8, 40);
    let partial = without(&y, 0.4, 9);
    for params in [
        ForestParams::from(ForestPreset::Cart),
        ForestParams {
            trees: 3,
            ..ForestPreset::ExtraTrees.into()
        },
    ] {
        let predicted = fit(&params, &x, &partial.clone().into())
            .predict((&x).into())
            .unwrap();
        assert!(predicted.iter().all(|p| p.is_finite()));
        for ((found, known), range) in predicted.columns().into_iter().zip(partial.columns()).zip(0..) {
            let known: Vec<f32> = known.iter().copied().filter(|v| !v.is_nan()).collect();
            let low = known.iter().copied().fold(f32::INFINITY, f32::min);
            let high = known.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            assert!(found.iter().all(|p| (low..=high).contains(p)), "output {range}");
        }
    }
}

/// Learning from the observed labels works; treating missing labels as 0 does not.
#[test]
fn missing_is_not_zero() {
    let (x, y) = labelled(10, 400);
    let (new_x, new_y) = labelled(11, 200);
    let partial = without(&y, 0.6, 12);
    let zeros = Matrix::from(partial.mapv(|v| if v.is_nan() { 0.0 } else { v }));
    for projection in [None, gaussian(4)] {
        let params = projected(
            ForestParams {
                trees: 20,
                min_samples_leaf: 3,
                seed: 2,
                ..ForestParams::default()
            },
            projection,
        );
        let error = |forest: Forest| squared_error(&forest.predict((&new_x).into()).unwrap(), &new_y);
        let naive = error(fit(&params, &x, &zeros));
        let whole = error(super::common::fit(
            params.clone(),
            &x.clone().into(),
            &y.clone().into(),
        ));
        for partial in layouts(&partial) {
            let found = error(fit(&params, &x, &partial));
            assert!(whole < found && found < 0.8 * naive, "{whole} {found} {naive}");
        }
    }
}

#[test]
fn missing_outputs_leave_out_of_bag_and_top_labels_finite() {
    let (x, y) = labelled(13, 60);
    let partial = csr(&without(&y, 0.5, 14));
    let params = ForestParams {
        trees: 30,
        seed: 3,
        ..ForestParams::default()
    };
    let forest = fit(&params, &x, &partial.into());
    let (scores, counts) = forest.oob_predictions((&x).into()).unwrap();
    let seen = (0..60).filter(|&i| counts[i] > 0);
    assert!(seen.clone().count() > 50);
    for i in seen {
        assert!(scores.row(i).iter().all(|s| (0.0..=1.0).contains(s)));
    }
    let top = forest.predict_top_k((&x).into(), 3).unwrap();
    assert!(top.data().iter().all(|s| (0.0..=1.0).contains(s)));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let (x, y) = regression(15, 80);
    let y = without(&y, 0.3, 16);
    let params = ForestParams {
        trees: 6,
        seed: 4,
        ..ForestParams::default()
    };
    for y in layouts(&y) {
        let on = |threads| on_threads(threads, || fit(&params, &x, &y));
        assert!(on(1) == on(3));
    }
}
