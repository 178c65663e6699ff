//! Regularised least squares: every solver against the factor, and the properties of a solution.

use super::common::{csr, outputs};
use super::unweighted;
use ndarray::{Array2, Axis, concatenate, s};
use rpo_core::{MatrixView, Mismatch, ParameterError, Seed};
use rpo_projections::least_squares::{LANES, Penalty, PenaltyDiagonal, Ridge, RidgeSolver};
use rpo_projections::{ProjectionError, standard_normal};

const CG: RidgeSolver = RidgeSolver::ConjugateGradients {
    iterations: 500,
    tolerance: 1e-24,
    jacobi: false,
};
const JACOBI: RidgeSolver = RidgeSolver::ConjugateGradients {
    iterations: 500,
    tolerance: 1e-24,
    jacobi: true,
};

fn worst(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
    assert_eq!(a.dim(), b.dim());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// On sparse and dense features, with more targets than a panel has columns.
#[test]
fn iterative_solvers_agree_with_the_factor() {
    for (n, p, density) in [(60, 9, 1.0), (80, 40, 0.2), (20, 33, 0.5)] {
        let x = outputs(n, p, density, false, 1);
        let y = outputs(n, 12, 0.3, true, 2);
        let q = standard_normal(12, LANES + 5, Seed::new(3)).unwrap();
        let (sparse, y) = (csr(x.view()), MatrixView::from(&y));
        let (sparse, x) = (MatrixView::Sparse(sparse.view()), MatrixView::from(&x));
        for (lambda, intercept) in [(0.5, false), (0.5, true), (20.0, true)] {
            let solve = |x: &MatrixView<'_>, solver| {
                Ridge::new(unweighted(x, intercept), lambda, solver)
                    .unwrap()
                    .solve(&y, q.view())
                    .unwrap()
            };
            let expected = solve(&x, RidgeSolver::Cholesky);
            assert_eq!(expected.nrows(), p + usize::from(intercept));
            for solver in [CG, JACOBI, RidgeSolver::Auto] {
                for x in [&x, &sparse] {
                    let found = solve(x, solver);
                    assert!(
                        worst(&found, &expected) < 1e-9,
                        "{solver:?}: {:e}",
                        worst(&found, &expected)
                    );
                }
            }
        }
    }
}

/// Xᵀ(B - XZ) = ΛZ, where the intercept is not penalized, so that residuals sum to 0.
#[test]
fn solutions_satisfy_the_normal_equations() {
    let x = outputs(50, 7, 0.6, false, 4);
    let y = outputs(50, 5, 0.4, true, 5);
    let PenaltyDiagonal::Uniform(lambda) = Penalty::Relative(0.1).on(&MatrixView::from(&x), None) else {
        panic!("one penalty for all");
    };
    let ridge = Ridge::new(unweighted(&MatrixView::from(&x), true), lambda, RidgeSolver::Auto)
        .map(|ridge| ridge.solve(&MatrixView::from(&y), Array2::eye(5).view()).unwrap());
    let z = ridge.unwrap();
    let ones = Array2::<f64>::ones((50, 1));
    let design = concatenate![Axis(1), x.mapv(f64::from), ones];
    let residual = y.mapv(f64::from) - design.dot(&z);
    let mut left = design.t().dot(&residual);
    left.slice_mut(s![..7, ..])
        .scaled_add(-lambda, &z.slice(s![..7, ..]));
    assert!(left.iter().all(|v| v.abs() < 1e-10));
    let squares: f64 = x.iter().map(|v| f64::from(*v).powi(2)).sum();
    assert!((lambda - 0.1 * squares / 7.0).abs() < 1e-12);
}

