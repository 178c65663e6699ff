//! Properties of every structured forest.

use super::common::on_threads;
use ndarray::{Array2, Axis, array};
use proptest::prelude::*;
use rpo_core::{Learner, MatrixView, Merge, Mismatch, ParameterError, Predictor, Seed, TreeEnsemble};
use rpo_ensemble::structured::{StructuredForest, StructuredForestParams, Variant};
use rpo_ensemble::{EnsembleError, OutOfBagPredictor};
use rpo_tree::{LeafModel, TreeError};

/// Generates features, and labels that depend on sums of features, for a given number of rows.
fn data(n: usize) -> (Array2<f32>, Array2<f32>) {
    let noise = |i: usize, j: usize| (Seed::new(9).hash((i * 16 + j) as u64) >> 40) as f32 / (1 << 24) as f32;
    let x = Array2::from_shape_fn((n, 8), |(i, j)| if (i + j) % 3 == 0 { 0.0 } else { noise(i, j) });
    let y = Array2::from_shape_fn((n, 6), |(i, j)| {
        f32::from(u8::from(x[[i, j]] + x[[i, j + 1]] > 0.8))
    });
    (x, y)
}

fn small() -> StructuredForestParams {
    StructuredForestParams {
        trees: 6,
        seed: 3,
        ..StructuredForestParams::default()
    }
}

/// Parameters of small forests, one variant per splitting method.
fn variants() -> [StructuredForestParams; 3] {
    let of = |variant| StructuredForestParams { variant, ..small() };
    let hellinger = StructuredForestParams {
        descent_steps: Some(30),
        batch_size: Some(40),
        ..small()
    };
    [of(Variant::SfCs), of(Variant::SfLrCs), hellinger]
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "tests build their parameters in place"
)]
fn fit(params: StructuredForestParams, x: &Array2<f32>, y: &Array2<f32>) -> StructuredForest {
    params.fit(x.into(), y.into()).unwrap()
}

#[test]
fn one_model_for_any_number_of_threads_and_either_layout() {
    let (x, y) = data(120);
    let (sparse_x, sparse_y) = (MatrixView::from(&x).to_csr(), MatrixView::from(&y).to_csr());
    for params in variants() {
        let forest = fit(params.clone(), &x, &y);
        let scores = forest.predict((&x).into()).unwrap();
        for threads in [1, 2, 8] {
            on_threads(threads, || {
                assert_eq!(fit(params.clone(), &x, &y), forest);
                assert_eq!(forest.predict((&x).into()).unwrap(), scores);
            });
        }
        let views = (
            MatrixView::Sparse(sparse_x.view()),
            MatrixView::Sparse(sparse_y.view()),
        );
        assert_eq!(params.fit(views.0, views.1).unwrap(), forest);
        assert_eq!(forest.predict(views.0).unwrap(), scores);
        // Leaves are means of labels.
        assert!(scores.iter().all(|s| (0.0..=1.0).contains(s)));
    }
}

#[test]
fn parts_merge_into_the_whole() {
    let (x, y) = data(60);
    let whole = fit(small(), &x, &y);
    let first = fit(StructuredForestParams { trees: 4, ..small() }, &x, &y);
    let rest = fit(
        StructuredForestParams {
            first_tree: 4,
            trees: 2,
            ..small()
        },
        &x,
        &y,
    );
    assert_eq!(first.clone().merge(rest).unwrap(), whole);
    let other = fit(
        StructuredForestParams {
            label_weight: 2.0,
            ..small()
        },
        &x,
        &y,
    );
    assert!(matches!(first.clone().merge(other), Err(EnsembleError::Merge(_))));
    let other = fit(
        StructuredForestParams {
            row_share: 0.5,
            ..small()
        },
        &x,
        &y,
    );
    assert!(matches!(first.merge(other), Err(EnsembleError::Merge(_))));
}

