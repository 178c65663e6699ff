//! The best labels by score / propensity, compared with a plain sort of all quotients.

#![allow(
    clippy::disallowed_methods,
    reason = "tests compare with the standard library"
)]

use rpo::core::{Propensity, csr_row};
use rpo::data::generate::MultiLabelSet;
use rpo::metrics::MetricError;
use rpo::prelude::*;

const PROPENSITY: Propensity = Propensity { a: 0.6, b: 2.6 };

fn sets() -> (Dataset, Dataset) {
    let data = MultiLabelSet::new(300, 40, 25).generate(Seed::new(3)).unwrap();
    data.split(0.3, Seed::new(4)).unwrap()
}

/// The labels of each sample with the largest quotients, best first, together with the quotients.
fn naive(model: &Model, test: &Dataset, k: usize) -> Vec<Vec<(u32, f32)>> {
    let counts = model.training().label_counts().unwrap();
    let n = model.training().n_samples as f64;
    let c = (n.ln() - 1.0) * (PROPENSITY.b + 1.0).powf(PROPENSITY.a);
    let scores = model.predict(test.features().view()).unwrap();
    let of_row = |row: ndarray::ArrayView1<'_, f32>| {
        let quotient = |(label, &score): (usize, &f32)| {
            let inverse = 1.0 + c * (counts[label] as f64 + PROPENSITY.b).powf(-PROPENSITY.a);
            (label as u32, (f64::from(score) * inverse) as f32)
        };
        let mut all: Vec<(u32, f32)> = row.iter().enumerate().map(quotient).collect();
        all.retain(|(_, value)| *value != 0.0);
        all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        all.truncate(k);
        all
    };
    scores.rows().into_iter().map(of_row).collect()
}

#[test]
fn the_best_are_those_of_all_quotients() {
    let (train, test) = sets();
    let model = Model::fit(&ForestParams::default(), &train).unwrap();
    let x = test.features().view();
    let mut moved = false;
    for k in [1, 3, 25, 40] {
        let found = model.predict_top_k_ranked(x, k, Some(PROPENSITY)).unwrap();
        let by_score = model.predict_top_k(x, k).unwrap();
        for (i, expected) in naive(&model, &test, k).iter().enumerate() {
            let view = found.view();
            let (labels, values) = csr_row(&view, i);
            let mut row: Vec<(u32, f32)> = labels.iter().copied().zip(values.iter().copied()).collect();
            row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            assert_eq!(row.len(), expected.len());
            for (found, expected) in row.iter().zip(expected) {
                assert_eq!(found.0, expected.0);
                assert!((found.1 / expected.1 - 1.0).abs() < 1e-6);
            }
            moved |= labels != csr_row(&by_score.view(), i).0;
        }
    }
    assert!(moved, "the ranking by score is another");
}

#[test]
fn metrics_are_of_the_best_by_quotients() {
    let (train, test) = sets();
    let model = Model::fit(&ForestParams::default(), &train).unwrap();
    let options = EvaluateOptions {
        propensity: PROPENSITY,
        rerank: Some(PROPENSITY),
        ..EvaluateOptions::default()
    };
    let k = 3;
    let truth = test.outputs().view().to_dense(usize::MAX).unwrap();
    let hits = |(i, best): (usize, &Vec<(u32, f32)>)| -> f32 {
        best.iter().map(|(label, _)| truth[[i, *label as usize]]).sum()
    };
    let hits: f32 = naive(&model, &test, k).iter().enumerate().map(hits).sum();
    let metrics = [Metric::PrecisionAt(k), Metric::PspAt(k)];
    let values = model.evaluate_with(&test, &metrics, options).unwrap().values;
    assert!((values[0] - f64::from(hits) / (k * test.n_samples()) as f64).abs() < 1e-9);
    let by_score = EvaluateOptions {
        rerank: None,
        ..options
    };
    let before = model.evaluate_with(&test, &metrics, by_score).unwrap().values;
    assert!(values[1] > before[1], "{values:?} beside {before:?}");

    let refused = model.evaluate_with(&test, &[Metric::PrecisionAt(1), Metric::Lrap], options);
    let metric = "lrap".to_owned();
    assert_eq!(refused, Err(ModelError::MetricNotOfBest { metric }));
}

#[test]
fn what_is_no_probability_or_no_label_is_refused() {
    let (train, test) = sets();
    let x = test.features().view();
    let ridge = Model::fit(&RidgeParams::default(), &train).unwrap();
    let refused = ridge.predict_top_k_ranked(x, 2, Some(PROPENSITY));
    assert!(matches!(
        refused,
        Err(ModelError::Metric(MetricError::NotAProbability { .. }))
    ));
    let numbers = Dataset::new(
        train.features().clone(),
        train.outputs().clone(),
        Task::Regression,
    )
    .unwrap();
    let model = Model::fit(&RidgeParams::default(), &numbers).unwrap();
    let metric = "ranking by propensity".to_owned();
    assert_eq!(
        model.predict_top_k_ranked(x, 2, Some(PROPENSITY)),
        Err(ModelError::MetricForLabels { metric })
    );
    let forest = Model::fit(&ForestParams::default(), &train).unwrap();
    for (k, a) in [(0, 0.5), (1, -1.0)] {
        let refused = forest.predict_top_k_ranked(x, k, Some(Propensity { a, b: 1.0 }));
        assert!(matches!(refused, Err(ModelError::Parameter(_))));
    }
}
