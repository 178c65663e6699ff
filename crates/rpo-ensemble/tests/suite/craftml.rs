//! Properties of CRAFTML forests.

use super::common::{csr, layouts, on_threads};
use ndarray::{Array2, Axis};
use proptest::prelude::*;
use rpo_core::store::{Restore, Sizes, Store, Stored, Writer};
use rpo_core::{
    Apply, Learner, Matrix, MatrixView, Merge, Mismatch, ParameterError, Predictor, Seed, TooFew,
    TreeEnsemble,
};
use rpo_ensemble::craftml::{CentroidEntries, CentroidKind, FeatureMap, Width};
use rpo_ensemble::{Craftml, CraftmlParams, CraftmlVariant, EnsembleError};
use rpo_tree::{LeafKind, LeafModel, Rule, TreeError};

/// Generates sparse features and labels of a few overlapping topics.
fn data(seed: u64, n: usize) -> (Array2<f32>, Array2<f32>) {
    let seed = Seed::new(seed);
    let topic = |i: usize| seed.child(1).hash(i as u64) as usize % 6;
    let chance = |key: u64, i: usize, j: usize| seed.child(key).hash((i * 10_000 + j) as u64) % 100;
    let x = Array2::from_shape_fn((n, 30), |(i, j)| {
        let often = if j % 6 == topic(i) { 60 } else { 8 };
        if chance(2, i, j) < often {
            0.5 + chance(3, i, j) as f32 / 100.0
        } else {
            0.0
        }
    });
    let y = Array2::from_shape_fn((n, 24), |(i, j)| {
        let often = if j % 6 == topic(i) { 50 } else { 4 };
        f32::from(u8::from(chance(4, i, j) < often))
    });
    (x, y)
}

/// Returns the variant with small sizes.
fn small(variant: CraftmlVariant) -> CraftmlParams {
    let params = CraftmlParams {
        trees: 4,
        clusters: Some(4),
        seed: 5,
        ..CraftmlParams::from(variant)
    };
    match variant {
        CraftmlVariant::Original => CraftmlParams {
            min_samples_split: 6,
            ..params
        },
        CraftmlVariant::Report | CraftmlVariant::ReportQuirks => CraftmlParams {
            min_samples_split: 25,
            ..params
        },
    }
}

const VARIANTS: [CraftmlVariant; 3] = [
    CraftmlVariant::Original,
    CraftmlVariant::Report,
    CraftmlVariant::ReportQuirks,
];

#[expect(
    clippy::needless_pass_by_value,
    reason = "tests build their parameters in place"
)]
fn fit(params: CraftmlParams, x: &Matrix, y: &Matrix) -> Craftml {
    params.fit(x.view(), y.view()).unwrap()
}

/// Returns the training rows of each leaf of a tree.
fn members(forest: &Craftml, tree: usize, x: &Matrix) -> Vec<Vec<usize>> {
    let leaves = forest.apply(x.view()).unwrap();
    let n = forest.trees()[tree].leaves().n_leaves();
    let mut rows = vec![Vec::new(); n];
    for (row, &leaf) in leaves.column(tree).iter().enumerate() {
        rows[leaf as usize].push(row);
    }
    rows
}

#[test]
fn leaves_answer_the_means_of_the_rows_that_reach_them() {
    let (x, y) = data(1, 200);
    let (x, y) = (Matrix::from(csr(&x)), y);
    for variant in [CraftmlVariant::Original, CraftmlVariant::Report] {
        for kind in [LeafKind::Samples, LeafKind::Sparse, LeafKind::Dense] {
            let forest = fit(
                CraftmlParams {
                    leaves: Some(kind).into(),
                    ..small(variant)
                },
                &x,
                &csr(&y).into(),
            );
            // Sparse and dense leaves are rounded to f32.
            let tolerance = if kind == LeafKind::Samples { 1e-9 } else { 1e-5 };
            for (index, tree) in forest.trees().iter().enumerate() {
                let mut total = [0.0; 24];
                for (leaf, rows) in members(&forest, index, &x).iter().enumerate() {
                    assert!(!rows.is_empty(), "{variant:?}: training rows reach every leaf");
                    let mut answer = [0.0; 24];
                    tree.leaves()
                        .for_each(leaf as u32, |j, v| answer[j as usize] += v);
                    let mean = y
                        .select(Axis(0), rows)
                        .mapv(f64::from)
                        .mean_axis(Axis(0))
                        .unwrap();
                    for j in 0..24 {
                        assert!((-1e-12..=1.0 + 1e-6).contains(&answer[j]));
                        assert!((answer[j] - mean[j]).abs() < tolerance, "{variant:?}, {kind:?}");
                        total[j] += answer[j] * rows.len() as f64;
                    }
                }
                for j in 0..24 {
                    let expected: f64 = y.column(j).iter().map(|&v| f64::from(v)).sum();
                    assert!((total[j] - expected).abs() < 200.0 * tolerance);
                }
            }
        }
    }
}

