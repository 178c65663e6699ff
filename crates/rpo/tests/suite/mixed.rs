//! Models of which some outputs are labels and others numbers.

use ndarray::{Array2, Axis};
use rpo::combine::{Candidate, CombineRule, Ensemble};
use rpo::core::{Matrix, Propensity, Seed};
use rpo::data::generate::{Generator, MultiLabelSet};
use rpo::data::read::{ReadOptions, Targets, read_from};
use rpo::data::{Dataset, Task};
use rpo::ensemble::EnsembleError;
use rpo::ensemble::thresholds::{ThresholdRule, find};
use rpo::linear::{Prevalence, f1_decisions};
use rpo::metrics::{Metric, Score};
use rpo::{Decision, EvaluateOptions, Method, Model, ModelError, Predictor, Registry};

/// Two labels around a number, which all depend on the features.
fn data(n: usize) -> Dataset {
    let x = Array2::from_shape_fn((n, 3), |(i, j)| ((i * (7 + 4 * j) + j) % 101) as f32);
    let y = Array2::from_shape_fn((n, 3), |(i, j)| match j {
        1 => 3.0 * x[[i, 1]] + x[[i, 0]],
        _ => f32::from(u8::from(x[[i, j]] + (i % 30) as f32 > 60.0)),
    });
    Dataset::new(x.into(), y.into(), Task::Regression).unwrap()
}

#[test]
fn labels_and_numbers_have_metrics_of_their_own() {
    let data = data(300);
    let method = Method::named("gbmort").unwrap().with("iterations", "20").unwrap();
    let model = Model::fit(&method, &data).unwrap();
    assert_eq!(model.labels(), [0, 2]);
    let metrics = [
        Metric::MacroAuc,
        Metric::LogLoss,
        Metric::Hamming,
        Metric::R2,
        Metric::Mae,
    ];
    let values = model.evaluate(&data, &metrics).unwrap();
    let by_output = model.evaluate_outputs(&data).unwrap();
    let mean = |measure: &str, outputs: &[usize]| {
        let column = by_output
            .measures
            .iter()
            .position(|name| *name == measure)
            .unwrap();
        let of_outputs = outputs.iter().map(|&j| by_output.values[j][column]);
        of_outputs.sum::<f64>() / outputs.len() as f64
    };
    let expected = [mean("auc", &[0, 2]), mean("log-loss", &[0, 2])];
    for (value, expected) in values.iter().zip(expected) {
        assert!((value - expected).abs() < 1e-12, "{values:?} {expected}");
    }
    assert!(values[0] > 0.8 && values[2] < 0.3, "{values:?}");
    assert!((values[3] - mean("r2", &[1])).abs() < 1e-12 && (values[4] - mean("mae", &[1])).abs() < 1e-9);
    assert!(mean("auc", &[1]).is_nan());
    let refused = model.evaluate(&data, &[Metric::PspAt(1)]).unwrap_err();
    assert!(
        matches!(refused, ModelError::MetricForLabelsAlone { metric } if metric == Metric::PspAt(1).name())
    );
    let Matrix::Dense(mut outputs) = data.outputs().clone() else {
        panic!("the outputs are dense")
    };
    outputs[[7, 2]] = 2.0;
    let wrong = Dataset::new(data.features().clone(), outputs.into(), Task::Regression).unwrap();
    let refused = model.evaluate(&wrong, &[Metric::Hamming]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the label \"2\" is 2 in sample 7 (from 0); labels are 0 or 1"
    );
    assert!(model.evaluate(&wrong, &[Metric::R2]).is_ok());
    // Forests predict numbers alone.
    let forest = Model::fit(&Method::named("extra-trees").unwrap(), &data).unwrap();
    assert!(forest.labels().is_empty());
    assert!(forest.evaluate(&data, &[Metric::MacroAuc]).is_err());
}

