//! Contributions of features to the scores of linear models.

use crate::common::{csr, features, labels};
use ndarray::Array2;
use rpo_core::{Explain, Learner, Matrix, MatrixView, Predictor};
use rpo_linear::{LinearModel, LogisticRegressionParams, OneVsRestParams, RidgeParams};

/// Base and contributions are the score, whatever the layout of features and weights.
fn check(model: &LinearModel, x: &Array2<f32>, score: impl Fn(f64) -> f64) {
    let (n, d) = (x.nrows(), model.n_outputs());
    let all: Vec<u32> = (0..d as u32).collect();
    let background = x.slice(ndarray::s![..n / 2, ..]);
    let predictions = model.predict(x.into()).unwrap();
    for x in [Matrix::from(x.clone()), csr(x).into()] {
        let found = model
            .contributions(x.view(), &vec![&all[..]; n], background.into())
            .unwrap();
        for ((i, j), prediction) in predictions.indexed_iter() {
            let row = found.values.outer_view(i * d + j).unwrap();
            let sum = found.base[j] + row.data().iter().map(|v| f64::from(*v)).sum::<f64>();
            let expected = score(f64::from(*prediction));
            assert!(
                sum == expected || (sum - expected).abs() < 1e-3 * (1.0 + expected.abs()),
                "{i}, {j}: {sum} for {expected}"
            );
        }
    }
}

#[test]
fn contributions_of_linear_models_add_up_to_scores() {
    let x = features(50, 6, 0.7, 3);
    let y = labels(&x, 4, 3);
    let (x_view, y_view): (MatrixView<'_>, MatrixView<'_>) = ((&x).into(), (&y).into());
    let log_odds = |p: f64| (p / (1.0 - p)).ln();
    check(
        &RidgeParams::default().fit(x_view, y_view).unwrap(),
        &x,
        |score| score,
    );
    check(
        &LogisticRegressionParams::default().fit(x_view, y_view).unwrap(),
        &x,
        log_odds,
    );
    check(
        &OneVsRestParams::default().fit(x_view, y_view).unwrap(),
        &x,
        log_odds,
    );
}

#[test]
fn the_background_is_what_samples_are_compared_with() {
    let x = features(30, 3, 1.0, 4);
    let y = x.column(1).mapv(|v| 2.0 * v).insert_axis(ndarray::Axis(1));
    let model = RidgeParams::default().fit((&x).into(), (&y).into()).unwrap();
    let one = x.slice(ndarray::s![..1, ..]);
    let found = model.contributions(one.into(), &[&[0]], one.into()).unwrap();
    assert_eq!(found.values.nnz(), 0);
    assert!(model.contributions(one.into(), &[&[1]], one.into()).is_err());
    assert!(
        model
            .contributions(one.into(), &[&[0]], x.slice(ndarray::s![..0, ..]).into())
            .is_err()
    );
}