#[test]
fn predictions_are_means_over_trees() {
    let (x, y) = data(2, 150);
    let (unseen, _) = data(3, 40);
    for variant in VARIANTS {
        let forest = fit(small(variant), &csr(&x).into(), &csr(&y).into());
        let leaves = forest.apply((&unseen).into()).unwrap();
        let mut expected = Array2::<f64>::zeros((40, 24));
        for (index, tree) in forest.trees().iter().enumerate() {
            if tree.features == FeatureMap::Identity {
                let routed = tree.structure().unwrap().apply((&unseen).into()).unwrap();
                assert_eq!(routed, leaves.column(index).to_vec());
            }
            for row in 0..40 {
                let leaf = leaves[[row, index]];
                tree.leaves()
                    .for_each(leaf, |j, v| expected[[row, j as usize]] += v / 4.0);
            }
        }
        for view in layouts(&unseen) {
            let scores = forest.predict(view.view()).unwrap();
            let close = |(a, b): (&f32, &f64)| (f64::from(*a) - b).abs() < 1e-6;
            assert!(scores.iter().zip(&expected).all(close), "{variant:?}");
            // The top labels are those of the full predictions, ties broken by the smaller label.
            let top = forest.predict_top_k(view.view(), 3).unwrap();
            for row in 0..40 {
                let mut order: Vec<usize> = (0..24).collect();
                order.sort_by(|&a, &b| scores[[row, b]].total_cmp(&scores[[row, a]]).then(a.cmp(&b)));
                let mut best: Vec<usize> = order
                    .into_iter()
                    .take(3)
                    .filter(|&j| scores[[row, j]] > 0.0)
                    .collect();
                best.sort_unstable();
                let view = top.view();
                let (labels, values) = rpo_core::csr_row(&view, row);
                assert_eq!(labels.iter().map(|&j| j as usize).collect::<Vec<_>>(), best);
                assert!(
                    labels
                        .iter()
                        .zip(values)
                        .all(|(&j, v)| scores[[row, j as usize]] == *v)
                );
            }
        }
    }
}

#[test]
fn the_same_forest_for_any_number_of_threads_layout_and_parts() {
    let (x, y) = data(4, 300);
    for variant in VARIANTS {
        let params = small(variant);
        let whole = fit(params.clone(), &csr(&x).into(), &csr(&y).into());
        for threads in [1, 2, 8] {
            let again = on_threads(threads, || fit(params.clone(), &csr(&x).into(), &csr(&y).into()));
            assert!(again == whole, "{variant:?}, {threads} threads");
        }
        for x in layouts(&x) {
            assert!(
                fit(params.clone(), &x, &csr(&y).into()) == whole,
                "{variant:?}: layout"
            );
        }
        let first = fit(
            CraftmlParams {
                trees: 3,
                ..params.clone()
            },
            &csr(&x).into(),
            &csr(&y).into(),
        );
        let last = fit(
            CraftmlParams {
                first_tree: 3,
                trees: 1,
                ..params.clone()
            },
            &csr(&x).into(),
            &csr(&y).into(),
        );
        assert!(first.merge(last).unwrap() == whole, "{variant:?}: parts");
        assert!(
            fit(
                CraftmlParams { seed: 6, ..params },
                &csr(&x).into(),
                &csr(&y).into()
            ) != whole,
            "{variant:?}: seed"
        );
    }
}

