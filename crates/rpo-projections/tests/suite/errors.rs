//! Everything that is refused, with its error.

use crate::common::{all_families, csr, sparse};
use ndarray::{Array2, array, s};
use rpo_core::{CsrMatrix, MatrixError, MatrixView, Mismatch, Seed};
use rpo_projections::{
    Gaussian, Hashing, Pca, Projection, ProjectionError, ProjectionInput, ProjectionKind, RandomProjection,
};

#[test]
fn impossible_sizes() {
    for kind in ProjectionKind::NAMED {
        let fit = |d, m| {
            let (x, y) = (Array2::ones((3, 2)), Array2::ones((3, d)));
            let data = ProjectionInput {
                features: Some((&x).into()),
                outputs: (&y).into(),
                weights: None,
            };
            kind.fit(data, m, Seed::new(1)).map(|_| ())
        };
        assert_eq!(fit(0, 1), Err(ProjectionError::NoOutputs), "{kind}");
        assert_eq!(fit(4, 0), Err(ProjectionError::NoComponents), "{kind}");
        let beyond = fit(4, 5);
        let (n_components, limit) = (5, 4);
        match kind {
            ProjectionKind::Subsample => {
                let family = "sub-sampling without replacement";
                assert_eq!(
                    beyond,
                    Err(ProjectionError::TooManyComponents {
                        family,
                        n_components,
                        limit
                    })
                );
            }
            ProjectionKind::Pca | ProjectionKind::LabelEmbedding => {
                let family = match kind {
                    ProjectionKind::Pca => "pca",
                    _ => "a label embedding",
                };
                assert_eq!(
                    beyond,
                    Err(ProjectionError::TooManyComponents {
                        family,
                        n_components,
                        limit
                    })
                );
            }
            ProjectionKind::Identity => {
                assert_eq!(
                    beyond,
                    Err(ProjectionError::IdentitySize {
                        n_outputs: 4,
                        n_components
                    })
                );
                assert_eq!(
                    fit(4, 3),
                    Err(ProjectionError::IdentitySize {
                        n_outputs: 4,
                        n_components: 3
                    })
                );
            }
            _ => assert_eq!(beyond, Ok(()), "{kind}"),
        }
    }
}

#[test]
fn sizes_beyond_memory_and_indices() {
    for (name, family) in all_families() {
        let huge = family.draw(usize::MAX, usize::MAX, Seed::new(1)).map(|_| ());
        assert!(
            matches!(huge, Err(ProjectionError::IndexRange { .. })),
            "{name}: {huge:?}"
        );
    }
    let (d, m) = (u32::MAX as usize - 1, u32::MAX as usize - 1);
    let dense = Gaussian.draw(d, m, Seed::new(1)).map(|_| ());
    assert!(
        matches!(dense, Err(ProjectionError::OutOfMemory { .. })),
        "{dense:?}"
    );
    // Hashing stores nothing; its result for many rows would be too large.
    let map = Hashing.draw(10, m, Seed::new(1)).unwrap();
    let many = CsrMatrix::zero((1 << 20, 10));
    assert_eq!(
        map.apply(sparse(&many)),
        Err(ProjectionError::OutOfMemory {
            rows: 1 << 20,
            columns: m
        })
    );
}

#[test]
fn features_of_other_samples() {
    let (x, y) = (Array2::<f32>::ones((5, 2)), Array2::<f32>::ones((3, 4)));
    for weights in [None, Some(&[1.0_f32, 2.0, 3.0][..])] {
        let data = ProjectionInput {
            features: Some((&x).into()),
            outputs: (&y).into(),
            weights,
        };
        let found = ProjectionKind::LabelEmbedding
            .fit(data, 2, Seed::new(1))
            .map(|_| ());
        let mismatch = Mismatch {
            what: "samples of the features",
            expected: 3,
            given: 5,
        };
        assert_eq!(found, Err(ProjectionError::Mismatch(mismatch)), "{weights:?}");
    }
}

