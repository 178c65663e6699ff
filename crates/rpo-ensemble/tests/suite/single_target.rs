//! Single-target forests: each equals the forest of its output alone.

use super::common::{csr, gaussian, labelled, layouts, on_threads, projected, regression};
use ndarray::{Array2, Axis};
use rpo_core::{Learner, MatrixView, Merge, ParameterError, Predictor, TreeEnsemble};
use rpo_ensemble::{
    CriterionKind, EnsembleError, ForestParams, ForestPreset, LeafChoice, OutOfBagPredictor,
    SingleTargetForest, SingleTargetOptions, SingleTargetParams,
};
use rpo_tree::LeafModel;

fn fit(
    params: ForestParams,
    x: MatrixView<'_>,
    y: MatrixView<'_>,
) -> Result<SingleTargetForest, EnsembleError> {
    SingleTargetParams(params).fit(x, y)
}

#[test]
fn every_output_has_the_forest_of_its_column() {
    for y in [labelled(1, 60).1, regression(1, 60).1] {
        let x = labelled(1, 60).0;
        let is_label = y.iter().all(|v| *v == 0.0 || *v == 1.0);
        let mut bases = vec![
            ForestParams::default(),
            ForestParams::from(ForestPreset::ExtraTrees),
        ];
        if is_label {
            bases.push(ForestParams::from(ForestPreset::RfCost));
            bases.push(ForestParams {
                criterion: CriterionKind::Gini,
                ..ForestParams::default()
            });
        }
        for base in bases {
            let params = || ForestParams {
                trees: 5,
                max_leaves: Some(7),
                ..base.clone()
            };
            for (x, y_given) in layouts(&x).iter().zip(layouts(&y)) {
                let forests = fit(ForestParams { seed: 3, ..params() }, x.view(), y_given.view()).unwrap();
                assert_eq!((forests.n_outputs(), forests.trees_per_output()), (8, 5));
                let all = forests.predict(x.view()).unwrap();
                for j in 0..8 {
                    let column = y.select(Axis(1), &[j]);
                    let alone = ForestParams {
                        seed: 3,
                        leaves: LeafChoice::Dense,
                        ..params()
                    };
                    let alone = alone.fit(x.view(), (&column).into()).unwrap();
                    assert_eq!(alone.trees(), &forests.trees()[5 * j..5 * (j + 1)]);
                    let means = alone.predict(x.view()).unwrap();
                    assert!(means.iter().zip(all.column(j)).all(|(a, b)| (a - b).abs() < 1e-6));
                    if let Ok((oob, counts)) = alone.oob_predictions(x.view()) {
                        let found = forests.oob_predictions(x.view()).unwrap();
                        assert_eq!(found.1, counts);
                        let same = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-6 || a.is_nan() && b.is_nan();
                        assert!(oob.iter().zip(found.0.column(j)).all(same));
                    }
                }
                let top = forests.predict_top_k(x.view(), 8).unwrap();
                assert_eq!(MatrixView::Sparse(top.view()).to_dense(usize::MAX).unwrap(), all);
                let few = forests.predict_top_k(x.view(), 2).unwrap();
                assert!(few.nnz() <= 2 * 60);
            }
        }
    }
}

/// The forest of an output is that of the rows in which it is observed: here all rows are in the bag of all trees.
#[test]
fn missing_outputs_take_no_part_where_allowed() {
    let (x, mut y) = labelled(2, 50);
    let missing = |i: usize| i % 3 == 1;
    (0..50).filter(|&i| missing(i)).for_each(|i| y[[i, 4]] = f32::NAN);
    let known: Vec<usize> = (0..50).filter(|&i| !missing(i)).collect();
    y[[7, 6]] = f32::NAN;
    let options = SingleTargetOptions {
        missing_outputs: true,
        ..SingleTargetOptions::default()
    };
    let base = ForestParams {
        trees: 4,
        bootstrap: Some(false),
        ..ForestParams::default()
    };
    let bases = [
        base.clone(),
        ForestParams {
            criterion: CriterionKind::Entropy,
            ..base
        },
        ForestParams::default(),
    ];
    for (params, y) in bases
        .into_iter()
        .flat_map(|b| layouts(&y).map(|y| (b.clone(), y)))
    {
        let forests = SingleTargetParams(params.clone())
            .fit_with((&x).into(), y.view(), options)
            .unwrap();
        let predictions = forests.predict((&x).into()).unwrap();
        assert!(predictions.iter().all(|v| v.is_finite()));
        if forests.oob_predictions((&x).into()).is_err() {
            let (x_known, y_known) = (x.select(Axis(0), &known), y.view().select_rows(&known));
            let alone =
                SingleTargetParams(params.clone()).fit_with((&x_known).into(), y_known.view(), options);
            let expected = alone.unwrap().predict((&x).into()).unwrap();
            assert_eq!(predictions.column(4).to_vec(), expected.column(4).to_vec());
        }
        let refused = SingleTargetParams(params.clone()).fit((&x).into(), y.view());
        assert!(matches!(refused, Err(EnsembleError::Outputs(_))));
    }
}

