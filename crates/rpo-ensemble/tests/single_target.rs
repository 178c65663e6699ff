//! Forests of single targets: what each of them would be by itself.

mod common;

use common::{csr, gaussian, labelled, layouts, regression};
use ndarray::{Array2, Axis};
use rpo_core::{MatrixView, Seed};
use rpo_ensemble::{EnsembleError, FitOptions, ForestParams, SingleTargetForest};
use rpo_tree::LeafKind;

fn fit(
    params: ForestParams,
    x: MatrixView<'_>,
    y: MatrixView<'_>,
) -> Result<SingleTargetForest, EnsembleError> {
    params.check()?.fit_single_targets(x, y, FitOptions::default())
}

#[test]
fn every_output_has_the_forest_of_its_column() {
    for y in [labelled(1, 60).1, regression(1, 60).1] {
        let x = labelled(1, 60).0;
        for base in [ForestParams::random_forest, ForestParams::extra_trees] {
            let params = || base().n_trees(5).max_leaves(Some(7));
            for (x, y_given) in layouts(&x).iter().zip(layouts(&y)) {
                let forests = fit(params().seed(3), x.view(), y_given.view()).unwrap();
                assert_eq!((forests.n_outputs(), forests.trees_per_output()), (8, 5));
                let all = forests.predict(x.view()).unwrap();
                for j in 0..8 {
                    let column = y.select(Axis(1), &[j]);
                    let seed = Seed::new(3).purpose("output").child(j as u64);
                    let alone = params().seed(seed.value()).leaves(Some(LeafKind::Dense));
                    let alone = alone.check().unwrap().fit(x.view(), (&column).into()).unwrap();
                    assert_eq!(alone.trees(), &forests.forest().trees()[5 * j..5 * (j + 1)]);
                    assert_eq!(alone.predict(x.view()).unwrap().column(0), all.column(j));
                }
                let top = forests.predict_top_k(x.view(), 8).unwrap();
                assert_eq!(MatrixView::Sparse(top.view()).to_dense(usize::MAX).unwrap(), all);
                let few = forests.predict_top_k(x.view(), 2).unwrap();
                assert!(few.nnz() <= 2 * 60);
            }
        }
    }
}

#[test]
fn missing_outputs_take_no_part_where_allowed() {
    let (x, mut y) = labelled(2, 50);
    y[[3, 4]] = f32::NAN;
    let params = ForestParams::random_forest().n_trees(4).check().unwrap();
    let options = FitOptions {
        missing_outputs: true,
        ..FitOptions::default()
    };
    for y in layouts(&y) {
        let forests = params.fit_single_targets((&x).into(), y.view(), options).unwrap();
        let predictions = forests.predict((&x).into()).unwrap();
        assert!(predictions.iter().all(|v| v.is_finite()));
        let refused = params.fit_single_targets((&x).into(), y.view(), FitOptions::default());
        assert!(matches!(refused, Err(EnsembleError::Outputs(_))));
    }
}

#[test]
fn threads_do_not_matter() {
    let (x, y) = labelled(3, 60);
    let y = csr(&y);
    let [one, eight] = [1, 8].map(|n| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        pool.install(|| {
            let forests = fit(
                ForestParams::random_forest().n_trees(6),
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
        Err(EnsembleError::Parameter { name, .. }) => name,
        other => panic!("{other:?}"),
    };
    let base = || ForestParams::random_forest().n_trees(2);
    assert_eq!(name(base().projection(gaussian(2))), "projection");
    assert_eq!(name(base().leaves(Some(LeafKind::Samples))), "leaves");
    assert_eq!(name(base().first_tree(1)), "first_tree");
    let forests = fit(base(), (&x).into(), (&y).into()).unwrap();
    assert!(SingleTargetForest::from_forest(forests.forest().clone(), 8).is_ok());
    for n_outputs in [0, 3, 17] {
        let found = SingleTargetForest::from_forest(forests.forest().clone(), n_outputs);
        assert!(
            matches!(found, Err(EnsembleError::Mismatch { .. })),
            "{n_outputs}"
        );
    }
    let narrow = Array2::<f32>::zeros((3, 4));
    assert!(matches!(
        forests.predict((&narrow).into()),
        Err(EnsembleError::Mismatch { .. })
    ));
    assert!(matches!(
        forests.predict_within((&x).into(), 10),
        Err(EnsembleError::Predictions(_))
    ));
}
