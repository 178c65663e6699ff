//! Label embeddings: properties of a fit, and what it does not depend on.

use crate::common::{classes, csr, features, labels, on_threads};
use ndarray::{Array2, Axis, concatenate, s};
use proptest::prelude::*;
use rpo_core::{Learner, MatrixView, Mismatch, ParameterError, Predictor};
use rpo_linear::{
    EmbeddingMode, History, InverseLink, LabelEmbeddingModel, LabelEmbeddingOptions, LabelEmbeddingParams,
    LinearError, LinkLoss, Penalty, Rank,
};

fn small() -> LabelEmbeddingParams {
    LabelEmbeddingParams {
        features: Some(60),
        bandwidth: Some(1.0),
        rank: Some(Rank::Exact(4)),
        ..LabelEmbeddingParams::default()
    }
}

fn with_loss(link_loss: LinkLoss) -> LabelEmbeddingParams {
    LabelEmbeddingParams { link_loss, ..small() }
}

fn fit(params: &LabelEmbeddingParams, x: &Array2<f32>, y: &Array2<f32>) -> LabelEmbeddingModel {
    params.fit(x.into(), y.into()).unwrap()
}

fn fit_logged(
    params: &LabelEmbeddingParams,
    x: &Array2<f32>,
    y: &Array2<f32>,
) -> (LabelEmbeddingModel, History) {
    let mut history = History::default();
    let options = LabelEmbeddingOptions {
        history: Some(&mut history),
        ..LabelEmbeddingOptions::default()
    };
    let model = params.fit_with(x.into(), y.into(), options).unwrap();
    (model, history)
}

/// Computes φ of all rows from the components of the model.
fn terms(model: &LabelEmbeddingModel, x: &Array2<f32>) -> Array2<f64> {
    let map = model.map();
    let z = match &map.projection {
        Some((weights, offset)) => x.dot(weights) + offset,
        None => x.clone(),
    };
    let phi = match &map.fourier {
        Some(fourier) => (z.dot(&fourier.frequencies) + &fourier.phases).mapv(f32::cos),
        None => z,
    };
    concatenate![Axis(1), phi, Array2::ones((x.nrows(), 1))].mapv(f64::from)
}

/// Φᵀ(Y - ΦΘ) = λ̄Θ in all modes, λ̄ = λ tr(ΦᵀΦ)/terms or α times the variance of a row of Φ.
#[test]
fn least_squares_satisfy_the_normal_equations() {
    let x = features(150, 7, 1.0, 1);
    let y = labels(&x, 9, 2);
    let modes = [
        (EmbeddingMode::Full, Some(Rank::Exact(5)), Some(80)),
        (EmbeddingMode::Linear, Some(Rank::Exact(5)), None),
        (EmbeddingMode::Cs, Some(Rank::Exact(5)), Some(80)),
        (EmbeddingMode::CsLinear, Some(Rank::Exact(5)), None),
        (EmbeddingMode::Kernel, None, Some(80)),
    ];
    let penalties = [Penalty::Relative(1e-3), Penalty::Variance(2.0)];
    for (mode, rank, features) in modes {
        for penalty in penalties {
            let params = LabelEmbeddingParams {
                mode,
                rank,
                features,
                bandwidth: features.map(|_| 1.0),
                link_loss: LinkLoss::Squared,
                lambda: penalty,
                ..LabelEmbeddingParams::default()
            };
            let model = fit(&params, &x, &y);
            let phi = terms(&model, &x);
            let theta = model.weights().mapv(f64::from).reversed_axes();
            let gram = phi.t().dot(&phi);
            let number = match penalty {
                Penalty::Relative(lambda) => lambda * gram.diag().sum() / phi.ncols() as f64,
                Penalty::Variance(alpha) => alpha * phi.var_axis(Axis(0), 0.0).sum(),
            };
            let right = phi.t().dot(&y.mapv(f64::from));
            let rest = &right - &gram.dot(&theta) - theta * number;
            let scale = right.iter().fold(0.0_f64, |best, v| best.max(v.abs()));
            // Φ and Θ are stored as f32.
            assert!(rest.iter().all(|v| v.abs() < 2e-5 * scale), "{mode:?} {penalty}");
            let scores = model.predict((&x).into()).unwrap();
            let expected = phi.dot(&model.weights().mapv(f64::from).t());
            assert!((scores.mapv(f64::from) - expected).iter().all(|v| v.abs() < 1e-4));
        }
    }
}

