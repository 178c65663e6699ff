//! Samples of one group are never both fitted and withheld. Each group has a point in feature space and outputs that are
//! noise, so that whoever saw a sample of a group knows the others, and nothing can be learned about new groups.

use ndarray::Array2;
use proptest::prelude::*;
use rpo::combine::{CombineRule, Ensemble};
use rpo::data::split::{Split, SplitError, Withheld};
use rpo::ensemble::thresholds::ThresholdRule;
use rpo::linear::LinearError;
use rpo::prelude::*;
use rpo::tune::Tuning;
use rpo::{Fold, IntervalSource, ModelError, ThresholdSource};
use std::collections::BTreeSet;

/// Numbers of groups of ten samples each.
fn numbers(n_groups: usize, seed: u64) -> Dataset {
    drawn(n_groups, seed, Task::Regression)
}

/// Three labels of groups of ten samples each.
fn labels(n_groups: usize, seed: u64) -> Dataset {
    drawn(n_groups, seed, Task::MultiLabel)
}

fn drawn(n_groups: usize, seed: u64, task: Task) -> Dataset {
    let unit = |i: usize, j: usize| {
        let hash = Seed::new(seed).child(i as u64).hash(j as u64) >> 40;
        hash as f32 / (1 << 24) as f32
    };
    let n = 10 * n_groups;
    // Samples of a group are far apart in the file.
    let group = |i: usize| i % n_groups;
    let x = Array2::from_shape_fn((n, 4), |(i, j)| unit(group(i), j));
    let y = Array2::from_shape_fn((n, 3), |(i, j)| {
        let value = unit(group(i), 10 + j) + 0.02 * unit(1000 + i, j);
        match task {
            Task::Regression => value,
            Task::MultiLabel => f32::from(u8::from(value > 0.7)),
        }
    });
    Dataset::new(x.into(), y.into(), task).unwrap()
}

fn with_groups(data: &Dataset) -> Dataset {
    let n = data.n_samples();
    let groups = (0..n).map(|i| (i % (n / 10)) as u32).collect();
    data.clone().with_groups(groups).unwrap()
}

fn method(text: &str) -> Method {
    text.parse().unwrap()
}

fn fit(text: &str, data: &Dataset) -> Result<Model, ModelError> {
    Model::fit(&method(text), data)
}

fn predictions(model: &Model, data: &Dataset) -> Array2<f32> {
    model.predict(data.features().view()).unwrap()
}

/// The number of steps is that which is best for withheld groups.
#[test]
fn boosting_stops_when_new_groups_no_longer_gain() {
    let data = with_groups(&numbers(30, 1));
    let stopping = method("gbmort --iterations 200 --early-stopping 5 --learning-rate 0.3");
    let model = Model::fit(&stopping, &data).unwrap();
    let holdout = Holdout::new(&data, 0.2, Seed::new(0)).unwrap();
    assert_eq!((holdout.train.n_groups(), holdout.validation.n_groups()), (24, 6));
    let context = FitContext {
        validation: Some(&holdout.validation),
        ..FitContext::default()
    };
    let honest = Model::fit_with(&stopping, &holdout.train, &context).unwrap();
    assert_eq!(model, honest);
    let steps = |model: &Model| model.predictor().summary()[0].1.as_u64().unwrap();
    let torn = Model::fit(&stopping, &numbers(30, 1)).unwrap();
    assert!(
        2 * steps(&model) < steps(&torn),
        "{} {}",
        steps(&model),
        steps(&torn)
    );
    // The last fit of a search withholds the groups that the search withheld.
    let tuning = Tuning::new(stopping, ["max_leaves=2,4"], 0);
    let tuned = tuning.run(&data, &|| ()).unwrap();
    let best = |refit| {
        tuning
            .fit_best(&tuned, &data, refit, &FitContext::default())
            .unwrap()
    };
    let (found, refitted) = (best(Refit::No), best(Refit::Everything));
    assert_eq!(steps(&found), steps(&refitted));
    assert_eq!(
        (found.training().n_samples, refitted.training().n_samples),
        (240, 300)
    );
}

