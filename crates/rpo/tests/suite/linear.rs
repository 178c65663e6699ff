//! Label embeddings and linear models through this crate: files and decisions.

use ndarray::Array2;
use proptest::prelude::*;
use rpo::Predictor;
use rpo::core::store::StoreError;
use rpo::core::{Learner, Matrix, MatrixView, Seed, is_probability};
use rpo::data::{Dataset, Layout, Task};
use rpo::linear::{
    EmbeddingMode, LabelEmbeddingParams, LabelTreeParams, LinearError, LinkLoss, LogisticRegressionParams,
    OneVsRestParams, Prevalence, RidgeParams, f1_decisions,
};
use rpo::metrics::MetricError;
use rpo::model_file::ModelFileErrorKind;
use rpo::projections::{Rank, SpectralLaw};
use rpo::{Decision, Estimator, FitContext, Method, Model, ModelError, Predict};

/// Sixty samples of five features, with labels that depend on all of them, or with numbers.
fn data(task: Task) -> Dataset {
    let unit =
        |i: usize, j: usize| (Seed::new(3).child(i as u64).hash(j as u64) >> 40) as f32 / (1 << 24) as f32;
    let x = Array2::from_shape_fn((60, 5), |(i, j)| unit(i, j) - 0.5);
    let y = Array2::from_shape_fn((60, 4), |(i, j)| match task {
        Task::MultiLabel => f32::from(unit(i, j) + unit(i, j + 7) < 0.6),
        Task::Regression => unit(i, j) * 10.0 - 3.0,
    });
    Dataset::new(x.into(), y.into(), task).unwrap()
}

/// Models with every layout that a model file can have.
fn models(data: &Dataset) -> Vec<Model> {
    let (x, y) = (data.features().view(), data.outputs().view());
    let losses = if data.task() == Task::MultiLabel {
        vec![LinkLoss::Squared, LinkLoss::Logistic]
    } else {
        vec![LinkLoss::Squared]
    };
    let mut models = vec![model(Learner::fit(&RidgeParams::default(), x, y), data)];
    if data.task() == Task::MultiLabel {
        models.push(model(
            Learner::fit(&LogisticRegressionParams::default(), x, y),
            data,
        ));
        models.push(model(Learner::fit(&OneVsRestParams::default(), x, y), data));
        let small = LabelTreeParams {
            leaf_labels: 2,
            ..LabelTreeParams::default()
        };
        models.push(model(Learner::fit(&small, x, y), data));
    }
    for (mode, rank, kernel) in [
        (
            EmbeddingMode::Full,
            Some(Rank::Exact(2)),
            Some(SpectralLaw::CauchyIid),
        ),
        (EmbeddingMode::Linear, Some(Rank::Exact(2)), None),
        (EmbeddingMode::Kernel, None, Some(SpectralLaw::CauchyIid)),
    ] {
        for &link_loss in &losses {
            let params = LabelEmbeddingParams {
                mode,
                rank,
                kernel,
                features: kernel.map(|_| 7),
                link_loss,
                ..LabelEmbeddingParams::default()
            };
            models.push(model(Learner::fit(&params, x, y), data));
        }
    }
    models
}

fn model<P: Predict, E: std::fmt::Debug>(fitted: Result<P, E>, data: &Dataset) -> Model {
    Model::new(fitted.unwrap(), data).unwrap()
}

fn bits(scores: &Array2<f32>) -> Vec<u32> {
    scores.iter().map(|v| v.to_bits()).collect()
}

#[test]
fn saved_and_loaded_is_the_same_model() {
    for task in [Task::MultiLabel, Task::Regression] {
        let data = data(task);
        let x = MatrixView::from(data.features());
        for (i, mut model) in models(&data).into_iter().enumerate() {
            let decision = [Decision::Threshold, Decision::ExpectedF1][i % 2];
            model.decision = decision;
            let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
            assert_eq!(loaded, model);
            assert_eq!(loaded.decision, decision);
            assert_eq!(
                bits(&loaded.predict(x).unwrap()),
                bits(&model.predict(x).unwrap())
            );
            assert_eq!(loaded.predict_top_k(x, 2), model.predict_top_k(x, 2));
            assert_eq!((loaded.n_features(), loaded.n_outputs()), (5, 4));
            assert!(loaded.oob_predictions(x).unwrap().is_none());
        }
    }
}

