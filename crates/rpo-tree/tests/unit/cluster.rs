//! k-means compared with scikit-learn's and with a naive implementation, and its invariants.
//!
//! `RPO_FIXTURES` names a folder with `kmeans.json`; its layout is described in the folder's README.

use super::fit::{Clustering, KMeansOptions};
use super::points::Points;
use super::workspace::Workspace;
use super::{Geometry, KMeansParams};
use crate::TreeError;
use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use proptest::prelude::*;
use rpo_core::{MatrixView, Mismatch, ParameterError, Seed, WeightError};
use serde::Deserialize;

/// Clusters starting from given centres.
fn fit_from(
    kmeans: &KMeansParams,
    x: MatrixView<'_>,
    weights: Option<&[f32]>,
    centres: &Array2<f64>,
) -> Result<Clustering, TreeError> {
    let options = KMeansOptions {
        weights,
        centres: Some(centres.view()),
        ..KMeansOptions::default()
    };
    kmeans.fit(x, &options, Seed::new(0))
}

#[derive(Deserialize)]
struct Fixture {
    lloyd: Vec<Case>,
    spherical: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    x: Vec<Vec<f64>>,
    k: usize,
    initial_centroids: Vec<Vec<f64>>,
    feature_weights: Option<Vec<f64>>,
    sample_weights: Option<Vec<f64>>,
    expected: Expected,
}

#[derive(Deserialize)]
struct Expected {
    labels: Vec<u32>,
    centroids: Vec<Vec<f64>>,
    #[serde(alias = "cosine_sum")]
    inertia: f64,
    #[serde(alias = "cosine_sum_history")]
    inertia_history: Vec<f64>,
    updates_until_stable: usize,
    #[serde(default)]
    after_iterations: Vec<After>,
}

#[derive(Deserialize)]
struct After {
    iterations: usize,
    centroids: Vec<Vec<f64>>,
}

fn matrix(rows: &[Vec<f64>]) -> Array2<f64> {
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j])
}

/// The vectors are stored with ten digits, and rows and scales here are `f32`: these differ by up to 6e-8 of their
/// size, and results computed from them by a small multiple.
fn assert_near(what: &str, got: f64, expected: f64, size: f64) {
    assert!(
        (got - expected).abs() <= 1e-6 * size.max(1e-3),
        "{what}: {got}, expected {expected}"
    );
}

fn check_case(case: &Case, geometry: Geometry) {
    let x = matrix(&case.x).mapv(|v| v as f32);
    let scales: Option<Vec<f32>> =
        (case.feature_weights.as_ref()).map(|w| w.iter().map(|w| w.sqrt() as f32).collect());
    let weights: Option<Vec<f32>> =
        (case.sample_weights.as_ref()).map(|w| w.iter().map(|&w| w as f32).collect());
    let unscaled = |centres: ArrayView2<'_, f64>| match &case.feature_weights {
        None => centres.to_owned(),
        Some(w) => &centres / &Array1::from_vec(w.clone()).mapv(f64::sqrt),
    };
    let mut start = matrix(&case.initial_centroids);
    if let Some(w) = &case.feature_weights {
        start *= &Array1::from_vec(w.clone()).mapv(f64::sqrt);
    }
    let sparse = MatrixView::from(&x).to_csr();
    let size = x.iter().fold(0.0_f64, |m, v| m.max(v.abs().into()));
    let fit = |passes, x: MatrixView<'_>| {
        let params = KMeansParams {
            geometry,
            passes,
            ..KMeansParams::new(Geometry::Euclidean, case.k)
        };
        let options = KMeansOptions {
            scales: scales.as_deref(),
            weights: weights.as_deref(),
            centres: Some(start.view()),
        };
        params.fit(x, &options, Seed::new(0)).unwrap()
    };
    let check_centres = |what: &str, got: &Clustering, expected: &[Vec<f64>]| {
        let centres = unscaled(got.centres.view());
        assert_eq!(
            centres.dim(),
            (expected.len(), x.ncols()),
            "{}: {what}",
            case.name
        );
        for (got, expected) in centres.iter().zip(expected.iter().flatten()) {
            assert_near(&format!("{}: {what}", case.name), *got, *expected, size);
        }
    };
    for view in [(&x).into(), MatrixView::Sparse(sparse.view())] {
        let found = fit(1000, view);
        let expected = &case.expected;
        assert!(found.is_stable);
        assert_eq!(found.labels, expected.labels, "{}: labels", case.name);
        assert_eq!(
            found.n_updates, expected.updates_until_stable,
            "{}: updates",
            case.name
        );
        check_centres("centres", &found, &expected.centroids);
        let history = &expected.inertia_history;
        assert_eq!(found.history.len(), history.len(), "{}: history", case.name);
        for (got, &expected) in found.history.iter().zip(history) {
            assert_near(&format!("{}: objective", case.name), *got, expected, expected);
        }
        assert_near(
            "objective",
            *found.history.last().unwrap(),
            expected.inertia,
            expected.inertia,
        );
        for after in &expected.after_iterations {
            let found = fit(after.iterations, view);
            check_centres("centres on the way", &found, &after.centroids);
        }
    }
}