#[test]
fn combined_labels_beside_numbers_are_clamped() {
    let data = data(300);
    let fit = |text: &str| Model::fit(&text.parse::<Method>().unwrap(), &data).unwrap();
    let boosted = fit("gbmort --iterations 20");
    // A second model of the same columns, whose predictions of labels lie outside of 0 to 1.
    let other = fit("ridge");
    let x = data.features().view();
    let outside = |p: &Array2<f32>| p.column(0).iter().any(|p| !(0.0..=1.0).contains(p));
    let alone = other.predict(x).unwrap();
    assert!(outside(&alone));
    let combined = Model::combine(vec![(boosted.clone(), 1.0), (other, 1.0)]).unwrap();
    let found = combined.predict(x).unwrap();
    let first = boosted.predict(x).unwrap();
    for ((found, first), alone) in found.rows().into_iter().zip(first.rows()).zip(alone.rows()) {
        let mean = |j: usize, alone: f32| (found[j] - 0.5 * (first[j] + alone)).abs() < 1e-3;
        assert!(
            mean(0, alone[0].clamp(0.0, 1.0)) && mean(1, alone[1]),
            "{found} {first} {alone}"
        );
    }
}

#[test]
fn what_evaluation_cannot_respect_is_refused_for_labels_and_numbers() {
    let data = data(120);
    let method = Method::named("gbmort").unwrap().with("iterations", "5").unwrap();
    let model = Model::fit(&method, &data).unwrap();
    let reranked = EvaluateOptions {
        rerank: Some(Propensity::default()),
        ..EvaluateOptions::default()
    };
    let refused = model.evaluate_with(&data, &[Metric::PrecisionAt(1)], reranked);
    let metric = "ranking by propensity".to_owned();
    assert_eq!(refused, Err(ModelError::MetricForLabelsAlone { metric }));
    // The scores alone take 120 x 3 x 4 bytes; with copies of scores and outputs it is three times as much.
    for (memory_limit, is_enough) in [(2 * 1440, false), (3 * 1440, true)] {
        let options = EvaluateOptions {
            memory_limit,
            ..EvaluateOptions::default()
        };
        let evaluated = model.evaluate_with(&data, &[Metric::Mae], options);
        match is_enough {
            true => assert!(evaluated.is_ok(), "{evaluated:?}"),
            false => assert!(
                matches!(evaluated, Err(ModelError::MemoryLimit(_))),
                "{evaluated:?}"
            ),
        }
    }
}

/// The number is no probability, and no label.
#[test]
fn metrics_of_label_sets_follow_the_decision() {
    let data = data(300);
    let method = Method::named("gbmort").unwrap().with("iterations", "10").unwrap();
    let mut model = Model::fit(&method, &data).unwrap();
    let truth = data.outputs().view().to_dense(1 << 20).unwrap();
    let scores = model.predict(data.features().view()).unwrap();
    let mut found = Vec::new();
    for decision in [Decision::Threshold, Decision::ExpectedF1] {
        model.decision = decision;
        let decided = model.decide(scores.view()).unwrap().to_dense();
        let labels = [0, 2];
        let wrong = labels.map(|j| (0..300).filter(|&i| decided[[i, j]] != truth[[i, j]]).count());
        let expected = (wrong[0] + wrong[1]) as f64 / 600.0;
        assert!(decided.column(1).iter().all(|value| *value == 0.0));
        let value = model.evaluate(&data, &[Metric::Hamming]).unwrap()[0];
        assert!(
            (value - expected).abs() < 1e-12,
            "{decision:?}: {value} {expected}"
        );
        found.push(decided);
    }
    assert_ne!(found[0], found[1], "the rules differ");
    let means = model.training().output_means();
    let of_labels = scores.select(Axis(1), &[0, 2]);
    let expected = f1_decisions(of_labels.view(), Prevalence::Given(&[means[0], means[2]])).unwrap();
    assert_eq!(found[1].select(Axis(1), &[0, 2]), expected.to_dense());
}