/// With many features and a small penalty, the Gram matrix can hardly be factored; losses fall all the same.
#[test]
fn descent_keeps_the_best_epoch() {
    let x = features(200, 6, 1.0, 3);
    let (y, one_hot) = (labels(&x, 8, 4), classes(&x, 5, 5));
    for (withhold, rate) in [(0.0, 1.0), (0.2, 1.0), (0.2, 100.0)] {
        for (link_loss, y, inverse_link) in [
            (LinkLoss::Logistic, &y, InverseLink::Logistic),
            (LinkLoss::Softmax, &one_hot, InverseLink::Softmax),
        ] {
            let params = LabelEmbeddingParams {
                withhold: Some(withhold),
                rate: Some(rate),
                ..with_loss(link_loss)
            };
            let (model, log) = fit_logged(&params, &x, y);
            assert_eq!((log.rank, model.inverse_link), (Some(4), inverse_link));
            let best = log.losses.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(log.losses[log.kept_epoch] == best && best <= log.losses[0]);
            if rate < 10.0 {
                assert!(best < 0.6 * log.losses[0], "{:?}", log.losses);
            }
            let scores = model.predict((&x).into()).unwrap();
            assert!(scores.iter().all(|v| (0.0..=1.0).contains(v)));
        }
    }
}

/// The reported loss is that of the model that is kept.
#[test]
fn losses_are_those_of_the_model() {
    let x = features(90, 5, 1.0, 6);
    let (y, one_hot) = (labels(&x, 6, 7), classes(&x, 4, 8));
    for (link_loss, y) in [(LinkLoss::Logistic, &y), (LinkLoss::Softmax, &one_hot)] {
        let (model, log) = fit_logged(&with_loss(link_loss), &x, y);
        let p = model.predict((&x).into()).unwrap().mapv(f64::from);
        let loss: f64 = p
            .iter()
            .zip(y)
            .map(|(p, y)| match (*y, model.inverse_link) {
                (0.0, InverseLink::Softmax) => 0.0,
                (0.0, _) => -(1.0 - p).ln(),
                _ => -p.ln(),
            })
            .sum::<f64>();
        let reported = log.losses[log.kept_epoch];
        assert!(
            (loss / 90.0 - reported).abs() < 1e-3 * reported,
            "{loss} {reported}"
        );
    }
}

#[test]
fn layouts_caches_and_threads_do_not_matter() {
    let x = features(700, 12, 0.4, 9);
    let (y, one_hot) = (labels(&x, 40, 10), classes(&x, 37, 11));
    for (link_loss, y) in [
        (LinkLoss::Squared, &y),
        (LinkLoss::Logistic, &y),
        (LinkLoss::Softmax, &one_hot),
    ] {
        let params = with_loss(link_loss);
        let (sx, sy) = (csr(&x), csr(y));
        let fit = |memory_limit| {
            let (x, y) = (MatrixView::Sparse(sx.view()), MatrixView::Sparse(sy.view()));
            let options = LabelEmbeddingOptions {
                memory_limit,
                ..LabelEmbeddingOptions::default()
            };
            params.fit_with(x, y, options).unwrap()
        };
        let model = fit(None);
        for threads in [1, 2, 8] {
            assert_eq!(on_threads(threads, || fit(None)), model);
        }
        // Random features of 700 samples take 170,800 bytes; with a smaller cache they are computed on demand.
        assert_eq!(fit(Some(4 * 170_799)), model);
        let dense = params.fit((&x).into(), y.into()).unwrap();
        let sparse = model.predict(MatrixView::Sparse(sx.view())).unwrap();
        assert!(
            (dense.predict((&x).into()).unwrap() - &sparse)
                .iter()
                .all(|v| v.abs() < 1e-3)
        );
        assert_eq!(model.predict((&x).into()).unwrap(), sparse);
        for threads in [1, 8] {
            assert_eq!(
                on_threads(threads, || model.predict((&x).into()).unwrap()),
                sparse
            );
        }
        // The scores of a row depend on it alone.
        let some = x.slice(s![300..303, ..]).to_owned();
        assert_eq!(
            model.predict((&some).into()).unwrap(),
            sparse.slice(s![300..303, ..])
        );
    }
}

