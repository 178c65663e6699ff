//! Random features against their kernels.

use ndarray::{Array1, Array2, ArrayView1, s};
use rand::Rng;
use rpo_core::{MatrixError, MatrixView, Mismatch, Seed};
use rpo_projections::{ProjectionError, RandomFeatures, SpectralLaw};

const LAWS: [SpectralLaw; 5] = [
    SpectralLaw::Gaussian,
    SpectralLaw::Student { nu: 1.0 },
    SpectralLaw::Student { nu: 3.0 },
    SpectralLaw::Student { nu: 5.0 },
    SpectralLaw::CauchyIid,
];
const INVERSE_BANDWIDTH: f64 = 0.7;

fn points(n: usize, k: usize, seed: u64) -> Array2<f32> {
    let mut rng = Seed::new(seed).stream();
    Array2::from_shape_simple_fn((n, k), || rng.gen_range(-1.0..1.0))
}

fn features(of: &RandomFeatures, z: &Array2<f32>) -> Array2<f32> {
    let mut out = Array2::zeros((z.nrows(), of.phases.len()));
    of.apply_into(z.into(), out.view_mut()).unwrap();
    out
}

fn kernel_estimate(u: ArrayView1<'_, f32>, v: ArrayView1<'_, f32>) -> f64 {
    let sum: f64 = u.iter().zip(v).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
    2.0 * sum / u.len() as f64
}

/// The estimate approximates the kernel of the difference, whatever the position of the pair.
#[test]
fn inner_products_approximate_the_kernel() {
    let (k, s) = (4, 40_000);
    let u = points(6, k, 1);
    let delta = points(6, k, 2) * 2.0;
    for law in LAWS {
        let map = RandomFeatures::draw(law, INVERSE_BANDWIDTH, k, s, Seed::new(3)).unwrap();
        for shift in [0.0, 1.5] {
            let (a, b) = (
                features(&map, &(&u + shift)),
                features(&map, &(&u + &delta + shift)),
            );
            for i in 0..6 {
                let difference: Vec<f64> = delta.row(i).iter().map(|v| f64::from(*v)).collect();
                let expected = law.kernel(&difference, INVERSE_BANDWIDTH).unwrap();
                let error = kernel_estimate(a.row(i), b.row(i)) - expected;
                assert!(error.abs() < 5.0 / (s as f64).sqrt(), "{law}: {error}");
            }
        }
    }
}