/// Scores of training count the numbers alone, as evaluations do.
#[test]
fn scores_of_training_are_those_of_an_evaluation() {
    let data = table(240);
    let fit = |text: &str| Model::fit(&text.parse::<Method>().unwrap(), &data).unwrap();
    let forest = fit("random-forest --trees 30");
    assert_eq!(forest.labels(), [0, 1, 2, 3]);
    let score = forest.oob_score(&data, Metric::R2).unwrap();
    let (predicted, counts) = forest.oob_predictions(data.features().view()).unwrap().unwrap();
    assert_eq!((score.n_scored, score.n_samples), (240, 240));
    assert!(counts.iter().all(|count| *count > 0));
    let truth = data.outputs().view().to_dense(usize::MAX).unwrap();
    let (truth, predicted) = (truth.column(4), predicted.column(4));
    let mean = truth.mean().unwrap();
    let squares = |values: Vec<f32>| values.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>();
    let of_errors = squares(truth.iter().zip(predicted).map(|(y, f)| y - f).collect());
    let of_truth = squares(truth.iter().map(|y| y - mean).collect());
    assert!(
        (score.value - (1.0 - of_errors / of_truth)).abs() < 1e-6,
        "{score:?}"
    );
    // One label per group, that of the largest score.
    let accuracy = forest.oob_score(&data, Metric::SubsetAccuracy).unwrap();
    assert!(accuracy.value > 0.6, "{accuracy:?}");

    let selection = |model: &Model| {
        let ensemble = model
            .predictor()
            .downcast_ref::<rpo::combine::Ensemble>()
            .unwrap();
        ensemble.selection.clone().unwrap().score.unwrap()
    };
    // Labels follow from the features, so that a mean over all outputs would be above 0.6.
    let score = selection(&fit("auto --configurations 2"));
    assert!(score < 0.4, "{score}");
}

/// Steps are chosen by the labels as they are decided: one of each group.
#[test]
fn steps_are_chosen_by_decided_labels() {
    let data = table(240).select_outputs(&[0, 1, 2]).unwrap();
    for metric in ["subset-accuracy", "micro-f1", "hamming"] {
        let text = format!(
            "gbmort --iterations 40 --learning-rate 0.02 --early-stopping 5 --validation-metric {metric}"
        );
        let model = Model::fit(&text.parse::<Method>().unwrap(), &data).unwrap();
        let steps = model.predictor().summary();
        let (_, steps) = steps.iter().find(|(name, _)| *name == "steps").unwrap();
        assert!(steps.as_u64().unwrap() > 0, "{metric}");
    }
    let unsuitable = "gbmort --early-stopping 5 --validation-metric psp@1"
        .parse::<Method>()
        .unwrap();
    let refused = Model::fit(&unsuitable, &data).unwrap_err();
    assert!(refused.to_string().contains("propensit"), "{refused}");
}

/// A grade of three classes and a label that follow from a feature, and a number that hardly does.
fn table(n: usize) -> Dataset {
    table_of(n, |x| x > 30, |i, x, _| x + 3 * (i * i % 37))
}

/// The same with another label and another number.
fn table_of(
    n: usize,
    churns: impl Fn(usize) -> bool,
    price: impl Fn(usize, usize, usize) -> usize,
) -> Dataset {
    let mut text = "x,z,grade,churn,price\n".to_owned();
    for i in 0..n {
        let (x, z) = (i * 7 % 60, i * 31 % 97);
        let grade = ["gold", "iron", "wood"][x / 20];
        let price = price(i, x, z);
        text += &format!("{x},{z},{grade},{},{price}\n", u8::from(churns(x)));
    }
    let options = ReadOptions {
        targets: Targets::Names(["grade", "churn", "price"].map(str::to_owned).to_vec()),
        ..ReadOptions::default()
    };
    read_from(text.as_bytes(), &options).unwrap()
}

/// A model that decides by thresholds is scored by its decisions, out of bag as on other data.
#[test]
fn out_of_bag_scores_are_of_decisions() {
    let data = MultiLabelSet::new(150, 20, 6).generate(Seed::new(3)).unwrap();
    let method: Method = "random-forest --trees 15 --thresholds macro-f".parse().unwrap();
    let model = Model::fit(&method, &data).unwrap();
    assert!(model.thresholds().is_some());
    let (scores, _) = model.oob_predictions(data.features().view()).unwrap().unwrap();
    let of_sets = |decided: Array2<f32>| {
        let truth = data.outputs().view().to_dense(usize::MAX).unwrap();
        let pairs = || truth.iter().zip(&decided);
        let both = pairs().filter(|(y, f)| **y > 0.0 && **f > 0.0).count() as f64;
        let either = pairs().map(|(y, f)| f64::from(y + f)).sum::<f64>();
        2.0 * both / either
    };
    let found = model.oob_score(&data, Metric::MicroF1).unwrap().value;
    let decided = model.decide(scores.view()).unwrap().to_dense();
    assert!((found - of_sets(decided)).abs() < 1e-9, "{found}");
    assert!((found - of_sets(scores.mapv(|s| f32::from(u8::from(s > 0.5))))).abs() > 1e-3);
    let psp = model.oob_score(&data, Metric::PspAt(1)).unwrap().value;
    assert!(psp > 0.0, "{psp}");
    // Trees of Extra-Trees see all samples.
    let all = Model::fit(&"extra-trees --trees 2".parse::<Method>().unwrap(), &data).unwrap();
    assert_eq!(all.oob_predictions(data.features().view()), Ok(None));
    let none = Err(ModelError::Ensemble(EnsembleError::NoBootstrap));
    assert_eq!(all.oob_score(&data, Metric::MicroF1), none);
}

