//! One-vs-rest: properties of a fit, reference values, and what it does not depend on.

use crate::common::{csr, features, labels, on_threads};
use ndarray::{Array1, Array2, Axis, array, s};
use proptest::prelude::*;
use rpo_core::store::{Restore, Sizes, Store, Writer};
use rpo_core::{CsrMatrix, CsrView, MatrixView, Mismatch, ParameterError};
use rpo_core::{Learner, Predictor};
use rpo_linear::{
    ClassifierOptions, LinearError, LinearModel, MarginLoss, OneVsRestParams, Precision, RowNorm,
};

/// The most exact parameters for the solver, keeping all weights, with one cost for all labels.
fn exact(loss: MarginLoss) -> OneVsRestParams {
    OneVsRestParams {
        loss,
        cost: Some(1.0),
        cost_exponent: 0.0,
        tolerance: 1e-5,
        max_passes: 20_000,
        prune: 0.0,
        normalize: Some(RowNorm::L2),
        precision: Precision::Single,
        ..OneVsRestParams::default()
    }
}

fn fit(params: &OneVsRestParams, x: &Array2<f32>, y: &Array2<f32>) -> LinearModel {
    params.fit(x.into(), y.into()).unwrap()
}

fn residual(model: &LinearModel) -> f32 {
    model.residual.unwrap()
}

fn sparse(model: &LinearModel) -> CsrView<'_> {
    match model.weights() {
        MatrixView::Sparse(weights) => weights,
        MatrixView::Dense(_) => panic!("dense weights"),
    }
}

/// The weights of a label, followed by its offset.
fn classifier(model: &LinearModel, label: usize) -> Array1<f64> {
    let weights = model.weights().to_dense(usize::MAX).unwrap();
    let column = weights.column(label).to_vec().into_iter();
    column.map(f64::from).chain([model.intercepts()[label]]).collect()
}

fn unit_rows(x: &Array2<f32>) -> Array2<f64> {
    let mut x = x.mapv(f64::from);
    for mut row in x.rows_mut() {
        let norm = row.dot(&row).sqrt();
        row /= if norm > 0.0 { norm } else { 1.0 };
    }
    x
}

/// Solves the primal problem on dense numbers by gradient descent: slow, and independent of the solver.
fn naive(x: &Array2<f64>, y: &[bool], loss: MarginLoss, cost: f64) -> Array1<f64> {
    let (n, p) = x.dim();
    let mut w = Array1::<f64>::zeros(p + 1);
    // A bound on the curvature: ‖x‖² of unit rows with the bias is 2.
    let step = 1.0 / (1.0 + cost * n as f64 * 4.0);
    for _ in 0..200_000 {
        let mut gradient = w.clone();
        for i in 0..n {
            let sign = if y[i] { 1.0 } else { -1.0 };
            let margin = sign * (x.row(i).dot(&w.slice(s![..p])) + w[p]);
            let slope = match loss {
                MarginLoss::SquaredHinge => -2.0 * (1.0 - margin).max(0.0),
                MarginLoss::Logistic => -1.0 / (1.0 + margin.exp()),
            };
            let factor = cost * slope * sign;
            gradient.slice_mut(s![..p]).scaled_add(factor, &x.row(i));
            gradient[p] += factor;
        }
        if gradient.dot(&gradient).sqrt() < 1e-9 {
            break;
        }
        w.scaled_add(-step, &gradient);
    }
    w
}