#[test]
fn stored_zeros_are_no_features() {
    let (x, y) = data(4, 100);
    let mut with_zeros = csr(&x);
    // Every other row stores zeros in place of its values.
    for row in (0..100).step_by(2) {
        let range = with_zeros.indptr().outer_inds_sz(row);
        with_zeros.data_mut()[range].fill(0.0);
    }
    let dense = MatrixView::Sparse(with_zeros.view())
        .to_dense(usize::MAX)
        .unwrap();
    let y = Matrix::from(csr(&y));
    let forest = fit(small(CraftmlVariant::Original), &with_zeros.clone().into(), &y);
    assert!(forest == fit(small(CraftmlVariant::Original), &dense.clone().into(), &y));
    let view = MatrixView::Sparse(with_zeros.view());
    assert_eq!(
        forest.predict(view).unwrap(),
        forest.predict((&dense).into()).unwrap()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// A single leaf predicts the mean over all samples.
    #[test]
    fn one_leaf_answers_the_mean(seed in 0_u64..1000, variant in prop::sample::select(VARIANTS.to_vec())) {
        let (x, y) = data(seed, 60);
        let check = |params: CraftmlParams, x: &Array2<f32>, y: &Array2<f32>, why: &str| {
            let forest = fit(params, &csr(x).into(), &csr(y).into());
            assert!(forest.trees().iter().all(|t| t.leaves().n_leaves() == 1), "{variant:?}: {why}");
            let mean = y.mapv(f64::from).mean_axis(Axis(0)).unwrap();
            let scores = forest.predict((x).into()).unwrap();
            for row in scores.rows() {
                assert!(row.iter().zip(&mean).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-6));
            }
        };
        check(CraftmlParams { clusters: Some(1), ..small(variant) }, &x, &y, "k = 1");
        check(CraftmlParams { min_samples_split: 61, ..small(variant) }, &x, &y, "few rows");
        check(CraftmlParams { max_depth: Some(0), ..small(variant) }, &x, &y, "depth 0");
        check(small(variant), &x, &Array2::ones((60, 24)), "equal labels");
        check(small(variant), &x, &Array2::zeros((60, 24)), "no labels");
        check(small(variant), &Array2::ones((60, 30)), &y, "equal rows");
        check(small(variant), &Array2::zeros((60, 30)), &y, "no features");
    }

    #[test]
    fn odd_data_have_a_forest(seed in 0_u64..1000, variant in prop::sample::select(VARIANTS.to_vec())) {
        let (mut x, mut y) = data(seed, 80);
        // Rows without features, rows without labels, more clusters than rows of a kind, one component.
        x.slice_mut(ndarray::s![..10, ..]).fill(0.0);
        y.slice_mut(ndarray::s![5..20, ..]).fill(0.0);
        let (sparse, labels) = (Matrix::from(csr(&x)), Matrix::from(csr(&y)));
        let one = Width::Fixed(1);
        for params in [
            CraftmlParams { clusters: Some(200), ..small(variant) },
            CraftmlParams { feature_width: one.clone(), ..small(variant) },
            CraftmlParams { label_width: one.clone(), ..small(variant) },
            CraftmlParams { centroid_entries: CentroidEntries::Most(1), ..small(variant) },
        ] {
            let forest = fit(params, &sparse, &labels);
            let scores = forest.predict(sparse.view()).unwrap();
            prop_assert!(scores.iter().all(|s| (0.0..=1.0 + 1e-6).contains(s)));
        }
        let first = y.select(Axis(1), &[0]);
        let forest = fit(small(variant), &sparse, &csr(&first).into());
        prop_assert_eq!(forest.n_outputs(), 1);
    }
}

#[test]
fn nodes_have_fewer_children_where_labels_are_few() {
    let (x, y) = data(8, 200);
    let x = Matrix::from(csr(&x));
    for (repeats, n_labels, default) in [(1, 24, 5), (5, 120, 10)] {
        let many = ndarray::concatenate(ndarray::Axis(1), &vec![y.view(); repeats]).unwrap();
        assert_eq!(many.ncols(), n_labels);
        let many = Matrix::from(csr(&many));
        let with = |clusters| {
            let params = CraftmlParams {
                clusters,
                ..small(CraftmlVariant::Original)
            };
            fit(params, &x, &many)
        };
        let found = with(None);
        assert!(found == with(Some(default)), "{n_labels}");
        assert!(found != with(Some(15 - default)), "{n_labels}");
    }
    assert_eq!(CraftmlParams::default().clusters, None);
    assert_eq!(CraftmlParams::from(CraftmlVariant::Original).clusters, Some(10));
}

