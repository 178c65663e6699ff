//! The label embedding against the explicit matrix G = Yᵀ Π Y.

use super::common::{csr, outputs, sparse};
use super::unweighted;
use ndarray::{Array1, Array2, Axis, s};
use proptest::prelude::*;
use rpo_core::{CsrMatrix, MatrixView, Mismatch, Seed};
use rpo_projections::least_squares::{Penalty, Ridge, RidgeSolver, Rows};
use rpo_projections::linalg::{dense_svd, standard_normal, symmetric_eigen};
use rpo_projections::{
    Embedding, LabelEmbedding, Projection, ProjectionError, ProjectionInput, ProjectionKind, Rank,
};

/// λ = 0 and every direction probed.
fn exact() -> LabelEmbedding {
    LabelEmbedding {
        penalty: Penalty::Relative(0.0),
        intercept: false,
        oversampling: 1000,
        ..LabelEmbedding::default()
    }
}

/// G for λ = 0, by an orthonormal basis of X.
fn dense_g(x: &Array2<f64>, y: &Array2<f64>) -> Array2<f64> {
    let svd = dense_svd(x.view());
    let rank = svd
        .singular_values
        .iter()
        .filter(|s| **s > 1e-10 * svd.singular_values[0])
        .count();
    let projected = svd.u.slice(s![.., ..rank]).t().dot(y);
    projected.t().dot(&projected)
}

fn assert_orthonormal(found: &Embedding) {
    let gram = found.directions.dot(&found.directions.t()) - Array2::<f64>::eye(found.directions.nrows());
    assert!(gram.iter().all(|v| v.abs() < 1e-8), "directions are orthonormal");
    assert!(
        found.eigenvalues.windows(2).into_iter().all(|w| w[0] >= w[1])
            && found.eigenvalues.iter().all(|v| *v >= 0.0)
    );
    for row in found.directions.rows() {
        let largest = row
            .iter()
            .fold(0.0_f64, |best, v| if v.abs() > best.abs() { *v } else { best });
        assert!(largest > 0.0);
    }
}

/// Returns the cosine of the largest angle between the spans of orthonormal rows.
fn smallest_cosine(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    *dense_svd(a.dot(&b.t()).view()).singular_values.last().unwrap()
}

