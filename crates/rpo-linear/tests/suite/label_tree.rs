//! Label trees: their definition, and what they do not depend on.

use crate::common::{csr, features, labels, on_threads};
use ndarray::{Array2, Axis, array, s};
use proptest::prelude::*;
use rpo_core::store::{Array, Dtype, Reader, Restore, Sizes, Store, Stored, Writer};
use rpo_core::{ForestLearner, Learner, Merge, Predictor, TreeEnsemble};
use rpo_linear::{
    ClassifierOptions, LabelForest, LabelTreeParams, LinearError, MarginLoss, OneVsRestParams, Precision,
};

fn small() -> LabelTreeParams {
    LabelTreeParams {
        clusters: 3,
        leaf_labels: 2,
        ..LabelTreeParams::default()
    }
}

fn fit(params: &LabelTreeParams, x: &Array2<f32>, y: &Array2<f32>) -> LabelForest {
    params.fit(x.into(), y.into()).unwrap()
}

/// The beam has no part in training.
#[test]
fn the_beam_can_be_set_later() {
    let x = features(60, 8, 0.6, 1);
    let y = labels(&x, 40, 2);
    let of = |beam| fit(&LabelTreeParams { beam, ..small() }, &x, &y);
    assert_eq!(of(1).with_beam(7).unwrap(), of(7));
    assert_ne!(of(1).predict((&x).into()), of(7).predict((&x).into()));
    assert!(matches!(of(1).with_beam(0), Err(LinearError::Parameter(_))));
}

#[test]
fn clusters_beyond_the_memory_limit_are_refused() {
    let x = features(60, 8, 0.6, 1);
    let y = labels(&x, 40, 2);
    let within = |memory_limit, params: LabelTreeParams| {
        let options = ClassifierOptions {
            memory_limit: Some(memory_limit),
            ..ClassifierOptions::default()
        };
        params.fit_with((&x).into(), (&y).into(), options)
    };
    let wide = LabelTreeParams {
        feature_width: 1 << 20,
        ..small()
    };
    assert!(within(1 << 20, small()).is_ok());
    for (limit, params) in [
        (1 << 20, wide),
        (
            30 * 3 * 8,
            LabelTreeParams {
                feature_width: 1,
                ..small()
            },
        ),
    ] {
        let params = LabelTreeParams {
            classifiers: OneVsRestParams {
                cost: Some(1.0),
                ..params.classifiers
            },
            ..params
        };
        assert!(matches!(within(limit, params), Err(LinearError::Memory { .. })));
    }
}

/// A tree with a single leaf has a classifier for each label, fitted to all samples. Those of the squared hinge order the
/// labels of a sample alike; their probabilities are only calibrated in one-vs-rest.
#[test]
fn a_leaf_alone_is_one_vs_rest() {
    let x = features(60, 8, 0.6, 1);
    let y = labels(&x, 40, 2).slice(s![.., 1..39]).to_owned();
    for loss in [MarginLoss::SquaredHinge, MarginLoss::Logistic] {
        let all = OneVsRestParams {
            loss,
            tolerance: 1e-5,
            max_passes: 10_000,
            prune: 0.0,
            precision: Precision::Single,
            ..OneVsRestParams::default()
        };
        let params = LabelTreeParams {
            trees: 1,
            leaf_labels: 50,
            classifiers: all.clone(),
            ..LabelTreeParams::default()
        };
        let tree = fit(&params, &x, &y);
        let all = all.fit((&x).into(), (&y).into()).unwrap();
        assert_eq!((tree.trees()[0].n_nodes, tree.trees()[0].depth), (1, 0));
        let (tree, all) = (
            tree.predict((&x).into()).unwrap(),
            all.predict((&x).into()).unwrap(),
        );
        if loss == MarginLoss::Logistic {
            let difference = &tree - &all;
            assert!(difference.iter().all(|v| v.abs() < 1e-4), "{difference}");
        }
        for (tree, all) in tree.rows().into_iter().zip(all.rows()) {
            let (best, other) = (rpo_core::top_of(tree, 3), rpo_core::top_of(all, 3));
            for ((label, _), (other, score)) in best.iter().zip(&other) {
                assert!((all[*label as usize] - score).abs() < 1e-3, "{label} {other}");
            }
        }
    }
}

/// A beam that holds every node finds every label, with the product of the probabilities on its path, which does not
/// depend on the search; a narrow beam finds some of these labels.
#[test]
fn a_wide_beam_finds_all_and_a_narrow_one_no_other_scores() {
    let x = features(80, 10, 0.5, 3);
    let y = labels(&x, 30, 4);
    let wide = LabelTreeParams {
        beam: 1000,
        trees: 1,
        ..small()
    };
    let all = fit(&wide, &x, &y).predict((&x).into()).unwrap();
    // All labels except the one that no sample has.
    assert!(all.column(0).iter().all(|&v| v == 0.0));
    assert!(all.slice(s![.., 1..]).iter().all(|&v| v > 0.0 && v <= 1.0));
    let narrow = fit(&LabelTreeParams { beam: 1, ..wide }, &x, &y)
        .predict((&x).into())
        .unwrap();
    let mut found = 0;
    for (&narrow, &all) in narrow.iter().zip(&all) {
        assert!(narrow == 0.0 || narrow == all);
        found += usize::from(narrow > 0.0);
    }
    assert!(
        (80..=80 * 2).contains(&found),
        "a leaf of two labels or one for each sample, not {found}"
    );
}