/// Phases on any interval whose length is a multiple of π give the same kernel.
#[test]
fn half_a_turn_of_phases_gives_the_same_kernel() {
    let (k, s) = (3, 40_000);
    let full = RandomFeatures::draw(SpectralLaw::Gaussian, INVERSE_BANDWIDTH, k, s, Seed::new(4)).unwrap();
    let mut rng = Seed::new(5).stream();
    let half = Array1::from_shape_simple_fn(s, || std::f32::consts::PI * (rng.r#gen::<f32>() - 0.5));
    let half = RandomFeatures {
        frequencies: full.frequencies.clone(),
        phases: half,
    };
    let z = points(5, k, 6);
    let (a, b) = (features(&full, &z), features(&half, &z));
    for (i, j) in (0..5).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let difference = kernel_estimate(a.row(i), a.row(j)) - kernel_estimate(b.row(i), b.row(j));
        assert!(difference.abs() < 10.0 / (s as f64).sqrt());
    }
}

#[test]
fn features_are_the_cosines_of_their_definition() {
    let z = points(7, 5, 7);
    let sparse = MatrixView::from(&z).to_csr();
    for law in LAWS {
        let map = RandomFeatures::draw(law, 1.3, 5, 33, Seed::new(8)).unwrap();
        let found = features(&map, &z);
        let phases = z.dot(&map.frequencies) + &map.phases;
        for (a, x) in found.iter().zip(&phases) {
            assert!((a - x.cos()).abs() < 1e-6 * (1.0 + x.abs()));
        }
        let mut from_sparse = Array2::zeros((7, 33));
        map.apply_into(MatrixView::Sparse(sparse.view()), from_sparse.view_mut())
            .unwrap();
        let scale = phases.iter().fold(1.0_f32, |best, v| best.max(v.abs()));
        assert!((&from_sparse - &found).iter().all(|v| v.abs() < 1e-5 * scale));
        // More features leave the first ones unchanged.
        let more = RandomFeatures::draw(law, 1.3, 5, 40, Seed::new(8)).unwrap();
        assert_eq!(more.frequencies.slice(s![.., ..33]), map.frequencies);
        assert_eq!(more.phases.slice(s![..33]), map.phases);
    }
}

#[test]
fn bandwidths_follow_the_median() {
    // The squared distances of the pairs are 1, 4 and 9.
    let z = ndarray::array![[0.0_f32, 0.0], [1.0, 0.0], [3.0, 0.0]];
    let median = |z: &Array2<f32>| super::median_squared_distance(z.into(), Seed::new(1)).unwrap();
    assert_eq!(median(&z), 4.0);
    let inverse = |law: SpectralLaw| law.inverse_bandwidth(3.0, (&z).into(), Seed::new(1)).unwrap();
    assert_eq!(inverse(SpectralLaw::Gaussian), 3.0 * 0.5_f64.sqrt());
    assert_eq!(inverse(SpectralLaw::CauchyIid), 3.0 * 0.5_f64.sqrt());
    assert_eq!(inverse(SpectralLaw::Student { nu: 3.0 }), 1.5);
    // Most rows are equal: the mean, here that of 16 for 19 of 190 pairs; all rows are equal: 1.
    let mut same = Array2::<f32>::zeros((20, 2));
    assert_eq!(median(&same), 1.0);
    assert_eq!(median(&same.slice(s![..1, ..]).to_owned()), 1.0);
    same[[4, 1]] = 4.0;
    let sparse = MatrixView::from(&same).to_csr();
    let found = super::median_squared_distance(MatrixView::Sparse(sparse.view()), Seed::new(1));
    assert_eq!(found.unwrap(), median(&same));
    assert!((median(&same) - 19.0 * 16.0 / 190.0).abs() < 1e-12);
    let none = Array2::<f32>::zeros((0, 2));
    assert!(super::median_squared_distance((&none).into(), Seed::new(1)).is_err());
}

#[test]
fn bandwidths_of_nothing_finite_are_refused() {
    let z = |value| ndarray::array![[0.0_f32, 0.0], [1.0, value]];
    let of = |factor, value| {
        let z = z(value);
        SpectralLaw::Gaussian.inverse_bandwidth(factor, (&z).into(), Seed::new(1))
    };
    assert!(of(0.5, 2.0).is_ok());
    for factor in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let found = of(factor, 2.0);
        assert!(
            matches!(found, Err(ProjectionError::Parameter(_))),
            "{factor}: {found:?}"
        );
    }
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let found = of(0.5, value);
        let place = |e: &ProjectionError| match e {
            ProjectionError::Matrix(MatrixError::NonFinite { row, column, .. }) => Some((*row, *column)),
            _ => None,
        };
        assert_eq!(
            found.as_ref().err().and_then(place),
            Some((1, 1)),
            "{value}: {found:?}"
        );
    }
}

#[test]
fn impossible_features_are_refused() {
    let draw =
        |sigma, k, s| RandomFeatures::draw(SpectralLaw::Gaussian, sigma, k, s, Seed::new(1)).map(|_| ());
    let refused = |k, s| draw(1.0, k, s).unwrap_err().to_string();
    assert_eq!(refused(2, 0), "`n_features` must be from 1 to 4294967294, got 0");
    assert_eq!(refused(0, 2), "`n_inputs` must be from 1 to 4294967294, got 0");
    for sigma in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(draw(sigma, 2, 2), Err(ProjectionError::Parameter(_))));
    }
    let map = RandomFeatures::draw(SpectralLaw::Gaussian, 1.0, 2, 3, Seed::new(1)).unwrap();
    let z = Array2::<f32>::zeros((4, 3));
    let mut out = Array2::zeros((4, 3));
    let mismatch = Mismatch {
        what: "inputs of the random features",
        expected: 2,
        given: 3,
    };
    assert_eq!(map.apply_into((&z).into(), out.view_mut()), Err(mismatch.into()));
    let z = Array2::<f32>::zeros((5, 2));
    let (expected, found) = ((5, 3), (4, 3));
    assert_eq!(
        map.apply_into((&z).into(), out.view_mut()),
        Err(ProjectionError::TargetShape { expected, found })
    );
    let phases = Array1::zeros(4);
    let uneven = RandomFeatures { phases, ..map };
    let mut out = Array2::zeros((5, 3));
    assert!(matches!(
        uneven.apply_into((&z).into(), out.view_mut()),
        Err(ProjectionError::Mismatch(_))
    ));
}
