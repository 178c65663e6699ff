//! Inputs of a fit besides parameters: sample weights, and a request to stop.

use ndarray::Array2;
use rpo::core::Seed;
use rpo::data::generate::{Generator, MultiLabelSet};
use rpo::data::split::Withheld;
use rpo::data::{Dataset, Task};
use rpo::ensemble::EnsembleError;
use rpo::metrics::Metric;
use rpo::tune::Tuning;
use rpo::{
    Estimator, FitContext, Fold, Folds, Method, MethodError, Model, ModelError, Predictor, Registry,
    cross_val_scores,
};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn data() -> Dataset {
    MultiLabelSet::new(60, 10, 6).generate(Seed::new(3)).unwrap()
}

fn method(name: &str, trees: usize) -> Method {
    let method = Method::named(name).unwrap();
    let count = ["trees", "iterations"].into_iter().find(|count| {
        let mut infos = method.entry().parameters().iter();
        infos.any(|info| info.name == *count)
    });
    match count {
        Some(count) => method.with(count, &trees.to_string()).unwrap(),
        None => method,
    }
}

/// The linear methods that support sample weights.
const LINEAR: [&str; 4] = ["ridge", "logistic-regression", "one-vs-rest", "label-tree"];

/// The methods with steps that support sample weights.
const WEIGHTED: [&str; 8] = [
    "random-forest",
    "extra-trees",
    "single-target-forest",
    "binary-relevance-forest",
    "single-target-gbrt",
    "gbmort",
    "gbrt-rpo",
    "gbrt-relabel-rpo",
];

#[test]
fn equal_weights_change_nothing_and_others_do() {
    let data = data();
    for name in WEIGHTED.into_iter().chain(LINEAR) {
        let fit = |data: &Dataset| Model::fit(&method(name, 3), data).unwrap();
        let n = data.n_samples();
        let ones = data.clone().with_weights(vec![1.0; n]).unwrap();
        let some: Vec<f32> = (0..n).map(|i| if i % 3 == 0 { 4.0 } else { 1.0 }).collect();
        let some = data.clone().with_weights(some).unwrap();
        assert_eq!(fit(&ones), fit(&data), "{name}");
        assert_ne!(fit(&some), fit(&data), "{name}");
    }
}

#[test]
fn samples_of_weight_zero_are_as_if_they_did_not_exist() {
    let data = data();
    let kept: Vec<usize> = (0..data.n_samples()).filter(|i| i % 4 != 0).collect();
    let weights: Vec<f32> = (0..data.n_samples()).map(|i| (i % 4) as f32).collect();
    let all = data.with_weights(weights).unwrap();
    let without = all.select_samples(&kept).unwrap();
    for (name, options) in [
        ("random-forest", &[("thresholds", "macro-f")][..]),
        ("random-forest", &[("bins", "4")]),
        ("gbmort", &[("find_iterations", "true"), ("bins", "4")]),
        ("ridge", &[("feature_weights", "idf"), ("thresholds", "rate")]),
        ("one-vs-rest", &[("standardize", "true"), ("decide", "f1")]),
    ] {
        let set = |method: Method, (name, value): &(&str, &str)| method.with(name, value).unwrap();
        let method = options.iter().fold(method(name, 10), set);
        let fit = |data: &Dataset| Model::fit(&method, data).unwrap();
        assert_eq!(fit(&all), fit(&without), "{name} {options:?}");
    }
    let tuning = Tuning::new(method("extra-trees", 5), ["min_samples_leaf=1,3"], 7);
    let groups = (0..all.n_samples() as u32).map(|i| i / 5).collect();
    let all = all.with_groups(groups).unwrap();
    let without = all.select_samples(&kept).unwrap();
    let holdout = |data: &Dataset| tuning.run(data, &|| ()).unwrap().holdout;
    assert_eq!(holdout(&all), holdout(&without));
}

