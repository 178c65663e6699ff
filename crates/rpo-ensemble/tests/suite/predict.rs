//! Predictions compared with their definitions.

use super::common::{csr, every_kind, fit, labelled, layouts, regression};
use ndarray::{Array1, Array2, Axis};
use rpo_core::{Apply, Matrix, Predictor, TreeEnsemble, csr_row};
use rpo_ensemble::{Forest, ForestParams, ForestPreset, LeafChoice, OutOfBagPredictor};
use rpo_tree::{LeafKind, LeafModel, Leaves};

const KINDS: [LeafKind; 3] = [LeafKind::Dense, LeafKind::Sparse, LeafKind::Samples];

/// Returns the mean of the predictions of some trees for each row, tree by tree.
fn naive(forest: &Forest, x: &Array2<f32>, counts: impl Fn(usize, usize) -> bool) -> Array2<f64> {
    let mut out = Array2::zeros((x.nrows(), forest.n_outputs()));
    for (i, mut row) in out.rows_mut().into_iter().enumerate() {
        let trees = forest.trees().iter().enumerate().filter(|(t, _)| counts(*t, i));
        let mut n = 0.0;
        for (_, tree) in trees {
            let x = x.select(Axis(0), &[i]);
            let leaf = tree.tree.structure().apply((&x).into()).unwrap()[0];
            let mut answer = Array1::<f64>::zeros(forest.n_outputs());
            tree.tree.leaves().for_each(leaf, |j, v| answer[j as usize] += v);
            row += &answer;
            n += 1.0;
        }
        row /= n;
    }
    out
}

fn assert_close(found: &Array2<f32>, expected: &Array2<f64>) {
    assert_eq!(found.dim(), expected.dim());
    for (&found, &expected) in found.iter().zip(expected) {
        let close = (f64::from(found) - expected).abs() <= 1e-6 * (1.0 + expected.abs());
        assert!(
            close || (found.is_nan() && expected.is_nan()),
            "{found} for {expected}"
        );
    }
}

/// Predicts training rows and other rows, without and with missing values, in both layouts. Features are real, or have
/// two values each, which may differ in the rows to predict.
#[test]
fn predictions_are_means_over_trees() {
    let (x, y) = labelled(1, 70);
    let binary = Array2::from_shape_fn(x.dim(), |(i, j)| {
        let (low, high) = [(0.0, 1.0), (-1.0, 0.0), (-3.0, -2.0)][j % 3];
        if x[[i, j]] > 0.0 { high } else { low }
    });
    for (x, y) in [(x, y.clone()), (binary, y), regression(1, 70)] {
        let other = labelled(2, 200).0;
        let mut missing = other.clone();
        missing.iter_mut().step_by(11).for_each(|v| *v = f32::NAN);
        for params in every_kind() {
            let forest = fit(params, &x.clone().into(), &csr(&y).into());
            for x in [&x, &other, &missing] {
                let expected = naive(&forest, x, |_, _| true);
                for x in layouts(x) {
                    assert_close(&forest.predict(x.view()).unwrap(), &expected);
                }
            }
        }
    }
}

/// Predictions do not depend on the storage of leaves, and those of labels are in [0, 1].
#[test]
fn storages_predict_alike() {
    let (x, y) = labelled(3, 80);
    let other = labelled(4, 50).0;
    for (params, y) in every_kind()
        .into_iter()
        .flat_map(|p| layouts(&y).map(|y| (p.clone(), y)))
    {
        let x = x.clone().into();
        let predictions = KINDS.map(|kind| {
            let forest = fit(
                ForestParams {
                    leaves: Some(kind).into(),
                    ..params.clone()
                },
                &x,
                &y,
            );
            assert!(forest.trees().iter().all(|t| t.tree.leaves().kind() == kind));
            forest.predict((&other).into()).unwrap()
        });
        assert!(predictions[0].iter().all(|v| (0.0..=1.0).contains(v)));
        assert_eq!(predictions[0], predictions[1]);
        let reference = predictions[2].mapv(f64::from);
        assert_close(&predictions[0], &reference);
    }
}