#[test]
fn weights_are_those_of_the_primal_problem() {
    let x = features(40, 5, 0.7, 1);
    let y = labels(&x, 6, 2);
    for loss in [MarginLoss::SquaredHinge, MarginLoss::Logistic] {
        for (cost, cost_exponent) in [(0.3, 0.0), (4.0, 0.0), (0.5, 0.25)] {
            let params = OneVsRestParams {
                cost: Some(cost),
                cost_exponent,
                ..exact(loss)
            };
            let model = fit(&params, &x, &y);
            assert_eq!(model.cost, Some(cost));
            assert!(residual(&model) <= 1e-5, "{loss:?} {cost}: {}", residual(&model));
            assert_eq!(
                (model.intercepts()[0], model.intercepts()[5]),
                (f64::NEG_INFINITY, f64::INFINITY)
            );
            for label in 1..5 {
                let truth: Vec<bool> = y.column(label).iter().map(|&v| v == 1.0).collect();
                let counts: Vec<f64> = y.columns().into_iter().map(|y| f64::from(y.sum())).collect();
                let n_present = counts.iter().filter(|count| **count > 0.0).count();
                let mean = counts.iter().sum::<f64>() / n_present as f64;
                let cost = cost * (mean / counts[label]).powf(cost_exponent);
                let expected = naive(&unit_rows(&x), &truth, loss, cost);
                let found = classifier(&model, label);
                let error = (&found - &expected)
                    .mapv(f64::abs)
                    .fold(0.0_f64, |a, &b| a.max(b));
                assert!(error < 2e-4, "{loss:?} {cost} label {label}: {found} {expected}");
            }
        }
    }
}

/// A tolerance that cannot be reached does not keep the descent among the samples that it began with: every sample has
/// its turn within the passes that are allowed.
#[test]
fn a_smaller_tolerance_is_not_worse() {
    let x = features(400, 10, 1.0, 3).mapv(|v| 3.0 * v);
    // A label that few have, with noise, so that most negatives are not part of the first passes.
    let y = Array2::from_shape_fn((400, 1), |(i, _)| {
        f32::from(u8::from(x[[i, 0]] + x[[i, 1]] > 1.0 && i % 3 > 0 || i % 17 == 0))
    });
    let objective = |tolerance| {
        let params = OneVsRestParams {
            tolerance,
            max_passes: 200,
            normalize: Some(RowNorm::None),
            ..exact(MarginLoss::SquaredHinge)
        };
        let model = fit(&params, &x, &y);
        let w = classifier(&model, 0);
        let margins = x.rows().into_iter().zip(&y).map(|(x, &y)| {
            let score: f64 = x.iter().zip(&w).map(|(&x, w)| f64::from(x) * w).sum::<f64>() + w[10];
            (2.0 * f64::from(y) - 1.0) * score
        });
        let losses: f64 = margins.map(|margin| (1.0 - margin).max(0.0).powi(2)).sum();
        0.5 * w.dot(&w) + losses
    };
    let rough = objective(0.1);
    for tolerance in [1e-2, 1e-3, 1e-4, 1e-6] {
        let found = objective(tolerance);
        assert!(found < 1.001 * rough, "{tolerance}: {found} in place of {rough}");
    }
}

