//! Ensembles of arbitrary methods: predictions, files, and the selection of members.

use ndarray::Array2;
use rpo::Predictor;
use rpo::blend::BlendParams;
use rpo::combine::{CombineRule, Ensemble};
use rpo::core::{MatrixView, Seed, csr_row, top_of};
use rpo::data::generate::{Generator, MultiLabelSet};
use rpo::data::{Dataset, Task};
use rpo::{Estimator, Method, Model, ModelError, Predict};

fn texts() -> Dataset {
    MultiLabelSet::new(300, 60, 25).generate(Seed::new(4)).unwrap()
}

fn numbers() -> Dataset {
    let unit =
        |i: usize, j: usize| (Seed::new(3).child(i as u64).hash(j as u64) >> 40) as f32 / (1 << 24) as f32;
    let x = Array2::from_shape_fn((120, 4), |(i, j)| unit(i, j));
    let y = Array2::from_shape_fn((120, 3), |(i, j)| x[[i, j]] * 3.0 - x[[i, 3]] + 0.1 * unit(i, 9));
    Dataset::new(x.into(), y.into(), Task::Regression).unwrap()
}

fn fit(data: &Dataset, method: &str, options: &[(&str, &str)]) -> Model {
    let method = Method::named(method).unwrap();
    let method = options
        .iter()
        .fold(method, |method, (name, value)| method.with(name, value).unwrap());
    Model::fit(&method, data).unwrap()
}

/// Members of every kind: one with references to training samples, one with its own pipeline, and a sparse one.
fn members(data: &Dataset) -> Vec<(Model, f64)> {
    let trees = ("trees", "4");
    vec![
        (
            fit(
                data,
                "craftml",
                &[trees, ("feature-weights", "idf"), ("normalize", "l2")],
            ),
            2.0,
        ),
        (fit(data, "craftml", &[trees]), 1.0),
        (fit(data, "one-vs-rest", &[]), 0.5),
        (fit(data, "extra-trees", &[trees]), 1.5),
    ]
}

#[test]
fn predictions_are_the_weighted_mean() {
    let data = texts();
    let x = data.features().view();
    let members = members(&data);
    let mut expected = Array2::<f64>::zeros((300, 25));
    for (model, weight) in &members {
        expected = expected + model.predict(x).unwrap().mapv(|v| f64::from(v) * weight / 5.0);
    }
    let model = Model::combine(members).unwrap();
    let scores = model.predict(x).unwrap();
    assert!((scores.mapv(f64::from) - expected).iter().all(|v| v.abs() < 1e-6));
    let best = model.predict_top_k(x, 3).unwrap();
    let best = best.view();
    for (row, scores) in scores.rows().into_iter().enumerate() {
        let (labels, values) = csr_row(&best, row);
        let found: Vec<(u32, f32)> = labels.iter().copied().zip(values.iter().copied()).collect();
        assert_eq!(found, top_of(scores, 3));
    }
    assert!(model.predict_with_limit(x, 100).is_err());
}

#[test]
fn a_file_holds_every_member_and_the_training_set_once() {
    let data = texts();
    let model = Model::combine(members(&data)).unwrap();
    let bytes = model.to_bytes().unwrap();
    let loaded = Model::from_bytes(&bytes).unwrap();
    assert_eq!(loaded, model);
    assert_eq!(loaded.to_bytes().unwrap(), bytes);
    let x = data.features().view();
    assert_eq!(loaded.predict(x).unwrap(), model.predict(x).unwrap());
    let ensemble = loaded.predictor().downcast_ref::<Ensemble>().unwrap();
    let weights: Vec<f64> = ensemble.members().map(|(_, weight)| weight).collect();
    assert_eq!(weights, [2.0, 1.0, 0.5, 1.5]);
    let summary = Predict::summary(ensemble);
    assert_eq!(summary[0].1[0]["method"], "craftml");
    assert_eq!(summary[0].1[2]["weight"], 0.5);
    assert_eq!(
        (loaded.schema(), loaded.training()),
        (model.schema(), model.training())
    );
}

