//! Missing outputs: each output is fitted to the samples that have it.

use crate::common::{csr, features, labels};
use ndarray::{Array2, Axis, s};
use rpo_core::{Learner, MatrixView, Observers};
use rpo_linear::{
    LinearError, LinearModel, LogisticRegressionParams, Penalty, RegressionOptions, RidgeParams,
};
use std::sync::atomic::{AtomicUsize, Ordering};

const WITH_MISSING: fn() -> RegressionOptions<'static> = || RegressionOptions {
    missing_outputs: true,
    ..RegressionOptions::default()
};

/// Labels, of which the first and third lack the same samples, the second others, and the last none.
fn data() -> (Array2<f32>, Array2<f32>) {
    let x = features(80, 5, 1.0, 1);
    let mut y = labels(&x, 4, 2);
    for row in (0..80).step_by(5) {
        (y[[row, 0]], y[[row, 2]], y[[row + 3, 1]]) = (f32::NAN, f32::NAN, f32::NAN);
    }
    (x, y)
}

fn check<P>(params: &P)
where
    P: for<'a> Learner<Error = LinearError, Model = LinearModel, Options<'a> = RegressionOptions<'a>>,
{
    let (x, y) = data();
    let weights: Vec<f32> = (0..80).map(|i| 1.0 + (i % 3) as f32).collect();
    for weights in [None, Some(&weights)] {
        let steps = AtomicUsize::new(0);
        let on_step = || {
            steps.fetch_add(1, Ordering::Relaxed);
        };
        let options = RegressionOptions {
            weights: weights.map(|weights| &**weights),
            observers: Observers {
                on_step: Some(&on_step),
                stop: None,
            },
            ..WITH_MISSING()
        };
        let model = params.fit_with((&x).into(), (&y).into(), options).unwrap();
        assert_eq!(steps.load(Ordering::Relaxed), 1);
        let sparse = csr(&y);
        let options = RegressionOptions {
            observers: Observers::default(),
            ..options
        };
        let of_sparse = params.fit_with((&x).into(), MatrixView::Sparse(sparse.view()), options);
        assert_eq!(of_sparse.unwrap(), model);
        let found = model.weights().to_dense(usize::MAX).unwrap();
        for outputs in [vec![0, 2], vec![1], vec![3]] {
            let rows: Vec<usize> = (0..80).filter(|&row| !y[[row, outputs[0]]].is_nan()).collect();
            let of_rows = weights.map(|weights| rows.iter().map(|&row| weights[row]).collect::<Vec<_>>());
            let (x, y) = (x.select(Axis(0), &rows), y.select(Axis(0), &rows));
            let options = RegressionOptions {
                weights: of_rows.as_deref(),
                ..RegressionOptions::default()
            };
            let y = y.select(Axis(1), &outputs);
            let alone = params.fit_with((&x).into(), (&y).into(), options).unwrap();
            assert_eq!(
                found.select(Axis(1), &outputs),
                alone.weights().to_dense(usize::MAX).unwrap()
            );
            assert_eq!(model.intercepts().select(Axis(0), &outputs), alone.intercepts());
        }
    }
}

#[test]
fn each_output_is_fitted_to_the_samples_that_have_it() {
    check(&RidgeParams::default());
    check(&RidgeParams {
        lambda: Some(Penalty::Relative(0.1)),
    });
    check(&LogisticRegressionParams::default());
}

/// Predictions of samples that are left out need complete outputs.
#[test]
fn missing_outputs_are_refused_unless_allowed() {
    let (x, y) = data();
    let (x, y) = (MatrixView::from(&x), MatrixView::from(&y));
    let ridge = RidgeParams::default();
    assert!(matches!(ridge.fit(x, y), Err(LinearError::Outputs(_))));
    let logistic = LogisticRegressionParams::default();
    assert!(matches!(logistic.fit(x, y), Err(LinearError::Outputs(_))));
    let left_out = ridge.fit_leaving_one_out(x, y, &[1], WITH_MISSING());
    assert_eq!(left_out, Ok(None));
}

#[test]
fn an_output_without_samples_is_refused() {
    let (x, mut y) = data();
    y.slice_mut(s![.., 1]).fill(f32::NAN);
    let model = RidgeParams::default().fit_with((&x).into(), (&y).into(), WITH_MISSING());
    assert!(matches!(model, Err(LinearError::TooFew(_))), "{model:?}");
}