#[test]
fn labels_are_decided_by_the_rule_of_the_model() {
    let data = data(Task::MultiLabel);
    let x = MatrixView::from(data.features());
    let counts: Vec<f64> = (0..4)
        .map(|j| {
            data.outputs()
                .view()
                .to_dense(usize::MAX)
                .unwrap()
                .column(j)
                .sum()
                .into()
        })
        .collect();
    let shares: Vec<f64> = counts.iter().map(|c| c / 60.0).collect();
    let (mut n_decided, mut n_refused) = (0, 0);
    for model in models(&data) {
        let scores = model.predict(x).unwrap();
        let half = model.decide(scores.view()).unwrap();
        for ((i, j), score) in scores.indexed_iter() {
            assert_eq!(half.get(i, j).is_some(), *score >= 0.5);
        }
        let mut model = model.with_thresholds(Some(vec![0.1, 0.2, 0.9, 2.0])).unwrap();
        let own = model.decide(scores.view()).unwrap();
        assert!((0..60).all(|i| own.get(i, 0).is_some() == (f64::from(scores[[i, 0]]) >= 0.1)));
        model.decision = Decision::ExpectedF1;
        let decided = model.decide(scores.view());
        if scores.iter().all(|score| is_probability(f64::from(*score))) {
            let expected = f1_decisions(scores.view(), Prevalence::Given(&shares));
            assert_eq!(decided.unwrap(), expected.unwrap());
            n_decided += 1;
        } else {
            // Refused, as by the metrics of probabilities.
            let refused = decided.unwrap_err();
            assert!(
                matches!(refused, ModelError::Metric(MetricError::NotAProbability { .. })),
                "{refused}"
            );
            n_refused += 1;
        }
    }
    assert!(n_decided > 2 && n_refused > 1, "{n_decided} {n_refused}");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let regression = models(&data(Task::Regression)).remove(0);
    let scores = Array2::zeros((1, 4));
    assert!(matches!(
        regression.decide(scores.view()),
        Err(ModelError::MetricForLabels { .. })
    ));
    let labels = data(Task::MultiLabel);
    let mut models = models(&labels);
    let (a, b) = (models.remove(0), models.remove(0));
    assert!(matches!(a.clone().merge(b), Err(ModelError::Merge(_))));
    let mut other = a.clone();
    other.decision = Decision::ExpectedF1;
    assert!(matches!(a.clone().merge(other), Err(ModelError::Merge(_))));
    let narrow = Array2::<f32>::zeros((3, 4));
    for model in &models {
        assert!(matches!(
            model.predict((&narrow).into()),
            Err(ModelError::Linear(_))
        ));
        assert!(matches!(
            model.predict_top_k(labels.features().into(), 0),
            Err(ModelError::Linear(_))
        ));
    }
}