#[test]
fn what_cannot_be_combined_is_named() {
    let data = texts();
    let linear = || fit(&data, "one-vs-rest", &[]);
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = Model::combine(vec![(linear(), weight)]).unwrap_err();
        assert!(matches!(refused, ModelError::Parameter(e) if e.name() == "weights"));
    }
    assert!(matches!(Model::combine(vec![]), Err(ModelError::Parameter(_))));
    let part = data.select_samples(&(0..200).collect::<Vec<_>>()).unwrap();
    let other = fit(&part, "one-vs-rest", &[]);
    assert_eq!(
        Model::combine(vec![(linear(), 1.0), (other, 1.0)]),
        Err(ModelError::Combine {
            member: 1,
            difference: format!("200 samples in place of {}", data.n_samples()),
        })
    );
    let merged = Model::combine(vec![(linear(), 1.0)]).unwrap();
    // An ensemble cannot contain another.
    let nested = Model::combine(vec![(merged.clone(), 1.0), (linear(), 1.0)]).unwrap_err();
    assert!(
        nested.to_string().contains("an ensemble, as auto and blend make"),
        "{nested}"
    );
    assert!(matches!(merged.clone().merge(merged), Err(ModelError::Merge(_))));
    for (members, expected) in [
        ("", "at least one method"),
        ("craftml; nothing", "nothing"),
        ("craftml --tres 5", "tres"),
        ("craftml trees 5", "a method with options"),
        ("one-vs-rest --cost 0", "cost"),
        (
            "ridge; extra-trees --max-depth 5 --max-depth=6",
            "`max_depth` is given twice in \"extra-trees --max-depth 5 --max-depth=6\"",
        ),
        ("blend", "methods other than ensembles"),
        (
            "one-vs-rest --thresholds macro-f",
            "sets `thresholds`, `decide` or `intervals`, which the ensemble would ignore",
        ),
        (
            "one-vs-rest --decide f1",
            "sets `thresholds`, `decide` or `intervals`",
        ),
    ] {
        let params = BlendParams {
            members: Some(members.to_owned()),
            ..BlendParams::default()
        };
        let message = Estimator::check(&params).unwrap_err().to_string();
        assert!(message.contains(expected), "{members}: {message}");
    }
    for withheld in [0.0, 1.0, f64::NAN] {
        let params = BlendParams {
            withheld,
            ..BlendParams::default()
        };
        assert!(matches!(Estimator::check(&params), Err(ModelError::Parameter(e)) if e.name() == "withheld"));
    }
}

fn weights(model: &Model) -> Vec<(String, f64)> {
    let ensemble = model.predictor().downcast_ref::<Ensemble>().unwrap();
    let name = |model: &Model| model.parameters["method"].as_str().unwrap().to_owned();
    ensemble
        .members()
        .map(|(model, weight)| (name(model), weight))
        .collect()
}

#[test]
fn members_that_do_not_help_are_left_out() {
    let data = texts();
    let params = BlendParams {
        members: Some(
            "baseline; one-vs-rest --cost=0.5; craftml --trees 10; one-vs-rest --prune 1000".into(),
        ),
        combine: Some(CombineRule::Greedy),
        ..BlendParams::default()
    };
    let model = Model::fit(&params, &data).unwrap();
    let selected = weights(&model);
    assert!(
        selected.iter().any(|(name, _)| name == "one-vs-rest"),
        "{selected:?}"
    );
    assert!(
        selected.len() < 4 && selected.iter().all(|(_, weight)| *weight > 0.0),
        "{selected:?}"
    );
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    assert_eq!(pool.install(|| Model::fit(&params, &data)).unwrap(), model);
    let equal = BlendParams {
        combine: Some(CombineRule::Mean),
        ..params
    };
    assert_eq!(weights(&Model::fit(&equal, &data).unwrap()).len(), 4);
}

#[test]
fn numbers_are_averaged_too() {
    let data = numbers();
    let members = Some("baseline; ridge --lambda 1e-6; extra-trees --trees 10".to_owned());
    let model = Model::fit(
        &BlendParams {
            members,
            ..BlendParams::default()
        },
        &data,
    )
    .unwrap();
    // The outputs are linear, so ridge gets most of the weight.
    let selected = weights(&model);
    let of_ridge: f64 = selected
        .iter()
        .filter(|(name, _)| name == "ridge")
        .map(|(_, w)| w)
        .sum();
    let all: f64 = selected.iter().map(|(_, w)| w).sum();
    assert!(of_ridge / all > 0.9, "{selected:?}");
    let scores = model.predict(data.features().view()).unwrap();
    let truth = MatrixView::from(data.outputs()).to_dense(usize::MAX).unwrap();
    assert!((scores - truth).iter().all(|v| v.abs() < 0.3));
}

#[test]
fn numbers_stay_in_the_range_of_training_by_every_rule() {
    let data = numbers();
    let outputs = MatrixView::from(data.outputs()).to_dense(usize::MAX).unwrap();
    let largest = outputs.iter().fold(f32::MIN, |a, b| a.max(*b));
    let far = data.features().view().to_dense(usize::MAX).unwrap() * 1000.0;
    for combine in [CombineRule::Mean, CombineRule::Greedy] {
        let params = BlendParams {
            members: Some("ridge; ridge --lambda 1e-6".into()),
            combine: Some(combine),
            ..BlendParams::default()
        };
        let predicted = Model::fit(&params, &data)
            .unwrap()
            .predict((&far).into())
            .unwrap();
        assert!(predicted.iter().all(|v| *v <= largest), "{combine}");
    }
}

#[test]
fn a_blend_is_a_method_like_any_other() {
    let data = texts();
    let method = Method::named("blend").unwrap();
    let method = method.with("members", "one-vs-rest; craftml --trees 5").unwrap();
    let model = Model::fit(&method.clone().with("thresholds", "rate").unwrap(), &data).unwrap();
    assert!(model.thresholds().is_some());
    let again = Method::try_from(&model.parameters).unwrap();
    assert_eq!(Model::fit(&again, &data).unwrap(), model);
    // A member may explicitly have no thresholds.
    let plain = "structured-forest --trees 2 --thresholds none; one-vs-rest";
    assert!(method.clone().with("members", plain).unwrap().check().is_ok());
    // Members prepare features, each in its own way.
    assert!(method.with("standardize", "true").is_err());
}