fn uniform(n: usize, columns: usize, seed: u64) -> Array2<f64> {
    outputs(n, columns, 1.0, false, seed).mapv(f64::from)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Directions and eigenvalues are those of a dense solver; W = argmin ‖YV - XW‖ is B_ols V, and W Vᵀ fits as well
    /// as any matrix of rank k.
    #[test]
    fn all_directions_probed_give_the_eigenvectors(
        n in 12_usize..40, p in 1_usize..10, d in 1_usize..10, share in 0.0..1.0, seed in 0_u64..1000, wide in any::<bool>(),
    ) {
        let (x, y) = (uniform(n, p, seed), uniform(n, d, seed + 1));
        let k = 1 + ((p.min(d) - 1) as f64 * share) as usize;
        let solver = if wide { RidgeSolver::conjugate_gradients(false) } else { RidgeSolver::Cholesky };
        let solver = match solver {
            RidgeSolver::ConjugateGradients { jacobi, .. } =>
                RidgeSolver::ConjugateGradients { iterations: 200, tolerance: 1e-26, jacobi },
            other => other,
        };
        let found = LabelEmbedding { solver, ..exact() }.fit(&x.view(), &y.view(), Rank::Exact(k), Seed::new(seed)).unwrap();
        assert_orthonormal(&found);
        let g = symmetric_eigen(dense_g(&x, &y).view()).unwrap();
        let scale = g.values[0];
        for (a, b) in found.eigenvalues.iter().zip(&g.values) {
            prop_assert!((a - b).abs() < 1e-8 * scale, "{} {}", found.eigenvalues, g.values);
        }
        let gap = if k < d { g.values[k - 1] - g.values[k] } else { scale };
        if gap > 1e-3 * scale {
            prop_assert!(smallest_cosine(&found.directions, &g.vectors.slice(s![..k, ..]).to_owned()) > 1.0 - 1e-8);
        }

        let fit = |q: Array2<f64>| {
            let (x, y) = (x.view(), y.view());
            Ridge::new(unweighted(&x, false), 0.0, solver).unwrap().solve(&y, q.view()).unwrap()
        };
        let v = found.directions.t().to_owned();
        let (w, ols) = (fit(v.clone()), fit(Array2::eye(d)));
        prop_assert!((&w - &ols.dot(&v)).iter().all(|e| e.abs() < 1e-8));
        let error = |b: &Array2<f64>| (&y - &x.dot(b)).iter().map(|v| v * v).sum::<f64>();
        let best = error(&ols) + g.values.iter().skip(k).sum::<f64>();
        prop_assert!((error(&w.dot(&found.directions)) - best).abs() < 1e-8 * (1.0 + best));
        // With V = I, W are the coefficients of ordinary least squares.
        let qr = x.dot(&fit(Array2::eye(d)));
        prop_assert!((x.t().dot(&(&y - &qr))).iter().all(|v| v.abs() < 1e-8));
    }

    /// Features times an invertible matrix, or samples in another order, give the same directions; labels in another
    /// order permute their entries.
    #[test]
    fn bases_of_features_and_orders_do_not_matter(seed in 0_u64..1000) {
        let (n, p, d, k) = (40, 5, 6, 3);
        let (x, y) = (uniform(n, p, seed), uniform(n, d, seed + 1));
        let fit = |x: &Array2<f64>, y: &Array2<f64>| {
            exact().fit(&x.view(), &y.view(), Rank::Exact(k), Seed::new(1)).unwrap()
        };
        let found = fit(&x, &y);
        let g = symmetric_eigen(dense_g(&x, &y).view()).unwrap().values;
        prop_assume!((0..k).all(|j| g[j] - g[j + 1] > 0.02 * g[0]));
        let close = |a: &Array2<f64>, b: &Array2<f64>| (a - b).iter().all(|v| v.abs() < 1e-6);
        let m = Array2::<f64>::eye(p) * 2.0 + standard_normal(p, p, Seed::new(seed)).unwrap() * 0.3;
        prop_assert!(close(&fit(&x.dot(&m), &y).directions, &found.directions));
        let rows: Vec<usize> = (0..n).map(|i| (7 * i + 3) % n).collect();
        let shuffled = fit(&x.select(Axis(0), &rows), &y.select(Axis(0), &rows));
        prop_assert!(close(&shuffled.directions, &found.directions));
        let labels: Vec<usize> = (0..d).map(|j| (5 * j + 1) % d).collect();
        let renamed = fit(&x, &y.select(Axis(1), &labels));
        prop_assert!(close(&renamed.directions, &found.directions.select(Axis(1), &labels)));
    }
}

/// Six strong directions over noise.
#[test]
fn more_passes_find_subspaces_better() {
    let (n, p, d) = (600, 40, 60);
    let x = standard_normal(n, p, Seed::new(1)).unwrap();
    let mut latent = standard_normal(p, 6, Seed::new(2)).unwrap();
    for (j, mut column) in latent.columns_mut().into_iter().enumerate() {
        column *= 2.0 / 1.5_f64.powi(j as i32);
    }
    let y = x.dot(&latent).dot(&standard_normal(6, d, Seed::new(3)).unwrap()) * 0.1
        + standard_normal(n, d, Seed::new(4)).unwrap() * 2.0;
    let g = symmetric_eigen(dense_g(&x, &y).view()).unwrap();
    assert!(g.values[3] > 1.2 * g.values[4]);
    let best = g.vectors.slice(s![..4, ..]).to_owned();
    let fit = |passes, oversampling, seed| {
        LabelEmbedding {
            passes,
            oversampling,
            ..exact()
        }
        .fit(&x.view(), &y.view(), Rank::Exact(4), Seed::new(seed))
        .unwrap()
    };
    let errors: Vec<f64> = (0..4)
        .map(|passes| {
            let error = |seed| {
                let found = fit(passes, 2, seed).eigenvalues;
                (&found - &g.values.slice(s![..4]))
                    .iter()
                    .map(|v| v.abs())
                    .sum::<f64>()
            };
            (0..10).map(error).sum()
        })
        .collect();
    assert!(errors.windows(2).all(|w| w[1] < w[0]), "{errors:?}");
    for seed in 0..5 {
        let found = fit(2, 20, seed);
        assert!(smallest_cosine(&found.directions, &best) > 1.0 - 1e-3);
        for (a, b) in found.eigenvalues.iter().zip(&g.values) {
            assert!((a / b - 1.0).abs() < 1e-3);
        }
    }
}