/// Computes the scores by their formula, tree by tree.
fn naive_scores(
    forest: &StructuredForest,
    x: &Array2<f32>,
    admit: impl Fn(usize, usize) -> bool,
) -> Array2<f64> {
    let mut sums = Array2::<f64>::zeros((x.nrows(), forest.n_outputs()));
    let mut totals = sums.clone();
    for (t, tree) in forest.trees().iter().enumerate() {
        let answers = tree.tree.predict(x.into()).unwrap();
        for ((i, j), answer) in answers.indexed_iter().filter(|((i, _), _)| admit(t, *i)) {
            let weight = if forest.clustered_labels()[t].contains(&(j as u32)) {
                5.0
            } else {
                1.0
            };
            sums[[i, j]] += weight * f64::from(*answer);
            totals[[i, j]] += weight;
        }
    }
    sums / totals
}

fn assert_close(found: &Array2<f32>, expected: &Array2<f64>) {
    for (found, expected) in found.iter().zip(expected) {
        assert!((f64::from(*found) - expected).abs() < 1e-6 || (found.is_nan() && expected.is_nan()));
    }
}

#[test]
fn scores_are_weighted_means_in_and_out_of_bag() {
    let (x, y) = data(50);
    // Of the larger share, rounding gives all rows, but one is left out.
    let of_shares = [small().row_share, 0.99]
        .map(|row_share| variants().map(|params| StructuredForestParams { row_share, ..params }));
    for params in of_shares.into_iter().flatten() {
        let row_share = params.row_share;
        let forest = fit(params, &x, &y);
        assert!(forest.rows_per_tree() < 50);
        let scores = forest.predict((&x).into()).unwrap();
        assert_close(&scores, &naive_scores(&forest, &x, |_, _| true));
        let top = forest.predict_top_k((&x).into(), 2).unwrap();
        for (row, best) in top.outer_iterator().enumerate() {
            let least = best.iter().map(|(_, &v)| v).fold(1.0, f32::min);
            assert!(best.iter().all(|(j, &v)| v == scores[[row, j]] && v > 0.0));
            let above = scores.row(row).iter().filter(|s| **s > least).count();
            assert!(best.nnz() <= 2 && above < 2.max(best.nnz()));
        }
        // The rows of a tree are those from which its leaf values are computed.
        let (oob, counts) = forest.oob_predictions((&x).into()).unwrap();
        let total: u32 = counts.iter().sum();
        assert_eq!(
            total as usize,
            forest.trees().len() * (50 - forest.rows_per_tree())
        );
        let out = out_of_bag(&forest, row_share, &x, &y);
        assert_close(&oob, &naive_scores(&forest, &x, |t, i| out[t][i]));
    }
}

/// Determines the out-of-bag rows of each tree by growing it alone with additional labels that identify rows: an
/// out-of-bag row does not occur in any leaf.
fn out_of_bag(forest: &StructuredForest, row_share: f64, x: &Array2<f32>, y: &Array2<f32>) -> Vec<Vec<bool>> {
    let marked = Array2::from_shape_fn((x.nrows(), x.nrows()), |(i, j)| f32::from(u8::from(i == j)));
    let labels = ndarray::concatenate![Axis(1), y.view(), marked];
    let mut out = Vec::new();
    for t in 0..forest.trees().len() {
        let params = StructuredForestParams {
            variant: Variant::Sf,
            row_share,
            first_tree: t,
            trees: 1,
            ..small()
        };
        let tree = fit(params, x, &labels);
        let mut seen = vec![false; x.nrows()];
        let leaves = tree.trees()[0].tree.leaves();
        for leaf in 0..leaves.n_leaves() {
            leaves.for_each(leaf as u32, |j, v| {
                if j as usize >= y.ncols() && v > 0.0 {
                    seen[j as usize - y.ncols()] = true;
                }
            });
        }
        out.push(seen.into_iter().map(|seen| !seen).collect());
    }
    out
}