/// In everything that is found from outputs: units, numbers of steps, thresholds, frequencies of labels.
#[test]
fn outputs_of_weight_zero_are_missing() {
    let labels = data();
    let y = labels.outputs().view().to_dense(usize::MAX).unwrap();
    let numbers = Array2::from_shape_fn(y.dim(), |(i, j)| y[[i, j]] * (j + 1) as f32 + (i % 7) as f32);
    let is_ignored = |(i, j): (usize, usize)| (i * 5 + j * 3) % 7 == 0;
    let cells = Array2::from_shape_fn(y.dim(), |cell| f32::from(u8::from(!is_ignored(cell))));
    for (name, options) in [
        ("gbmort", &[][..]),
        ("gbmort", &[("find_iterations", "true")]),
        ("single-target-gbrt", &[("thresholds", "macro-f")]),
        ("gbrt-relabel-rpo", &[("decide", "f1")]),
        ("gbrt-rpo", &[("preset", "paper")]),
    ] {
        for (y, task) in [(&y, Task::MultiLabel), (&numbers, Task::Regression)] {
            if task == Task::Regression && options.iter().any(|o| ["thresholds", "decide"].contains(&o.0)) {
                continue;
            }
            let method = match options {
                [("preset", preset)] => format!("{name} --preset {preset} --iterations 5")
                    .parse()
                    .unwrap(),
                options => options.iter().fold(method(name, 10), |method, (option, value)| {
                    method.with(option, value).unwrap()
                }),
            };
            let fit = |value: f32, cells: &Array2<f32>| {
                let y = Array2::from_shape_fn(y.dim(), |cell| if is_ignored(cell) { value } else { y[cell] });
                let data = Dataset::with_missing(labels.features().clone(), y.into(), task).unwrap();
                Model::fit(&method, &data.with_weights(cells.clone()).unwrap()).unwrap()
            };
            let missing = fit(f32::NAN, &Array2::ones(y.dim()));
            assert_eq!(fit(1.0, &cells), missing, "{name} {options:?} {task:?}");
        }
    }
}

#[test]
fn what_is_not_set_does_not_replace_a_default() {
    let data = data();
    for (name, option, off) in [
        ("gbmort", "output_losses", "none"),
        ("binary-relevance-forest", "bootstrap", "false"),
    ] {
        let plain = method(name, 3);
        let given = plain.clone().with(option, off).unwrap();
        let fit = |method: &Method| Model::fit(method, &data).unwrap();
        assert!(fit(&given).predictor() == fit(&plain).predictor(), "{name}");
    }
}

/// A single sample is in every bag, so that there are no scores to find thresholds on.
#[test]
fn records_have_no_default_thresholds_that_the_model_lacks() {
    let data = data();
    let method = method("structured-forest", 3);
    let fit = |method: &Method, data: &Dataset| Model::fit(method, data).unwrap();
    let model = fit(&method, &data);
    assert!(model.thresholds().is_some() && model.parameters["thresholds"] == "macro-f");
    let one = data.select_samples(&[0]).unwrap();
    let model = fit(&method, &one);
    assert!(model.thresholds().is_none() && model.parameters["thresholds"].is_null());
    let recorded = method.with("thresholds", "none").unwrap();
    assert_eq!(fit(&recorded, &one), model);
}

#[test]
fn every_other_method_refuses_weights() {
    let data = data();
    let n = data.n_samples();
    let weighted = data.with_weights(vec![1.0; n]).unwrap();
    for entry in Registry::standard() {
        let fitted = Model::fit(&method(entry.name, 3), &weighted);
        let refused = matches!(fitted, Err(ModelError::Method(MethodError::Data { .. })));
        let takes = WEIGHTED.into_iter().chain(LINEAR).any(|name| name == entry.name);
        assert_eq!(refused, !takes, "{}", entry.name);
    }
}

#[test]
fn a_fit_stops_between_steps() {
    let data = data();
    let with_steps = WEIGHTED.into_iter().chain(["craftml", "structured-forest"]);
    for name in with_steps {
        let steps = AtomicUsize::new(0);
        let on_step = || {
            steps.fetch_add(1, Ordering::Relaxed);
        };
        let stop = || steps.load(Ordering::Relaxed) >= 2;
        let context = FitContext {
            on_step: Some(&on_step),
            stop: Some(&stop),
            ..FitContext::default()
        };
        let error = Model::fit_with(&method(name, 1000), &data, &context).unwrap_err();
        assert_eq!(error, ModelError::Ensemble(EnsembleError::Stopped), "{name}");
        assert!(steps.swap(0, Ordering::Relaxed) < 900, "{name}");
        // Nothing is left to stop after the last step.
        let whole = Model::fit_with(&method(name, 2), &data, &context).unwrap();
        assert_eq!(whole, Model::fit(&method(name, 2), &data).unwrap(), "{name}");
    }
}

