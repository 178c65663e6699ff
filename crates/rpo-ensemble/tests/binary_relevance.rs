//! What holds for every forest of forests per label.

use ndarray::{Array2, array};
use rayon::ThreadPoolBuilder;
use rpo_core::{MatrixView, Seed};
use rpo_ensemble::EnsembleError;
use rpo_ensemble::binary_relevance::{BinaryRelevanceForest, BinaryRelevanceParams, LabelTree};
use rpo_tree::{AxisRule, Node, Structure, TreeError};

fn data(n: usize) -> (Array2<f32>, Array2<f32>) {
    let noise = |i: usize, j: usize| (Seed::new(2).hash((i * 8 + j) as u64) >> 40) as f32 / (1 << 24) as f32;
    let x = Array2::from_shape_fn((n, 5), |(i, j)| if (i + j) % 3 == 0 { 0.0 } else { noise(i, j) });
    let y = Array2::from_shape_fn((n, 3), |(i, j)| {
        f32::from(u8::from(x[[i, j]] > 0.3 + 0.2 * j as f32))
    });
    (x, y)
}

fn params() -> BinaryRelevanceParams {
    BinaryRelevanceParams::default().n_trees(4).seed(6)
}

fn fit(params: BinaryRelevanceParams, x: MatrixView<'_>, y: MatrixView<'_>) -> BinaryRelevanceForest {
    params.check().unwrap().fit(x, y).unwrap()
}

#[test]
fn one_model_for_any_number_of_threads_and_either_layout() {
    let (x, y) = data(70);
    let (sparse_x, sparse_y) = (MatrixView::from(&x).to_csr(), MatrixView::from(&y).to_csr());
    let forest = fit(params(), (&x).into(), (&y).into());
    let scores = forest.predict((&x).into()).unwrap();
    for threads in [1, 2, 8] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            assert_eq!(fit(params(), (&x).into(), (&y).into()), forest);
            assert_eq!(forest.predict((&x).into()).unwrap(), scores);
        });
    }
    let (x, y) = (
        MatrixView::Sparse(sparse_x.view()),
        MatrixView::Sparse(sparse_y.view()),
    );
    assert_eq!(fit(params(), x, y), forest);
    assert_eq!(forest.predict(x).unwrap(), scores);
}

/// A label's forest does not depend on the other labels, but for its number.
#[test]
fn labels_are_learned_apart() {
    let (x, mut y) = data(40);
    let before = fit(params(), (&x).into(), (&y).into());
    y.column_mut(2).fill(0.0);
    let after = fit(params(), (&x).into(), (&y).into());
    assert_eq!(before.trees()[..8], after.trees()[..8]);
    assert!(after.trees()[8..].iter().all(|tree| tree.shares() == [0.0]));
}

#[test]
fn scores_are_means_of_shares_in_and_out_of_bag() {
    let (x, y) = data(40);
    let forest = fit(params(), (&x).into(), (&y).into());
    let answer = |tree: &LabelTree, i: usize| {
        let row = x.row(i).to_vec();
        f64::from(tree.shares()[tree.structure().leaf(rpo_tree::Row::dense(&row)) as usize])
    };
    let scores = forest.predict((&x).into()).unwrap();
    for ((i, j), score) in scores.indexed_iter() {
        let trees = &forest.trees()[j * 4..(j + 1) * 4];
        let expected = trees.iter().map(|tree| answer(tree, i)).sum::<f64>() / 4.0;
        assert!((f64::from(*score) - expected).abs() < 1e-6);
    }
    let top = forest.predict_top_k((&x).into(), 1).unwrap();
    for (i, best) in top.outer_iterator().enumerate() {
        let largest = scores.row(i).iter().copied().fold(0.0, f32::max);
        let first = scores.row(i).iter().position(|s| *s == largest);
        let found = best.iter().next();
        assert!(if largest > 0.0 {
            found == first.map(|j| (j, &largest))
        } else {
            found.is_none()
        });
    }
    // Leaves of single rows answer what was seen: a row in the bag of a pure tree is answered with its label.
    let pure = params().min_samples_leaf(1).n_trees(12);
    let forest = fit(pure, (&x).into(), (&y).into());
    let (oob, counts) = forest.oob_predictions((&x).into()).unwrap();
    assert_eq!(
        counts.iter().sum::<u32>() as usize,
        12 * (40 - forest.rows_per_tree())
    );
    let all = forest.predict((&x).into()).unwrap();
    for ((i, j), score) in oob.indexed_iter() {
        // The trees that saw the row answer its label, so that the others make the rest of the sum.
        let n_out = f64::from(counts[i]);
        let expected = (12.0 * f64::from(all[[i, j]]) - (12.0 - n_out) * f64::from(y[[i, j]])) / n_out;
        assert!((f64::from(*score) - expected).abs() < 1e-5 || (score.is_nan() && n_out == 0.0));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (x, y) = data(10);
    let valid = params().check().unwrap();
    let half = array![[0.5]];
    let one = array![[1.0]];
    let refused = valid.fit((&one).into(), (&half).into()).map(|_| ());
    let (row, output, value) = (0, 0, 0.5);
    assert_eq!(refused, Err(EnsembleError::Label { row, output, value }));
    let infinite = array![[f32::INFINITY]];
    let refused = valid.fit((&infinite).into(), (&one).into()).map(|_| ());
    assert!(matches!(
        refused,
        Err(EnsembleError::Tree(TreeError::InfiniteFeature { .. }))
    ));
    let forest = fit(params().row_share(1.0), (&x).into(), (&y).into());
    assert_eq!(
        forest.oob_predictions((&x).into()).map(|_| ()),
        Err(EnsembleError::NoBootstrap)
    );
    assert!(matches!(
        forest.predict((&one).into()),
        Err(EnsembleError::Mismatch {
            expected: 5,
            given: 1,
            ..
        })
    ));

    let leaf = || Structure::<AxisRule>::new(vec![Node::Leaf(0)]).unwrap();
    assert!(matches!(
        LabelTree::new(leaf(), vec![]),
        Err(EnsembleError::Mismatch {
            expected: 1,
            given: 0,
            ..
        })
    ));
    let trees = || vec![LabelTree::new(leaf(), vec![0.5]).unwrap(); 3];
    let seeds = |n: u64| (0..n).map(Seed::new).collect();
    assert!(BinaryRelevanceForest::from_parts(trees(), seeds(3), 1, 1, 1).is_ok());
    for (n_seeds, rows, n_train) in [(2, 1, 1), (0, 1, 1), (1, 2, 1), (1, 0, 1)] {
        let refused = BinaryRelevanceForest::from_parts(trees(), seeds(n_seeds), rows, n_train, 1);
        assert!(matches!(refused, Err(EnsembleError::Mismatch { .. })));
    }
}