#[test]
fn reference_vectors() {
    let Ok(folder) = std::env::var("RPO_FIXTURES") else {
        eprintln!("skipped: RPO_FIXTURES is not set");
        return;
    };
    let text = std::fs::read_to_string(format!("{folder}/kmeans.json")).unwrap();
    let fixture: Fixture = serde_json::from_str(&text).unwrap();
    assert!(!fixture.lloyd.is_empty() && !fixture.spherical.is_empty());
    fixture
        .lloyd
        .iter()
        .for_each(|c| check_case(c, Geometry::Euclidean));
    fixture
        .spherical
        .iter()
        .for_each(|c| check_case(c, Geometry::Spherical));
}

/// k-means as defined, by plain loops; ties and empty clusters as documented. The last two numbers show the sensitivity
/// to rounding: the length of the shortest sum of directions, if below 1 (its rows almost cancel), and the smallest
/// margin by which the nearest centre of a row is nearer than another one.
fn naive(
    geometry: Geometry,
    x: &Array2<f64>,
    centres: &Array2<f64>,
    passes: usize,
) -> (Vec<u32>, Array2<f64>, f64, f64) {
    let (mut shortest, mut closest) = (1.0_f64, f64::INFINITY);
    let unit = |v: ArrayView1<'_, f64>| {
        let length = v.dot(&v).sqrt();
        if length > 0.0 {
            v.to_owned() / length
        } else {
            v.to_owned()
        }
    };
    let spherical = geometry == Geometry::Spherical;
    let as_used = |m: &Array2<f64>| {
        let mut m = m.clone();
        if spherical {
            m.rows_mut().into_iter().for_each(|mut r| {
                let scaled = unit(r.view());
                r.assign(&scaled);
            });
        }
        m
    };
    let (x, mut centres) = (as_used(x), as_used(centres));
    let mut labels: Vec<u32> = vec![];
    for _ in 0..passes {
        let mut nearest = |row: ArrayView1<'_, f64>| {
            let near = |c: ArrayView1<'_, f64>| {
                if spherical {
                    row.dot(&c)
                } else {
                    -(&row - &c).mapv(|v| v * v).sum()
                }
            };
            let near: Vec<f64> = centres.rows().into_iter().map(near).collect();
            let best = near.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let first = near.iter().position(|&v| v == best).unwrap();
            // All directions are equally far from a row of zeros, and equal centres from any row, without rounding.
            let differs = |c: usize| {
                !(spherical && row.iter().all(|v| *v == 0.0)) && centres.row(c) != centres.row(first)
            };
            let others = (0..near.len()).filter(|&c| differs(c));
            closest = others.map(|c| best - near[c]).fold(closest, f64::min);
            first as u32
        };
        let new: Vec<u32> = x.rows().into_iter().map(&mut nearest).collect();
        if new == labels {
            break;
        }
        let mut used = new.clone();
        used.sort_unstable();
        used.dedup();
        labels = new
            .iter()
            .map(|c| used.iter().position(|u| u == c).unwrap() as u32)
            .collect();
        let mut mean = |c: usize| {
            let rows: Vec<usize> = (0..x.nrows()).filter(|&i| labels[i] as usize == c).collect();
            let sum = x.select(Axis(0), &rows).sum_axis(Axis(0));
            if spherical {
                shortest = shortest.min(sum.dot(&sum).sqrt());
                unit(sum.view())
            } else {
                sum / rows.len() as f64
            }
        };
        let means: Vec<_> = (0..used.len()).map(&mut mean).collect();
        centres = Array2::from_shape_fn((used.len(), x.ncols()), |(c, j)| means[c][j]);
    }
    (labels, centres, shortest, closest)
}

