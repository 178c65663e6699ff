//! Compares the dense factorisations with those of nalgebra, on random matrices of full rank, where both perform best.

use nalgebra::{Cholesky as Factor, DMatrix, DVector, SVD, SymmetricEigen as Eigen};
use ndarray::Array2;
use proptest::prelude::*;
use rpo_core::Seed;
use rpo_projections::least_squares::{Cholesky, System};
use rpo_projections::linalg::{dense_svd, standard_normal, symmetric_eigen};

fn random(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    standard_normal(rows, columns, Seed::new(seed)).unwrap()
}

fn theirs(a: &Array2<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(a.nrows(), a.ncols(), |i, j| a[[i, j]])
}

fn decreasing(values: &DVector<f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.iter().copied().collect();
    values.sort_unstable_by(|a, b| b.total_cmp(a));
    values
}

fn assert_close<'a>(ours: impl IntoIterator<Item = &'a f64>, theirs: &[f64], tolerance: f64) {
    let ours: Vec<f64> = ours.into_iter().copied().collect();
    assert_eq!(ours.len(), theirs.len());
    let worst = ours
        .iter()
        .zip(theirs)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f64::max);
    assert!(worst <= tolerance, "{worst:e} above {tolerance:e}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn eigenvalues_and_projectors_agree(size in 1_usize..40, seed in 0_u64..1 << 32) {
        let a = random(size, size, seed);
        let a = &a + &a.t();
        let (ours, found) = (symmetric_eigen(a.view()).unwrap(), Eigen::new(theirs(&a)));
        let scale = 1e-12 * size as f64 * ours.values.iter().fold(1.0, |most: f64, v| most.max(v.abs()));
        let values = decreasing(&found.eigenvalues);
        assert_close(&ours.values, &values, scale);
        // If the gap to the next value is wide, vectors are unique up to their sign.
        if size > 1 && values[0] - values[1] > 0.1 {
            let first = found.eigenvectors.column(found.eigenvalues.imax());
            let cosine: f64 = first.iter().zip(ours.vectors.row(0)).map(|(a, b)| a * b).sum();
            prop_assert!((cosine.abs() - 1.0).abs() < 1e-8, "{cosine}");
        }
    }

    #[test]
    fn singular_values_agree(rows in 1_usize..30, columns in 1_usize..30, seed in 0_u64..1 << 32) {
        let a = random(rows, columns, seed);
        let k = rows.min(columns);
        let ours = dense_svd(a.view());
        let found = SVD::new(theirs(&a), false, false);
        let values = decreasing(&found.singular_values);
        assert_close(&ours.singular_values, &values, 1e-12 * values[0] * k as f64);
    }

    #[test]
    fn solutions_of_positive_systems_agree(size in 1_usize..120, seed in 0_u64..1 << 32) {
        let a = random(size + 4, size, seed);
        let a = a.t().dot(&a) + Array2::<f64>::eye(size);
        let b = random(3, size, seed ^ 1);
        let factor = Factor::new(theirs(&a)).expect("positive definite");
        let found: Vec<f64> = b
            .rows()
            .into_iter()
            .flat_map(|b| factor.solve(&DVector::from_iterator(size, b.iter().copied())).data.as_vec().clone())
            .collect();
        let mut ours = b;
        Cholesky::try_from(a).unwrap().solve_rows(System::Whole, ours.view_mut()).unwrap();
        assert_close(&ours, &found, 1e-9);
    }
}