/// Forests find thresholds and intervals on withheld groups in place of out-of-bag predictions, and stay the same.
#[test]
fn thresholds_and_intervals_are_found_on_withheld_groups() {
    let seed = Seed::new(0).purpose("decision thresholds");
    for text in [
        "random-forest --trees 20",
        "one-vs-rest",
        "structured-forest --trees 10",
    ] {
        let data = with_groups(&labels(30, 1));
        let decided = fit(&format!("{text} --thresholds macro-f"), &data).unwrap();
        let holdout = Holdout::new(&data, 0.2, seed).unwrap();
        let plain = format!("{text} --thresholds none");
        let honest = fit(&plain, &holdout.train).unwrap();
        let source = ThresholdSource::Withheld(ThresholdRule::MacroF, &holdout.validation);
        let honest = honest.with_thresholds(source).unwrap();
        assert_eq!(decided.thresholds(), honest.thresholds(), "{text}");
        let same = fit(&plain, &data).unwrap();
        assert_eq!(predictions(&decided, &data), predictions(&same, &data), "{text}");
    }
    for text in ["random-forest --trees 20", "ridge", "gbmort --iterations 20"] {
        let data = with_groups(&numbers(30, 1));
        let calibrated = fit(&format!("{text} --intervals 0.6"), &data).unwrap();
        let holdout = Holdout::new(&data, 0.2, seed).unwrap();
        let honest = fit(text, &holdout.train).unwrap();
        let honest = honest.with_intervals(IntervalSource::Withheld(0.6, &holdout.validation));
        assert_eq!(calibrated.intervals(), honest.unwrap().intervals(), "{text}");
    }
}

#[test]
fn intervals_cover_new_groups() {
    let (train, new) = (numbers(100, 1), numbers(100, 2));
    for text in ["random-forest --trees 30", "gbmort --iterations 100"] {
        let covered = |train: &Dataset| {
            let model = fit(&format!("{text} --intervals 0.8"), train).unwrap();
            model.evaluate(&new, &[Metric::IntervalCoverage]).unwrap()[0]
        };
        let (torn, whole) = (covered(&train), covered(&with_groups(&train)));
        assert!(
            torn < 0.6 && (0.6..0.97).contains(&whole),
            "{text}: {torn} {whole}"
        );
    }
}

#[test]
fn out_of_bag_predictions_are_not_those_of_new_groups() {
    let data = with_groups(&labels(20, 1));
    let model = fit("random-forest --trees 5", &data).unwrap();
    let source = ThresholdSource::OutOfBag(ThresholdRule::MacroF, &data);
    assert_eq!(model.with_thresholds(source), Err(ModelError::GroupsOutOfBag));
    let data = with_groups(&numbers(20, 1));
    let model = fit("random-forest --trees 5", &data).unwrap();
    let source = IntervalSource::OutOfBag(0.8, &data);
    assert_eq!(model.with_intervals(source), Err(ModelError::GroupsOutOfBag));
}

fn selected(model: &Model) -> f64 {
    let ensemble = model.predictor().downcast_ref::<Ensemble>().unwrap();
    ensemble.selection.as_ref().unwrap().score.unwrap()
}

/// In four folds, by a part that is withheld, and with forests and ridge regression, which could do without both.
#[test]
fn the_search_for_an_ensemble_does_not_promise_what_new_groups_break() {
    let new = numbers(50, 2);
    for (n_groups, configurations) in [(50, 6), (210, 1)] {
        let train = numbers(n_groups, 1);
        let auto = AutoParams {
            configurations: Some(configurations),
            ..AutoParams::default()
        };
        let score = |data: &Dataset| selected(&Model::fit(&auto, data).unwrap());
        let (torn, whole) = (score(&train), score(&with_groups(&train)));
        assert!(torn > 0.8 && whole < 0.2, "{n_groups}: {torn} {whole}");
        let model = Model::fit(&auto, &with_groups(&train)).unwrap();
        let truth = model.evaluate(&new, &[Metric::R2]).unwrap()[0];
        assert!((truth - whole).abs() < 0.3, "{n_groups}: {truth} {whole}");
    }
}