#[test]
fn seeds_matter_and_repeat() {
    let x = features(60, 5, 1.0, 12);
    let y = labels(&x, 6, 13);
    for mode in [EmbeddingMode::Full, EmbeddingMode::Cs] {
        let seeded = |seed| {
            let params = LabelEmbeddingParams {
                mode,
                seed,
                ..small()
            };
            fit(&params, &x, &y)
        };
        assert_eq!(seeded(4), seeded(4));
        assert_ne!(seeded(4), seeded(5));
    }
}

#[test]
fn top_scores_are_the_largest() {
    let x = features(300, 5, 1.0, 14);
    let y = labels(&x, 9, 15);
    let model = fit(&small(), &x, &y);
    let scores = model.predict((&x).into()).unwrap();
    for k in [1, 3, 9, 20] {
        let top = model.predict_top_k((&x).into(), k).unwrap();
        assert_eq!(top.shape(), (300, 9));
        for (i, row) in scores.rows().into_iter().enumerate() {
            let mut order: Vec<usize> = (0..9).filter(|&j| row[j] != 0.0).collect();
            order.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
            order.truncate(k);
            order.sort_unstable();
            let found = top.outer_view(i).unwrap();
            let expected: Vec<(usize, f32)> = order.iter().map(|&j| (j, row[j])).collect();
            assert_eq!(found.iter().map(|(j, v)| (j, *v)).collect::<Vec<_>>(), expected);
        }
    }
    assert!(matches!(
        model.predict_top_k((&x).into(), 0),
        Err(LinearError::Parameter(ParameterError::OutOfRange {
            name: "k",
            ..
        }))
    ));
}

/// Constant columns, rows of zeros, labels of no sample and of all, more dimensions than the rank of the data.
#[test]
fn degenerate_data_give_finite_models() {
    let mut x = features(50, 4, 1.0, 16);
    x.column_mut(1).fill(2.0);
    x.slice_mut(s![10..40, ..]).fill(0.0);
    let mut y = labels(&x, 6, 17);
    y.slice_mut(s![20..30, 1..5]).fill(0.0);
    let zero = Array2::zeros((50, 4));
    for x in [&x, &zero, &x.slice(s![..1, ..]).to_owned()] {
        let y = y.slice(s![..x.nrows(), ..]).to_owned();
        for (mode, rank, features) in [
            (EmbeddingMode::Full, Some(Rank::Exact(6)), Some(20)),
            (
                EmbeddingMode::Full,
                Some(Rank::LabelShare {
                    share: 1.0,
                    at_most: None,
                }),
                Some(20),
            ),
            (EmbeddingMode::Linear, Some(Rank::Exact(6)), None),
            (
                EmbeddingMode::Linear,
                Some(Rank::LabelShare {
                    share: 1.0,
                    at_most: None,
                }),
                None,
            ),
            (EmbeddingMode::Cs, Some(Rank::Exact(6)), Some(20)),
            (EmbeddingMode::CsLinear, Some(Rank::Exact(6)), None),
            (EmbeddingMode::Kernel, None, Some(20)),
        ] {
            for link_loss in [LinkLoss::Squared, LinkLoss::Logistic] {
                let params = LabelEmbeddingParams {
                    mode,
                    rank,
                    features,
                    link_loss,
                    ..LabelEmbeddingParams::default()
                };
                let scores = fit(&params, x, &y).predict(x.into()).unwrap();
                assert!(scores.iter().all(|v| v.is_finite()));
                // The label that no sample has, and the one that all samples have.
                assert!(
                    scores.column(0).iter().all(|v| *v < 0.5) && scores.column(5).iter().all(|v| *v >= 0.5)
                );
            }
        }
    }
}