#[test]
fn what_does_not_fit_is_refused() {
    let (x, y) = data(20);
    let valid = small();
    let refused = |x: &Array2<f32>, y: &Array2<f32>| valid.fit(x.into(), y.into()).map(|_| ()).unwrap_err();
    let fewer = y.slice(ndarray::s![..19, ..]).to_owned();
    assert!(matches!(
        refused(&x, &fewer),
        EnsembleError::Mismatch(Mismatch {
            expected: 20,
            given: 19,
            ..
        })
    ));
    let none = Array2::zeros((20, 0));
    assert!(matches!(refused(&x, &none), EnsembleError::NoOutputs));
    let mut half = y.clone();
    half[[4, 2]] = 0.5;
    let expected = EnsembleError::NotALabel {
        sample: 4,
        output: 2,
        value: 0.5,
    };
    assert_eq!(refused(&x, &half), expected);
    let mut missing = x.clone();
    missing[[3, 1]] = f32::NAN;
    let hole = EnsembleError::Tree(TreeError::MissingFeature { sample: 3, column: 1 });
    assert_eq!(refused(&missing, &y), hole);

    // Splits on one feature route missing values.
    let forest = fit(
        StructuredForestParams {
            variant: Variant::SfCs,
            ..small()
        },
        &missing,
        &y,
    );
    assert!(!forest.is_oblique());
    assert!(forest.predict((&missing).into()).is_ok());
    let forest = fit(small(), &x, &y);
    assert!(forest.is_oblique());
    assert_eq!(forest.predict((&missing).into()), Err(hole));
    let wide = Array2::zeros((2, 9));
    assert!(matches!(
        forest.predict((&wide).into()),
        Err(EnsembleError::Mismatch(_))
    ));
    assert!(matches!(
        forest.predict_with_limit((&x).into(), 100),
        Err(EnsembleError::Predictions(_))
    ));
    assert!(matches!(
        forest.predict_top_k((&x).into(), 0),
        Err(EnsembleError::Parameter(ParameterError::OutOfRange {
            name: "k",
            ..
        }))
    ));
    let all_rows = fit(
        StructuredForestParams {
            row_share: 1.0,
            ..small()
        },
        &x,
        &y,
    );
    assert_eq!(
        all_rows.oob_predictions((&x).into()).map(|_| ()),
        Err(EnsembleError::NoBootstrap)
    );
}

#[test]
fn forests_of_nothing_to_learn_answer_means() {
    let x = Array2::zeros((8, 3));
    let y = Array2::from_shape_fn((8, 3), |(i, j)| [1.0, 0.0, f32::from(u8::from(i < 4))][j]);
    for params in variants() {
        let forest = fit(
            StructuredForestParams {
                row_share: 1.0,
                ..params
            },
            &x,
            &y,
        );
        assert_eq!(
            forest
                .predict((&x.slice(ndarray::s![..1, ..]).to_owned()).into())
                .unwrap(),
            array![[1.0, 0.0, 0.5]]
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// On tiny data sets, with labels that never or always occur, every variant fits and predicts values in [0, 1].
    #[test]
    fn tiny_sets_do_no_harm(
        (n, p, d) in (1_usize..9, 1_usize..4, 1_usize..4),
        cells in prop::collection::vec(prop_oneof![Just(0.0_f32), -2.0_f32..2.0], 9 * 4),
        labels in prop::collection::vec(any::<bool>(), 9 * 4),
        weighted: bool,
        fall_back: bool,
    ) {
        let x = Array2::from_shape_fn((n, p), |(i, j)| cells[i * 4 + j]);
        let y = Array2::from_shape_fn((n, d), |(i, j)| f32::from(u8::from(labels[i * 4 + j])));
        for params in variants() {
            let variant = match params.variant {
                Variant::SfCs if !weighted => Variant::Sf,
                Variant::SfLrCs if !weighted => Variant::SfLr,
                Variant::SfHCs if !weighted => Variant::SfH,
                variant => variant,
            };
            let fall_back = variant.is_oblique().then_some(fall_back);
            let params = StructuredForestParams { variant, fall_back, min_samples_leaf: 1, ..params };
            let forest = fit(params, &x, &y);
            let scores = forest.predict((&x).into()).unwrap();
            prop_assert!(scores.iter().all(|s| (0.0..=1.0).contains(s)));
        }
    }
}