/// Where no tree helps, the mean of training does.
#[test]
fn members_are_weighted_by_what_they_know_of_new_groups() {
    let train = numbers(40, 1);
    let blend = Method::named("blend").unwrap();
    let blend = blend.with("members", "extra-trees --trees 5; baseline").unwrap();
    let blend = blend.with("combine", "nnls").unwrap();
    let weight_of_trees = |data: &Dataset| {
        let model = Model::fit(&blend, data).unwrap();
        let ensemble = model.predictor().downcast_ref::<Ensemble>().unwrap();
        let members = ensemble.members();
        let trees = members.filter(|(model, _)| model.parameters["method"] == "extra-trees");
        trees.map(|(_, weight)| weight).sum::<f64>()
    };
    let (torn, whole) = (weight_of_trees(&train), weight_of_trees(&with_groups(&train)));
    assert!(torn > 0.9 && whole < 0.5, "{torn} {whole}");
}

/// Whoever knows a group is best served by a large cost, and new groups by a small one.
#[test]
fn costs_are_found_on_withheld_groups() {
    let unit = |i: usize, j: usize| {
        let hash = Seed::new(3).child((i % 60) as u64).hash(j as u64) >> 40;
        hash as f32 / (1 << 24) as f32
    };
    let x = Array2::from_shape_fn((300, 50), |(i, j)| unit(i, j) - 0.5);
    let y = Array2::from_shape_fn((300, 4), |(i, j)| f32::from(u8::from(unit(i, 100 + j) < 0.3)));
    let data = Dataset::new(x.into(), y.into(), Task::MultiLabel).unwrap();
    let grouped = data
        .clone()
        .with_groups((0..300).map(|i| i % 60).collect())
        .unwrap();
    for text in [
        "one-vs-rest",
        "one-vs-rest --loss logistic",
        "label-tree --trees 1",
    ] {
        let found = |data: &Dataset| {
            let summary = fit(text, data).unwrap().predictor().summary();
            let cost = summary.into_iter().find(|(name, _)| *name == "cost");
            cost.unwrap().1.as_f64().unwrap()
        };
        assert_ne!(found(&data), found(&grouped), "{text}");
    }
    // Probabilities of the squared hinge are those of withheld groups, about which nothing is known.
    let spread = |data: &Dataset| {
        let model = fit("one-vs-rest --cost 1", data).unwrap();
        let scores = predictions(&model, data);
        scores.iter().map(|p| (p - 0.3).abs()).sum::<f32>()
    };
    let (torn, whole) = (spread(&data), spread(&grouped));
    assert!(torn > 2.0 * whole, "{torn} {whole}");
}

/// In a cross-validation by groups, what a method withholds of a fold's training samples are groups as well.
#[test]
fn folds_withhold_groups_inside() {
    let data = with_groups(&numbers(24, 1));
    let groups = data.groups().unwrap().to_vec();
    let stopping = method("gbmort --iterations 20 --validation 0.25");
    let mut n_folds = 0;
    let mut on_fold = |fold: Fold<'_>| {
        let tested: BTreeSet<u32> = fold.test_samples.iter().map(|&i| groups[i]).collect();
        let others: Vec<usize> = (0..240).filter(|&i| !tested.contains(&groups[i])).collect();
        assert_eq!(others.len() + fold.test_samples.len(), 240, "no group is torn");
        let holdout = Holdout::new(&data.select_samples(&others).unwrap(), 0.25, Seed::new(0)).unwrap();
        let context = FitContext {
            validation: Some(&holdout.validation),
            ..FitContext::default()
        };
        assert_eq!(
            *fold.model,
            Model::fit_with(&stopping, &holdout.train, &context).unwrap()
        );
        n_folds += 1;
        Ok(())
    };
    let folds = Folds {
        k: 3,
        on_fold: Some(&mut on_fold),
        ..Folds::default()
    };
    cross_validate(&stopping, &data, &[Metric::R2], folds).unwrap();
    assert_eq!(n_folds, 3);
}

