//! Predictors of custom methods: what has a default, and what is checked of them.

use crate::common::echo;
use ndarray::{Array2, array};
use rpo::core::{CsrMatrix, Matrix, Propensity, top_of};
use rpo::data::{Dataset, Task};
use rpo::metrics::{Metric, MetricError};
use rpo::{
    Decision, EvaluateOptions, FitContext, Method, MethodEntry, Model, ModelError, Predictor, Registry,
};
use std::ops::ControlFlow;

/// Labels of which the first is frequent and the others are rare, with scores as features.
fn labels(scores: Array2<f32>) -> Dataset {
    let y = Array2::from_shape_fn(scores.raw_dim(), |(i, j)| f32::from(u8::from(j == 0 || i == j)));
    Dataset::new(scores.into(), y.into(), Task::MultiLabel).unwrap()
}

#[test]
fn the_best_labels_are_selected_from_blocks_of_samples() {
    let scores = Array2::from_shape_fn((50, 7), |(i, j)| ((i * 5 + j * 3) % 11) as f32 / 10.0);
    let data = labels(scores.clone());
    let model = Model::new(echo::Echo::of(&data), &data).unwrap();
    let best = model.predict_top_k(data.features().view(), 3).unwrap();
    let expected = scores.rows().into_iter().map(|row| top_of(row, 3));
    let expected: Vec<_> = expected.collect();
    assert_eq!(best, rpo::core::csr_of_rows(expected.iter(), (50, 7)));
    let calls = model.predictor().downcast_ref::<echo::Echo>().unwrap().calls();
    assert_eq!(calls, 1, "all samples fit into one block");
}

/// Within little memory, the best labels are predicted apart from the scores, for metrics that compare them.
#[test]
fn samples_are_predicted_twice_only_for_metrics_of_the_best_labels() {
    let data = labels(Array2::from_shape_fn((10, 3), |(i, j)| ((i * 5 + j) % 7) as f32));
    let small = EvaluateOptions {
        memory_limit: 1,
        ..EvaluateOptions::default()
    };
    let calls = |metrics: &[Metric]| {
        let model = Model::new(echo::Echo::of(&data), &data).unwrap();
        let found = model.evaluate_with(&data, metrics, small).unwrap().values;
        let calls = model.predictor().downcast_ref::<echo::Echo>().unwrap().calls();
        let expected = model.evaluate(&data, metrics).unwrap();
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12));
        calls
    };
    let n_blocks = data.n_samples();
    assert_eq!(calls(&[Metric::Lrap, Metric::Hamming]), n_blocks);
    assert!(calls(&[Metric::Lrap, Metric::PrecisionAt(1)]) > n_blocks);
}

/// Rounding leaves probabilities just below 0, which rank below labels without a score.
#[test]
fn ranking_by_propensity_stays_where_a_score_is_negative() {
    let mut scores = Array2::zeros((20, 4));
    for mut row in scores.rows_mut() {
        row.assign(&array![0.5, 0.4, -5e-7, 0.0]);
    }
    let data = labels(scores);
    let model = Model::new(echo::Echo::of(&data), &data).unwrap();
    let of = |rerank| {
        let options = EvaluateOptions {
            rerank,
            ..EvaluateOptions::default()
        };
        let metrics = [Metric::PrecisionAt(1), Metric::PrecisionAt(3)];
        let values = model.evaluate_with(&data, &metrics, options).unwrap().values;
        [20.0 * values[0], 60.0 * values[1]].map(f64::round)
    };
    // Every sample has label 0. One has label 1, which is best by propensity, and one label 3, which ranks third.
    assert_eq!(of(None), [20.0, 22.0]);
    assert_eq!(of(Some(Propensity::default())), [1.0, 22.0]);
}

#[test]
fn probabilities_have_one_tolerance() {
    let registry = Registry::standard().clone();
    let entry = MethodEntry::new("echo", "Predicts its features.", echo::EchoParams::default());
    let registry = registry.with(entry.model::<echo::Echo>("echo"));
    let fit = |largest: f32| {
        let mut scores = Array2::from_elem((10, 3), 0.25);
        scores[[4, 1]] = largest;
        let method: Method = registry.method("echo").unwrap();
        Model::fit(&method.with("decide", "f1").unwrap(), &labels(scores))
    };
    let model = fit(1.000_000_1).unwrap();
    assert_eq!(model.decision, Decision::ExpectedF1);
    let refused = fit(1.1).unwrap_err().to_string();
    assert!(refused.contains("needs probabilities"), "{refused}");
}

/// What is found for a model, here that its scores are probabilities, is found once for each checkpoint.
#[test]
fn the_model_of_the_last_checkpoint_is_that_of_the_fit() {
    let data = labels(Array2::from_elem((10, 3), 0.25));
    let registry = Registry::standard().clone();
    let entry = MethodEntry::new("echo", "Predicts its features.", echo::EchoParams::default());
    let registry = registry.with(entry.model::<echo::Echo>("echo"));
    let method = registry.method("echo").unwrap().with("decide", "f1").unwrap();
    let mut shown = Vec::new();
    let context = FitContext::default();
    let model = Model::fit_in_parts(&method, &data, &context, &[], &mut |_, model| {
        shown.push(model.clone());
        Ok(ControlFlow::Continue(()))
    });
    let model = model.unwrap();
    assert_eq!(shown, std::slice::from_ref(&model));
    let calls = model.predictor().downcast_ref::<echo::Echo>().unwrap().calls();
    assert_eq!(calls, 1);
}

#[test]
fn quantiles_are_a_matter_of_the_model_and_not_of_its_record() {
    let x = array![[1.0_f32], [2.0], [3.0], [4.0]];
    let data = Dataset::new(x.clone().into(), x.into(), Task::Regression).unwrap();
    let mut plain = Model::new(echo::Echo::of(&data), &data).unwrap();
    plain.parameters.insert("loss".to_owned(), "quantile".into());
    assert!(plain.quantile_levels().is_empty());
    assert_eq!(plain.default_metric(), Metric::R2);

    let of = |levels: &[f64]| Model::of_levels(echo::Echo::of(&data), &data, levels);
    let model = of(&[0.9]).unwrap();
    assert_eq!(model.quantile_levels(), [0.9]);
    assert_eq!(model.default_metric(), Metric::Pinball);
    let names: Vec<_> = model.schema().output_names.iter().collect();
    assert_eq!(names, ["0"]);
    for refused in [&[0.5, 0.1][..], &[0.5, 0.5], &[1.5]] {
        assert!(
            matches!(of(refused), Err(ModelError::Parameter(_))),
            "{refused:?}"
        );
    }
    assert!(
        matches!(of(&[0.1, 0.9]), Err(ModelError::Mismatch(_))),
        "one output for two levels"
    );
}

#[test]
fn only_finite_scores_of_labels_are_decided_on() {
    let data = labels(Array2::from_elem((6, 3), 0.5));
    let model = Model::new(echo::Echo::of(&data), &data).unwrap();
    for value in [f32::NAN, f32::INFINITY] {
        let refused = model.decide(array![[0.1, 0.7, 0.2], [0.1, value, 0.2]].view());
        let Err(ModelError::Metric(MetricError::NonFinite { sample, column, .. })) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!((sample, column), (1, 1));
    }
    let decided: CsrMatrix = model.decide(array![[0.1, 0.7, 0.5]].view()).unwrap();
    assert_eq!(
        Matrix::from(decided).view().to_dense(1 << 10).unwrap(),
        array![[0.0, 1.0, 1.0]]
    );
}
