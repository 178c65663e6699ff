//! Edge cases: degenerate training sets, and input that is refused.

use super::common::{OutputProjection, csr, every_kind, fit, gaussian, labelled, layouts, projected};
use ndarray::{Array2, array};
use rpo_core::{
    Apply, CheckParams, CsrMatrix, FeatureImportances, Learner, MatrixError, MatrixView, MemoryLimit, Merge,
    Mismatch, ParameterError, Predictor, WeightError,
};
use rpo_ensemble::boosting::{Algorithm, BoostingParams};
use rpo_ensemble::structured::StructuredForestParams;
use rpo_ensemble::{
    Bins, CraftmlParams, CraftmlVariant, CriterionKind, EnsembleError, Forest, ForestOptions, ForestParams,
    ForestPreset, LeafChoice, OutOfBagPredictor, SingleTargetOptions, SingleTargetParams,
};
use rpo_projections::{Components, ProjectionError, ProjectionKind};
use rpo_tree::TreeError;

#[expect(
    clippy::needless_pass_by_value,
    reason = "tests build their parameters in place"
)]
fn try_fit(params: ForestParams, x: &Array2<f32>, y: &Array2<f32>) -> Result<Forest, EnsembleError> {
    params.fit(x.into(), y.into())
}

/// Returns the error of fitting `x` and `y`, which must be the same in every layout and for every kind of forest.
fn refusal(x: &Array2<f32>, y: &Array2<f32>) -> EnsembleError {
    let mut found = Vec::new();
    for params in every_kind() {
        for x in layouts(x) {
            found.extend(layouts(y).map(|y| params.fit(x.view(), y.view()).unwrap_err()));
        }
    }
    let first = found.pop().expect("some kinds");
    // NaN is unequal to itself, so messages are compared.
    assert!(
        found.iter().all(|e| e.to_string() == first.to_string()),
        "{found:?}"
    );
    first
}

#[test]
fn degenerate_sets_are_learnt() {
    for params in every_kind() {
        // One row; equal rows; constant outputs; a feature of missing values alone.
        for (x, y) in [
            (array![[1.0, 2.0]], array![[1.0, 0.0]]),
            (Array2::ones((5, 1)), Array2::ones((5, 3))),
            (array![[1.0], [2.0], [3.0]], Array2::from_elem((3, 1), 0.1)),
            (Array2::from_elem((4, 2), f32::NAN), Array2::zeros((4, 1))),
        ] {
            for y in layouts(&y) {
                let forest = fit(params.clone(), &x.clone().into(), &y);
                let expected = y.view().to_dense(usize::MAX).unwrap();
                let found = forest.predict((&x).into()).unwrap();
                assert!(
                    found.iter().zip(&expected).all(|(f, e)| (f - e).abs() < 1e-6),
                    "{params:?}"
                );
                assert_eq!(forest.importances(), []);
            }
        }
    }
}

#[test]
fn nothing_to_predict_is_nothing() {
    let (x, y) = labelled(1, 20);
    let forest = fit(
        ForestParams {
            trees: 2,
            ..ForestParams::default()
        },
        &x.into(),
        &y.into(),
    );
    for x in layouts(&Array2::zeros((0, 5))) {
        assert_eq!(forest.predict(x.view()).unwrap().dim(), (0, 8));
        assert_eq!(forest.predict_top_k(x.view(), 3).unwrap().shape(), (0, 8));
        assert_eq!(forest.apply(x.view()).unwrap().dim(), (0, 2));
    }
}