/// Makes rows of which hardly any is almost equally far from two centres.
fn rows(seed: u64, n: usize, p: usize) -> Array2<f32> {
    let seed = Seed::new(seed);
    let unit = |i: u64| (seed.hash(i) >> 40) as f32 / (1 << 24) as f32;
    Array2::from_shape_fn((n, p), |(i, j)| {
        let at = (i * p + j) as u64;
        // A third is zero.
        if seed.child(1).hash(at).is_multiple_of(3) {
            0.0
        } else {
            2.0 * unit(at) - 0.7
        }
    })
}

fn geometry() -> impl Strategy<Value = Geometry> {
    prop_oneof![Just(Geometry::Euclidean), Just(Geometry::Spherical)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn agrees_with_its_naive_twin(geometry in geometry(), seed in 0_u64..1 << 32, n in 1_usize..40, p in 2_usize..7, k in 1_usize..9, passes in 1_usize..6) {
        let x = rows(seed, n, p);
        let centres = rows(seed ^ 1, k, p).mapv(f64::from);
        let kmeans = KMeansParams { geometry, passes, ..KMeansParams::new(Geometry::Euclidean, k) };
        let sparse = MatrixView::from(&x).to_csr();
        let (labels, expected, shortest, closest) = naive(geometry, &x.mapv(f64::from), &centres, passes);
        prop_assume!(closest * shortest > 1e-9);
        for view in [(&x).into(), MatrixView::Sparse(sparse.view())] {
            let found = fit_from(&kmeans, view, None, &centres).unwrap();
            prop_assert_eq!(&found.labels, &labels);
            prop_assert_eq!(found.centres.dim(), expected.dim());
            prop_assert!(found.centres.iter().zip(&expected).all(|(a, b)| (a - b).abs() * shortest < 1e-9));
        }
    }

    #[test]
    fn objective_never_gets_worse(geometry in geometry(), seed in 0_u64..1 << 32, k in 1_usize..9) {
        let x = rows(seed, 120, 5);
        let kmeans = KMeansParams { geometry, passes: 30, starts: 1, ..KMeansParams::new(Geometry::Euclidean, k) };
        let found = kmeans.fit((&x).into(), &KMeansOptions::default(), Seed::new(seed)).unwrap();
        let sign = if geometry == Geometry::Euclidean { -1.0 } else { 1.0 };
        for step in found.history.windows(2) {
            prop_assert!(sign * (step[1] - step[0]) >= -1e-9, "{:?}", found.history);
        }
    }

    #[test]
    fn distinct_rows_that_fit_are_the_clusters(geometry in geometry(), seed in 0_u64..1 << 32, n_distinct in 1_usize..8, extra in 0_usize..5) {
        // Label rows with disjoint labels, each repeated several times.
        let x = Array2::from_shape_fn((60, 2 * n_distinct), |(i, j)| f32::from(u8::from(j / 2 == i % n_distinct)));
        let kmeans = KMeansParams { geometry, starts: 1, ..KMeansParams::new(Geometry::Euclidean, n_distinct + extra) };
        let found = kmeans.fit((&x).into(), &KMeansOptions::default(), Seed::new(seed)).unwrap();
        prop_assert_eq!(found.centres.nrows(), n_distinct);
        for (i, &label) in found.labels.iter().enumerate() {
            prop_assert_eq!(label, found.labels[i % n_distinct]);
        }
    }

    #[test]
    fn a_weight_of_two_is_a_row_twice(geometry in geometry(), seed in 0_u64..1 << 32, k in 1_usize..5) {
        let x = rows(seed, 20, 3);
        let centres = rows(seed ^ 1, k, 3).mapv(f64::from);
        let kmeans = KMeansParams { geometry, ..KMeansParams::new(Geometry::Euclidean, k) };
        let weights: Vec<f32> = (0..20).map(|i| (1 + i % 3) as f32).collect();
        let twice: Vec<usize> = (0..20).flat_map(|i| vec![i; 1 + i % 3]).collect();
        let weighted = fit_from(&kmeans, (&x).into(), Some(&weights), &centres).unwrap();
        let repeated = fit_from(&kmeans, (&x.select(Axis(0), &twice)).into(), None, &centres).unwrap();
        for (at, &row) in twice.iter().enumerate() {
            prop_assert_eq!(weighted.labels[row], repeated.labels[at]);
        }
        let (a, b) = (&weighted.centres, &repeated.centres);
        prop_assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}

#[test]
fn more_starts_are_not_worse_and_the_seed_decides() {
    let x = rows(5, 200, 4);
    for geometry in [Geometry::Euclidean, Geometry::Spherical] {
        let fit = |starts, seed| {
            let params = KMeansParams {
                geometry,
                starts,
                ..KMeansParams::new(Geometry::Euclidean, 6)
            };
            params
                .fit((&x).into(), &KMeansOptions::default(), Seed::new(seed))
                .unwrap()
        };
        let objective = |c: &Clustering| *c.history.last().unwrap();
        let (one, many) = (fit(1, 3), fit(12, 3));
        match geometry {
            Geometry::Euclidean => assert!(objective(&many) <= objective(&one)),
            Geometry::Spherical => assert!(objective(&many) >= objective(&one)),
        }
        assert_eq!(many, fit(12, 3));
        assert_ne!(one.labels, fit(1, 4).labels);
    }
}

#[test]
fn a_sample_teaches_and_every_row_is_assigned() {
    let x = Array2::from_shape_fn((300, 3), |(i, j)| {
        if i % 3 == j {
            5.0 + (i % 7) as f32 * 0.01
        } else {
            0.1
        }
    });
    let params = KMeansParams {
        sample: Some(40),
        ..KMeansParams::new(Geometry::Euclidean, 3)
    };
    let found = params
        .fit((&x).into(), &KMeansOptions::default(), Seed::new(1))
        .unwrap();
    assert_eq!((found.labels.len(), found.centres.nrows()), (300, 3));
    for i in 0..300 {
        assert_eq!(found.labels[i], found.labels[i % 3]);
    }
}

#[test]
fn equally_near_centres_give_the_lower_cluster() {
    let x = ndarray::array![[-1.0, 1.0], [0.0, 1.0], [1.0, 1.0]];
    let centres = ndarray::array![[-1.0, 1.0], [1.0, 1.0]];
    for geometry in [Geometry::Euclidean, Geometry::Spherical] {
        let params = KMeansParams {
            geometry,
            passes: 1,
            ..KMeansParams::new(Geometry::Euclidean, 2)
        };
        let kmeans = params;
        let found = fit_from(&kmeans, (&x).into(), None, &centres).unwrap();
        assert_eq!(found.labels, [0, 0, 1]);
        assert!(!found.is_stable);
    }
}

#[test]
fn rows_without_direction_are_one_cluster() {
    let x = Array2::<f32>::zeros((5, 3));
    for geometry in [Geometry::Euclidean, Geometry::Spherical] {
        let params = KMeansParams {
            geometry,
            ..KMeansParams::new(Geometry::Euclidean, 4)
        };
        let found = params
            .fit((&x).into(), &KMeansOptions::default(), Seed::new(0))
            .unwrap();
        assert_eq!((&found.labels[..], found.centres.nrows()), (&[0; 5][..], 1));
    }
}

#[test]
fn rows_without_weight_are_assigned_and_move_nothing() {
    let x = ndarray::array![[0.0], [2.0], [9.0], [100.0]];
    let centres = ndarray::array![[50.0], [0.0], [90.0]];
    let kmeans = KMeansParams::new(Geometry::Euclidean, 3);
    let found = fit_from(&kmeans, (&x).into(), Some(&[1.0, 1.0, 0.0, 0.0]), &centres).unwrap();
    // The first centre is removed; the last stays in place, as its row has no weight.
    assert_eq!(found.labels, [0, 0, 0, 1]);
    assert_eq!(found.centres, ndarray::array![[1.0], [90.0]]);
}

#[test]
fn rows_compared_by_their_images_part_as_the_images_do() {
    for geometry in [Geometry::Euclidean, Geometry::Spherical] {
        for seed in 0..20 {
            let x = rows(seed, 60, 9);
            // A sparse map to five components.
            let entry = |column: u32, component: u32| {
                let hash = Seed::new(seed).child(column.into()).hash(component.into());
                [0.0, 0.0, 0.75, -1.5][hash as usize % 4]
            };
            let image = |column: u32| {
                (0..5)
                    .map(move |c| (c, entry(column, c)))
                    .filter(|(_, v)| *v != 0.0)
            };
            let kmeans = KMeansParams {
                geometry,
                starts: 3,
                passes: 50,
                ..KMeansParams::new(Geometry::Euclidean, 4)
            };
            let (mut plain, mut mapped) = (Points::new(5), Points::new(9));
            for row in x.rows() {
                let stored = row.iter().enumerate().map(|(j, &v)| (j as u32, v));
                mapped.push(stored.clone(), 1.0);
                plain.push(
                    stored.flat_map(|(j, v)| image(j).map(move |(c, e)| (c, e * v))),
                    1.0,
                );
            }
            mapped.map(5, image);
            let (mut a, mut b) = (Workspace::default(), Workspace::default());
            kmeans.run(&plain, Seed::new(seed), &mut a);
            kmeans.run(&mapped, Seed::new(seed), &mut b);
            assert_eq!(a.labels(), b.labels(), "{geometry:?}, seed {seed}");
            // After clearing, points are plain again.
            mapped.clear();
            plain.clear();
            for row in x.rows() {
                mapped.push(row.iter().enumerate().map(|(j, &v)| (j as u32, v)), 1.0);
                plain.push(row.iter().take(5).enumerate().map(|(j, &v)| (j as u32, v)), 1.0);
            }
            kmeans.run(&mapped, Seed::new(seed), &mut b);
            let whole = kmeans
                .fit((&x).into(), &KMeansOptions::default(), Seed::new(seed))
                .unwrap();
            assert_eq!(b.labels(), whole.labels);
        }
    }
}

#[test]
fn a_workspace_has_no_memory() {
    let kmeans = KMeansParams::new(Geometry::Spherical, 5);
    let (a, b) = (rows(1, 50, 6), rows(2, 30, 6));
    let mut used = Workspace::default();
    let mut points = Points::from_matrix((&a).into(), 0..50, None, None);
    kmeans.run(&points, Seed::new(3), &mut used);
    points.clear();
    (0..30).for_each(|row| points.push_row((&b).into(), row, None, 1.0));
    kmeans.run(&points, Seed::new(4), &mut used);
    let fresh = kmeans
        .fit((&b).into(), &KMeansOptions::default(), Seed::new(4))
        .unwrap();
    assert_eq!(
        (used.labels(), used.n_clusters()),
        (&fresh.labels[..], fresh.centres.nrows())
    );
}

#[test]
fn what_does_not_fit_is_refused() {
    let kmeans = KMeansParams::new(Geometry::Euclidean, 2);
    let x = rows(1, 4, 3);
    let fit = |scales: Option<&[f32]>, weights: Option<&[f32]>| {
        kmeans
            .fit(
                (&x).into(),
                &KMeansOptions {
                    scales,
                    weights,
                    ..KMeansOptions::default()
                },
                Seed::new(0),
            )
            .unwrap_err()
    };
    let mismatch = |what, expected, given| {
        TreeError::from(Mismatch {
            what,
            expected,
            given,
        })
    };
    assert_eq!(fit(Some(&[1.0]), None), mismatch("scales for the columns", 3, 1));
    assert_eq!(fit(None, Some(&[1.0])), mismatch("weights for the rows", 4, 1));
    assert_eq!(fit(None, Some(&[0.0; 4])), WeightError::AllZero.into());
    let bad = WeightError::OutOfRange {
        sample: 2,
        value: -1.0,
    }
    .into();
    assert_eq!(fit(None, Some(&[1.0, 1.0, -1.0, 1.0])), bad);
    assert!(matches!(
        fit(Some(&[1.0, f32::NAN, 1.0]), None),
        TreeError::Parameter(ParameterError::OutOfRange { name: "scales", .. })
    ));
    // Both are finite; their product is not.
    let scales = [1.0, 1e38, 1.0];
    let large = kmeans.fit(
        (&x.mapv(|v| v * 100.0)).into(),
        &KMeansOptions {
            scales: Some(&scales),
            ..KMeansOptions::default()
        },
        Seed::new(0),
    );
    assert!(matches!(large, Err(TreeError::NonFinite(_))), "{large:?}");
    let empty = Array2::<f32>::zeros((0, 3));
    assert_eq!(
        kmeans.fit((&empty).into(), &KMeansOptions::default(), Seed::new(0)),
        Err(TreeError::Empty { rows: 0, columns: 3 })
    );
    let mut nan = x.clone();
    nan[[1, 1]] = f32::NAN;
    assert!(matches!(
        kmeans.fit((&nan).into(), &KMeansOptions::default(), Seed::new(0)),
        Err(TreeError::NonFinite(_))
    ));
    let from = |centres: Array2<f64>| fit_from(&kmeans, (&x).into(), None, &centres);
    let wide = from(Array2::zeros((2, 4)));
    assert_eq!(wide, Err(mismatch("columns of the given centres", 3, 4)));
    assert_eq!(from(Array2::zeros((3, 3))), Err(mismatch("given centres", 2, 3)));
    assert_eq!(from(Array2::zeros((0, 3))), Err(mismatch("given centres", 2, 0)));
    assert!(from(Array2::from_elem((1, 3), f64::NAN)).is_err());
}

#[test]
fn parameters_are_checked() {
    let good = KMeansParams::new(Geometry::Euclidean, 2);
    assert_eq!(good.check(), Ok(()));
    let name = |change: fn(&mut KMeansParams)| {
        let mut params = good;
        change(&mut params);
        match params.check() {
            Err(TreeError::Parameter(ParameterError::OutOfRange { name, .. })) => name,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(name(|p| p.clusters = 0), "clusters");
    assert_eq!(name(|p| p.clusters = (1 << 16) + 1), "clusters");
    assert_eq!(name(|p| p.passes = 0), "passes");
    assert_eq!(name(|p| p.starts = 0), "starts");
    assert_eq!(name(|p| p.sample = Some(0)), "sample");
}