#[test]
fn steps_are_scored_in_order() {
    let data = data();
    let (train, withheld) = data.split(0.3, Seed::new(5)).unwrap();
    let scores = Mutex::new(Vec::new());
    let on_score = |n_steps, score| scores.lock().unwrap().push((n_steps, score));
    let context = FitContext {
        on_score: Some(&on_score),
        validation: Some(&withheld),
        ..FitContext::default()
    };
    let boosting = Method::named("gbmort").unwrap().with("iterations", "20").unwrap();
    let boosting = boosting.with("validation", "0.2").unwrap();
    let model = Model::fit_with(&boosting, &train, &context).unwrap();
    let scores = scores.into_inner().unwrap();
    assert_eq!(
        scores.iter().map(|(n_steps, _)| *n_steps).collect::<Vec<_>>(),
        (1..=20).collect::<Vec<_>>()
    );
    let best = scores
        .iter()
        .fold(f64::NEG_INFINITY, |best, (_, score)| best.max(*score));
    let of_model = -model.evaluate(&withheld, &[Metric::LogLoss]).unwrap()[0];
    assert!((best - of_model).abs() < 1e-9, "{best} {of_model}");
}

#[test]
fn withheld_samples_have_the_columns_of_the_data() {
    let data = data();
    let boosting = Method::named("gbmort")
        .unwrap()
        .with("validation", "0.2")
        .unwrap();
    let fit = |outputs, features| {
        let withheld = MultiLabelSet::new(30, features, outputs)
            .generate(Seed::new(4))
            .unwrap();
        let context = FitContext {
            validation: Some(&withheld),
            ..FitContext::default()
        };
        Model::fit_with(&boosting, &data, &context).map_err(|error| error.to_string())
    };
    assert!(fit(6, 10).is_ok());
    for (withheld, difference) in [
        (fit(3, 10), "has 3 outputs in place of 6"),
        (fit(6, 9), "has 9 features in place of 10"),
    ] {
        let message = withheld.unwrap_err();
        assert!(message.ends_with(difference), "{message}");
    }
}

#[test]
fn leaves_are_those_of_the_trees() {
    let data = data();
    let x = data.features().view();
    let d = data.outputs().n_cols();
    for (name, trees) in [
        ("random-forest", 4),
        ("extra-trees", 4),
        ("craftml", 4),
        ("structured-forest", 4),
        ("single-target-forest", 4 * d),
        ("single-target-gbrt", 4 * d),
        ("gbmort", 4),
        ("gbrt-rpo", 4),
    ] {
        let model = Model::fit(&method(name, 4), &data).unwrap();
        let leaves = model.apply(x).unwrap().unwrap();
        assert_eq!(leaves.dim(), (60, trees), "{name}");
        for (column, size) in leaves.columns().into_iter().zip(model.predictor().tree_sizes()) {
            let largest = column.iter().max().unwrap();
            assert!((*largest as usize) < size.leaves, "{name}");
        }
    }
    let linear = Model::fit(&method("ridge", 1), &data).unwrap();
    assert_eq!(linear.apply(x), Ok(None));
}

/// A method is an estimator in all respects.
#[test]
fn a_method_fits_in_parts_and_to_a_file_as_its_estimator_does() {
    let data = MultiLabelSet::new(60, 10, 5).generate(Seed::new(1)).unwrap();
    let boosting: Method = "gbmort --iterations 6".parse().unwrap();
    assert_eq!((boosting.n_steps(), boosting.continues()), (6, true));
    let mut steps = Vec::new();
    let model = Model::fit_in_parts(
        &boosting,
        &data,
        &FitContext::default(),
        &[2, 4],
        &mut |step, _| {
            steps.push(step);
            Ok(ControlFlow::Continue(()))
        },
    );
    assert_eq!(steps, [2, 4, 6]);
    assert_eq!(model.unwrap(), Model::fit(&boosting, &data).unwrap());

    let forest: Method = "random-forest --trees 7".parse().unwrap();
    assert!(forest.has_oob() && !forest.continues() && !forest.keeps_best());
    assert!(Method::named("auto").unwrap().keeps_best());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.rpo");
    let to_file = |method: &Method| Model::fit_to_file(method, &data, &FitContext::default(), &path);
    assert_eq!(to_file(&forest), Ok(None));
    let craftml: Method = "craftml --trees 3".parse().unwrap();
    let n_bytes = to_file(&craftml).unwrap().unwrap();
    let whole = Model::fit(&craftml, &data).unwrap();
    assert_eq!(n_bytes, whole.to_bytes().unwrap().len() as u64);
    assert_eq!(Model::load(&path).unwrap(), whole);
}