#[test]
fn trees_are_learned() {
    let x = features(400, 20, 1.0, 5);
    let y = labels(&x, 20, 6);
    let (train, test) = (s![..300, ..], s![300.., ..]);
    let model = fit(&small(), &x.slice(train).to_owned(), &y.slice(train).to_owned());
    let test_x = x.slice(test).to_owned();
    let best = model.predict_top_k((&test_x).into(), 3).unwrap();
    let truth = y.slice(test);
    let hits: f32 = (0..100)
        .map(|i| {
            best.outer_view(i)
                .unwrap()
                .indices()
                .iter()
                .map(|&l| truth[[i, l as usize]])
                .sum::<f32>()
        })
        .sum();
    assert!(hits / 300.0 > 0.85, "{hits}");
}

#[test]
fn threads_storage_and_parts_change_no_bit() {
    let x = features(150, 30, 0.3, 9);
    let y = labels(&x, 70, 10);
    for loss in [MarginLoss::SquaredHinge, MarginLoss::Logistic] {
        let params = LabelTreeParams {
            classifiers: OneVsRestParams {
                loss,
                seed: 3,
                ..OneVsRestParams::default()
            },
            trees: 4,
            ..small()
        };
        let model = on_threads(1, || fit(&params, &x, &y));
        assert_eq!(on_threads(5, || fit(&params, &x, &y)), model);
        let (sparse_x, sparse_y) = (csr(&x), csr(&y));
        assert_eq!(params.fit((&sparse_x).into(), (&sparse_y).into()).unwrap(), model);
        let scores = model.predict((&x).into()).unwrap();
        assert_eq!(
            on_threads(5, || model.predict((&sparse_x).into())).unwrap(),
            scores
        );
        let parts = fit(&params.of_trees(0..1), &x, &y).merge(fit(&params.of_trees(1..4), &x, &y));
        assert_eq!(parts.unwrap(), model);
        let seeds: Vec<u64> = model.seeds().iter().map(|seed| seed.value()).collect();
        assert!((1..4).all(|i| !seeds[..i].contains(&seeds[i])));
    }
}

#[test]
fn shapes_at_the_edges() {
    let x = array![[1.0, 0.0], [0.0, 0.0], [0.0, 2.0], [0.5, 0.0]];
    // One label; more clusters than labels; labels that no sample has.
    let one = array![[1.0], [0.0], [0.0], [1.0]];
    let many = LabelTreeParams {
        clusters: 16,
        leaf_labels: 1,
        ..LabelTreeParams::default()
    };
    let scores = fit(&many, &x, &one).predict((&x).into()).unwrap();
    assert!(scores[[0, 0]] > scores[[2, 0]]);
    let three = array![[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]];
    let model = fit(&many, &x, &three);
    assert_eq!(model.trees()[0].n_leaves, 2);
    let best = model.predict_top_k((&x).into(), 1).unwrap();
    assert_eq!(best.indices()[0], 0);
    assert_eq!(best.indices()[2], 2);
    let none = fit(&many, &x, &Array2::zeros((4, 3)));
    assert!(none.predict((&x).into()).unwrap().iter().all(|&v| v == 0.0));
    assert_eq!(none.predict_top_k((&x).into(), 2).unwrap().nnz(), 0);
}

#[test]
fn what_cannot_be_grown_or_merged_is_named() {
    let x = features(20, 4, 1.0, 1);
    let y = labels(&x, 6, 2);
    let name = |params: LabelTreeParams| match params.fit((&x).into(), (&y).into()) {
        Err(LinearError::Parameter(e)) => e.name(),
        other => panic!("{other:?}"),
    };
    assert_eq!(name(LabelTreeParams { trees: 0, ..small() }), "trees");
    assert_eq!(
        name(LabelTreeParams {
            first_tree: usize::MAX,
            ..small()
        }),
        "first_tree"
    );
    for clusters in [0, 1, 65_537] {
        assert_eq!(name(LabelTreeParams { clusters, ..small() }), "clusters");
    }
    for leaf_labels in [0, 65_537] {
        assert_eq!(
            name(LabelTreeParams {
                leaf_labels,
                ..small()
            }),
            "leaf_labels"
        );
    }
    for feature_width in [0, (1 << 24) + 1] {
        assert_eq!(
            name(LabelTreeParams {
                feature_width,
                ..small()
            }),
            "feature_width"
        );
    }
    assert_eq!(name(LabelTreeParams { beam: 0, ..small() }), "beam");
    let classifiers = OneVsRestParams {
        cost: Some(0.0),
        ..OneVsRestParams::default()
    };
    assert_eq!(
        name(LabelTreeParams {
            classifiers,
            ..small()
        }),
        "cost"
    );
    let model = fit(&small(), &x, &y);
    let other = fit(
        &LabelTreeParams {
            beam: 3,
            first_tree: 3,
            ..small()
        },
        &x,
        &y,
    );
    assert!(matches!(model.clone().merge(other), Err(LinearError::Merge(_))));
    let fewer = fit(&small(), &x, &y.slice(s![.., ..5]).to_owned());
    assert!(matches!(model.merge(fewer), Err(LinearError::Mismatch(_))));
}

