//! Fits end where they are asked to stop.

use ndarray::Array2;
use rpo_linear::{
    ClassifierOptions, LabelEmbeddingOptions, LabelEmbeddingParams, LabelTreeParams, Learner, LinearError,
    LogisticRegressionParams, MatrixView, Observers, OneVsRestParams, RegressionOptions, RidgeParams,
};
use std::sync::atomic::{AtomicUsize, Ordering};

type Fit = dyn Fn(MatrixView<'_>, MatrixView<'_>, Observers<'_>) -> Result<(), LinearError>;

/// Fits with an observer that stops the fit when it is asked for the `n`-th time, and then as often as it is asked;
/// returns how often that was.
fn stopped(fit: &Fit, n: usize) -> (Result<(), LinearError>, usize) {
    let x = Array2::from_shape_fn((60, 5), |(i, j)| ((i * (3 * j + 7) + j) % 23) as f32 / 23.0);
    let y = Array2::from_shape_fn((60, 40), |(i, j)| f32::from(u8::from((i * 5 + j * 3) % 7 < 3)));
    let asked = AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) + 1 >= n;
    let observers = Observers {
        on_step: None,
        stop: Some(&stop),
    };
    let fitted = fit((&x).into(), (&y).into(), observers);
    (fitted, asked.into_inner())
}

fn check(fit: &Fit) {
    let (fitted, asked) = stopped(fit, usize::MAX);
    assert_eq!(fitted, Ok(()));
    assert!(asked > 1, "asked {asked} times");
    for n in [1, asked] {
        assert_eq!(stopped(fit, n).0, Err(LinearError::Stopped), "{n} of {asked}");
    }
}

fn regression(observers: Observers<'_>) -> RegressionOptions<'_> {
    RegressionOptions {
        observers,
        ..RegressionOptions::default()
    }
}

fn classifiers(observers: Observers<'_>) -> ClassifierOptions<'_> {
    ClassifierOptions {
        observers,
        ..ClassifierOptions::default()
    }
}

fn embedding(observers: Observers<'_>) -> LabelEmbeddingOptions<'_> {
    LabelEmbeddingOptions {
        observers,
        ..LabelEmbeddingOptions::default()
    }
}

#[test]
fn every_method_stops_between_its_parts() {
    let (ridge, logistic) = (RidgeParams::default(), LogisticRegressionParams::default());
    let (one_vs_rest, trees) = (OneVsRestParams::default(), LabelTreeParams::default());
    check(&move |x, y, observers| ridge.fit_with(x, y, regression(observers)).map(|_| ()));
    check(&move |x, y, observers| logistic.fit_with(x, y, regression(observers)).map(|_| ()));
    check(&move |x, y, observers| one_vs_rest.fit_with(x, y, classifiers(observers)).map(|_| ()));
    check(&move |x, y, observers| trees.fit_with(x, y, classifiers(observers)).map(|_| ()));
    let embeddings = LabelEmbeddingParams::default();
    check(&move |x, y, observers| embeddings.fit_with(x, y, embedding(observers)).map(|_| ()));
}