/// Leaves refer to training rows if trees are fully grown, and store means in the layout of the outputs otherwise.
#[test]
fn the_storage_follows_the_size_of_leaves() {
    let (x, y) = labelled(5, 40);
    let kind = |params: ForestParams, y: &Matrix| {
        let forest = fit(ForestParams { trees: 1, ..params }, &x.clone().into(), y);
        forest.trees()[0].tree.leaves().kind()
    };
    let [dense, sparse] = layouts(&y);
    let grown = ForestParams::default;
    assert_eq!(kind(grown(), &dense), LeafKind::Samples);
    assert_eq!(kind(grown(), &sparse), LeafKind::Samples);
    assert_eq!(
        kind(
            ForestParams {
                max_leaves: Some(4),
                ..grown()
            },
            &dense
        ),
        LeafKind::Dense
    );
    assert_eq!(
        kind(
            ForestParams {
                max_depth: Some(2),
                ..grown()
            },
            &sparse
        ),
        LeafKind::Sparse
    );
}

/// The top predictions are the k largest nonzero predictions, unchanged; among equal ones the smaller output comes
/// first.
#[test]
fn top_predictions_are_those_of_all() {
    for (x, y) in [labelled(6, 60), regression(6, 60)] {
        // Outputs of both signs, with many equal values.
        let y = y.mapv(|v| (v - 5.0 * f32::from(u8::from(v > 5.0))).round());
        let forest = fit(
            ForestParams {
                trees: 4,
                ..ForestParams::default()
            },
            &x.clone().into(),
            &csr(&y).into(),
        );
        let all = forest.predict((&x).into()).unwrap();
        for k in 1..=10 {
            for x in layouts(&x) {
                let top = forest.predict_top_k(x.view(), k).unwrap();
                assert_eq!(top.shape(), all.dim());
                for (i, row) in all.rows().into_iter().enumerate() {
                    let mut expected: Vec<(u32, f32)> = row
                        .iter()
                        .enumerate()
                        .map(|(j, &v)| (j as u32, v))
                        .filter(|(_, v)| *v != 0.0)
                        .collect();
                    // A stable sort keeps equal values in order.
                    expected.sort_by(|a, b| b.1.total_cmp(&a.1));
                    expected.truncate(k);
                    expected.sort_by_key(|(j, _)| *j);
                    let view = top.view();
                    let (columns, values) = csr_row(&view, i);
                    let found: Vec<(u32, f32)> =
                        columns.iter().copied().zip(values.iter().copied()).collect();
                    assert_eq!(found, expected, "row {i}, k = {k}");
                }
            }
        }
    }
}

/// Leaves that are label sets are counted, and the values of other leaves are added.
#[test]
fn sets_of_labels_are_counted_as_they_would_be_summed() {
    let (x, signals) = labelled(12, 90);
    let other = labelled(13, 60).0;
    for n_labels in [1, 2, 8, 9, 16, 17, 31, 32] {
        let turned = |i: usize, j: usize| f32::from(u8::from(i % 7 == j / 8));
        let y = Array2::from_shape_fn((90, n_labels), |(i, j)| {
            (signals[[i, j % 8]] - turned(i, j)).abs()
        });
        for min_rows in [1, 2, 5] {
            for kind in KINDS.map(Some).into_iter().chain([None]) {
                let params = ForestParams {
                    trees: 12,
                    min_samples_leaf: min_rows,
                    ..ForestParams::default()
                };
                let forest = fit(
                    ForestParams {
                        leaves: kind.into(),
                        ..params
                    },
                    &x.clone().into(),
                    &csr(&y).into(),
                );
                let found = forest.predict((&other).into()).unwrap();
                assert_close(&found, &naive(&forest, &other, |_, _| true));
                let top = forest.predict_top_k((&other).into(), n_labels).unwrap();
                assert_eq!(Matrix::from(top), csr(&found).into());
                let (of_bags, counts) = forest.oob_predictions((&x).into()).unwrap();
                assert!(
                    counts.iter().all(|c| *c > 0),
                    "of 12 trees some did not see a row"
                );
                assert!(of_bags.iter().all(|v| (0.0..=1.0).contains(v)));
            }
        }
    }
}