/// A tree whose bag has no row with the output observed predicts the mean over all rows in which it is observed.
#[test]
fn what_is_known_out_of_bag_alone_is_a_mean() {
    let (x, mut y) = labelled(5, 30);
    y.column_mut(2).fill(f32::NAN);
    (y[[4, 2]], y[[5, 2]]) = (1.0, 0.0);
    let params = ForestParams {
        trees: 40,
        ..ForestParams::default()
    };
    let options = SingleTargetOptions {
        missing_outputs: true,
        ..SingleTargetOptions::default()
    };
    let forests = SingleTargetParams(params.clone())
        .fit_with((&x).into(), (&y).into(), options)
        .unwrap();
    let of_output = &forests.trees()[2 * 40..3 * 40];
    let answers: Vec<f64> = of_output
        .iter()
        .filter(|t| t.tree.leaves().n_leaves() == 1)
        .map(|t| {
            let mut answer = 0.0;
            t.tree.leaves().for_each(0, |_, v| answer = v);
            answer
        })
        .collect();
    // With one of the two rows in the bag its value is predicted, with neither their mean.
    assert!([0.0, 0.5, 1.0].iter().all(|v| answers.contains(v)), "{answers:?}");
}

#[test]
fn parts_merge_into_the_whole() {
    let (x, y) = labelled(6, 40);
    let grow =
        |params: ForestParams| fit(ForestParams { seed: 4, ..params }, (&x).into(), (&y).into()).unwrap();
    let base = || ForestPreset::RfCost.into();
    let parts = grow(ForestParams { trees: 2, ..base() }).merge(grow(ForestParams {
        first_tree: 2,
        trees: 3,
        ..base()
    }));
    assert_eq!(parts.unwrap(), grow(ForestParams { trees: 5, ..base() }));
    let other = grow(ForestParams { trees: 2, ..base() }).merge(grow(ForestParams {
        trees: 2,
        bootstrap: Some(true),
        row_share: None,
        ..base()
    }));
    assert!(matches!(other, Err(EnsembleError::Merge(_))));
}

#[test]
fn threads_do_not_matter() {
    let (x, y) = labelled(3, 60);
    let y = csr(&y);
    let [one, eight] = [1, 8].map(|n| {
        on_threads(n, || {
            let forests = fit(
                ForestParams {
                    trees: 6,
                    ..ForestParams::default()
                },
                (&x).into(),
                MatrixView::Sparse(y.view()),
            );
            let forests = forests.unwrap();
            let predictions = forests.predict((&x).into()).unwrap();
            (forests, predictions)
        })
    });
    assert!(one == eight);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (x, y) = labelled(4, 20);
    let name = |params: ForestParams| match fit(params, (&x).into(), (&y).into()) {
        Err(EnsembleError::Parameter(ParameterError::Conflict { name, .. })) => name,
        other => panic!("{other:?}"),
    };
    let base = || ForestParams {
        trees: 2,
        ..ForestParams::default()
    };
    assert_eq!(name(projected(base(), gaussian(2))), "projection");
    assert_eq!(
        name(ForestParams {
            leaves: LeafChoice::Samples,
            ..base()
        }),
        "leaves"
    );
    let forests = fit(base(), (&x).into(), (&y).into()).unwrap();
    let narrow = Array2::<f32>::zeros((3, 4));
    assert!(matches!(
        forests.predict((&narrow).into()),
        Err(EnsembleError::Mismatch(_))
    ));
    assert!(matches!(
        forests.predict_with_limit((&x).into(), 10),
        Err(EnsembleError::Predictions(_))
    ));
}