/// Dense and sparse layouts agree, with the same bits on any number of threads.
#[test]
fn layouts_and_threads_do_not_matter() {
    let (x, y) = (outputs(120, 50, 0.1, false, 5), outputs(120, 45, 0.1, true, 6));
    for solver in [RidgeSolver::Auto, RidgeSolver::conjugate_gradients(true)] {
        let embedding = LabelEmbedding {
            penalty: Penalty::Relative(0.01),
            solver,
            ..LabelEmbedding::default()
        };
        let fit = |x: MatrixView<'_>, y: MatrixView<'_>| {
            embedding.fit(&x, &y, Rank::Exact(7), Seed::new(2)).unwrap()
        };
        let dense = fit((&x).into(), (&y).into());
        let (sx, sy) = (csr(x.view()), csr(y.view()));
        let found = fit(sparse(&sx), sparse(&sy));
        assert!(
            (&found.directions - &dense.directions)
                .iter()
                .all(|v| v.abs() < 1e-6)
        );
        for threads in [1, 2, 8] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            assert_eq!(pool.install(|| fit(sparse(&sx), sparse(&sy))), found);
        }
    }
}

#[test]
fn shares_choose_the_rank() {
    for (n, d) in [(80, 30), (150, 700)] {
        let group = outputs(n, 10, 0.3, true, 7);
        let y = Array2::from_shape_fn((n, d), |(i, j)| group[[i, j % 10]] * (1.0 + (j % 10) as f32));
        let y64 = y.mapv(f64::from);
        let spectrum = symmetric_eigen(y64.dot(&y64.t()).view()).unwrap().values;
        let cumulative: Vec<f64> = spectrum
            .iter()
            .scan(0.0, |sum, v| {
                *sum += v;
                Some(*sum)
            })
            .collect();
        let x = outputs(n, 8, 1.0, false, 8);
        let fit = |rank| {
            let sparse = csr(y.view());
            LabelEmbedding::default()
                .fit(
                    &MatrixView::from(&x),
                    &MatrixView::Sparse(sparse.view()),
                    rank,
                    Seed::new(1),
                )
                .unwrap()
        };
        for share in [0.3, 0.6, 0.9, 0.99] {
            let expected = 1 + cumulative
                .iter()
                .position(|v| *v >= share * spectrum.sum())
                .unwrap();
            let found = fit(Rank::LabelShare { share, at_most: None });
            assert_eq!(found.directions.dim(), (expected, d), "{share}");
        }
        let all = fit(Rank::Exact(9));
        let share = (all.eigenvalues[0] + all.eigenvalues[1]) / all.eigenvalues.sum() - 1e-6;
        let captured = fit(Rank::CapturedShare { share, at_most: 9 });
        assert_eq!(captured.eigenvalues, all.eigenvalues.slice(s![..2]));
        assert_eq!(captured.directions, all.directions.slice(s![..2, ..]));
        assert_eq!(
            fit(Rank::LabelShare {
                share: 1.0,
                at_most: None
            })
            .directions
            .nrows(),
            10
        );
    }
}

