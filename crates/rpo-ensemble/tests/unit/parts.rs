//! Ensembles are assembled only from matching parts, as made by training or read from storage.

use crate::forest::Importances;
use crate::sampling::bag::Bag;
use crate::structured::StructuredForest;
use crate::{EnsembleError, Forest, ForestParams, ForestTree, SingleTargetForest, SingleTargetParams};
use ndarray::{Array2, array};
use rpo_core::store::{Store, StoreError, Writer};
use rpo_core::{Learner, Mismatch, Predictor, Seed, TooFew, TreeEnsemble};
use rpo_tree::leaves::DenseLeaves;
use rpo_tree::oblique::LinearRule;
use rpo_tree::{LeafKind, Leaves, Node, Structure, Tree};
use std::sync::Arc;

/// Samples with five features, and eight labels that depend on the features.
fn labelled(seed: u64, n: usize) -> (Array2<f32>, Array2<f32>) {
    let noise =
        |i: usize, j: usize| (Seed::new(seed).hash((i * 16 + j) as u64) >> 40) as f32 / (1 << 24) as f32;
    let x = Array2::from_shape_fn((n, 5), |(i, j)| noise(i, j));
    let y = Array2::from_shape_fn((n, 8), |(i, j)| {
        f32::from(u8::from(x[[i, j % 5]] + 0.3 * noise(i, 5 + j) > 0.7))
    });
    (x, y)
}

fn forest(x: &Array2<f32>, y: &Array2<f32>) -> Forest {
    let params = ForestParams {
        trees: 3,
        ..ForestParams::default()
    };
    params.fit(x.into(), y.into()).unwrap()
}

fn sizes_differ<T: std::fmt::Debug>(found: Result<T, EnsembleError>, numbers: (usize, usize)) {
    match found {
        Err(
            EnsembleError::Mismatch(Mismatch { expected, given, .. })
            | EnsembleError::TooFew(TooFew {
                needed: expected,
                given,
                ..
            }),
        ) => {
            assert_eq!((expected, given), numbers);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn parts_of_a_forest_are_checked() {
    let (x, y) = labelled(7, 20);
    let forest = forest(&x, &y);
    let bag = Bag::Bootstrap;
    let from_parts = |trees: Vec<ForestTree>, importances: usize, n_features, n_outputs| {
        let importances = Importances::from_units(vec![0; importances]);
        Forest::from_parts(trees, importances, bag, 20, n_features, n_outputs)
    };
    let trees = || forest.trees().to_vec();
    let with =
        |bag, n_train| Forest::from_parts(trees(), forest.importance_sums().clone(), bag, n_train, 5, 8);
    assert_eq!(with(bag, 20).unwrap(), forest);
    assert!(matches!(
        from_parts(vec![], 5, 5, 8),
        Err(EnsembleError::TooFew(TooFew {
            what: "trees",
            needed: 1,
            given: 0
        }))
    ));
    sizes_differ(from_parts(trees(), 6, 5, 8), (6, 5));
    // Features beyond the last importance have none.
    assert!(from_parts(trees(), 0, 5, 8).is_ok());
    sizes_differ(from_parts(trees(), 5, 5, 9), (9, 8));
    // Leaves that refer to nonexistent training samples.
    sizes_differ(with(bag, 19), (19, 20));
    // Bags of more samples than exist.
    sizes_differ(with(Bag::Subsample(21), 20), (21, 20));
    // Rules on nonexistent features.
    sizes_differ(from_parts(trees(), 1, 1, 8), (5, 1));
}

#[test]
fn trees_that_refer_to_different_outputs_are_not_stored() {
    let (x, y) = labelled(8, 20);
    let forest = forest(&x, &y);
    let store = |changed: std::ops::Range<usize>, other: &Array2<f32>| {
        let trees = forest.trees().iter().enumerate().map(|(i, t)| {
            let outputs = if changed.contains(&i) { other } else { &y };
            let outputs = Arc::new(outputs.clone().into());
            let tree = t.tree.clone();
            let tree = tree.relabel(&LeafKind::Samples, (&x).into(), &[1.0; 20], &outputs);
            ForestTree {
                tree: tree.unwrap(),
                seed: t.seed,
            }
        });
        let importances = forest.importance_sums().clone();
        let forest = Forest::from_parts(trees.collect(), importances, Bag::Bootstrap, 20, 5, 8);
        forest.unwrap().store(&mut Writer::default())
    };
    let refused = |tree: usize| {
        let problem = "refers to other training outputs than the trees before it";
        Err(StoreError::part(format_args!("tree {tree}"), problem))
    };
    assert_eq!(store(0..3, &y), Ok(()));
    let mut other = y.clone();
    other[[3, 1]] += 1.0;
    assert_eq!(store(2..3, &other), refused(2));
    other.fill(f32::NAN);
    assert_eq!(store(0..3, &other), refused(1), "NaN differs from itself");
}

#[test]
fn forests_of_single_targets_have_as_many_trees_of_each() {
    let (x, y) = labelled(9, 20);
    let params = ForestParams {
        trees: 2,
        ..ForestParams::default()
    };
    let forests = SingleTargetParams(params.clone()).fit((&x).into(), (&y).into());
    let forests = forests.unwrap();
    let with = |n_outputs| SingleTargetForest::from_forest(forests.forest.clone(), n_outputs);
    assert!(with(8).is_ok());
    for n_outputs in [0, 3, 17] {
        let found = with(n_outputs);
        match n_outputs {
            0 => assert_eq!(found, Err(EnsembleError::NoOutputs)),
            _ => assert!(matches!(found, Err(EnsembleError::Mismatch(_))), "{n_outputs}"),
        }
    }
}

/// Of two trees, one of which clustered the label, the scores a and b give (5 a + b) / 6.
#[test]
fn labels_a_tree_clustered_count_five_times() {
    let leaf = |answer: f32, seed| ForestTree {
        tree: Tree::new(
            Structure::<LinearRule>::try_from(vec![Node::Leaf(0)]).unwrap(),
            Leaves::Dense(DenseLeaves {
                values: Array2::from_elem((1, 2), answer),
            }),
        )
        .unwrap(),
        seed: Seed::new(seed),
    };
    let (a, b) = (0.75, 0.25);
    let trees = vec![leaf(a, 0), leaf(b, 1)];
    let forest = Forest::from_parts(trees, Importances::zero(1), Bag::Subsample(3), 4, 1, 2).unwrap();
    let forest = StructuredForest::from_forest(forest, vec![vec![0], vec![]], 5.0).unwrap();
    let scores = forest.predict((&array![[0.0]]).into()).unwrap();
    assert_eq!(scores, array![[(5.0 * a + b) / 6.0, (a + b) / 2.0]]);
}