#[test]
fn training_sets_are_checked() {
    let (x, y) = (Array2::<f32>::ones((3, 2)), Array2::<f32>::ones((3, 4)));
    assert!(matches!(
        refusal(&x, &Array2::ones((2, 4))),
        EnsembleError::Mismatch(Mismatch {
            expected: 3,
            given: 2,
            ..
        })
    ));
    assert!(matches!(
        refusal(&x, &Array2::ones((3, 0))),
        EnsembleError::NoOutputs
    ));
    for (rows, columns) in [(0, 2), (3, 0)] {
        let expected = TreeError::Empty { rows, columns };
        let found = refusal(&Array2::ones((rows, columns)), &Array2::ones((rows, 4)));
        assert_eq!(found, EnsembleError::Tree(expected));
    }
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut bad = y.clone();
        bad[[1, 2]] = value;
        assert!(matches!(
            refusal(&x, &bad),
            EnsembleError::Outputs(MatrixError::NonFinite {
                row: 1,
                column: 2,
                ..
            })
        ));
    }
    let mut bad = x.clone();
    bad[[2, 1]] = f32::INFINITY;
    assert!(matches!(
        refusal(&bad, &y),
        EnsembleError::Tree(TreeError::InfiniteFeature {
            sample: 2,
            column: 1,
            ..
        })
    ));
}

/// A file of a few lines can name an output of any index; it is refused before any array of that length is allocated.
#[test]
fn outputs_beyond_number_are_refused_by_every_ensemble() {
    let x = csr(&Array2::ones((2, 1)));
    let d = 3_000_000_000;
    let y = CsrMatrix::new((2, d), vec![0, 1, 2], vec![0, d as u32 - 1], vec![1.0; 2]);
    let (x, y) = (MatrixView::Sparse(x.view()), MatrixView::Sparse(y.view()));
    let forest = ForestParams::default();
    for error in [
        forest.fit(x, y).unwrap_err(),
        SingleTargetParams(forest.clone()).fit(x, y).unwrap_err(),
        BoostingParams::paper(Algorithm::Gbmort).fit(x, y).unwrap_err(),
        CraftmlParams::from(CraftmlVariant::Original)
            .fit(x, y)
            .unwrap_err(),
        StructuredForestParams::default().fit(x, y).unwrap_err(),
    ] {
        let (what, given, limit) = ("the number of outputs", d, 1 << 27);
        assert_eq!(
            error,
            EnsembleError::Tree(TreeError::TooLarge { what, given, limit })
        );
    }
}

#[test]
fn matrices_stored_by_columns_are_refused() {
    let (x, y) = labelled(1, 20);
    let (x_columns, y_columns) = (csr(&x).to_csc(), csr(&y).to_csc());
    let (x_columns, y_columns) = (
        MatrixView::Sparse(x_columns.view()),
        MatrixView::Sparse(y_columns.view()),
    );
    let refused = |what| EnsembleError::from(rpo_core::NotCsr { what });
    for params in every_kind() {
        assert_eq!(
            params.fit(x_columns, (&y).into()).unwrap_err(),
            refused("features")
        );
        assert_eq!(
            params.fit((&x).into(), y_columns).unwrap_err(),
            refused("outputs")
        );
        let forest = params.fit((&x).into(), (&y).into()).unwrap();
        assert_eq!(forest.predict(x_columns).unwrap_err(), refused("features"));
        assert_eq!(
            forest.predict_top_k(x_columns, 2).unwrap_err(),
            refused("features")
        );
    }
}

#[test]
fn weights_are_checked() {
    let (x, y) = labelled(2, 4);
    let params = ForestParams::from(ForestPreset::Cart);
    let fit = |weights: &[f32]| {
        let options = ForestOptions {
            weights: Some(weights),
            ..ForestOptions::default()
        };
        params.fit_with((&x).into(), (&y).into(), options)
    };
    assert!(fit(&[0.0, 0.5, 1.0, 1e30]).is_ok());
    assert!(matches!(
        fit(&[1.0; 3]),
        Err(EnsembleError::Mismatch(Mismatch {
            expected: 4,
            given: 3,
            ..
        }))
    ));
    for value in [-1.0, f32::NAN, f32::INFINITY] {
        let found = fit(&[1.0, 1.0, value, 1.0]);
        assert!(
            matches!(
                found,
                Err(EnsembleError::Weight(WeightError::OutOfRange { sample: 2, .. }))
            ),
            "{found:?}"
        );
    }
    assert_eq!(fit(&[0.0; 4]), Err(WeightError::AllZero.into()));
}