/// Sizes that follow from parameters are refused before anything is allocated.
#[test]
fn random_features_beyond_the_memory_limit_are_refused() {
    let x = features(20, 4, 1.0, 18);
    let y = labels(&x, 5, 19);
    for mode in [EmbeddingMode::Full, EmbeddingMode::Kernel] {
        let params = LabelEmbeddingParams {
            mode,
            features: Some(1 << 24),
            ..LabelEmbeddingParams::default()
        };
        let refused = params.fit((&x).into(), (&y).into());
        assert!(matches!(refused, Err(LinearError::Memory { .. })), "{refused:?}");
    }
    let limited = |memory_limit| {
        let options = LabelEmbeddingOptions {
            memory_limit: Some(memory_limit),
            ..LabelEmbeddingOptions::default()
        };
        small().fit_with((&x).into(), (&y).into(), options)
    };
    // 61 terms, whose products are all stored in double precision.
    assert!(limited(61 * 61 * 8).is_ok());
    assert!(matches!(
        limited(61 * 61 * 8 - 1),
        Err(LinearError::Memory { .. })
    ));
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let x = features(20, 4, 1.0, 18);
    let (y, one_hot) = (labels(&x, 5, 19), classes(&x, 5, 20));
    let attempt = |params: &LabelEmbeddingParams, x: &Array2<f32>, y: &Array2<f32>| {
        params.fit(x.into(), y.into()).map(|_| ()).unwrap_err()
    };
    let softmax = with_loss(LinkLoss::Softmax);
    let n_labels = y.row(0).sum() as i32;
    assert_eq!(
        attempt(&softmax, &x, &y),
        LinearError::NotClass {
            sample: 0,
            n_labels: n_labels as usize
        }
    );
    let mut half = one_hot.clone();
    half[[3, 2]] = 0.5;
    let (sample, output, value) = (3, 2, 0.5);
    for params in [&small(), &softmax] {
        assert_eq!(
            attempt(params, &x, &half),
            LinearError::NotALabel {
                sample,
                output,
                value
            }
        );
    }
    let squared = with_loss(LinkLoss::Squared);
    assert!(squared.fit((&x).into(), (&half).into()).is_ok());
    for bad in [f32::NAN, f32::INFINITY] {
        let (mut bad_x, mut bad_y) = (x.clone(), y.clone());
        (bad_x[[1, 2]], bad_y[[1, 2]]) = (bad, bad);
        assert!(matches!(attempt(&small(), &bad_x, &y), LinearError::Features(_)));
        assert!(matches!(attempt(&small(), &x, &bad_y), LinearError::Outputs(_)));
        let model = fit(&small(), &x, &y);
        assert!(matches!(
            model.predict((&bad_x).into()),
            Err(LinearError::Features(_))
        ));
    }
    let short = y.slice(s![..19, ..]).to_owned();
    assert!(matches!(
        attempt(&small(), &x, &short),
        LinearError::Mismatch(Mismatch {
            expected: 20,
            given: 19,
            ..
        })
    ));
    let wide = LabelEmbeddingParams {
        rank: Some(Rank::Exact(6)),
        ..small()
    };
    assert!(matches!(attempt(&wide, &x, &y), LinearError::Projection(_)));
    let none = (Array2::zeros((0, 4)), Array2::zeros((0, 5)));
    assert!(matches!(
        attempt(&small(), &none.0, &none.1),
        LinearError::TooFew(_)
    ));
    let unlabelled = Array2::zeros((20, 0));
    assert!(matches!(
        attempt(&small(), &x, &unlabelled),
        LinearError::TooFew(_)
    ));
    let model = fit(&small(), &x, &y);
    let narrow = x.slice(s![.., ..3]).to_owned();
    assert!(matches!(
        model.predict((&narrow).into()),
        Err(LinearError::Mismatch(Mismatch {
            expected: 4,
            given: 3,
            ..
        }))
    ));
    assert!(matches!(
        model.predict_with_limit((&x).into(), 20 * 5 * 4 - 1),
        Err(LinearError::Predictions(_))
    ));
    let by_columns = csr(&x).to_csc();
    assert_eq!(
        model.predict(MatrixView::Sparse(by_columns.view())),
        Err(LinearError::NotCsr(rpo_core::NotCsr { what: "features" }))
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Only the penalty of line 11 changes W: by the ratio, where both problems are the same.
    #[test]
    fn the_last_penalty_is_the_ratio_of_the_first(seed in 0_u64..100, ratio in 0.1..10.0) {
        let x = features(40, 5, 1.0, seed);
        let y = labels(&x, 5, seed + 1);
        let random = |lambda, ratio| LabelEmbeddingParams {
            mode: EmbeddingMode::Cs,
            rank: Some(Rank::Exact(3)),
            embedding_lambda: Some(Penalty::Relative(lambda)),
            final_lambda_ratio: ratio,
            ..small()
        };
        let a = fit(&random(0.1, Some(ratio)), &x, &y);
        let b = fit(&random(0.1 * ratio, None), &x, &y);
        prop_assert_eq!(a, b);
    }
}
