//! Contributions of features: they add up, and do not depend on threads or on what else is explained.

use ndarray::Array2;
use rpo_core::{Contributions, Explain, Learner, Matrix, MatrixView, Seed};
use rpo_ensemble::boosting::{Algorithm, BoostingParams, LossKind};
use rpo_ensemble::{EnsembleError, ForestParams, LeafChoice, MaxFeatures, SingleTargetParams};

/// Features of which a third is 0 and some are missing, and outputs that depend on them.
fn data(n: usize, labels: bool) -> (Array2<f32>, Array2<f32>) {
    let unit =
        |i: usize, j: usize| (Seed::new(5).child(i as u64).hash(j as u64) >> 40) as f32 / (1 << 24) as f32;
    let x = Array2::from_shape_fn((n, 6), |(i, j)| match unit(i, j) {
        v if v < 0.33 => 0.0,
        v if v > 0.97 => f32::NAN,
        v => v,
    });
    let seen = x.mapv(|v| if v.is_nan() { 0.5 } else { v });
    let y = Array2::from_shape_fn((n, 4), |(i, j)| {
        let value = seen[[i, j]] - seen[[i, j + 1]] * seen[[i, 5]] + 0.3 * unit(i, 20 + j);
        if labels { f32::from(value > 0.2) } else { value }
    });
    (x, y)
}

/// The scores that base and contributions add up to (n x d).
fn sums(found: &Contributions, n: usize) -> Array2<f64> {
    let d = found.base.len();
    Array2::from_shape_fn((n, d), |(i, j)| {
        let row = found.values.outer_view(i * d + j).unwrap();
        found.base[j] + row.data().iter().map(|v| f64::from(*v)).sum::<f64>()
    })
}

fn check<M: Explain<Error = EnsembleError> + Sync>(model: &M, x: &Array2<f32>, score: impl Fn(f64) -> f64) {
    let (n, d) = (x.nrows(), model.n_outputs());
    let all: Vec<u32> = (0..d as u32).collect();
    let outputs = vec![&all[..]; n];
    let background = x.slice(ndarray::s![..40, ..]);
    let found = model
        .contributions(x.into(), &outputs, background.into())
        .unwrap();
    let predictions = model.predict(x.into()).unwrap();
    for (at, sum) in sums(&found, n).indexed_iter() {
        let expected = score(f64::from(predictions[at]));
        assert!(
            (sum - expected).abs() < 1e-4 * (1.0 + expected.abs()),
            "{at:?}: {sum} for {expected}"
        );
    }
    // Sparse features, and one output of one sample.
    let sparse = MatrixView::from(x).to_csr();
    let again = model
        .contributions(MatrixView::Sparse(sparse.view()), &outputs, background.into())
        .unwrap();
    assert_eq!(again, found);
    let one = x.slice(ndarray::s![n - 1.., ..]);
    let alone = model
        .contributions(one.into(), &[&[1]], background.into())
        .unwrap();
    assert_eq!(
        alone.values.outer_view(0),
        found.values.outer_view((n - 1) * d + 1)
    );
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let elsewhere = pool.install(|| {
        model
            .contributions(x.into(), &outputs, background.into())
            .unwrap()
    });
    assert_eq!(elsewhere, found);
}

#[test]
fn contributions_of_forests_add_up_to_predictions() {
    let (x, y) = data(60, false);
    let params = ForestParams {
        trees: 7,
        ..ForestParams::default()
    };
    for leaves in [LeafChoice::Dense, LeafChoice::Sparse, LeafChoice::Samples] {
        let params = ForestParams {
            leaves,
            ..params.clone()
        };
        check(&params.fit((&x).into(), (&y).into()).unwrap(), &x, |prediction| {
            prediction
        });
    }
    let single = SingleTargetParams(params).fit((&x).into(), (&y).into()).unwrap();
    check(&single, &x, |prediction| prediction);
}

#[test]
fn contributions_of_boosting_add_up_to_scores() {
    let log_odds = |p: f64| (p / (1.0 - p)).ln();
    for algorithm in [
        Algorithm::Gbmort,
        Algorithm::GbrtRpo,
        Algorithm::GbrtRelabelRpo,
        Algorithm::SingleTarget,
    ] {
        let params = BoostingParams {
            iterations: 5,
            ..BoostingParams::from(algorithm)
        };
        let (x, y) = data(60, false);
        check(&params.fit((&x).into(), (&y).into()).unwrap(), &x, |prediction| {
            prediction
        });
        let (x, y) = data(60, true);
        let params = BoostingParams {
            loss: Some(LossKind::Logistic),
            ..params
        };
        check(&params.fit((&x).into(), (&y).into()).unwrap(), &x, log_odds);
    }
}

/// A feature that decides nothing contributes nothing; equal features contribute the same.
#[test]
fn contributions_name_the_features_that_decide() {
    let x = Array2::from_shape_fn(
        (40, 3),
        |(i, j)| if j == 0 { (i % 4) as f32 } else { (i % 2) as f32 },
    );
    let y = Array2::from_shape_fn((40, 1), |(i, _)| f32::from(i % 4 >= 2));
    let params = ForestParams {
        trees: 3,
        bootstrap: Some(false),
        max_features: MaxFeatures::All,
        ..ForestParams::default()
    };
    let model = params.fit((&x).into(), (&y).into()).unwrap();
    let found = model
        .contributions((&x).into(), &vec![&[0][..]; 40], (&x).into())
        .unwrap();
    assert!((found.base[0] - 0.5).abs() < 1e-12);
    for (i, row) in found.values.outer_iterator().enumerate() {
        let expected = if i % 4 >= 2 { 0.5 } else { -0.5 };
        for (feature, &given) in row.iter() {
            let expected = if feature == 0 { expected } else { 0.0 };
            assert!((given - expected).abs() < 1e-6, "{i}, {feature}: {given}");
        }
    }
}

#[test]
fn what_cannot_be_explained_is_refused() {
    let (x, y) = data(30, false);
    let model = ForestParams {
        trees: 2,
        ..ForestParams::default()
    }
    .fit((&x).into(), (&y).into())
    .unwrap();
    let explain = |x: &Array2<f32>, outputs: &[&[u32]], background: &Array2<f32>| {
        model
            .contributions(x.into(), outputs, background.into())
            .map(|_| ())
    };
    let one = x.slice(ndarray::s![..1, ..]).to_owned();
    assert_eq!(explain(&one, &[&[3, 0]], &x), Ok(()));
    assert_eq!(explain(&one, &[&[]], &x), Ok(()));
    assert!(matches!(
        explain(&one, &[&[4]], &x),
        Err(EnsembleError::TooFew(_))
    ));
    assert!(matches!(explain(&one, &[], &x), Err(EnsembleError::Mismatch(_))));
    assert!(matches!(
        explain(&one, &[&[0]], &Array2::zeros((0, 6))),
        Err(EnsembleError::TooFew(_))
    ));
    assert!(matches!(
        explain(&Array2::zeros((1, 5)), &[&[0]], &x),
        Err(EnsembleError::Mismatch(_))
    ));
    assert!(matches!(
        explain(&one, &[&[0]], &Array2::zeros((1, 5))),
        Err(EnsembleError::Mismatch(_))
    ));
    let none = Matrix::from(Array2::zeros((0, 6)));
    let found = model.contributions(none.view(), &[], (&x).into()).unwrap();
    assert_eq!((found.base.len(), found.values.shape()), (4, (0, 6)));
}