/// The unit of weights does not matter, however small or large: sums of huge weights must not lose the targets.
#[test]
fn weights_count_by_their_ratios() {
    let (x, labels) = labelled(3, 60);
    let numbers = Array2::from_shape_fn((60, 2), |(i, j)| 1.5 * x[[i, j]] - x[[i, j + 1]]);
    for params in every_kind() {
        let is_for_numbers = params.criterion == CriterionKind::Variance;
        for y in [Some(&labels), is_for_numbers.then_some(&numbers)]
            .into_iter()
            .flatten()
        {
            let by = |unit: f32| {
                let weights: Vec<f32> = (0..60_u8).map(|i| unit * f32::from(1 + i % 3)).collect();
                let options = ForestOptions {
                    weights: Some(&weights),
                    ..ForestOptions::default()
                };
                let forest = params.fit_with((&x).into(), y.into(), options).unwrap();
                forest.predict((&x).into()).unwrap()
            };
            let expected = by(1.0);
            for unit in [0.25, 2.0_f32.powi(50), 2.0_f32.powi(125)] {
                let found = by(unit);
                let same = found.iter().zip(&expected).all(|(f, e)| (f - e).abs() < 1e-5);
                assert!(same, "{params:?}, a unit of {unit:e}");
            }
        }
    }
}

/// The means of rare categories are shrunk as much in any unit of weights.
#[test]
fn categories_count_by_the_ratios_of_weights() {
    let n = 200;
    let category = |i: usize| (i * i * 7 % 101 * (i % 5 + 1) / 20) as f32;
    let x = Array2::from_shape_fn((n, 2), |(i, j)| if j == 0 { category(i) } else { (i % 9) as f32 });
    let y = Array2::from_shape_fn((n, 1), |(i, _)| {
        (x[[i, 0]] * 3.7 % 2.0) + (i * 31 % 17) as f32 / 8.0
    });
    for bins in [Bins::Exact, Bins::AtMost(16)] {
        let params = ForestParams {
            trees: 5,
            bins,
            max_leaves: Some(6),
            ..ForestParams::default()
        };
        let by = |unit: Option<f32>| {
            let weights = unit.map(|unit| vec![unit; n]);
            let options = ForestOptions {
                weights: weights.as_deref(),
                categorical: &[0],
                ..ForestOptions::default()
            };
            let forest = params.fit_with((&x).into(), (&y).into(), options).unwrap();
            forest.predict((&x).into()).unwrap()
        };
        let expected = by(None);
        for power in [-10, 0, 10] {
            let found = by(Some(f32::powi(2.0, power)));
            let same = found.iter().zip(&expected).all(|(f, e)| (f - e).abs() < 1e-5);
            assert!(same, "{bins:?}, a unit of 2^{power}");
        }
    }
}

/// If a single sample has weight, some bag does not contain it.
#[test]
fn bags_without_weight_are_refused() {
    let (x, y) = labelled(2, 20);
    let mut weights = vec![0.0; 20];
    weights[7] = 1.0;
    let options = ForestOptions {
        weights: Some(&weights),
        ..ForestOptions::default()
    };
    let params = ForestParams {
        trees: 50,
        ..ForestParams::default()
    };
    let found = params.fit_with((&x).into(), (&y).into(), options);
    assert!(
        matches!(found, Err(EnsembleError::EmptyBag { tree }) if tree < 50),
        "{found:?}"
    );
}

#[test]
fn impossible_projections_are_refused() {
    let (x, y) = labelled(3, 20);
    for (kind, m) in [
        (ProjectionKind::Identity, 7),
        (ProjectionKind::Subsample, 9),
        (ProjectionKind::Pca, 9),
    ] {
        let projection = OutputProjection::new(kind, Components::Exact(m));
        for projection in [projection, projection.shared()] {
            let params = projected(
                ForestParams {
                    trees: 2,
                    ..ForestParams::default()
                },
                Some(projection),
            );
            let found = try_fit(params, &x, &y);
            assert!(
                matches!(
                    found,
                    Err(EnsembleError::Projection(
                        ProjectionError::TooManyComponents { .. } | ProjectionError::IdentitySize { .. }
                    ))
                ),
                "{found:?}"
            );
        }
    }
}