/// Where the mean makes up most of the trace, dimensions are also counted by the variance.
#[test]
fn a_large_mean_leaves_dimensions_for_what_varies() {
    for (n, d) in [(80, 30), (150, 700)] {
        let group = outputs(n, 10, 0.3, true, 7);
        let varying = Array2::from_shape_fn((n, d), |(i, j)| group[[i, j % 10]] * (1.0 + (j % 10) as f32));
        let centred = varying.mapv(f64::from);
        let centred = &centred - &centred.mean_axis(Axis(0)).unwrap();
        let spectrum = symmetric_eigen(centred.dot(&centred.t()).view()).unwrap().values;
        let mut sum = 0.0;
        let reached = |v: &f64| {
            sum += v;
            sum >= 0.8 * spectrum.sum()
        };
        let by_variance = 2 + spectrum.iter().position(reached).unwrap();
        let x = outputs(n, 8, 1.0, false, 8);
        let fit = |y: &Array2<f32>, rank| {
            let (x, y) = (MatrixView::from(&x), MatrixView::from(y));
            let found = LabelEmbedding::default().fit(&x, &y, rank, Seed::new(1)).unwrap();
            found.directions.nrows()
        };
        let auto = Rank::Auto { at_most: d };
        let of_labels = Rank::LabelShare {
            share: 0.9,
            at_most: None,
        };
        for offset in [100.0, 1e3] {
            let y = &varying + offset;
            assert_eq!((fit(&y, of_labels), fit(&y, auto)), (1, by_variance), "{offset}");
            assert_eq!(fit(&y, Rank::Auto { at_most: 2 }), 2);
        }
        assert_eq!(fit(&varying, auto), fit(&varying, of_labels));
    }
    // Constant outputs have a mean alone.
    let (x, y) = (outputs(9, 3, 1.0, false, 1), Array2::from_elem((9, 4), 0.1));
    let (x, y) = (MatrixView::from(&x), MatrixView::from(&y));
    let found = LabelEmbedding::default()
        .fit(&x, &y, Rank::default(), Seed::new(1))
        .unwrap();
    assert_eq!(found.directions.nrows(), 1);
}

/// A rank above that of the data, constant features, labels of all samples or of none: eigenvalues of 0.
#[test]
fn what_the_data_lack_has_eigenvalue_zero() {
    let y = Array2::from_shape_fn((30, 8), |(i, j)| {
        f32::from(u8::from(j == 0 || (j < 4 && i % (j + 1) == 0)))
    });
    let mut x = outputs(30, 4, 1.0, false, 9);
    x.column_mut(2).fill(3.0);
    for (x, positive) in [
        (x.clone(), 4),
        (Array2::zeros((30, 4)), 1),
        (Array2::from_elem((30, 1), 2.0), 1),
    ] {
        for lambda in [0.0, 0.1] {
            let embedding = LabelEmbedding {
                penalty: Penalty::Relative(lambda),
                ..LabelEmbedding::default()
            };
            let (x, y) = (MatrixView::from(&x), MatrixView::from(&y));
            let found = embedding.fit(&x, &y, Rank::Exact(7), Seed::new(1)).unwrap();
            assert_orthonormal(&found);
            let zero = 1e-9 * found.eigenvalues[0];
            assert_eq!(found.eigenvalues.iter().filter(|v| **v > zero).count(), positive);
        }
    }
    let nothing = CsrMatrix::zero((30, 8));
    for rank in [
        Rank::Exact(3),
        Rank::LabelShare {
            share: 0.9,
            at_most: None,
        },
    ] {
        let found = LabelEmbedding::default()
            .fit(&MatrixView::from(&x), &sparse(&nothing), rank, Seed::new(1))
            .unwrap();
        assert_orthonormal(&found);
        assert_eq!(found.eigenvalues, Array1::<f64>::zeros(found.eigenvalues.len()));
    }
}

