//! Algorithm 2, the conceptual procedure, as an oracle for Algorithm 3.

use crate::common::{features, labels};
use ndarray::{Array1, Array2, s};
use rpo_core::{CsrMatrix, Learner, Matrix, MatrixView, Predictor};
use rpo_linear::{
    EmbeddingMode, LabelEmbeddingParams, LinearModel, LinkLoss, LogisticRegressionParams, Penalty, Rank,
    RidgeParams,
};

const LAMBDA: f64 = 1e-3;

/// A kernel machine with the squared loss.
fn kernel(features: usize) -> LabelEmbeddingParams {
    LabelEmbeddingParams {
        mode: EmbeddingMode::Kernel,
        features: Some(features),
        bandwidth: Some(0.7),
        link_loss: LinkLoss::Squared,
        ..LabelEmbeddingParams::default()
    }
}

/// With k = d, z is a rotation of the least squares activations A = XB: distances, hence the bandwidth and the kernel,
/// are those of A. With many random features both procedures give the same predictions.
#[test]
fn all_dimensions_give_the_two_stage_procedure() {
    let x = features(120, 6, 1.0, 1);
    let y = labels(&x, 5, 2);
    let (x, y) = (MatrixView::from(&x), MatrixView::from(&y));
    let activations = RidgeParams {
        lambda: Some(Penalty::Relative(LAMBDA)),
    };
    let a = activations.fit(x, y).unwrap().predict(x).unwrap();

    let second = LabelEmbeddingParams {
        lambda: Penalty::Relative(1e-2),
        ..kernel(1500)
    };
    let expected = second.fit((&a).into(), y).unwrap().predict((&a).into()).unwrap();
    let full = LabelEmbeddingParams {
        mode: EmbeddingMode::Full,
        rank: Some(Rank::Exact(5)),
        embedding_lambda: Some(Penalty::Relative(LAMBDA)),
        ..second
    };
    let found = full.fit(x, y).unwrap().predict(x).unwrap();
    let spread = |p: &Array2<f32>| (p - &expected).mapv(f32::abs).mean().unwrap();
    assert!(spread(&found) < 0.02, "{}", spread(&found));
    // Far closer than the linear activations.
    assert!(
        spread(&found) < 0.25 * spread(&a),
        "{} {}",
        spread(&found),
        spread(&a)
    );
}

/// The link on top of the k best scores of a model, in sparse form.
#[test]
fn sparse_scores_are_as_good_as_dense_ones() {
    let x = features(150, 8, 1.0, 3);
    let y = labels(&x, 10, 4);
    let (x, y) = (MatrixView::from(&x), MatrixView::from(&y));
    let model = LogisticRegressionParams::default().fit(x, y).unwrap();
    let top: CsrMatrix = model.predict_top_k(x, 10).unwrap();
    let scores = model.predict(x).unwrap();
    let params = kernel(50);
    let sparse = Matrix::from(top);
    let a = params.fit(sparse.view(), y).unwrap();
    let b = params.fit((&scores).into(), y).unwrap();
    let (a, b) = (
        a.predict(sparse.view()).unwrap(),
        b.predict((&scores).into()).unwrap(),
    );
    assert!((a - b).iter().all(|v| v.abs() < 1e-3));
}

/// The baselines minimise their objectives: gradients vanish.
#[test]
fn baselines_are_stationary() {
    let x = features(80, 5, 0.7, 5);
    let y = labels(&x, 20, 6);
    let (view, truth) = (MatrixView::from(&x), MatrixView::from(&y));
    let squares: f64 = x.iter().map(|v| f64::from(*v).powi(2)).sum();
    let penalty = 0.05 * squares / 5.0;
    let ridge = RidgeParams {
        lambda: Some(Penalty::Relative(0.05)),
    };
    let logistic = LogisticRegressionParams {
        lambda: Penalty::Relative(0.05),
        tolerance: 1e-6,
        ..LogisticRegressionParams::default()
    };
    let fitted = [
        ridge.fit(view, truth).unwrap(),
        logistic.fit(view, truth).unwrap(),
    ];
    for (model, is_logistic) in fitted.into_iter().zip([false, true]) {
        let weights = model.weights().to_dense(usize::MAX).unwrap().mapv(f64::from);
        let residual = (model.predict(view).unwrap() - &y).mapv(f64::from);
        let gradient = x.mapv(f64::from).t().dot(&residual) + weights * penalty;
        let offset: Array1<f64> = residual.sum_axis(ndarray::Axis(0));
        for j in 0..20 {
            // A label that no sample or every sample has has no finite optimum without a penalty on the intercept; its
            // log-odds count half a sample.
            let constant = is_logistic && (j == 0 || j == 19);
            let limit = if constant { 0.5 } else { 2e-4 };
            assert!(
                gradient.column(j).iter().all(|g| g.abs() < limit) && offset[j].abs() < limit,
                "{j}: {offset}"
            );
        }
        let scores = model.predict(view).unwrap();
        assert!(scores.column(0).iter().all(|v| *v < 0.1) && scores.column(19).iter().all(|v| *v > 0.9));
        let sparse = crate::common::csr(&x);
        assert_eq!(model.predict(MatrixView::Sparse(sparse.view())).unwrap(), scores);
        assert_eq!(
            model.predict_top_k(view, 20).unwrap().nnz(),
            scores
                .rows()
                .into_iter()
                .map(|row| rpo_core::best_of(row, 20).len())
                .sum::<usize>()
        );
    }
}