/// Weights of numbers do not depend on the labels beside them. A model predicts by both, explains its predictions by
/// both, and keeps both in its file.
#[test]
fn labels_and_numbers_have_weights_of_their_own() {
    // Trees are better at the classes, a linear model at the number.
    let linear = |_: usize, x: usize, z: usize| x + 2 * z;
    let train = table_of(200, |x| x > 30, linear);
    let later = |churns: fn(usize) -> bool| {
        let data = table_of(320, churns, linear);
        data.select_samples(&(200..320).collect::<Vec<_>>()).unwrap()
    };
    let (withheld, other) = (later(|x| x > 30), later(|x| x < 10));
    let price = 4;
    assert_eq!(train.output_names().iter().nth(price).unwrap(), "price");
    let texts = ["extra-trees --trees 10 --max-depth 4", "ridge"];
    let fit = |text: &str| Model::fit(&text.parse::<Method>().unwrap(), &train).unwrap();
    let models = texts.map(fit);
    let x = withheld.features().view();
    for rule in [CombineRule::Greedy, CombineRule::Nnls, CombineRule::Stack] {
        let combined = |withheld: &Dataset| Model::combine_on(&models, rule, withheld).unwrap();
        let model = combined(&withheld);
        let parts = |model: &Model| {
            let ensemble = model.predictor().downcast_ref::<Ensemble>().unwrap();
            let weights: Vec<f64> = ensemble.members().map(|(_, weight)| weight).collect();
            let label_weights = ensemble.label_weights().unwrap();
            (weights, label_weights, ensemble.selection.clone().unwrap())
        };
        let (of_numbers, of_labels, selection) = parts(&model);
        assert_ne!(of_numbers, of_labels, "{rule}");
        let found = |weight: fn(&Candidate) -> Option<f64>| -> Vec<f64> {
            selection.candidates.iter().map(|c| weight(c).unwrap()).collect()
        };
        assert_eq!(found(|c| c.weight), of_numbers);
        assert_eq!(found(|c| c.label_weight), of_labels);
        assert_eq!(parts(&combined(&other)).0, of_numbers, "{rule}");
        let predicted = model.predict(x).unwrap();
        let of_members = models.each_ref().map(|model| model.predict(x).unwrap());
        if rule == CombineRule::Stack {
            let means = model.training().output_means();
            for ((i, j), found) in predicted.indexed_iter().filter(|((_, j), _)| *j != price) {
                let distances = of_members.iter().zip(&of_labels).map(|(p, weight)| {
                    let p = f64::from(p[[i, j]].clamp(0.0, 1.0));
                    weight * (p - means[j])
                });
                let expected = (means[j] + distances.sum::<f64>()).clamp(0.0, 1.0);
                // Those of classes are divided by their sum.
                let columns = &model.schema().class_columns;
                let is_class = columns.iter().any(|column| column.outputs().contains(&j));
                let is_as_expected = match is_class {
                    true => (0.0..=1.0).contains(found),
                    false => (f64::from(*found) - expected).abs() < 1e-4,
                };
                assert!(is_as_expected, "{i} {j}: {found} {expected}");
            }
        } else {
            for ((i, j), found) in predicted.indexed_iter() {
                let weights = if j == price { &of_numbers } else { &of_labels };
                let terms = of_members.iter().zip(weights).map(|(p, weight)| {
                    let p = p[[i, j]];
                    f64::from(if j == price { p } else { p.clamp(0.0, 1.0) }) * weight
                });
                let expected: f64 = terms.sum();
                assert!((f64::from(*found) - expected).abs() < 1e-4, "{rule} {i} {j}");
            }
        }
        assert_eq!(
            Model::from_bytes(&model.to_bytes().unwrap()).unwrap(),
            model,
            "{rule}"
        );
        // Forests stay within their limits, so that contributions add up to predictions.
        let forests = [
            "extra-trees --trees 10 --max-depth 4",
            "extra-trees --trees 3 --max-depth 9",
        ]
        .map(fit);
        let model = Model::combine_on(&forests, rule, &withheld).unwrap();
        let (predicted, all) = (model.predict(x).unwrap(), [0, 1, 2, 3, 4]);
        let outputs = vec![&all[..]; withheld.n_samples()];
        let found = model.contributions(x, &outputs, train.features().view()).unwrap();
        // Stacked labels are limited to 0 to 1, which contributions are not.
        let is_explained = |j: usize| j == price || rule != CombineRule::Stack;
        for ((i, j), score) in predicted.indexed_iter().filter(|((_, j), _)| is_explained(*j)) {
            let row = found.values.outer_view(5 * i + j).unwrap();
            let sum = found.base[j] + row.iter().map(|(_, &v)| f64::from(v)).sum::<f64>();
            assert!(
                (sum - f64::from(*score)).abs() < 1e-4,
                "{rule} {i} {j}: {sum} {score}"
            );
        }
    }
}