fn stored(model: &LabelForest) -> Stored {
    let mut out = Writer::default();
    model.store(&mut out).unwrap();
    out.finish().unwrap()
}

const SIZES: Sizes = Sizes {
    n_train: 40,
    n_features: 7,
    n_outputs: 25,
};

fn model(precision: Precision) -> LabelForest {
    let x = features(40, 7, 0.5, 1);
    let y = labels(&x, 25, 2);
    let classifiers = OneVsRestParams {
        precision,
        ..OneVsRestParams::default()
    };
    let params = LabelTreeParams {
        classifiers,
        ..small()
    };
    fit(&params, &x, &y)
}

#[test]
fn a_stored_model_comes_back() {
    for precision in [Precision::Half, Precision::Single] {
        let model = model(precision);
        let stored = stored(&model);
        let mut from = stored.reader();
        assert_eq!(LabelForest::restore(&mut from, SIZES).unwrap(), model);
        from.finish().unwrap();
    }
    let found = fit(&small(), &features(9, 3, 1.0, 1), &Array2::zeros((9, 2)));
    let sizes = Sizes {
        n_train: 9,
        n_features: 3,
        n_outputs: 2,
    };
    assert_eq!(
        LabelForest::restore(&mut stored(&found).reader(), sizes).unwrap(),
        found
    );
}

/// Numbers of classifiers have 16 bits in memory, but up to 32 in a file.
#[test]
fn numbers_of_classifiers_beyond_16_bits_are_refused() {
    let mut stored = stored(&model(Precision::Half));
    let named = |(name, _): &&mut (String, Array)| name.ends_with("weight.classifier");
    let (_, array) = stored.arrays.iter_mut().find(named).unwrap();
    assert_eq!(array.dtype, Dtype::U8);
    array.dtype = Dtype::U32;
    array.bytes = array
        .bytes
        .iter()
        .flat_map(|&v| u32::from(v).to_le_bytes())
        .collect();
    // In four bytes each, they are the same numbers.
    let wide = LabelForest::restore(&mut stored.reader(), SIZES);
    assert_eq!(wide.unwrap(), model(Precision::Half));

    let (_, array) = stored.arrays.iter_mut().find(named).unwrap();
    let number = u32::from(array.bytes[4]) + (1 << 16);
    array.bytes[4..8].copy_from_slice(&number.to_le_bytes());
    let refused = LabelForest::restore(&mut stored.reader(), SIZES)
        .unwrap_err()
        .to_string();
    let expected = format!("entry 1: {number} is invalid; expected below 65536");
    assert!(
        refused.contains("weight.classifier") && refused.contains(&expected),
        "{refused}"
    );
}

proptest! {
    /// Whatever the content of the arrays, restoring gives an error or a model that can predict.
    #[test]
    fn damaged_arrays_are_refused_or_harmless(array in 0_usize..9, at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let whole = stored(&model(Precision::Half));
        let mut bytes: Vec<Vec<u8>> = whole.arrays.iter().map(|(_, array)| array.bytes.clone()).collect();
        let damaged = &mut bytes[array];
        let at = at.index(damaged.len());
        damaged[at] = byte;
        let arrays = whole.arrays.iter().zip(&bytes).map(|((name, array), bytes)| {
            let view = rpo_core::store::ArrayView { dtype: array.dtype, shape: array.shape.clone(), bytes };
            (name.clone(), view)
        });
        let mut from = Reader::new(arrays, whole.fields.clone());
        if let Ok(model) = LabelForest::restore(&mut from, SIZES) {
            let x = features(5, 7, 0.5, 3);
            prop_assert!(model.predict((&x).into()).is_ok());
            prop_assert_eq!(model.trees().iter().map(|tree| tree.n_nodes).max().unwrap_or(0) > 0, true);
        }
    }

    #[test]
    fn best_labels_are_those_of_all_scores(n in 1_usize..12, p in 1_usize..6, d in 1_usize..40, k in 1_usize..5, seed in 0_u64..100) {
        let x = features(n, p, 0.5, seed);
        let y = labels(&x, d, seed);
        let classifiers = OneVsRestParams { seed, ..OneVsRestParams::default() };
        let model = fit(&LabelTreeParams { classifiers, ..small() }, &x, &y);
        let scores = model.predict((&x).into()).unwrap();
        prop_assert!(scores.iter().all(|v| (0.0..=1.0).contains(v)));
        let top = model.predict_top_k((&x).into(), k).unwrap();
        for (row, top) in scores.axis_iter(Axis(0)).zip(top.outer_iterator()) {
            let expected = rpo_core::top_of(row, k);
            let found: Vec<(u32, f32)> = top.indices().iter().copied().zip(top.data().iter().copied()).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