/// Compares the prediction from leverages with a fit to all rows but one, row by row.
#[test]
fn leverages_leave_one_row_out() {
    for (n, p, density, intercept) in [(30, 5, 1.0, true), (12, 40, 0.3, true), (140, 7, 0.4, false)] {
        let (x, y) = (
            outputs(n, p, density, false, 6),
            outputs(n, 3, 0.6, true, 7) + outputs(n, 3, 1.0, false, 8),
        );
        let penalties = (0..p).map(|j| 0.2 + j as f64).collect();
        for penalty in [
            PenaltyDiagonal::Uniform(0.7),
            PenaltyDiagonal::PerFeature(penalties),
        ] {
            let design = |x: &Array2<f32>| match intercept {
                true => concatenate![Axis(1), x.mapv(f64::from), Array2::ones((x.nrows(), 1))],
                false => x.mapv(f64::from),
            };
            let fit = |x: &Array2<f32>, y: &Array2<f32>| {
                let x = MatrixView::from(x);
                let ridge =
                    Ridge::new(unweighted(&x, intercept), penalty.clone(), RidgeSolver::Cholesky).unwrap();
                ridge.solve(&MatrixView::from(y), Array2::eye(3).view()).unwrap()
            };
            let sparse = csr(x.view());
            let rows: Vec<usize> = (0..n).rev().collect();
            let leverages = |x: &MatrixView<'_>| {
                let ridge = Ridge::new(unweighted(x, intercept), penalty.clone(), RidgeSolver::Auto).unwrap();
                ridge.leverages(&rows).unwrap().unwrap()
            };
            let found = leverages(&MatrixView::from(&x));
            let of_sparse = leverages(&MatrixView::Sparse(sparse.view()));
            let whole = design(&x).dot(&fit(&x, &y));
            for ((&row, h), sparse) in rows.iter().zip(found).zip(of_sparse) {
                assert!(
                    (h - sparse).abs() < 1e-10 && (0.0..1.0).contains(&h),
                    "{h} {sparse}"
                );
                let others: Vec<usize> = (0..n).filter(|&other| other != row).collect();
                let z = fit(&x.select(Axis(0), &others), &y.select(Axis(0), &others));
                let naive = design(&x).row(row).dot(&z);
                for ((whole, y), naive) in whole.row(row).iter().zip(y.row(row)).zip(naive) {
                    let left_out = (whole - h * f64::from(*y)) / (1.0 - h);
                    assert!(
                        (left_out - naive).abs() < 1e-8,
                        "{n} x {p}, row {row}: {left_out} {naive}"
                    );
                }
            }
        }
    }
    let x = outputs(9, 3, 1.0, false, 1);
    let x = MatrixView::from(&x);
    assert_eq!(
        Ridge::new(unweighted(&x, true), 1.0, CG).unwrap().leverages(&[0]),
        Ok(None)
    );
}

/// With a penalty by variance, predictions on dense features equal those on features of variance 1, in any units, for
/// every solver.
#[test]
fn penalties_by_variance_undo_units() {
    let x = outputs(60, 7, 1.0, false, 12);
    let y = outputs(60, 3, 0.5, false, 13);
    let y = MatrixView::from(&y);
    let units = [1e-2_f32, 1.0, 300.0, 5.0, 0.1, 7.0, 40.0];
    let mut scaled = x.clone();
    for (mut column, unit) in scaled.columns_mut().into_iter().zip(units) {
        column.mapv_inplace(|v| v * unit + 3.0 * unit);
    }
    let standard = x.mapv(f64::from);
    let deviations = standard.std_axis(Axis(0), 0.0);
    let standard = &standard / &deviations;
    // λ̄ = α p on features of variance 1.
    let view = standard.view();
    let alone = Ridge::new(unweighted(&view, true), 0.3 * 7.0, RidgeSolver::Cholesky).unwrap();
    let expected = alone.solve(&y, Array2::eye(3).view()).unwrap();
    let expected = standard.dot(&expected.slice(s![..7, ..])) + expected.row(7);
    for solver in [RidgeSolver::Cholesky, JACOBI] {
        let view = MatrixView::from(&scaled);
        let penalty = Penalty::Variance(0.3).on(&view, None);
        assert!(matches!(penalty, PenaltyDiagonal::PerFeature(_)));
        let found = Ridge::new(unweighted(&view, true), penalty, solver).unwrap();
        let found = found.solve(&y, Array2::eye(3).view()).unwrap();
        let found = scaled.mapv(f64::from).dot(&found.slice(s![..7, ..])) + found.row(7);
        assert!(
            worst(&found, &expected) < 1e-5,
            "{solver:?}: {}",
            worst(&found, &expected)
        );
    }
    let few = PenaltyDiagonal::PerFeature(vec![1.0; 6]);
    assert!(matches!(
        Ridge::new(
            unweighted(&MatrixView::from(&scaled), true),
            few,
            RidgeSolver::Cholesky
        )
        .map(|_| ()),
        Err(ProjectionError::Mismatch(Mismatch {
            expected: 7,
            given: 6,
            ..
        }))
    ));
}