#[test]
fn outputs_and_targets_that_do_not_fit() {
    let y = Array2::<f32>::ones((3, 4));
    for (name, family) in all_families() {
        let map = family.draw(4, 4, Seed::new(1)).unwrap();
        let wide = Array2::ones((3, 5));
        let mismatch = ProjectionError::Mismatch(Mismatch {
            what: "outputs",
            expected: 4,
            given: 5,
        });
        assert_eq!(map.apply(MatrixView::from(&wide)), Err(mismatch), "{name}");
        let mut z = Array2::zeros((2, 4));
        let shape = ProjectionError::TargetShape {
            expected: (3, 4),
            found: (2, 4),
        };
        assert_eq!(
            map.apply_into(MatrixView::from(&y), z.view_mut()),
            Err(shape),
            "{name}"
        );
        let mut z = Array2::zeros((4, 3)).reversed_axes();
        let layout = Err(ProjectionError::TargetLayout);
        assert_eq!(
            map.apply_into(MatrixView::from(&y), z.view_mut()),
            layout,
            "{name}"
        );
        let mut z = Array2::zeros((3, 8));
        assert_eq!(
            map.apply_into(MatrixView::from(&y), z.slice_mut(s![.., ..4])),
            layout,
            "{name}"
        );
        let by_columns = csr(y.view()).to_csc();
        assert_eq!(
            map.apply(sparse(&by_columns)),
            Err(ProjectionError::NotCsr(rpo_core::NotCsr { what: "outputs" })),
            "{name}"
        );
    }
    let by_columns = csr(y.view()).to_csc();
    for kind in [ProjectionKind::Gaussian, ProjectionKind::Pca] {
        let fitted = kind.fit(sparse(&by_columns).into(), 2, Seed::new(1)).map(|_| ());
        assert_eq!(
            fitted,
            Err(ProjectionError::NotCsr(rpo_core::NotCsr { what: "outputs" }))
        );
    }
}

#[test]
fn values_that_are_not_finite() {
    for (name, family) in all_families() {
        let map = family.draw(3, 3, Seed::new(1)).unwrap();
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let y = array![[1.0, 0.0, 1.0], [0.0, 1.0, value]];
            for found in [map.apply(MatrixView::from(&y)), map.apply(sparse(&csr(y.view())))] {
                let refused = matches!(
                    found,
                    Err(ProjectionError::Matrix(MatrixError::NonFinite {
                        row: 1,
                        column: 2,
                        ..
                    }))
                );
                assert!(refused, "{name}: {value}");
            }
        }
    }
    let y = array![[1.0, f32::NAN], [0.0, 1.0]];
    let fitted = Pca::default()
        .fit(MatrixView::from(&y).into(), 1, Seed::new(1))
        .map(|_| ());
    assert!(matches!(
        fitted,
        Err(ProjectionError::Matrix(MatrixError::NonFinite {
            row: 0,
            column: 1,
            ..
        }))
    ));
}

#[test]
fn sums_beyond_f32() {
    let y = array![[1.0, 1.0], [f32::MAX, f32::MAX]];
    let map = Hashing.draw(2, 1, Seed::new(4)).unwrap();
    let signs = crate::common::dense_matrix(&*map);
    // Both outputs go to the one component: their signs agree, or the sum would be 0.
    assert_eq!(signs[[0, 0]], signs[[0, 1]]);
    let expected = ProjectionError::NotFinite { row: 1, component: 0 };
    assert_eq!(map.apply(MatrixView::from(&y)), Err(expected));
}

#[test]
fn learned_maps_need_rows() {
    let fit = |n| {
        Pca::default()
            .fit(MatrixView::from(&Array2::ones((n, 3))).into(), 2, Seed::new(1))
            .map(|_| ())
    };
    for found in [0, 1] {
        let expected = ProjectionError::TooFewRows {
            family: "a covariance",
            found,
            required: 2,
        };
        assert_eq!(fit(found), Err(expected));
    }
    assert_eq!(fit(2), Ok(()));
}

#[test]
fn messages_say_what_was_given_and_what_is_needed() {
    let shape = ProjectionError::TargetShape {
        expected: (3, 4),
        found: (2, 5),
    };
    assert_eq!(
        shape.to_string(),
        "the projected outputs need a 3 x 4 matrix, got 2 x 5"
    );
    let unknown = "gauss".parse::<ProjectionKind>().unwrap_err();
    assert!(
        unknown
            .to_string()
            .starts_with("\"gauss\" is not a projection: expected rademacher:S, gaussian, rademacher,")
    );
}