/// Outputs are solved in panels, from either layout: each as if it were alone, whatever its position.
#[test]
fn baselines_learn_every_output_by_itself() {
    let x = features(60, 5, 0.7, 7);
    let y = labels(&x, 37, 8);
    let fit = |y: MatrixView<'_>| {
        let x = MatrixView::from(&x);
        let lambda = Some(Penalty::Variance(0.3));
        let ridge = RidgeParams { lambda }.fit(x, y).unwrap();
        [ridge, LogisticRegressionParams::default().fit(x, y).unwrap()]
    };
    let together = fit(MatrixView::from(&y));
    let csr = crate::common::csr(&y);
    assert_eq!(fit(MatrixView::Sparse(csr.view())), together);
    for j in [0, 15, 16, 36] {
        let alone = fit(MatrixView::from(&y.slice(s![.., j..=j]).to_owned()));
        for (alone, together) in alone.iter().zip(&together) {
            let weights = |model: &LinearModel, j| {
                let weights = model.weights().to_dense(usize::MAX).unwrap();
                weights.column(j).to_vec()
            };
            assert_eq!(weights(alone, 0), weights(together, j));
            assert_eq!(alone.intercepts()[0], together.intercepts()[j]);
        }
    }
}

/// The cost per output does not grow with the number of outputs: if it did, this would take minutes.
#[test]
fn least_squares_of_very_many_outputs() {
    let d = 200_000;
    let x = features(4, 2, 1.0, 3);
    let y = CsrMatrix::new(
        (4, d),
        vec![0, 1, 2, 3, 4],
        vec![0, 17, 99_999, d as u32 - 1],
        vec![1.0; 4],
    );
    let model = RidgeParams::default()
        .fit(MatrixView::from(&x), MatrixView::Sparse(y.view()))
        .unwrap();
    assert_eq!(model.n_outputs(), d);
    let means = [(0, 0.25), (1, 0.0), (17, 0.25), (99_999, 0.25), (d - 1, 0.25)];
    let predicted = model.predict(MatrixView::from(&x)).unwrap();
    for (j, mean) in means {
        assert!((predicted.column(j).mean().unwrap() - mean).abs() < 1e-5, "{j}");
    }
}

#[test]
fn baselines_do_not_depend_on_threads_and_refuse_nonsense() {
    let x = features(60, 5, 0.7, 7);
    let y = labels(&x, 40, 8);
    let fit = || {
        let (x, y) = (MatrixView::from(&x), MatrixView::from(&y));
        let ridge = RidgeParams::default().fit(x, y).unwrap();
        (ridge, LogisticRegressionParams::default().fit(x, y).unwrap())
    };
    let one = crate::common::on_threads(1, fit);
    for threads in [2, 8] {
        assert_eq!(crate::common::on_threads(threads, fit), one);
    }
    let (x, y) = (MatrixView::from(&x), MatrixView::from(&y));
    let bad = [-1.0, f64::NAN, f64::INFINITY];
    for lambda in bad
        .into_iter()
        .flat_map(|v| [Penalty::Relative(v), Penalty::Variance(v)])
    {
        assert!(RidgeParams { lambda: Some(lambda) }.fit(x, y).is_err());
        assert!(
            LogisticRegressionParams {
                lambda,
                ..LogisticRegressionParams::default()
            }
            .fit(x, y)
            .is_err()
        );
    }
    for tolerance in [0.0, 1.0, f64::NAN] {
        assert!(
            LogisticRegressionParams {
                tolerance,
                ..LogisticRegressionParams::default()
            }
            .fit(x, y)
            .is_err()
        );
    }
    let max_steps = 0;
    assert!(
        LogisticRegressionParams {
            max_steps,
            ..LogisticRegressionParams::default()
        }
        .fit(x, y)
        .is_err()
    );
}