/// Out-of-bag predictions are means over the trees whose leaves do not contain a row; a row contained in all trees has
/// none.
#[test]
fn out_of_bag_predictions_leave_a_rows_trees_out() {
    let (x, y) = regression(7, 50);
    for n_trees in [1, 3, 20] {
        let params = ForestParams {
            trees: n_trees,
            leaves: LeafChoice::Samples,
            ..ForestParams::default()
        };
        let forest = fit(params, &x.clone().into(), &y.clone().into());
        let mut in_bag = Array2::from_elem((n_trees, 50), false);
        for (t, tree) in forest.trees().iter().enumerate() {
            let Leaves::Samples(leaves) = tree.tree.leaves() else {
                panic!("leaves refer to rows");
            };
            let mut drawn = 0.0;
            for leaf in 0..leaves.n_leaves() as u32 {
                let (rows, weights) = leaves.members(leaf);
                rows.iter().for_each(|&row| in_bag[[t, row as usize]] = true);
                drawn += weights.map_or(rows.len() as f32, |w| w.iter().sum());
            }
            assert_eq!(drawn, 50.0, "a bag holds as many draws as there are rows");
        }
        let expected = naive(&forest, &x, |t, i| !in_bag[[t, i]]);
        for x in layouts(&x) {
            let (found, counts) = forest.oob_predictions(x.view()).unwrap();
            assert_close(&found, &expected);
            for (i, &count) in counts.iter().enumerate() {
                let trees = in_bag.column(i).iter().filter(|b| !**b).count();
                assert_eq!(count as usize, trees);
                assert_eq!(found.row(i).iter().all(|v| v.is_nan()), trees == 0);
            }
        }
    }
}

/// A prediction is the sum of the training outputs with the weights of the training rows, which sum to 1.
#[test]
fn predictions_are_sums_of_training_outputs() {
    let (x, y) = regression(10, 60);
    let other = labelled(11, 70).0;
    for base in [ForestParams::default, || ForestPreset::ExtraTrees.into()] {
        let params = ForestParams {
            trees: 8,
            min_samples_leaf: 3,
            ..base()
        };
        let forest = fit(params, &x.clone().into(), &y.clone().into());
        let predictions = forest.predict((&other).into()).unwrap();
        for other in layouts(&other) {
            let weights = forest.training_weights(other.view()).unwrap();
            assert_eq!(weights.shape(), (70, 60));
            let weights = Matrix::from(weights)
                .view()
                .to_dense(usize::MAX)
                .unwrap()
                .mapv(f64::from);
            assert!(weights.iter().all(|w| *w >= 0.0));
            assert!(
                weights
                    .sum_axis(Axis(1))
                    .iter()
                    .all(|sum| (sum - 1.0).abs() < 1e-6)
            );
            assert_close(&predictions, &weights.dot(&y.mapv(f64::from)));
        }
    }
}

/// A bootstrap of n rows leaves each out with probability (1 - 1/n)^n.
#[test]
fn bags_leave_out_a_third() {
    let (x, y) = labelled(8, 200);
    let params = ForestParams {
        trees: 100,
        max_depth: Some(0),
        ..ForestParams::default()
    };
    let forest = fit(params, &x.clone().into(), &y.into());
    let (_, counts) = forest.oob_predictions((&x).into()).unwrap();
    let share = f64::from(counts.iter().sum::<u32>()) / 20_000.0;
    let expected = (1.0 - 1.0 / 200.0_f64).powi(200);
    // Four standard errors if rows were left out independently; the negative correlation between rows makes the error
    // smaller.
    let tolerance = 4.0 * (expected * (1.0 - expected) / 20_000.0).sqrt();
    assert!((share - expected).abs() < tolerance, "{share} for {expected}");
}

#[test]
fn leaves_are_those_of_each_tree() {
    let (x, y) = labelled(9, 150);
    let forest = fit(
        ForestParams {
            trees: 5,
            ..ForestPreset::ExtraTrees.into()
        },
        &x.clone().into(),
        &y.into(),
    );
    for x in layouts(&x) {
        let leaves = forest.apply(x.view()).unwrap();
        assert_eq!(leaves.dim(), (150, 5));
        for (t, tree) in forest.trees().iter().enumerate() {
            assert_eq!(
                leaves.column(t).to_vec(),
                tree.tree.structure().apply(x.view()).unwrap()
            );
        }
    }
}
