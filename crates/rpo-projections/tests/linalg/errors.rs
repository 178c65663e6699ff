//! Matrices that cannot be factored.

use ndarray::Array2;
use rpo_core::Mismatch;
use rpo_projections::{ProjectionError, linalg};

#[test]
fn factors_that_do_not_fit() {
    let a = Array2::<f64>::ones((4, 3));
    let omega = Array2::<f64>::ones((4, 2));
    let found = linalg::range_finder(&a.view(), omega.view(), 0);
    assert!(matches!(
        found,
        Err(ProjectionError::Mismatch(Mismatch {
            expected: 3,
            given: 4,
            ..
        }))
    ));
    let mut bad = a.clone();
    bad[[2, 1]] = f64::NAN;
    assert!(matches!(
        linalg::orthonormal_basis(bad.view()),
        Err(ProjectionError::FactorValue {
            row: 2,
            column: 1,
            ..
        })
    ));
    let found = linalg::symmetric_eigen(a.view());
    assert!(matches!(
        found,
        Err(ProjectionError::Mismatch(Mismatch {
            expected: 3,
            given: 4,
            ..
        }))
    ));
}