/// Thresholds of labels beside numbers are those that the rule finds on the labels alone, by which the model decides;
/// numbers alone have none, whether or not the rule is the default of the method.
#[test]
fn labels_beside_numbers_have_thresholds() {
    let data = table(200);
    let numbers = data.select_outputs(&[4]).unwrap();
    for name in [
        "random-forest --trees 15",
        "gbmort --iterations 10",
        "auto --configurations 2",
    ] {
        for rule in [ThresholdRule::MacroF, ThresholdRule::Rate] {
            let text = match rule {
                ThresholdRule::MacroF => "macro-f",
                _ => "rate",
            };
            let method: Method = format!("{name} --thresholds {text}").parse().unwrap();
            let model = Model::fit(&method, &data).unwrap();
            let thresholds = model.thresholds().unwrap();
            assert_eq!((thresholds.len(), thresholds[4]), (5, 0.5), "{name}");
            let scores = model.predict(data.features().view()).unwrap();
            let decided = model.decide(scores.view()).unwrap().to_dense();
            for (score, decided) in scores.column(3).iter().zip(decided.column(3)) {
                assert_eq!(f64::from(*score) >= thresholds[3], *decided > 0.0, "{name}");
            }
            let by_output = model.evaluate_outputs(&data).unwrap();
            let column = by_output
                .measures
                .iter()
                .position(|name| *name == "threshold")
                .unwrap();
            assert_eq!(by_output.values[3][column], thresholds[3]);
            assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
            let again = Registry::standard().method_of(&model.parameters).unwrap();
            assert_eq!(Model::fit(&again, &data).unwrap(), model, "{name}");
            let refused = Model::fit(&method, &numbers).unwrap_err();
            assert!(refused.to_string().contains("`thresholds`"), "{name}: {refused}");
            if name.starts_with("random") {
                let (scores, _) = model.oob_predictions(data.features().view()).unwrap().unwrap();
                // Classes have none.
                let label = data.select_outputs(&[3]).unwrap();
                let scores = scores.select(Axis(1), &[3]);
                let found = find(rule, scores.view(), label.outputs().view()).unwrap();
                assert_eq!((&thresholds[..3], thresholds[3]), (&[0.5; 3][..], found[0]));
            }
        }
    }
    // The record of a model of numbers is one of a method that can be fitted.
    let model = Model::fit(&"auto --configurations 2".parse::<Method>().unwrap(), &numbers).unwrap();
    assert!(model.thresholds().is_none());
    let again = Registry::standard().method_of(&model.parameters).unwrap();
    assert_eq!(Model::fit(&again, &numbers).unwrap(), model);
}

/// Classes of a column and the labels beside them are all labels, which have the same weights.
#[test]
fn classes_and_labels_have_one_weight() {
    let data = table(200).select_outputs(&[0, 1, 2, 3]).unwrap();
    let x = data.features().clone();
    let labels = Dataset::new(x, data.outputs().clone(), Task::MultiLabel).unwrap();
    let labels = labels.with_class_columns(data.class_columns().to_vec()).unwrap();
    let method: Method = "auto --configurations 3".parse().unwrap();
    let model = Model::fit(&method, &labels).unwrap();
    let ensemble = model.predictor().downcast_ref::<Ensemble>().unwrap();
    assert_eq!(model.groups().len(), 1);
    assert_eq!(ensemble.label_weights(), None);
}