/// Linearly dependent columns and no penalty: Cholesky refuses, the other solvers return the shortest solution.
#[test]
fn singular_problems_have_the_shortest_solution() {
    let mut x = outputs(30, 6, 1.0, false, 6);
    let copy = x.column(1).to_owned();
    x.column_mut(4).assign(&copy);
    x.column_mut(5).fill(0.0);
    let y = outputs(30, 2, 0.5, false, 7);
    let (x, y) = (MatrixView::from(&x), MatrixView::from(&y));
    let refused = Ridge::new(unweighted(&x, false), 0.0, RidgeSolver::Cholesky).map(|_| ());
    assert!(matches!(
        refused,
        Err(ProjectionError::NotPositiveDefinite { row: 4, .. })
    ));
    let solve = |lambda, solver| {
        Ridge::new(unweighted(&x, false), lambda, solver)
            .unwrap()
            .solve(&y, Array2::eye(2).view())
            .unwrap()
    };
    let limit = solve(1e-9, RidgeSolver::Cholesky);
    for solver in [CG, JACOBI] {
        let found = solve(0.0, solver);
        assert!(worst(&found, &limit) < 1e-6, "{solver:?}");
        assert!(found.row(5).iter().all(|v| *v == 0.0));
    }
    assert!(worst(&solve(0.0, RidgeSolver::Auto), &limit) < 1e-2);
}

#[test]
fn nothing_to_learn_from_gives_zeros() {
    let (x, y) = (Array2::<f32>::zeros((9, 3)), outputs(9, 2, 0.5, true, 8));
    for solver in [CG, JACOBI, RidgeSolver::Auto] {
        let x = MatrixView::from(&x);
        let found = Ridge::new(unweighted(&x, false), 0.0, solver).unwrap();
        let z = found.solve(&MatrixView::from(&y), Array2::eye(2).view()).unwrap();
        assert_eq!(z, Array2::<f64>::zeros((3, 2)), "{solver:?}");
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let x = outputs(200, 90, 0.1, false, 9);
    let y = outputs(200, 60, 0.1, true, 10);
    let q = standard_normal(60, 40, Seed::new(1)).unwrap();
    for solver in [RidgeSolver::Cholesky, JACOBI] {
        let solve = || {
            let x = MatrixView::from(&x);
            let ridge = Ridge::new(unweighted(&x, true), 0.1, solver).unwrap();
            ridge.solve(&MatrixView::from(&y), q.view()).unwrap()
        };
        let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        let one = pool(1).install(solve);
        for threads in [2, 8] {
            assert_eq!(pool(threads).install(solve), one, "{solver:?}");
        }
    }
}

#[test]
fn impossible_settings_are_refused() {
    let x = Array2::<f32>::ones((4, 2));
    let x = MatrixView::from(&x);
    let name = |lambda, solver| match Ridge::new(unweighted(&x, false), lambda, solver) {
        Err(ProjectionError::Parameter(ParameterError::OutOfRange { name, .. })) => name,
        other => panic!("{other:?}"),
    };
    for lambda in [-1e-300, f64::NAN, f64::INFINITY] {
        assert_eq!(name(lambda, RidgeSolver::Auto), "lambda");
    }
    let cg = |iterations, tolerance| RidgeSolver::ConjugateGradients {
        iterations,
        tolerance,
        jacobi: true,
    };
    assert_eq!(name(1.0, cg(0, 0.1)), "iterations");
    for tolerance in [-0.1, 1.0, f64::NAN] {
        assert_eq!(name(1.0, cg(1, tolerance)), "tolerance");
    }
    let y = Array2::<f32>::ones((5, 2));
    let ridge = Ridge::new(unweighted(&x, false), 1.0, RidgeSolver::Auto).unwrap();
    let found = ridge.solve(&MatrixView::from(&y), Array2::eye(2).view());
    assert!(matches!(
        found,
        Err(ProjectionError::Mismatch(Mismatch {
            expected: 4,
            given: 5,
            ..
        }))
    ));
}