#[test]
fn rows_to_predict_are_checked() {
    let (x, y) = labelled(4, 20);
    let forest = fit(
        ForestParams {
            trees: 2,
            ..ForestParams::default()
        },
        &x.clone().into(),
        &y.clone().into(),
    );
    for p in [0, 4, 6] {
        for x in layouts(&Array2::zeros((20, p))) {
            for error in [
                forest.predict(x.view()).unwrap_err(),
                forest.predict_top_k(x.view(), 1).unwrap_err(),
                forest.apply(x.view()).unwrap_err(),
                forest.training_weights(x.view()).unwrap_err(),
                forest.oob_predictions(x.view()).unwrap_err(),
            ] {
                let EnsembleError::Mismatch(Mismatch { expected, given, .. }) = error else {
                    panic!("{error:?}");
                };
                assert_eq!((expected, given), (5, p));
            }
        }
    }
    assert!(matches!(
        forest.predict_top_k((&x).into(), 0),
        Err(EnsembleError::Parameter(ParameterError::OutOfRange {
            name: "k",
            ..
        }))
    ));
    assert!(matches!(
        forest.oob_predictions((&Array2::zeros((19, 5))).into()),
        Err(EnsembleError::Mismatch(Mismatch {
            expected: 20,
            given: 19,
            ..
        }))
    ));
    let all_seen = fit(
        ForestParams {
            trees: 2,
            ..ForestPreset::ExtraTrees.into()
        },
        &x.clone().into(),
        &y.into(),
    );
    assert_eq!(
        all_seen.oob_predictions((&x).into()),
        Err(EnsembleError::NoBootstrap)
    );
    assert!(forest.predict_with_limit((&x).into(), 20 * 8 * 4).is_ok());
    assert_eq!(
        forest.predict_with_limit((&x).into(), 20 * 8 * 4 - 1),
        Err(EnsembleError::Predictions(MatrixError::Memory(MemoryLimit {
            what: "a dense 20 x 8 matrix".into(),
            bytes: 640,
            limit: 639
        })))
    );
}

#[test]
fn weights_of_training_rows_need_leaves_that_refer_to_them() {
    let (x, y) = labelled(4, 20);
    let params = ForestParams {
        trees: 2,
        leaves: LeafChoice::Sparse,
        ..ForestParams::default()
    };
    let forest = fit(params, &x.clone().into(), &y.into());
    assert!(matches!(
        forest.training_weights((&x).into()),
        Err(EnsembleError::Mismatch(Mismatch {
            expected: 2,
            given: 0,
            ..
        }))
    ));
}

/// Features of samples to predict may be infinite or missing: comparisons route them.
#[test]
fn any_value_can_be_predicted_from() {
    let (x, y) = labelled(5, 30);
    let forest = fit(
        ForestParams {
            trees: 3,
            ..ForestParams::default()
        },
        &x.into(),
        &y.into(),
    );
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let x = Array2::from_elem((2, 5), value);
        assert!(forest.predict((&x).into()).unwrap().iter().all(|v| v.is_finite()));
    }
}