/// Coefficients and intercept from scikit-learn 1.9.1 on these numbers, unscaled and with rows of length 1:
/// `LinearSVC(loss="squared_hinge", tol=1e-9, intercept_scaling=1)` and
/// `LogisticRegression(solver="liblinear", tol=1e-10, intercept_scaling=1)`.
#[test]
fn weights_are_those_of_liblinear() {
    let x = Array2::from_shape_fn((12, 4), |(i, j)| match (i + j) % 3 {
        0 => 0.0,
        _ => ((i * (j + 3) * 7) % 11) as f32 / 5.0 - 1.0,
    });
    let positives: [&[usize]; 2] = [&[0, 3, 5, 6, 10], &[2, 11]];
    let y = Array2::from_shape_fn((12, 2), |(i, j)| f32::from(u8::from(positives[j].contains(&i))));
    let (hinge, logistic) = (MarginLoss::SquaredHinge, MarginLoss::Logistic);
    let (unit, plain) = (RowNorm::L2, RowNorm::None);
    // Parameters are in units in which samples have length 1.
    let mean_square = f64::from(x.mapv(|v| v * v).sum()) / 12.0;
    for (normalize, cost, label, loss, expected) in [
        (
            plain,
            1.0,
            0,
            hinge,
            [-0.33006, -0.77789, 0.41682, -0.19683, -0.10102],
        ),
        (
            plain,
            1.0,
            1,
            hinge,
            [0.40802, 0.48314, -0.75793, -0.57527, -0.78199],
        ),
        (
            plain,
            0.25,
            0,
            logistic,
            [-0.10668, -0.24155, 0.03853, -0.19092, -0.14372],
        ),
        (
            plain,
            0.25,
            1,
            hinge,
            [0.07975, 0.13391, -0.36948, -0.21247, -0.62434],
        ),
        (
            unit,
            1.0,
            0,
            hinge,
            [-0.17181, -0.19606, 0.04002, -0.66419, -0.15627],
        ),
        (
            unit,
            1.0,
            0,
            logistic,
            [-0.25901, -0.29537, 0.04229, -0.64125, -0.25165],
        ),
        (
            unit,
            1.0,
            1,
            logistic,
            [0.22704, -0.0378, -0.39549, -0.0959, -1.0916],
        ),
        (
            unit,
            0.25,
            1,
            hinge,
            [0.15709, 0.05437, -0.30708, -0.10305, -0.59188],
        ),
    ] {
        let params = OneVsRestParams {
            normalize: Some(normalize),
            cost: Some(if normalize == plain {
                cost * mean_square
            } else {
                cost
            }),
            bias: if normalize == plain {
                mean_square.sqrt().recip()
            } else {
                1.0
            },
            ..exact(loss)
        };
        let found = classifier(&fit(&params, &x, &y), label);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 5e-5, "{params:?}: {found} {expected}");
        }
    }
}

