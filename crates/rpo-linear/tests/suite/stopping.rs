//! Fits end where they are asked to stop.

use ndarray::Array2;
use rpo_linear::{
    FitOptions, LabelEmbeddingParams, LabelTreeParams, Learner, LinearError, LogisticRegressionParams,
    OneVsRestParams, RidgeParams,
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fits with an option that stops the fit when it is asked for the `n`-th time, and then as often as it is asked;
/// returns how often that was.
fn stopped<L>(params: &L, n: usize) -> (Result<(), LinearError>, usize)
where
    L: for<'a> Learner<Error = LinearError, Options<'a> = FitOptions<'a>>,
{
    let x = Array2::from_shape_fn((60, 5), |(i, j)| ((i * (3 * j + 7) + j) % 23) as f32 / 23.0);
    let y = Array2::from_shape_fn((60, 40), |(i, j)| f32::from(u8::from((i * 5 + j * 3) % 7 < 3)));
    let asked = AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) + 1 >= n;
    let options = FitOptions {
        stop: Some(&stop),
        ..FitOptions::default()
    };
    let fitted = params.fit_with((&x).into(), (&y).into(), options).map(|_| ());
    (fitted, asked.into_inner())
}

fn check<L>(params: &L)
where
    L: for<'a> Learner<Error = LinearError, Options<'a> = FitOptions<'a>>,
{
    let (fitted, asked) = stopped(params, usize::MAX);
    assert_eq!(fitted, Ok(()));
    assert!(asked > 1, "asked {asked} times");
    for n in [1, asked] {
        assert_eq!(stopped(params, n).0, Err(LinearError::Stopped), "{n} of {asked}");
    }
}

#[test]
fn every_method_stops_between_its_parts() {
    check(&RidgeParams::default());
    check(&LogisticRegressionParams::default());
    check(&OneVsRestParams::default());
    check(&LabelTreeParams::default());
    check(&LabelEmbeddingParams::default());
}