#[test]
fn default_members_suit_the_outputs() {
    let model = Model::fit(&BlendParams::default(), &numbers()).unwrap();
    assert!(weights(&model).iter().any(|(name, _)| name == "gbmort"));
}

#[test]
fn data_that_a_member_cannot_use_are_refused_with_its_name() {
    let method = Method::named("blend").unwrap();
    let method = method.with("members", "extra-trees; one-vs-rest").unwrap();
    let refused = Model::fit(&method, &numbers()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "blend cannot fit one of its `members`: one-vs-rest is for labels: the outputs are numbers"
    );
}

#[test]
fn members_decide_whether_outputs_may_be_missing() {
    let (n, missing) = (200, |i: usize, j: usize| (i + j).is_multiple_of(4));
    let x = ndarray::Array2::from_shape_fn((n, 2), |(i, j)| ((i * (3 + j)) % 17) as f32);
    for task in [Task::Regression, Task::MultiLabel] {
        let y = ndarray::Array2::from_shape_fn((n, 2), |(i, j)| match (missing(i, j), task) {
            (true, _) => f32::NAN,
            (_, Task::Regression) => x[[i, j]] + x[[i, 0]],
            (_, Task::MultiLabel) => f32::from(u8::from(x[[i, j]] > 8.0)),
        });
        let data = Dataset::with_missing(x.clone().into(), y.into(), task).unwrap();
        let blend = |members: &str| {
            let members = Some(members.to_owned());
            Model::fit(
                &BlendParams {
                    members,
                    ..BlendParams::default()
                },
                &data,
            )
        };
        let model = blend("random-forest --trees 10; extra-trees --trees 10").unwrap();
        let scores = model.predict(data.features().view()).unwrap();
        let score = model.evaluate(&data, &[model.default_metric()]).unwrap()[0];
        assert!(
            score > 0.9 && scores.iter().all(|score| score.is_finite()),
            "{task:?}: {score}"
        );
        let embedding = "label-embedding --link-loss squared";
        let refused = blend(&format!("{embedding}; extra-trees"))
            .unwrap_err()
            .to_string();
        assert!(
            refused.contains("label-embedding does not take missing outputs"),
            "{refused}"
        );
    }
}

/// Contributions and bases add up to the predictions of means and stacks of numbers.
#[test]
fn contributions_are_sums_of_those_of_members() {
    let x = Array2::from_shape_fn((120, 3), |(i, j)| ((i * (7 + 4 * j)) % 29) as f32);
    let y = Array2::from_shape_fn((120, 2), |(i, j)| {
        x[[i, j]] * 2.0 - x[[i, 2]] + (i * 5 % 7) as f32
    });
    let data = Dataset::new(x.into(), y.into(), Task::Regression).unwrap();
    let (train, withheld) = data.split(0.4, Seed::new(1)).unwrap();
    let members = ["extra-trees", "ridge", "gbmort"].map(|name| fit(&train, name, &[]));
    let mean = members.clone().into_iter().zip([1.0, 2.0, 0.5]).collect();
    let models = [
        Model::combine(mean).unwrap(),
        Model::combine_on(&members, CombineRule::Stack, &withheld).unwrap(),
    ];
    let (x, outputs) = (withheld.features().view(), [&[1, 0][..]; 48]);
    for model in models {
        let predicted = model.predict(x).unwrap();
        let found = model.contributions(x, &outputs, train.features().view()).unwrap();
        let rows = found.values.outer_iterator().enumerate();
        for (line, row) in rows {
            let (sample, output) = (line / 2, 1 - line % 2);
            let score = found.base[output] + row.iter().map(|(_, &v)| f64::from(v)).sum::<f64>();
            let prediction = f64::from(predicted[[sample, output]]);
            assert!((score - prediction).abs() < 1e-3, "{score} {prediction}");
        }
    }
}

/// Log-odds and probabilities have no sum.
#[test]
fn members_with_other_scores_than_predictions_are_not_explained() {
    let data = texts();
    let forest = fit(&data, "extra-trees", &[("trees", "3")]);
    let forests = Model::combine(vec![(forest.clone(), 1.0), (forest.clone(), 1.0)]).unwrap();
    let x = data.features().view();
    let outputs = vec![&[0][..]; data.n_samples()];
    let found = forests.contributions(x, &outputs, x).unwrap();
    assert_eq!(found.base, forest.contributions(x, &outputs, x).unwrap().base);
    let linear = fit(&data, "one-vs-rest", &[]);
    let alone = Model::combine(vec![(linear.clone(), 1.0)]).unwrap();
    let of_linear = linear.contributions(x, &outputs, x);
    assert_eq!(alone.contributions(x, &outputs, x), of_linear);
    let mixed = Model::combine(vec![(forest, 1.0), (linear, 1.0)]).unwrap();
    let refused = mixed.contributions(x, &outputs, x).unwrap_err();
    assert_eq!(refused, ModelError::Unexplained { kind: "ensemble" });
}