#[test]
fn forests_that_do_not_fit_together_are_not_merged() {
    let (x, y) = labelled(6, 20);
    let base = || {
        projected(
            ForestParams {
                trees: 2,
                ..ForestParams::default()
            },
            gaussian(2),
        )
    };
    let forest = |x: &Array2<f32>, y: &Array2<f32>| try_fit(base(), x, y).unwrap();
    let all = ndarray::s![.., ..];
    let first = forest(&x, &y);
    for (rows, features, outputs, numbers) in [(20, 4, 8, (5, 4)), (20, 5, 7, (8, 7)), (19, 5, 8, (20, 19))] {
        let x = x.slice(ndarray::s![..rows, ..features]).to_owned();
        let y = y.slice(ndarray::s![..rows, ..outputs]).to_owned();
        match first.clone().merge(forest(&x, &y)) {
            Err(EnsembleError::Mismatch(Mismatch { expected, given, .. })) => {
                assert_eq!((expected, given), numbers);
            }
            other => panic!("{other:?}"),
        }
    }
    let all_seen = try_fit(
        ForestParams {
            bootstrap: Some(false),
            ..base()
        },
        &x,
        &y,
    )
    .unwrap();
    assert!(matches!(
        first.clone().merge(all_seen),
        Err(EnsembleError::Merge(_))
    ));
    let other_outputs = forest(&x, &y.slice(all).mapv(|v| 1.0 - v));
    assert!(matches!(
        first.clone().merge(other_outputs),
        Err(EnsembleError::Merge(_))
    ));
    // Forests with different storages of leaves can be merged.
    let dense = try_fit(
        ForestParams {
            leaves: LeafChoice::Dense,
            ..base()
        },
        &x,
        &y,
    )
    .unwrap();
    let merged = dense.clone().merge(first.clone()).unwrap();
    let expected = (dense.predict((&x).into()).unwrap() + first.predict((&x).into()).unwrap()) / 2.0;
    let errors = merged.predict((&x).into()).unwrap() - expected;
    assert!(errors.iter().all(|e| e.abs() < 1e-6));
}

#[test]
fn impurities_of_labels_need_labels() {
    let (x, mut y) = labelled(9, 30);
    let partial = ForestOptions {
        missing_outputs: true,
        ..ForestOptions::default()
    };
    let apart = SingleTargetOptions {
        missing_outputs: true,
        ..SingleTargetOptions::default()
    };
    for criterion in [CriterionKind::Gini, CriterionKind::Entropy] {
        let params = ForestParams {
            trees: 2,
            criterion,
            ..ForestParams::default()
        };
        y[[3, 1]] = 0.5;
        let refused = params.fit((&x).into(), (&y).into()).map(|_| ());
        let (row, output, value) = (3, 1, 0.5);
        assert_eq!(
            refused,
            Err(EnsembleError::NotALabel {
                sample: row,
                output,
                value
            })
        );
        y[[3, 1]] = f32::NAN;
        let found = params
            .fit_with((&x).into(), (&y).into(), partial.clone())
            .map(|_| ());
        match (criterion, found) {
            (CriterionKind::Gini, Ok(())) => {}
            (
                CriterionKind::Entropy,
                Err(EnsembleError::Parameter(ParameterError::Conflict {
                    name: "criterion", ..
                })),
            ) => {}
            other => panic!("{other:?}"),
        }
        assert!(
            SingleTargetParams(params.clone())
                .fit_with((&x).into(), (&y).into(), apart)
                .is_ok()
        );
        y[[3, 1]] = 1.0;
        assert!(params.fit((&x).into(), (&y).into()).is_ok());
    }
}

#[test]
fn no_trees_are_refused() {
    assert!(matches!(
        ForestParams {
            trees: 0,
            ..ForestParams::default()
        }
        .check(),
        Err(EnsembleError::Parameter(ParameterError::OutOfRange {
            name: "trees",
            ..
        }))
    ));
}

/// Rows need not be contiguous: a view of every second row and the first features is accepted.
#[test]
fn views_are_read_where_they_lie() {
    let (x, y) = labelled(8, 40);
    let (x_view, y_view) = (x.slice(ndarray::s![..;2, ..3]), y.slice(ndarray::s![..;2, 2..]));
    for params in every_kind() {
        let from_views = params
            .fit(MatrixView::Dense(x_view), MatrixView::Dense(y_view))
            .unwrap();
        let (x, y) = (x_view.to_owned(), y_view.to_owned());
        assert_eq!(from_views, params.fit((&x).into(), (&y).into()).unwrap());
        let found = from_views.predict(MatrixView::Dense(x_view)).unwrap();
        assert_eq!(found, from_views.predict((&x).into()).unwrap());
    }
}
