//! Models with several levels of each target, and with groups of labels.

use ndarray::{Array2, array};
use rpo::combine::CombineRule;
use rpo::data::Columns;
use rpo::prelude::*;
use rpo::{Model, ModelError};

/// Two outputs that are functions of three features.
fn numbers(n: usize) -> (Array2<f32>, Array2<f32>) {
    let x = Array2::from_shape_fn((n, 3), |(i, j)| ((i * (7 + 4 * j) + j) % 31) as f32);
    let y = Array2::from_shape_fn((n, 2), |(i, j)| x[[i, j]] + ((i * 13 + j) % 11) as f32);
    (x, y)
}

fn method(text: &str) -> Method {
    text.parse().unwrap()
}

const LEVELS: &str = "gbmort --loss quantile --quantile 0.25,0.75 --iterations 10";

#[test]
fn outputs_of_data_are_repeated_for_levels() {
    let (x, y) = numbers(60);
    let dense = Dataset::new(x.clone().into(), y.clone().into(), Task::Regression).unwrap();
    let stored = rpo::core::MatrixView::from(&y).to_csr();
    let sparse = Dataset::new(x.clone().into(), stored.into(), Task::Regression).unwrap();
    let model = Model::fit(&method(LEVELS), &dense).unwrap();
    let names: Vec<_> = model.schema().output_names.iter().collect();
    assert_eq!(names, ["0@0.25", "0@0.75", "1@0.25", "1@0.75"]);
    assert_eq!(model.schema().target_names().iter().len(), 2);
    let truth = y.select(ndarray::Axis(1), &[0, 0, 1, 1]);
    for data in [&dense, &sparse] {
        let aligned = model.schema().align_outputs(data).unwrap();
        let mut row = vec![0.0; 4];
        for i in 0..60 {
            aligned.view().copy_row(i, &mut row);
            assert_eq!(row, truth.row(i).to_vec());
        }
    }
    let predicted = model.predict((&x).into()).unwrap();
    // Only medians are meant to be close to the true values.
    assert!(model.evaluate(&dense, &[Metric::Mae]).unwrap()[0].is_nan());
    let with_median = LEVELS.replace("0.25,0.75", "0.25,0.5,0.75");
    let with_median = Model::fit(&method(&with_median), &dense).unwrap();
    let medians = with_median.predict((&x).into()).unwrap();
    let errors = y
        .indexed_iter()
        .map(|((i, j), y)| f64::from((medians[[i, 3 * j + 1]] - y).abs()));
    let expected = errors.sum::<f64>() / 120.0;
    let found = with_median.evaluate(&dense, &[Metric::Mae]).unwrap()[0];
    assert!((found - expected).abs() < 1e-5 * expected, "{found} {expected}");
    // The expected loss of the whole model is the mean of the quantile losses of each column at its own level.
    assert_eq!(model.quantile_levels(), [0.25, 0.75]);
    let losses = predicted.indexed_iter().map(|((i, j), &p)| {
        let (level, e) = (model.quantile_levels()[j % 2], f64::from(truth[[i, j]] - p));
        (level * e).max((level - 1.0) * e)
    });
    let expected = losses.sum::<f64>() / 240.0;
    let pinball = model.evaluate(&dense, &[Metric::Pinball]).unwrap()[0];
    assert!(
        (pinball - expected).abs() < 1e-5 * expected,
        "{pinball} {expected}"
    );
    let one = Model::fit(
        &method("gbmort --loss quantile --quantile 0.9 --iterations 3"),
        &dense,
    )
    .unwrap();
    assert_eq!(one.quantile_levels(), [0.9]);
    assert_eq!(one.default_metric(), Metric::Pinball);
    let names: Vec<_> = one.schema().output_names.iter().collect();
    assert_eq!(names, ["0", "1"]);
    // The record alone changes nothing, also not in a file.
    let mut unrecorded = one.clone();
    unrecorded.parameters.clear();
    let unrecorded = Model::from_bytes(&unrecorded.to_bytes().unwrap()).unwrap();
    let pinball = |model: &Model| model.evaluate(&dense, &[Metric::Pinball]).unwrap();
    assert_eq!(unrecorded.quantile_levels(), [0.9]);
    assert_eq!(pinball(&unrecorded), pinball(&one));
    let square = Model::fit(&method("gbmort --iterations 3"), &dense).unwrap();
    assert!(square.quantile_levels().is_empty());
    // A file stores targets and levels; columns in another order are found by name.
    let bytes = model.to_bytes().unwrap();
    let again = Model::from_bytes(&bytes).unwrap();
    assert_eq!(again, model);
    let named = |names: [&str; 2], data: Dataset| {
        data.with_names(Columns::Outputs, names.into_iter().collect())
            .unwrap()
    };
    let turned = named(["b", "a"], dense.select_outputs(&[0, 1]).unwrap());
    let straight = named(
        ["a", "b"],
        Dataset::new(
            x.into(),
            y.select(ndarray::Axis(1), &[1, 0]).into(),
            Task::Regression,
        )
        .unwrap(),
    );
    let model = Model::fit(&method(LEVELS), &turned).unwrap();
    assert_eq!(
        model.schema().align_outputs(&turned).unwrap(),
        model.schema().align_outputs(&straight).unwrap()
    );
    let folds = Folds {
        k: 3,
        ..Folds::default()
    };
    let found = rpo::cross_val_scores(&method(LEVELS), &dense, folds).unwrap();
    assert_eq!(found.scores.dim(), (60, 4));
    assert_eq!(found.output_names.iter().len(), 4);
}