/// Scores are a function of the margin, the same for all labels: of the logistic loss the logistic function, of the squared
/// hinge one that grows.
#[test]
fn scores_are_those_of_the_weights() {
    let x = features(30, 6, 0.6, 3);
    let y = labels(&x, 40, 4);
    for loss in [MarginLoss::SquaredHinge, MarginLoss::Logistic] {
        let model = fit(&exact(loss), &x, &y);
        let scores = model.predict((&x).into()).unwrap();
        let rows = unit_rows(&x);
        let mut pairs: Vec<(f64, f64)> = Vec::new();
        for label in 1..39 {
            let weights = classifier(&model, label);
            let z = rows.dot(&weights.slice(s![..6])) + weights[6];
            let scores = scores.column(label);
            pairs.extend(
                z.iter()
                    .copied()
                    .zip(scores.iter().map(|&score| f64::from(score))),
            );
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        for pair in pairs.windows(2) {
            assert!(pair[1].1 > pair[0].1 - 1e-6, "{loss:?}: {pair:?}");
        }
        if loss == MarginLoss::Logistic {
            for (z, score) in pairs {
                let expected = 1.0 / (1.0 + (-z).exp());
                assert!((score - expected).abs() < 1e-5, "{score} {expected}");
            }
        }
    }
}

#[test]
fn small_weights_are_left_out_and_the_others_rounded() {
    let x = features(60, 8, 0.8, 5);
    let y = labels(&x, 35, 6);
    let all = fit(&exact(MarginLoss::SquaredHinge), &x, &y);
    let params = OneVsRestParams {
        prune: 0.2,
        ..exact(MarginLoss::SquaredHinge)
    };
    let few = fit(&params, &x, &y);
    let (all, few) = (sparse(&all), sparse(&few));
    assert!(few.nnz() < all.nnz());
    let mut largest = [0.0_f32; 35];
    for (&w, (_, l)) in &all {
        largest[l as usize] = largest[l as usize].max(w.abs());
    }
    for (&w, (j, l)) in &all {
        let limit = 0.2_f32.min(0.25 * largest[l as usize]);
        let expected = if w.abs() < limit { None } else { Some(&w) };
        assert_eq!(few.get(j as usize, l as usize), expected);
    }
    let half = fit(
        &OneVsRestParams {
            precision: Precision::Half,
            ..params
        },
        &x,
        &y,
    );
    let half = sparse(&half);
    assert_eq!(half.nnz(), few.nnz());
    for (&half, &single) in half.data().iter().zip(few.data()) {
        assert!((half - single).abs() <= single.abs() / 2048.0);
    }
}

/// A label that one in 200 samples has, by features that each say a little about it: its weights are below the limit of
/// `prune`, and the scores of samples differ by less than the tolerance.
#[test]
fn rare_labels_of_few_features_are_learned() {
    let n = 4000;
    let noise = features(n, 9, 1.0, 11);
    let x = noise.slice(s![.., ..8]).to_owned();
    let signal: Vec<f32> = noise
        .rows()
        .into_iter()
        .map(|x| x[0] + 0.7 * x[1] + x[8])
        .collect();
    let mut sorted = signal.clone();
    sorted.sort_by(f32::total_cmp);
    let y = Array2::from_shape_fn((n, 1), |(i, _)| {
        f32::from(u8::from(signal[i] >= sorted[n - n / 200]))
    });
    let found = |params: OneVsRestParams| {
        let model = fit(&params, &x, &y);
        assert!(residual(&model) <= 0.1, "{:?}", model.residual);
        let mut w = classifier(&model, 0).slice(s![..8]).to_owned();
        w /= w.dot(&w).sqrt();
        w
    };
    let params = OneVsRestParams {
        cost: Some(0.5),
        ..OneVsRestParams::default()
    };
    let expected = found(OneVsRestParams {
        tolerance: 1e-5,
        max_passes: 20_000,
        prune: 0.0,
        ..params.clone()
    });
    for (prune, least) in [(0.0, 0.99), (0.1, 0.95)] {
        let cosine = expected.dot(&found(OneVsRestParams {
            prune,
            ..params.clone()
        }));
        assert!(cosine > least, "{prune}: {cosine}");
    }
}

#[test]
fn the_certificate_is_that_of_the_fit() {
    let x = features(200, 20, 0.3, 7);
    let y = labels(&x, 10, 8);
    for loss in [MarginLoss::SquaredHinge, MarginLoss::Logistic] {
        for tolerance in [0.5, 0.1, 0.01] {
            let params = OneVsRestParams {
                tolerance,
                ..exact(loss)
            };
            assert!(f64::from(residual(&fit(&params, &x, &y))) <= tolerance);
        }
        // One pass is not enough, and the residual shows it.
        let params = OneVsRestParams {
            max_passes: 1,
            cost: Some(10.0),
            ..exact(loss)
        };
        assert!(residual(&fit(&params, &x, &y)) > 0.01);
    }
}

/// The cost that is found is a power of two, and gives the same model as when it is given. Labels that features do not
/// explain are fitted less closely than labels that they explain.
#[test]
fn the_cost_is_found_on_withheld_samples() {
    let x = features(600, 30, 0.4, 21);
    let y = labels(&x, 12, 22);
    // The labels of other samples: those of the sample 300 further on.
    let noise = Array2::from_shape_fn(y.dim(), |(i, j)| y[[(i + 300) % 600, j]]);
    let found = |y: &Array2<f32>| {
        let params = OneVsRestParams::default();
        let model = fit(&params, &x, y);
        let cost = model.cost;
        assert_eq!(model, fit(&OneVsRestParams { cost, ..params }, &x, y));
        assert_eq!(cost.unwrap().log2().fract(), 0.0);
        cost.unwrap()
    };
    let (of_labels, of_noise) = (found(&y), found(&noise));
    assert!(of_noise < of_labels, "{of_noise} {of_labels}");
    // No label varies, so that there is nothing to search on.
    assert_eq!(
        fit(&OneVsRestParams::default(), &x, &Array2::zeros((600, 2))).cost,
        Some(0.5)
    );
    assert_eq!(
        fit(&OneVsRestParams::default(), &x, &Array2::ones((600, 2))).cost,
        Some(0.5)
    );
}

#[test]
fn samples_and_labels_at_the_edges() {
    // Sample 1 has no features, label 1 no samples, label 2 all.
    let x = array![[1.0, 0.0], [0.0, 0.0], [0.0, 2.0], [0.5, 0.0]];
    let y = array![[1.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0]];
    for loss in [MarginLoss::SquaredHinge, MarginLoss::Logistic] {
        let model = fit(
            &OneVsRestParams {
                loss,
                cost: Some(10.0),
                ..OneVsRestParams::default()
            },
            &x,
            &y,
        );
        let scores = model.predict((&x).into()).unwrap();
        for row in scores.rows() {
            assert_eq!((row[1], row[2]), (0.0, 1.0), "{row}");
        }
        assert!(scores[[0, 0]] > 0.5 && scores[[2, 0]] < 0.5);
        // A single label.
        let single = fit(
            &OneVsRestParams { loss, ..exact(loss) },
            &x,
            &y.slice(s![.., ..1]).to_owned(),
        );
        assert_eq!(
            (single.n_outputs(), single.n_features(), single.n_train()),
            (1, 2, 4)
        );
        // No features and no intercept: nothing is learned, and all scores are equal.
        let nothing = OneVsRestParams {
            bias: 0.0,
            ..exact(loss)
        };
        let model = fit(&nothing, &Array2::zeros((4, 2)), &y);
        let scores = model.predict((&x).into()).unwrap();
        assert!(scores.column(0).iter().all(|&v| v == scores[[0, 0]]));
        assert_eq!((scores[[0, 1]], scores[[0, 2]]), (0.0, 1.0));
    }
    // The matrix type sorts the columns of a sparse row and refuses repeated columns.
    let unsorted = CsrMatrix::new_from_unsorted((1, 2), vec![0, 2], vec![1, 0], vec![2.0, 1.0]).unwrap();
    let sorted = CsrMatrix::new((1, 2), vec![0, 2], vec![0, 1], vec![1.0, 2.0]);
    assert_eq!(unsorted, sorted);
    assert!(CsrMatrix::try_new((1, 2), vec![0, 2], vec![1, 1], vec![2.0, 1.0]).is_err());
}

#[test]
fn what_cannot_be_fitted_is_named() {
    let x = features(10, 3, 1.0, 1);
    let y = labels(&x, 4, 2);
    let refused = |params: OneVsRestParams| params.fit((&x).into(), (&y).into()).unwrap_err();
    let base = OneVsRestParams::default;
    let name = |params| match refused(params) {
        LinearError::Parameter(e) => e.name(),
        e => panic!("{e}"),
    };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let cost = Some(bad);
        assert_eq!(name(OneVsRestParams { cost, ..base() }), "cost");
        assert_eq!(
            name(OneVsRestParams {
                tolerance: bad,
                ..base()
            }),
            "tolerance"
        );
    }
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(name(OneVsRestParams { bias: bad, ..base() }), "bias");
        assert_eq!(name(OneVsRestParams { prune: bad, ..base() }), "prune");
        let params = OneVsRestParams {
            cost_exponent: bad,
            ..base()
        };
        assert_eq!(name(params), "cost_exponent");
    }
    assert_eq!(
        name(OneVsRestParams {
            max_passes: 0,
            ..base()
        }),
        "max_passes"
    );
    let numbers = y.mapv(|v| v * 2.0);
    let found = base().fit((&x).into(), (&numbers).into());
    assert!(
        matches!(found, Err(LinearError::NotALabel { output: 1.., .. })),
        "{found:?}"
    );
    let fewer = y.slice(s![..9, ..]).to_owned();
    let found = base().fit((&x).into(), (&fewer).into());
    assert_eq!(
        found,
        Err(Mismatch {
            what: "samples of the outputs",
            expected: 10,
            given: 9
        }
        .into())
    );
    let options = ClassifierOptions {
        memory_limit: Some(100),
        ..ClassifierOptions::default()
    };
    let found = base().fit_with((&x).into(), (&y).into(), options);
    assert!(matches!(found, Err(LinearError::Memory { .. })), "{found:?}");
    // Threads wait for memory; the model is the same.
    let many = labels(&features(10, 8, 0.6, 1), 200, 2);
    let within = |memory_limit| {
        let options = ClassifierOptions {
            memory_limit,
            ..ClassifierOptions::default()
        };
        on_threads(4, || base().fit_with((&x).into(), (&many).into(), options)).unwrap()
    };
    assert_eq!(within(Some((10 + x.ncols()) * 32 * 4)), within(None));
    // A weight that fits 32 bits but not 16: a label depends on a tiny part of the features.
    let (tiny, label) = (array![[1.0, 0.0], [0.0, 1e-6]], array![[0.0], [1.0]]);
    let large = OneVsRestParams {
        normalize: Some(RowNorm::None),
        bias: 0.0,
        cost: Some(1e12),
        ..base()
    };
    assert_eq!(
        large.fit((&tiny).into(), (&label).into()),
        Err(LinearError::Overflow { what: "W" })
    );
    let single = OneVsRestParams {
        precision: Precision::Single,
        ..large
    };
    assert!(single.fit((&tiny).into(), (&label).into()).is_ok());
    let model = fit(&base(), &x, &y);
    let zero = ParameterError::out_of_range("k", 0, "at least 1");
    assert_eq!(model.predict_top_k((&x).into(), 0), Err(zero.into()));
}