#[test]
fn impossible_requests_are_refused() {
    let (x, y) = (outputs(9, 3, 1.0, false, 1), outputs(9, 4, 0.5, true, 2));
    let fit = |x: &Array2<f32>, y: &Array2<f32>, rank| {
        let embedding = LabelEmbedding::default();
        embedding
            .fit(&MatrixView::from(x), &MatrixView::from(y), rank, Seed::new(1))
            .map(|_| ())
    };
    assert_eq!(fit(&x, &y, Rank::Exact(4)), Ok(()));
    assert_eq!(fit(&x, &y, Rank::Exact(0)), Err(ProjectionError::NoComponents));
    assert!(matches!(
        fit(&x, &y, Rank::Exact(5)),
        Err(ProjectionError::TooManyComponents {
            n_components: 5,
            limit: 4,
            ..
        })
    ));
    for share in [0.0, 1.0 + 1e-15, f64::NAN] {
        let captured = Rank::CapturedShare { share, at_most: 3 };
        for rank in [Rank::LabelShare { share, at_most: None }, captured] {
            assert!(matches!(fit(&x, &y, rank), Err(ProjectionError::Parameter(_))));
        }
    }
    let short = y.slice(s![..8, ..]).to_owned();
    assert_eq!(
        fit(&x, &short, Rank::Exact(2)),
        Err(ProjectionError::Mismatch(Mismatch {
            what: "samples of the outputs",
            expected: 9,
            given: 8
        }))
    );
    let none = (Array2::zeros((0, 3)), Array2::zeros((0, 4)));
    assert!(matches!(
        fit(&none.0, &none.1, Rank::Exact(2)),
        Err(ProjectionError::TooFewRows { found: 0, .. })
    ));
    for value in [f32::NAN, f32::INFINITY] {
        let (mut bad_x, mut bad_y) = (x.clone(), y.clone());
        (bad_x[[4, 1]], bad_y[[4, 1]]) = (value, value);
        for found in [fit(&bad_x, &y, Rank::Exact(2)), fit(&x, &bad_y, Rank::Exact(2))] {
            assert!(matches!(
                found,
                Err(ProjectionError::FactorValue {
                    row: 4,
                    column: 1,
                    ..
                })
            ));
        }
    }
}

#[test]
fn it_is_a_projection_of_samples_with_features() {
    let (x, y) = (outputs(40, 6, 1.0, false, 3), outputs(40, 9, 0.3, true, 4));
    let embedding = LabelEmbedding::default();
    let found = embedding
        .fit(
            &MatrixView::from(&x),
            &MatrixView::from(&y),
            Rank::Exact(3),
            Seed::new(5),
        )
        .unwrap();
    let project = |x: Option<&Array2<f32>>, y: &Array2<f32>| {
        let data = ProjectionInput {
            features: x.map(MatrixView::from),
            outputs: y.into(),
            weights: None,
        };
        let map = ProjectionKind::LabelEmbedding.fit(data, 3, Seed::new(5))?;
        map.apply(y.into())
    };
    let z = project(Some(&x), &y).unwrap();
    let expected = y.mapv(f64::from).dot(&found.directions.t());
    assert!(
        z.iter()
            .zip(&expected)
            .all(|(a, b)| (f64::from(*a) - b).abs() < 1e-5)
    );
    let family = "label-embedding";
    assert_eq!(project(None, &y), Err(ProjectionError::NoFeatures { family }));
    let other = outputs(39, 9, 0.3, true, 4);
    assert!(matches!(
        project(Some(&x), &other),
        Err(ProjectionError::Mismatch(_))
    ));
}

/// No other test would notice a kernel that reads other rows than those stored.
#[test]
fn designs_end_in_ones() {
    let x = outputs(5, 3, 0.5, false, 1);
    let view = MatrixView::from(&x);
    let design = unweighted(&view, true);
    assert_eq!((design.row_count(), design.column_count()), (5, 4));
    for row in 0..5 {
        let mut last = None;
        design.for_each_stored(row, |j, v| last = Some((j, v)));
        assert_eq!(last, Some((3, 1.0)));
    }
}