#[test]
fn ensembles_refuse_members_of_levels() {
    let (x, y) = numbers(60);
    let data = Dataset::new(x.into(), y.into(), Task::Regression).unwrap();
    let blend = method("blend")
        .with("members", &format!("ridge; {LEVELS}"))
        .unwrap();
    let error = Model::fit(&blend, &data).unwrap_err();
    assert!(matches!(error, ModelError::MemberOfLevels), "{error}");
}

/// Greedy selection by the pinball loss, with every loss recomputed.
#[test]
fn quantiles_are_combined_by_their_loss() {
    let (x, y) = numbers(120);
    let y = y.select(ndarray::Axis(1), &[0]);
    let data = Dataset::new(x.into(), y.into(), Task::Regression).unwrap();
    let (train, withheld) = data.split(0.4, Seed::new(1)).unwrap();
    let fit = |rest: &str| {
        let text = format!("gbmort --loss quantile --quantile 0.9 {rest}");
        Model::fit(&method(&text), &train).unwrap()
    };
    let models = [
        fit("--iterations 3"),
        fit("--iterations 40 --max-leaves 3"),
        fit("--iterations 40 --learning-rate 0.3"),
    ];
    let combine = |weights: &[f64]| {
        let members = models.iter().cloned().zip(weights.iter().copied());
        Model::combine(members.filter(|(_, weight)| *weight > 0.0).collect()).unwrap()
    };
    let loss = |model: &Model| model.evaluate(&withheld, &[Metric::Pinball]).unwrap()[0];
    let mut counts = [0.0; 3];
    let mut best = f64::INFINITY;
    for _ in 0..50 {
        let with = |k: usize| {
            let mut counts = counts;
            counts[k] += 1.0;
            (loss(&combine(&counts)), counts)
        };
        let next = (0..3).map(with).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        counts = next.1;
        best = best.min(next.0);
    }
    let found = Model::combine_on(&models, CombineRule::Greedy, &withheld).unwrap();
    assert!(
        (loss(&found) - best).abs() < 1e-3 * best,
        "{} {best}",
        loss(&found)
    );
    assert_eq!(found.quantile_levels(), [0.9]);
    let again = Model::from_bytes(&found.to_bytes().unwrap()).unwrap();
    assert_eq!(again.quantile_levels(), [0.9]);
    let low = Model::fit(&method("gbmort --loss quantile --quantile 0.1"), &train).unwrap();
    assert_eq!(
        Model::combine(vec![(models[0].clone(), 1.0), (low, 1.0)]),
        Err(ModelError::CombineLevels {
            one: vec![0.9],
            other: vec![0.1]
        })
    );
}