#[test]
fn trees_of_the_original_have_nodes_of_many_children_and_short_centroids() {
    let (x, y) = data(7, 300);
    let params = CraftmlParams {
        clusters: Some(8),
        centroid_entries: CentroidEntries::Most(5),
        centroids: CentroidKind::Values,
        ..small(CraftmlVariant::Original)
    };
    let forest = fit(params, &csr(&x).into(), &csr(&y).into());
    let mut widest = 0;
    for tree in forest.trees() {
        assert!(
            matches!(tree.features, FeatureMap::Hashed(map) if rpo_projections::LinearMap::n_components(&map) == 10_000)
        );
        for node in tree.structure().unwrap().nodes() {
            if let rpo_tree::Node::Split { rule, .. } = node {
                widest = widest.max(rule.arity());
                let entries = rule.entries().count();
                assert!(entries <= 5 * rule.arity());
            }
        }
    }
    assert!(widest > 4, "{widest} children");
}

fn stored(forest: &Craftml) -> Stored {
    let mut out = Writer::default();
    forest.store(&mut out).unwrap();
    out.finish().unwrap()
}

/// Restores a forest with the sizes of [`data`] for 200 samples.
fn restored(stored: &Stored) -> Craftml {
    let sizes = Sizes {
        n_train: 200,
        n_features: 30,
        n_outputs: 24,
    };
    let mut from = stored.reader();
    let forest = Craftml::restore(&mut from, sizes).unwrap();
    from.finish().unwrap();
    forest
}

/// Returns true if trees are stored with the samples that their centroids average.
fn keeps_samples(stored: &Stored) -> bool {
    stored
        .arrays
        .iter()
        .any(|(name, _)| name.ends_with("/split.centroid"))
}

#[test]
fn trees_are_kept_as_their_training_samples() {
    let (x, y) = data(9, 200);
    let (x, y) = (Matrix::from(csr(&x)), Matrix::from(csr(&y)));
    let unseen = Matrix::from(csr(&data(11, 50).0));
    for kind in [
        None,
        Some(LeafKind::Dense),
        Some(LeafKind::Sparse),
        Some(LeafKind::Samples),
    ] {
        let params = CraftmlParams {
            leaves: kind.into(),
            centroid_entries: CentroidEntries::Most(7),
            ..small(CraftmlVariant::Original)
        };
        let forest = fit(params.clone(), &x, &y);
        let stored = stored(&forest);
        assert!(keeps_samples(&stored));
        assert!(restored(&stored) == forest, "{kind:?}");
        let values = fit(
            CraftmlParams {
                centroids: CentroidKind::Values,
                ..params
            },
            &x,
            &y,
        );
        assert!(values.training().is_none() && !keeps_samples(&self::stored(&values)));
        for x in [x.view(), unseen.view()] {
            assert_eq!(values.apply(x).unwrap(), forest.apply(x).unwrap());
            assert_eq!(values.predict(x).unwrap(), forest.predict(x).unwrap());
        }
        let both = values.merge(forest.clone()).unwrap();
        assert_eq!(both.training(), forest.training());
    }
    // Other features, the same outputs.
    let params = small(CraftmlVariant::Original);
    let (forest, other) = (
        fit(params.clone(), &x, &y),
        fit(params, &data(10, 200).0.into(), &y),
    );
    let (mut mixed, others) = (stored(&forest), stored(&other));
    for (mine, theirs) in mixed.arrays.iter_mut().zip(others.arrays) {
        if mine.0.starts_with("input.") {
            *mine = theirs;
        }
    }
    // The training samples are a part of the model as much as the indices that refer to them.
    let mixed = restored(&mixed);
    assert!(mixed.trees() == forest.trees() && mixed != forest);
    assert!(mixed.apply(x.view()) != forest.apply(x.view()));
    assert!(matches!(
        mixed.merge(forest.clone()),
        Err(EnsembleError::Merge(_))
    ));
    assert!(matches!(forest.merge(other), Err(EnsembleError::Merge(_))));
}