#[test]
fn predictions_of_folds_are_those_of_models_of_earlier_samples() {
    let data = data();
    let n = data.n_samples();
    // From the last sample to the first.
    let times = Withheld::Latest((0..n).map(|i| (n - i) as f64).collect());
    let mut expected = ndarray::Array2::from_elem((n, data.n_outputs()), f32::NAN);
    let mut tested = Vec::new();
    let mut on_fold = |fold: Fold<'_>| {
        assert!(fold.values.is_empty());
        let scores = fold.model.predict(fold.test.features().view())?;
        for (scores, &sample) in scores.rows().into_iter().zip(fold.test_samples) {
            expected.row_mut(sample).assign(&scores);
        }
        tested.extend_from_slice(fold.test_samples);
        Ok(())
    };
    let folds = Folds {
        k: 2,
        withheld: times,
        on_fold: Some(&mut on_fold),
        ..Folds::default()
    };
    let found = cross_val_scores(&method("ridge", 1), &data, folds).unwrap();
    tested.sort_unstable();
    let is_tested: Vec<usize> = (0..n).filter(|&i| found.is_tested[i]).collect();
    assert_eq!(is_tested, tested);
    assert!(!found.is_tested[n - 1] && found.is_tested[0]);
    let bits = |scores: &ndarray::Array2<f32>| scores.mapv(f32::to_bits);
    assert_eq!(bits(&found.scores), bits(&expected));
    assert_eq!(found.output_names.iter().len(), data.n_outputs());
}

/// Bags, thresholds and projections are those of the other samples.
#[test]
fn samples_without_any_output_are_as_if_they_did_not_exist() {
    let labels = data();
    let mut y = labels.outputs().view().to_dense(usize::MAX).unwrap();
    let is_known = |i: usize| !i.is_multiple_of(3);
    let n = labels.n_samples();
    (0..n)
        .filter(|&i| !is_known(i))
        .for_each(|i| y.row_mut(i).fill(f32::NAN));
    let all = Dataset::with_missing(labels.features().clone(), y.into(), Task::MultiLabel).unwrap();
    let without = all
        .select_samples(&(0..n).filter(|&i| is_known(i)).collect::<Vec<_>>())
        .unwrap();
    for (name, options) in [
        (
            "random-forest",
            &[("projection", "gaussian"), ("components", "2")][..],
        ),
        ("extra-trees", &[("thresholds", "rate")]),
        ("gbmort", &[("bins", "4")]),
    ] {
        let set = |method: Method, (name, value): &(&str, &str)| method.with(name, value).unwrap();
        let method = options.iter().fold(method(name, 10), set);
        let fit = |data: &Dataset| Model::fit(&method, data).unwrap();
        assert_eq!(fit(&all), fit(&without), "{name} {options:?}");
    }
}

/// Numbers may be written as in other programs, not only as in JSON.
#[test]
fn numbers_need_no_leading_zero() {
    for (given, plain) in [(".5", "0.5"), ("+0.5", "0.5"), ("5e-1", "0.5"), ("1.", "1.0")] {
        let method = |text: &str| Method::named("gbmort").unwrap().with("subsample", text).unwrap();
        assert_eq!(
            method(given).given("subsample"),
            method(plain).given("subsample"),
            "{given}"
        );
    }
    assert!(Method::named("gbmort").unwrap().with("subsample", "nan").is_err());
}

/// Samples without any output in the direction of a projection take no part in a split, but their predictions are those of
/// the leaf whose value they share.
#[test]
fn values_of_leaves_are_those_of_the_samples_that_reach_them() {
    const M: f32 = f32::NAN;
    let row = |i: usize| match i {
        0..8 => [0.0, 0.0, 0.0],
        8..11 => [1.0, 1.0, 0.0],
        _ => [M, M, 10.0],
    };
    let x = Array2::from_shape_fn((14, 1), |(i, _)| row(i)[0]);
    let y = Array2::from_shape_fn((14, 2), |(i, j)| row(i)[1 + j]);
    let data = Dataset::with_missing(x.into(), y.clone().into(), Task::Regression).unwrap();
    for seed in 0..6 {
        let method: Method = format!(
            "gbrt-relabel-rpo --iterations 1 --learning-rate 1 --loss square --leaf-l2 0 --subsample 1 --projection subsample \
             --components 1 --max-leaves 2 --scale-outputs none --max-features all --trees-ahead 0 --min-samples-leaf 1 \
             --seed {seed}"
        )
        .parse()
        .unwrap();
        let predicted = Model::fit(&method, &data)
            .unwrap()
            .predict(data.features().view())
            .unwrap();
        // The mean of B over the samples that have the same predictions.
        for i in 0..14 {
            let alike: Vec<f32> = (0..14)
                .filter(|&k| predicted.row(k) == predicted.row(i))
                .map(|k| y[[k, 1]])
                .collect();
            let mean = alike.iter().sum::<f32>() / alike.len() as f32;
            assert!(
                (predicted[[i, 1]] - mean).abs() < 1e-4,
                "seed {seed}: {predicted}"
            );
        }
    }
}