#[test]
fn files_without_what_they_need_say_so() {
    let data = data(Task::MultiLabel);
    for model in models(&data) {
        let bytes = model.to_bytes().unwrap();
        let changed = |from: &str, to: &str| {
            assert_eq!(from.len(), to.len());
            let mut bytes = bytes.clone();
            let at = bytes.windows(from.len()).position(|w| w == from.as_bytes())?;
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
            bytes[48..56].copy_from_slice(b"00000000");
            let sum = format!("{:08x}", crc32fast::hash(&bytes));
            bytes[48..56].copy_from_slice(sum.as_bytes());
            Some(Model::from_bytes(&bytes).unwrap_err().kind)
        };
        for name in [
            "link.offset",
            "link.phase",
            "link.weight",
            "linear.weight",
            "linear.offset",
            "weight.column",
            "weight.value",
            "node.size",
            "weight.classifier",
        ] {
            let other = name.replace('.', "-");
            let found = changed(&format!("{name}\":"), &format!("{other}\":"));
            let is_named = |kind: &ModelFileErrorKind| {
                let ModelFileErrorKind::Store(problem) = kind else {
                    return false;
                };
                matches!(problem, StoreError::Array { .. } | StoreError::Part { .. })
            };
            assert!(found.as_ref().is_none_or(is_named), "{found:?}");
        }
        let fields = ["inverse_link", "normalize"];
        let found = fields.iter().find_map(|field| {
            let other = field.replace('n', "m");
            changed(&format!("{{\\\"{field}\\\""), &format!("{{\\\"{other}\\\""))
                .or_else(|| changed(&format!(",\\\"{field}\\\""), &format!(",\\\"{other}\\\"")))
        });
        assert!(
            matches!(found, Some(ModelFileErrorKind::Store(StoreError::Field { .. }))),
            "{found:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever the arrays contain, loading ends in an error or in a model that predicts, or says
    /// which score its weights take beyond the range of `f32`.
    #[test]
    fn damaged_files_end_in_an_error_or_a_usable_model(
        which in any::<prop::sample::Index>(), places in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let data = data(Task::MultiLabel);
        let models = models(&data);
        let mut bytes = models[which.index(models.len())].to_bytes().unwrap();
        for (place, value) in places {
            let at = 56 + place.index(bytes.len() - 56);
            bytes[at] = value;
        }
        bytes[48..56].copy_from_slice(b"00000000");
        let sum = format!("{:08x}", crc32fast::hash(&bytes));
        bytes[48..56].copy_from_slice(sum.as_bytes());
        if let Ok(model) = Model::from_bytes(&bytes) {
            match model.predict(data.features().into()) {
                Ok(scores) => prop_assert_eq!(scores.dim(), (60, 4)),
                Err(ModelError::Linear(LinearError::Score { value, .. })) => prop_assert!(!value.is_finite()),
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }
}

#[test]
fn one_vs_rest_standardizes_features_that_are_mostly_not_zero() {
    let dense = data(Task::MultiLabel);
    let mut wide = dense.features().view().to_dense(usize::MAX).unwrap();
    wide.column_mut(0).mapv_inplace(|v| v * 1e3 + 1e4);
    let with = |x: Matrix| {
        let outputs = dense.outputs().clone();
        Dataset::new(x, outputs, Task::MultiLabel).unwrap()
    };
    let rare = wide.mapv(|v| if v.to_bits() % 3 == 0 { v } else { 0.0 });
    let (wide, rare) = (with(wide.into()), with(rare.into()));
    for method in ["one-vs-rest", "label-tree"] {
        let scores = |options: &str, data: &Dataset| {
            let method: Method = format!("{method} {options}").parse().unwrap();
            let model = method.fit(data, &FitContext::default()).unwrap();
            model.predict(data.features().view()).unwrap()
        };
        let sparse = wide.clone().with_layout(Layout::Sparse, usize::MAX).unwrap();
        assert_eq!(scores("", &wide), scores("--standardize", &wide));
        assert_eq!(scores("", &wide), scores("", &sparse));
        assert_ne!(scores("", &wide), scores("--standardize false", &wide));
        assert_eq!(scores("", &rare), scores("--standardize false", &rare));
    }
}

/// A number that is mostly 0 would otherwise decide how strongly the indicators beside it are penalized.
#[test]
fn numbers_beside_indicators_are_standardized_by_default() {
    let all = data(Task::MultiLabel);
    let mut x = all.features().view().to_dense(usize::MAX).unwrap();
    for (i, mut row) in x.rows_mut().into_iter().enumerate() {
        row[0] = if i % 5 == 0 { 1e4 * row[1] } else { 0.0 };
        row[1] = (i % 9) as f32;
    }
    let values: Vec<String> = (0..9).map(|value| format!("v{value}")).collect();
    let numbers = Dataset::new(x.into(), all.outputs().clone(), Task::MultiLabel).unwrap();
    let categories = numbers.clone().with_nominal([(1, values.into())].into()).unwrap();
    for method in [
        "ridge",
        "logistic-regression",
        "label-embedding --rank 2",
        "one-vs-rest",
    ] {
        let scores = |options: &str| {
            let method: Method = format!("{method} {options}").parse().unwrap();
            let model = method.fit(&categories, &FitContext::default()).unwrap();
            model.predict(categories.features().view()).unwrap()
        };
        assert_eq!(scores(""), scores("--standardize"), "{method}");
        assert_ne!(scores(""), scores("--standardize false"), "{method}");
    }
    let codes = |options: &str| {
        let method: Method = format!("ridge --nominal codes {options}").parse().unwrap();
        let model = method.fit(&categories, &FitContext::default()).unwrap();
        model.predict(categories.features().view()).unwrap()
    };
    assert_eq!(codes(""), codes("--standardize false"));
}