#[test]
fn a_single_group_has_nothing_to_withhold() {
    let one = |data: Dataset| data.with_groups(vec![3; 100]).unwrap();
    let (numbers, labels) = (one(numbers(10, 1)), one(labels(10, 1)));
    let n_samples = 100;
    for text in [
        "gbmort --iterations 5 --early-stopping 2",
        "random-forest --trees 5 --intervals 0.8",
        "ridge --intervals 0.8",
        "auto --configurations 1",
        "blend --members ridge;baseline",
    ] {
        let refused = fit(text, &numbers).unwrap_err();
        assert_eq!(refused, SplitError::OneGroup { n_samples }.into(), "{text}");
    }
    let refused = fit("structured-forest --trees 5 --thresholds rate", &labels).unwrap_err();
    assert_eq!(refused, SplitError::OneGroup { n_samples }.into());
    let refused = fit("one-vs-rest", &labels).unwrap_err();
    assert!(
        matches!(refused, ModelError::Linear(LinearError::OneGroup { .. })),
        "{refused}"
    );
    fit("one-vs-rest --cost 1", &labels).unwrap();
    // Thresholds that nobody asked for are left out, and the record can be fitted again.
    let forest = fit("structured-forest --trees 5", &labels).unwrap();
    assert_eq!(
        (forest.thresholds(), &forest.parameters["thresholds"]),
        (None, &serde_json::Value::Null)
    );
    let again = Model::fit(&Method::try_from(&forest.parameters).unwrap(), &labels).unwrap();
    assert_eq!(again, forest);
}

proptest! {
    #[test]
    fn no_part_of_a_split_shares_a_group_with_the_other(
        groups in prop::collection::vec(0_u32..9, 2..60),
        of_labels in any::<bool>(),
        fraction in 0.05..0.95,
        k in 2_usize..9,
        seed in any::<u64>(),
    ) {
        let n = groups.len();
        let values = Array2::from_shape_fn((n, 2), |(i, j)| f32::from(u8::from((i + j) % 3 == 0)));
        let task = if of_labels { Task::MultiLabel } else { Task::Regression };
        let data = Dataset::new(values.clone().into(), values.into(), task).unwrap();
        let data = data.with_groups(groups).unwrap();
        let of = |data: &Dataset| data.groups().unwrap().iter().copied().collect::<BTreeSet<_>>();
        let is_possible = data.n_groups() > 1;
        let holdout = Holdout::new(&data, fraction, Seed::new(seed));
        prop_assert_eq!(holdout.is_ok(), is_possible);
        if let Ok(Holdout { train, validation }) = holdout {
            prop_assert!(of(&train).is_disjoint(&of(&validation)));
            prop_assert_eq!(train.n_samples() + validation.n_samples(), n);
        }
        for stratified in [Withheld::Stratified, Withheld::Random] {
            let folds = Split::folds(&data, &stratified, k, Seed::new(seed));
            prop_assert_eq!(folds.is_ok(), k <= data.n_groups());
            for (train, test) in folds.into_iter().flatten().map(|fold| fold.apply(&data).unwrap()) {
                prop_assert!(of(&train).is_disjoint(&of(&test)));
                prop_assert_eq!(train.n_samples() + test.n_samples(), n);
            }
        }
        let times = Withheld::Latest(vec![0.0; n]);
        prop_assert_eq!(Split::folds(&data, &times, k, Seed::new(seed)), Err(SplitError::GroupsAndTimes));
        let refused = Split::withholding(&data, &times, fraction, Seed::new(seed));
        prop_assert_eq!(refused, Err(SplitError::GroupsAndTimes));
    }
}

/// Weights are scored on other groups than those that found them, which one group does not allow.
#[test]
fn models_are_combined_on_whole_groups() {
    let (data, withheld) = (numbers(12, 1), numbers(12, 2));
    let methods = ["ridge", "extra-trees --trees 3"].map(|text| text.parse::<Method>().unwrap());
    let models = methods.map(|method| Model::fit(&method, &data).unwrap());
    let score = |withheld: &Dataset| {
        let model = Model::combine_on(&models, CombineRule::Nnls, withheld).unwrap();
        let ensemble = model.predictor().downcast_ref::<Ensemble>().unwrap();
        ensemble.selection.as_ref().unwrap().score
    };
    let without = withheld.select_samples(&(0..withheld.n_samples()).collect::<Vec<_>>());
    let in_one = without
        .unwrap()
        .with_groups(vec![3; withheld.n_samples()])
        .unwrap();
    assert!(score(&withheld).is_some());
    assert_eq!(score(&in_one), None);
}