#[test]
fn threads_and_storage_change_no_bit() {
    let x = features(150, 30, 0.3, 9);
    let y = labels(&x, 100, 10);
    for loss in [MarginLoss::SquaredHinge, MarginLoss::Logistic] {
        let params = OneVsRestParams {
            loss,
            seed: 3,
            ..OneVsRestParams::default()
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
    }
}

/// The mean score of a label is the share of the samples with it, and top scores never list one that no sample has.
#[test]
fn scores_are_probabilities() {
    let x = features(600, 30, 0.4, 31);
    let mut y = labels(&x, 20, 32);
    y.column_mut(7).fill(0.0);
    y.column_mut(9).fill(1.0);
    for cost in [None, Some(1.0)] {
        let params = OneVsRestParams {
            cost,
            ..OneVsRestParams::default()
        };
        let (train, test) = (s![..400, ..], s![400.., ..]);
        let model = fit(&params, &x.slice(train).to_owned(), &y.slice(train).to_owned());
        let x = x.slice(test).to_owned();
        let scores = model.predict((&x).into()).unwrap();
        let (mean, share) = (scores.mean().unwrap(), y.slice(test).mean().unwrap());
        assert!((mean - share).abs() < 0.05, "{mean} {share}");
        assert!(scores.column(7).iter().all(|&score| score == 0.0));
        assert!(scores.column(9).iter().all(|&score| score == 1.0));
        let top = model.predict_top_k((&x).into(), 20).unwrap();
        assert!(top.indices().iter().all(|&label| label != 7));
    }
}

#[test]
fn a_stored_model_comes_back() {
    let x = features(40, 7, 0.5, 1);
    let mut y = labels(&x, 45, 2);
    y.column_mut(3).fill(0.0);
    y.column_mut(4).fill(1.0);
    for precision in [Precision::Half, Precision::Single] {
        let params = OneVsRestParams {
            precision,
            ..OneVsRestParams::default()
        };
        let model = fit(&params, &x, &y);
        let mut out = Writer::default();
        model.store(&mut out).unwrap();
        let stored = out.finish().unwrap();
        let sizes = Sizes {
            n_train: 40,
            n_features: 7,
            n_outputs: 45,
        };
        let mut from = stored.reader();
        assert_eq!(LinearModel::restore(&mut from, sizes).unwrap(), model);
        from.finish().unwrap();
        let more = Sizes {
            n_features: 8,
            ..sizes
        };
        assert!(LinearModel::restore(&mut stored.reader(), more).is_err());
        let fewer = Sizes {
            n_outputs: 44,
            ..sizes
        };
        assert!(LinearModel::restore(&mut stored.reader(), fewer).is_err());
    }
}

proptest! {
    #[test]
    fn best_labels_are_those_of_all_scores(n in 1_usize..12, p in 1_usize..6, d in 1_usize..40, k in 1_usize..5, seed in 0_u64..100) {
        let x = features(n, p, 0.5, seed);
        let y = labels(&x, d, seed);
        let model = fit(&OneVsRestParams { seed, ..OneVsRestParams::default() }, &x, &y);
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

/// With an inverse propensity of 3, a positive sample counts as three.
#[test]
fn propensity_weights_are_those_of_repeated_samples() {
    let x = features(60, 6, 0.7, 11);
    let y = Array2::from_shape_fn((60, 1), |(i, _)| f32::from(u8::from(x[[i, 0]] > 0.3)));
    let positives: Vec<usize> = (0..60).filter(|&i| y[[i, 0]] == 1.0).collect();
    // A = ln(2 / (ln 60 - 1)) / ln((B + 1) / (N + B)): 1 / p = 3.
    let b = 2.5_f64;
    let ratio = (b + 1.0) / (positives.len() as f64 + b);
    let a = (2.0 / (60.0_f64.ln() - 1.0)).ln() / ratio.ln();
    let rows: Vec<usize> = (0..60)
        .chain(positives.iter().copied())
        .chain(positives.iter().copied())
        .collect();
    let (repeated_x, repeated_y) = (x.select(Axis(0), &rows), y.select(Axis(0), &rows));
    for loss in [MarginLoss::SquaredHinge, MarginLoss::Logistic] {
        let weighted = OneVsRestParams {
            propensity_weights: true,
            propensity_a: a,
            propensity_b: b,
            ..exact(loss)
        };
        let (found, expected) = (
            fit(&weighted, &x, &y),
            fit(&exact(loss), &repeated_x, &repeated_y),
        );
        let error = (classifier(&found, 0) - classifier(&expected, 0)).mapv(f64::abs);
        assert!(error.iter().all(|error| *error < 2e-4), "{loss:?}: {error}");
    }
    for (name, params) in [
        (
            "propensity_a",
            OneVsRestParams {
                propensity_a: -1.0,
                ..OneVsRestParams::default()
            },
        ),
        (
            "propensity_b",
            OneVsRestParams {
                propensity_b: 0.0,
                ..OneVsRestParams::default()
            },
        ),
    ] {
        let error = params.fit((&x).into(), (&y).into()).unwrap_err();
        assert!(matches!(error, LinearError::Parameter(e) if e.name() == name));
    }
}

/// The length of a sample decides where there is one feature, and not where there are ten.
#[test]
fn few_features_are_not_scaled_by_default() {
    for (p, scaled) in [(1, false), (9, false), (10, true)] {
        let x = features(40, p, 0.7, 1);
        let y = labels(&x, 3, 2);
        let by_default = fit(&OneVsRestParams::default(), &x, &y);
        let with = |normalize| {
            fit(
                &OneVsRestParams {
                    normalize: Some(normalize),
                    ..OneVsRestParams::default()
                },
                &x,
                &y,
            )
        };
        let expected = with(if scaled { RowNorm::L2 } else { RowNorm::None });
        let other = with(if scaled { RowNorm::None } else { RowNorm::L2 });
        assert!(by_default == expected && by_default != other, "{p}");
    }
}