#[test]
fn large_leaves_are_stored_as_means() {
    let (x, y) = data(7, 300);
    let kind = |n, labels: &Array2<f32>| {
        let params = CraftmlParams {
            trees: 1,
            min_samples_split: n,
            ..CraftmlVariant::Original.into()
        };
        let forest = fit(params, &csr(&x).into(), &csr(labels).into());
        forest.trees()[0].leaves().kind()
    };
    assert_eq!(kind(10, &y), LeafKind::Samples);
    assert_eq!(kind(200, &y), LeafKind::Sparse);
    // Large leaves of equal labels, although nodes of 10 samples may be split.
    assert_eq!(kind(10, &Array2::ones((300, 24))), LeafKind::Sparse);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (x, y) = data(8, 50);
    let params = small(CraftmlVariant::Original);
    let refused = |x: &Array2<f32>, y: &Array2<f32>| params.fit(x.into(), y.into()).unwrap_err();
    assert!(matches!(
        refused(&x, &y.select(Axis(0), &[0, 1])),
        EnsembleError::Mismatch(Mismatch {
            expected: 50,
            given: 2,
            ..
        })
    ));
    let mut bad = x.clone();
    bad[[3, 4]] = f32::NAN;
    assert!(matches!(refused(&bad, &y), EnsembleError::Features(_)));
    let empty = Array2::zeros((0, 30));
    let none = Array2::zeros((0, 24));
    let expected = TreeError::Empty { rows: 0, columns: 30 };
    assert_eq!(refused(&empty, &none), EnsembleError::Tree(expected));
    let mut bad_y = y.clone();
    bad_y[[1, 1]] = f32::INFINITY;
    assert!(matches!(refused(&x, &bad_y), EnsembleError::Outputs(_)));
    let forest = params.fit((&x).into(), (&y).into()).unwrap();
    let narrow = Array2::zeros((2, 29));
    let expected = EnsembleError::Mismatch(Mismatch {
        what: "features",
        expected: 30,
        given: 29,
    });
    assert_eq!(forest.predict((&narrow).into()).unwrap_err(), expected);
    assert!(matches!(
        forest.predict((&bad).into()),
        Err(EnsembleError::Features(_))
    ));
    assert!(matches!(
        forest.predict_top_k((&x).into(), 0),
        Err(EnsembleError::Parameter(ParameterError::OutOfRange {
            name: "k",
            ..
        }))
    ));
    assert!(matches!(
        forest.predict_with_limit((&x).into(), 100),
        Err(EnsembleError::Predictions(_))
    ));
    let other = params.fit((&x).into(), (&y.mapv(|v| 1.0 - v)).into()).unwrap();
    assert!(matches!(
        forest.clone().merge(other),
        Err(EnsembleError::Merge(_))
    ));
    assert!(matches!(
        Craftml::from_parts(vec![], None, 1, 1, 1),
        Err(EnsembleError::TooFew(TooFew { what: "trees", .. }))
    ));
    let trees = forest.trees().to_vec();
    let set = forest.training().cloned();
    let build = |set: &Option<_>, n, p, d| Craftml::from_parts(trees.clone(), set.clone(), n, p, d);
    assert!(build(&set, 50, 30, 24).unwrap() == forest);
    for wrong in [
        build(&set, 50, 31, 24),
        build(&set, 49, 30, 24),
        build(&set, 50, 30, 25),
    ] {
        assert!(matches!(wrong, Err(EnsembleError::Mismatch(_))));
    }
    assert!(build(&None, 50, 30, 24) == Err(EnsembleError::NoTrainingSamples));
}

#[test]
fn a_restored_forest_is_equal_whatever_the_limit_of_entries() {
    let (x, y) = data(13, 200);
    for most in [5, u32::MAX as usize, u32::MAX as usize + 1, usize::MAX] {
        let params = CraftmlParams {
            centroid_entries: CentroidEntries::Most(most),
            ..small(CraftmlVariant::Original)
        };
        let forest = fit(params, &csr(&x).into(), &csr(&y).into());
        assert!(restored(&stored(&forest)) == forest, "{most}");
    }
}