#[test]
fn labels_beside_numbers_are_probabilities() {
    let (x, mut y) = numbers(80);
    y.column_mut(1).mapv_inplace(|v| f32::from(u8::from(v > 18.0)));
    let data = Dataset::new(x.clone().into(), y.into(), Task::Regression).unwrap();
    for name in ["single-target-gbrt", "gbmort", "gbrt-rpo", "gbrt-relabel-rpo"] {
        let model = Model::fit(&method(&format!("{name} --iterations 40")), &data).unwrap();
        let predicted = model.predict((&x).into()).unwrap();
        assert!(
            predicted.column(1).iter().all(|p| (0.0..=1.0).contains(p)),
            "{name}"
        );
        assert!(predicted.column(0).iter().any(|p| *p > 1.0), "{name}");
    }
    // With parameters that assume one unit, all outputs keep the square loss.
    let bounded = Model::fit(&method("gbmort --iterations 40 --min-child-weight 2"), &data).unwrap();
    let square = method("gbmort --iterations 40 --min-child-weight 2 --loss square");
    let square = Model::fit(&square, &data).unwrap();
    let of = |model: &Model| model.predict((&x).into()).unwrap();
    assert_eq!(of(&bounded), of(&square));
}

#[test]
fn one_label_of_a_group_is_decided_for() {
    let (x, _) = numbers(80);
    let y = Array2::from_shape_fn((80, 4), |(i, j)| {
        let which = if x[[i, 0]] < 10.0 {
            0
        } else {
            1 + usize::from(x[[i, 0]] > 20.0)
        };
        f32::from(u8::from(if j < 3 { which == j } else { x[[i, 1]] > 15.0 }))
    });
    let data = Dataset::new(x.into(), y.into(), Task::MultiLabel).unwrap();
    let losses = "gbmort --output-losses softmax,softmax,softmax,logistic --iterations 20";
    let model = Model::fit(&method(losses), &data).unwrap();
    assert_eq!(model.predictor().groups(), std::slice::from_ref(&(0..3)));
    // The largest of three, or the first of equal ones; a threshold of 0.5 for the label outside the group.
    let scores = array![[0.4, 0.3, 0.3, 0.5], [0.2, 0.4, 0.4, 0.49], [0.0, 0.0, 0.0, 1.0]];
    let decided = model.decide(scores.view()).unwrap().to_dense();
    assert_eq!(
        decided,
        array![[1.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]]
    );
    let nan = array![[f32::NAN, 0.3, 0.3, 0.5]];
    assert!(matches!(model.decide(nan.view()), Err(ModelError::Metric(_))));
    // Thresholds shift the decision, but one label is predicted.
    let shifted = model
        .clone()
        .with_thresholds(Some(vec![0.35, 0.35, 0.2, 0.35]))
        .unwrap();
    let decided = shifted.decide(scores.view()).unwrap().to_dense();
    assert_eq!(
        decided,
        array![[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0]]
    );
    // An ensemble has the groups that all members have.
    let combine = |other: Model| Model::combine(vec![(model.clone(), 1.0), (other, 1.0)]).unwrap();
    let alike = combine(model.clone());
    assert_eq!(alike.groups(), std::slice::from_ref(&(0..3)));
    assert_eq!(alike.decide(scores.view()), model.decide(scores.view()));
    let forest = Model::fit(&method("random-forest --trees 3"), &data).unwrap();
    assert!(combine(forest).groups().is_empty());
}
