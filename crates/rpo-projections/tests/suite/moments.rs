//! Distributions of the random families, on fixed seeds.

use crate::common::{dense_matrix, mean_and_error, random_families, vector};
use ndarray::Array2;
use rpo_core::{MatrixView, Seed};
use rpo_projections::{Gaussian, Hashing, LinearMap, RandomProjection};

const DRAWS: u64 = 2000;

fn single(u: &[f64]) -> Array2<f32> {
    Array2::from_shape_vec((1, u.len()), u.iter().map(|&v| v as f32).collect()).unwrap()
}

fn project(map: &dyn LinearMap, u: &[f64]) -> Vec<f64> {
    map.apply(MatrixView::from(&single(u)))
        .unwrap()
        .iter()
        .map(|&v| v.into())
        .collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn squared_lengths_are_kept_on_average() {
    let (d, m) = (40, 6);
    for (name, family) in random_families() {
        let u = vector(d, &mut Seed::new(1).stream());
        let ratios: Vec<f64> = (0..DRAWS)
            .map(|seed| {
                let z = project(&*family.draw(d, m, Seed::new(seed)).unwrap(), &u);
                dot(&z, &z) / dot(&u, &u)
            })
            .collect();
        let (mean, error) = mean_and_error(&ratios);
        assert!(error > 0.0, "{name} is not random");
        assert!(
            (mean - 1.0).abs() < 5.0 * error,
            "{name}: mean {mean}, standard error {error}"
        );
        if name == "gaussian" {
            let variance = error * error * DRAWS as f64;
            assert!(
                (variance * m as f64 / 2.0 - 1.0).abs() < 0.15,
                "variance {variance}, expected 2/m"
            );
        }
    }
}

#[test]
fn single_outputs_are_treated_alike() {
    // Also for unit vectors, whether Φ is dense or not: no output and no component is favoured.
    let (d, m) = (5, 4);
    for (name, family) in random_families() {
        let maps: Vec<Array2<f32>> = (0..DRAWS)
            .map(|seed| dense_matrix(&*family.draw(d, m, Seed::new(seed)).unwrap()))
            .collect();
        for j in 0..d {
            for k in 0..m {
                let squares: Vec<f64> = maps.iter().map(|phi| f64::from(phi[[k, j]]).powi(2)).collect();
                let (mean, error) = mean_and_error(&squares);
                let slack = 5.0 * error + 1e-6;
                assert!(
                    (mean * m as f64 - 1.0).abs() < slack * m as f64,
                    "{name}, {j}, {k}: {mean}"
                );
            }
        }
    }
}

#[test]
fn inner_products_are_kept_by_hashing() {
    let (d, m) = (30, 8);
    let mut rng = Seed::new(2).stream();
    let (x, y) = (vector(d, &mut rng), vector(d, &mut rng));
    let products: Vec<f64> = (0..DRAWS)
        .map(|seed| {
            let map = Hashing.draw(d, m, Seed::new(seed)).unwrap();
            dot(&project(&*map, &x), &project(&*map, &y))
        })
        .collect();
    let (mean, error) = mean_and_error(&products);
    assert!(
        (mean - dot(&x, &y)).abs() < 5.0 * error,
        "mean {mean}, expected {}",
        dot(&x, &y)
    );
    let variance = error * error * DRAWS as f64;
    let bound = (dot(&x, &x) * dot(&y, &y) + dot(&x, &y).powi(2)) / m as f64;
    assert!(variance < 1.15 * bound, "variance {variance}, bound {bound}");
}

#[test]
fn gaussian_entries_are_independent_normals() {
    let (d, m) = (3000, 10);
    let phi =
        dense_matrix(&*Gaussian.draw(d, m, Seed::new(3)).unwrap()).mapv(|v| f64::from(v) * (m as f64).sqrt());
    let moment = |name: &str, values: Vec<f64>, expected: f64| {
        let (mean, error) = mean_and_error(&values);
        assert!(
            (mean - expected).abs() < 5.0 * error,
            "{name}: {mean}, expected {expected}"
        );
    };
    for (power, expected) in [(1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0)] {
        moment("moment", phi.iter().map(|v| v.powi(power)).collect(), expected);
    }
    let neighbours = |a: &Array2<f64>| {
        a.rows()
            .into_iter()
            .flat_map(|r| r.windows(2).into_iter().map(|w| w[0] * w[1]).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    moment("outputs side by side", neighbours(&phi), 0.0);
    moment("components side by side", neighbours(&phi.t().to_owned()), 0.0);
    // Tails beyond three standard deviations: 0.27 %.
    moment(
        "tails",
        phi.iter().map(|v| f64::from(u8::from(v.abs() > 3.0))).collect(),
        0.002_699_796,
    );
}

/// Lemma 1 of the forest paper in the form that the union bound gives: with failure probability δ,
/// m >= ln(n(n-1)/δ) / (ε²/4 - ε³/6) keeps all squared distances within 1 ± ε.
#[test]
fn johnson_lindenstrauss() {
    let (n, d, eps, delta) = (30, 400, 0.5_f64, 1e-6);
    let m = (((n * (n - 1)) as f64 / delta).ln() / (eps.powi(2) / 4.0 - eps.powi(3) / 6.0)).ceil() as usize;
    let y = crate::common::outputs(n, d, 0.05, true, 4);
    for seed in 0..3 {
        let z = Gaussian
            .draw(d, m, Seed::new(seed))
            .unwrap()
            .apply(MatrixView::from(&y))
            .unwrap();
        let square = |a: &Array2<f32>, i: usize, j: usize| (&a.row(i) - &a.row(j)).mapv(|v| v * v).sum();
        for (i, j) in (0..n).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let ratio = square(&z, i, j) / square(&y, i, j);
            assert!((f64::from(ratio) - 1.0).abs() <= eps, "rows {i} and {j}: {ratio}");
        }
    }
}
