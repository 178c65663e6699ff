//! The search for ensembles: what is tried, refused and kept, and that the result depends only on the data and the
//! seed.

use ndarray::Array2;
use rpo::Predictor;
use rpo::auto::AutoParams;
use rpo::combine::{Candidate, CombineRule, Ensemble, Selection};
use rpo::core::Seed;
use rpo::data::generate::{Generator, MultiLabelSet};
use rpo::data::split::SplitError;
use rpo::data::{Dataset, Task};
use rpo::ensemble::EnsembleError;
use rpo::ensemble::thresholds::ThresholdRule;
use rpo::metrics::{Evaluation, EvaluationOptions, Metric, Score};
use rpo::{Estimator, FitContext, Method, Model, ModelError};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn texts(n: usize) -> Dataset {
    MultiLabelSet::new(n, 40, 8).generate(Seed::new(4)).unwrap()
}

/// Linear outputs with noise, and optionally some missing values of one feature.
fn numbers(with_missing: bool) -> Dataset {
    let unit =
        |i: usize, j: usize| (Seed::new(3).child(i as u64).hash(j as u64) >> 40) as f32 / (1 << 24) as f32;
    let mut x = Array2::from_shape_fn((160, 4), |(i, j)| unit(i, j));
    let y = Array2::from_shape_fn((160, 3), |(i, j)| x[[i, j]] * 30.0 - x[[i, 3]] + 0.1 * unit(i, 9));
    if with_missing {
        (0..160).step_by(7).for_each(|i| x[[i, 1]] = f32::NAN);
    }
    Dataset::with_missing(x.into(), y.into(), Task::Regression).unwrap()
}

fn of_first(configurations: usize) -> AutoParams {
    AutoParams {
        configurations: Some(configurations),
        ..AutoParams::default()
    }
}

/// With few linear labels, ridge regression is far better than small forests, and than the mean with them.
#[test]
fn a_member_that_is_clearly_better_is_taken_alone() {
    let folder = tempfile::tempdir().unwrap();
    let methods = [
        "random-forest --trees 3",
        "ridge --lambda variance:1",
        "craftml --trees 2",
    ];
    let params = AutoParams {
        combine: Some(CombineRule::Mean),
        ..with_portfolio(&folder, &methods)
    };
    let model = Model::fit(&params, &texts(120)).unwrap();
    let candidates = &selection(&model).candidates;
    assert!(candidates[1].method.starts_with("ridge"));
    for (i, candidate) in candidates.iter().enumerate() {
        assert_eq!(candidate.weight, (i == 1).then_some(1.0));
        let reason = (i != 1).then_some("the chosen one scores higher alone than all with weights");
        assert_eq!(candidate.skipped.as_deref(), reason);
    }
}

/// Parameters with a portfolio of the given configurations.
fn with_portfolio(folder: &tempfile::TempDir, methods: &[&str]) -> AutoParams {
    let list: Vec<_> = methods
        .iter()
        .map(|method| serde_json::json!({"method": method, "cost": 1.0}))
        .collect();
    let path = folder.path().join("portfolio.json");
    std::fs::write(
        &path,
        serde_json::json!({"labels": list, "numbers": list}).to_string(),
    )
    .unwrap();
    AutoParams {
        portfolio: Some(path.to_str().unwrap().to_owned()),
        ..of_first(methods.len())
    }
}

fn selection(model: &Model) -> Selection {
    let ensemble = model.predictor().downcast_ref::<Ensemble>().unwrap();
    ensemble.selection.clone().unwrap()
}

#[test]
fn the_same_bytes_for_any_number_of_threads_and_from_the_record() {
    for (data, n) in [(texts(120), 4), (numbers(true), 4)] {
        let fit = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            let method = Method::named("auto").unwrap();
            let method = method
                .with("configurations", &n.to_string())
                .unwrap()
                .with_seed(5);
            pool.install(|| Model::fit(&method, &data)).unwrap()
        };
        let one = fit(1);
        assert_eq!(one.to_bytes().unwrap(), fit(3).to_bytes().unwrap());
        assert_eq!(Model::from_bytes(&one.to_bytes().unwrap()).unwrap(), one);
        let again = Method::try_from(&one.parameters).unwrap();
        assert_eq!(Model::fit(&again, &data).unwrap(), one);
        let selection = selection(&one);
        assert_eq!(selection.candidates.len(), n);
        assert!(
            selection
                .candidates
                .iter()
                .all(|candidate| candidate.seconds.is_none())
        );
        assert!(selection.score.unwrap() > 0.5);
    }
}

#[test]
fn members_have_weights_that_sum_to_1_and_see_all_samples() {
    let data = texts(120);
    let folder = tempfile::tempdir().unwrap();
    let trees = [
        "random-forest",
        "extra-trees",
        "binary-relevance-forest --trees 30",
    ];
    let model = Model::fit(&with_portfolio(&folder, &trees), &data).unwrap();
    let ensemble = model.predictor().downcast_ref::<Ensemble>().unwrap();
    let weights: Vec<f64> = ensemble.members().map(|(_, weight)| weight).collect();
    assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(
        ensemble
            .members()
            .all(|(member, _)| member.training().n_samples == 120)
    );
    // With few samples, configurations that are not scored on a single fit to all samples are fitted with several
    // seeds.
    let mut noted = Vec::new();
    for candidate in &selection(&model).candidates {
        let seeds = candidate.seeds.unwrap_or(1);
        let weight = candidate.weight.map(|weight| weight / seeds as f64);
        noted.extend(weight.into_iter().cycle().take(seeds));
    }
    assert_eq!(noted, weights);
    let seeds: Vec<_> = selection(&model).candidates.iter().map(|c| c.seeds).collect();
    assert_eq!(seeds, [None, None, Some(3)]);
    let found = model.thresholds().unwrap();
    assert_eq!(found.len(), 8);
    let none = Model::fit(
        &AutoParams {
            thresholds: None,
            ..of_first(1)
        },
        &data,
    )
    .unwrap();
    assert_eq!(none.thresholds(), None);
    let other = AutoParams {
        thresholds: Some(ThresholdRule::MicroF),
        ..of_first(4)
    };
    let micro = Model::fit(&other, &data).unwrap();
    assert!(
        micro
            .thresholds()
            .unwrap()
            .windows(2)
            .all(|pair| pair[0] == pair[1])
    );
    let refused = model.clone().merge(model).unwrap_err();
    assert!(refused.to_string().contains("not part of a forest"), "{refused}");
}

#[test]
fn a_configuration_that_is_refused_is_noted_and_the_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let methods = [
        "one-vs-rest",
        "random-forest --trees 5",
        "ridge --lambda 1e-6",
        "craftml --trees 2",
    ];
    let params = with_portfolio(&folder, &methods);
    let model = Model::fit(&params, &numbers(true)).unwrap();
    let candidates = selection(&model).candidates;
    assert!(candidates[0].skipped.as_ref().unwrap().contains("is for labels"));
    assert_eq!(candidates[2].method, "ridge --lambda 1e-6 --impute median");
    assert!(
        candidates[2].weight.unwrap() > 0.5,
        "the outputs are linear: {candidates:?}"
    );
    assert!(candidates[1].score.is_some());
    // Whatever has no weight says why.
    let is_explained = |c: &Candidate| c.weight.is_some() != c.skipped.is_some();
    assert!(candidates.iter().all(is_explained), "{candidates:?}");
    let nothing = with_portfolio(&folder, &["one-vs-rest"]);
    let refused = Model::fit(&nothing, &numbers(false)).unwrap_err();
    assert!(refused.to_string().contains("is for labels"), "{refused}");
}

#[test]
fn whoever_stops_the_search_gets_the_best_so_far() {
    let data = texts(120);
    let reported = Mutex::new(Vec::new());
    let on_candidate = |candidate: &Candidate| reported.lock().unwrap().push(candidate.clone());
    let stop = || reported.lock().unwrap().len() >= 2;
    let context = FitContext {
        on_candidate: Some(&on_candidate),
        stop: Some(&stop),
        ..FitContext::default()
    };
    let model = Model::fit_with(&of_first(6), &data, &context).unwrap();
    let kept = selection(&model).candidates;
    assert_eq!(kept.len(), 2);
    assert_eq!(model, {
        let mut two = Model::fit(&of_first(2), &data).unwrap();
        two.parameters.clone_from(&model.parameters);
        two
    });
    // Nothing has been found when the search is stopped.
    let asked = AtomicUsize::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) > 0;
    let context = FitContext {
        stop: Some(&stop),
        ..FitContext::default()
    };
    assert_eq!(
        Model::fit_with(&of_first(6), &data, &context),
        Err(ModelError::Ensemble(EnsembleError::Stopped))
    );
}

/// Whichever configurations the data admit, and however often the ensemble is fitted.
#[test]
fn the_number_of_steps_is_that_of_the_configurations_that_are_tried() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("portfolio.json");
    let portfolio = serde_json::json!({
        "labels": [{"method": "baseline", "cost": 1.0}],
        "numbers": [
            {"method": "baseline", "cost": 1.0},
            {"method": "ridge", "cost": 1.0, "min_outputs": 100},
            {"method": "extra-trees --trees 3", "cost": 1.0},
            {"method": "gbmort --iterations 5", "cost": 1.0},
        ],
    });
    std::fs::write(&path, portfolio.to_string()).unwrap();
    for (configurations, expected) in [("100", 3), ("2", 2)] {
        let (made, total) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let on_step = || {
            made.fetch_add(1, Ordering::Relaxed);
        };
        let on_total = |n_steps| {
            total.fetch_add(n_steps, Ordering::Relaxed);
        };
        let context = FitContext {
            on_step: Some(&on_step),
            on_total: Some(&on_total),
            ..FitContext::default()
        };
        let options = [
            ("portfolio", path.to_str().unwrap()),
            ("configurations", configurations),
            // Found by a first fit to a subset of the samples.
            ("intervals", "0.8"),
        ];
        let set = |method: Method, (name, value): (&str, &str)| method.with(name, value).unwrap();
        let method = options.into_iter().fold(Method::named("auto").unwrap(), set);
        Model::fit_with(&method, &numbers(false), &context).unwrap();
        assert_eq!((made.into_inner(), total.into_inner()), (expected, expected));
        assert!(method.n_steps() >= expected);
    }
}

#[test]
fn a_short_time_is_enough_for_the_first_configuration() {
    let data = texts(120);
    let params = AutoParams {
        time: Some(1e-6),
        ..AutoParams::default()
    };
    let candidates = selection(&Model::fit(&params, &data).unwrap()).candidates;
    let chosen = candidates.iter().find(|candidate| candidate.skipped.is_none());
    let chosen = chosen.unwrap();
    assert!(chosen.weight == Some(1.0) && chosen.seconds.is_some());
    // The time of a few trees is known; that of all other methods is not.
    assert!(chosen.method.contains(" --trees "), "{candidates:?}");
}

/// The configuration that its cost says to be the cheapest may take longer than all others.
#[test]
fn the_first_configuration_does_not_take_the_time_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("portfolio.json");
    let list = serde_json::json!([
        {"method": "random-forest --trees 3", "cost": 1.0},
        {"method": "gbmort --iterations 30000", "cost": 0.9},
    ]);
    std::fs::write(
        &path,
        serde_json::json!({"labels": list, "numbers": list}).to_string(),
    )
    .unwrap();
    let params = AutoParams {
        portfolio: Some(path.to_str().unwrap().to_owned()),
        time: Some(3.0),
        ..AutoParams::default()
    };
    let candidates = selection(&Model::fit(&params, &texts(120)).unwrap()).candidates;
    assert!(candidates[0].method.starts_with("gbmort"));
    let reason = candidates[0].skipped.as_deref();
    assert_eq!(reason, Some("took longer than the time that it was given"));
    assert_eq!(candidates[1].weight, Some(1.0));
}

/// If no time is left for a last fit, a member consists of the models of its folds, in the file too.
#[test]
fn members_that_no_time_is_left_for_are_the_models_of_their_folds() {
    let folder = tempfile::tempdir().unwrap();
    // Leaves and centroids refer to training samples, which differ by fold.
    for method in ["extra-trees --trees 3", "craftml --trees 2"] {
        let data = texts(120);
        let params = AutoParams {
            time: Some(1e-6),
            configurations: None,
            ..with_portfolio(&folder, &[method])
        };
        let model = Model::fit(&params, &data).unwrap();
        let ensemble = model.predictor().downcast_ref::<Ensemble>().unwrap();
        let members: Vec<(&Model, f64)> = ensemble.members().collect();
        assert_eq!(members.len(), 4);
        let x = data.features().view();
        let mut mean = Array2::<f32>::zeros((120, 8));
        let mut n_train = 0;
        for (member, weight) in members {
            assert_eq!(weight, 0.25);
            n_train += member.training().n_samples;
            mean.scaled_add(0.25, &member.predict(x).unwrap());
        }
        assert_eq!((n_train, model.training().n_samples), (3 * 120, 120));
        assert!((model.predict(x).unwrap() - mean).iter().all(|v| v.abs() < 1e-6));
        let candidate = &selection(&model).candidates[0];
        assert_eq!((candidate.folds, candidate.weight), (Some(4), Some(1.0)));
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(again, model);
        assert_eq!(again.predict(x).unwrap(), model.predict(x).unwrap());
    }
}

/// Predictions of a member far outside the range of training are limited to it, also in a loaded model.
#[test]
fn numbers_stay_within_the_range_of_training() {
    let folder = tempfile::tempdir().unwrap();
    let data = numbers(false);
    let methods = ["random-forest --trees 5", "ridge --lambda 1e-6"];
    let model = Model::fit(&with_portfolio(&folder, &methods), &data).unwrap();
    let model = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    let far = Array2::from_shape_fn((2, 4), |(i, _)| if i == 0 { 1e4 } else { -1e4 });
    let ensemble = model.predictor().downcast_ref::<Ensemble>().unwrap();
    let linear = ensemble
        .members()
        .last()
        .unwrap()
        .0
        .predict((&far).into())
        .unwrap();
    assert!(linear.iter().all(|v| v.abs() > 1e3), "it is far off: {linear}");
    let y = data.outputs().view().to_dense(usize::MAX).unwrap();
    for scores in model.predict((&far).into()).unwrap().rows() {
        for (score, y) in scores.iter().zip(y.columns()) {
            let (low, high) = y
                .iter()
                .fold((f32::MAX, f32::MIN), |(a, b), &v| (a.min(v), b.max(v)));
            assert!((low..=high).contains(score), "{score} {low} {high}");
        }
    }
    // In an ensemble combined by hand, members are not limited, as their training set is not available.
    let members: Vec<(Model, f64)> = ensemble.members().map(|(m, w)| (m.clone(), w)).collect();
    let by_hand = Model::combine(members).unwrap().predict((&far).into()).unwrap();
    assert!(by_hand.iter().all(|v| v.abs() > 1e3), "{by_hand}");
}

/// Ridge regression is fitted once, and its score equals that of naive fits without each sample.
#[test]
fn ridge_is_scored_by_leaving_one_out() {
    let folder = tempfile::tempdir().unwrap();
    let data = numbers(true);
    // No penalty, so that it does not depend on the samples.
    let method = "ridge --lambda 0 --impute mean --standardize";
    let model = Model::fit(&with_portfolio(&folder, &[method]), &data).unwrap();
    let ridge: Method = method.parse().unwrap();
    let mut left_out = Array2::<f32>::zeros((160, 3));
    for sample in 0..160 {
        let others: Vec<usize> = (0..160).filter(|&other| other != sample).collect();
        let without = Model::fit(&ridge, &data.select_samples(&others).unwrap()).unwrap();
        let one = data.select_samples(&[sample]).unwrap();
        left_out
            .row_mut(sample)
            .assign(&without.predict(one.features().view()).unwrap().row(0));
    }
    let evaluation = Evaluation::new(
        data.outputs().view(),
        left_out.view(),
        EvaluationOptions::default(),
    );
    let naive = Metric::R2.evaluate(&evaluation).unwrap();
    let score = selection(&model).candidates[0].score.unwrap();
    // The score uses the means of all samples to fill in missing features.
    assert!((score - naive).abs() < 1e-4, "{score} {naive}");

    let (fitted, scores) = ridge
        .fit_leaving_one_out(&data, &FitContext::default(), &[7, 3])
        .unwrap()
        .unwrap();
    assert_eq!(fitted, Model::fit(&ridge, &data).unwrap());
    for (row, sample) in [(0, 7), (1, 3)] {
        for output in 0..3 {
            let (score, naive) = (scores[[row, output]], left_out[[sample, output]]);
            assert!((score - naive).abs() < 1e-2, "{score} {naive}");
        }
    }
    let forest: Method = "random-forest --trees 3".parse().unwrap();
    let none = forest
        .fit_leaving_one_out(&data, &FitContext::default(), &[0])
        .unwrap();
    assert!(none.is_none());
}

#[test]
fn larger_sets_withhold_a_part() {
    let folder = tempfile::tempdir().unwrap();
    let params = with_portfolio(&folder, &["extra-trees --trees 3", "one-vs-rest", "baseline"]);
    let data = texts(2400);
    let model = Model::fit(&params, &data).unwrap();
    let selection = selection(&model);
    let best = selection
        .candidates
        .iter()
        .filter_map(|candidate| candidate.score)
        .fold(0.0, f64::max);
    assert!(selection.score.unwrap() > best - 0.02, "{selection:?}");
    assert!(
        selection
            .candidates
            .iter()
            .all(|candidate| candidate.seeds.is_none())
    );
}

#[test]
fn every_rule_makes_a_model_with_a_file() {
    for data in [texts(120), numbers(false)] {
        let (train, withheld) = data.split(0.4, Seed::new(1)).unwrap();
        let methods = ["ridge --lambda 1e-4", "extra-trees --trees 5", "baseline"];
        let models: Vec<Model> = methods
            .iter()
            .map(|text| Model::fit(&text.parse::<Method>().unwrap(), &train).unwrap())
            .collect();
        let best = models
            .iter()
            .map(|model| error(model, &withheld))
            .fold(f64::INFINITY, f64::min);
        let equal = Model::combine(models.iter().map(|model| (model.clone(), 1.0)).collect()).unwrap();
        let most = error(&equal, &withheld);
        for rule in ["mean", "greedy", "greedy-mean", "nnls", "stack"] {
            let rule: CombineRule = rule.parse().unwrap();
            let model = Model::combine_on(&models, rule, &withheld).unwrap();
            let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
            assert_eq!(again, model);
            assert!(selection(&model).score.is_some());
            if data.task() == Task::Regression {
                let (found, bound) = (
                    error(&model, &withheld),
                    match rule {
                        CombineRule::Greedy | CombineRule::Nnls => best,
                        _ => most,
                    },
                );
                assert!(found <= bound * 1.001, "{rule:?}: {found}, {bound}");
            }
        }
        let summary = models[0].training();
        assert!(summary.has_outputs_of(&train) && !summary.has_outputs_of(&withheld));
        let two = models[..2].to_vec();
        let equal = Model::combine_on(&two, CombineRule::Mean, &withheld).unwrap();
        let x = withheld.features().view();
        let by_hand = Model::combine(two.into_iter().map(|model| (model, 1.0)).collect()).unwrap();
        assert_eq!(equal.predict(x).unwrap(), by_hand.predict(x).unwrap());
    }
}

/// The mean squared error.
fn error(model: &Model, data: &Dataset) -> f64 {
    model
        .evaluate(data, &[Metric::Mse])
        .map_or(f64::NAN, |values| values[0])
}

#[test]
fn what_is_wrong_with_parameters_is_named() {
    for (params, expected) in [
        (
            AutoParams {
                time: Some(0.0),
                ..AutoParams::default()
            },
            "time",
        ),
        (
            AutoParams {
                time: Some(f64::NAN),
                ..AutoParams::default()
            },
            "time",
        ),
        (of_first(0), "configurations"),
        (
            AutoParams {
                time: Some(1.0),
                ..of_first(2)
            },
            "cannot be combined with `configurations`",
        ),
        (
            AutoParams {
                portfolio: Some("nowhere.json".to_owned()),
                ..of_first(2)
            },
            "nowhere.json",
        ),
    ] {
        let message = Estimator::check(&params).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
    // Members prepare the features, and thresholds are found on existing scores.
    for (name, value) in [("standardize", "true"), ("trees-per-label", "3")] {
        assert!(Method::named("auto").unwrap().with(name, value).is_err());
    }
    let tiny = texts(1);
    assert!(matches!(
        Model::fit(&of_first(1), &tiny),
        Err(ModelError::Split(SplitError::Empty { n_samples: 1 }))
    ));
}

/// Trees that would distinguish only some values of a category get means of the outputs for it.
#[test]
fn categories_of_many_values_become_means_for_trees() {
    let folder = tempfile::tempdir().unwrap();
    let params = with_portfolio(&folder, &["random-forest --trees 10", "ridge"]);
    for (n_values, encoding) in [(255, ""), (256, " --nominal target")] {
        let x = Array2::from_shape_fn((600, 2), |(i, j)| (i * (j + 1) % n_values) as f32);
        let y = x
            .column(0)
            .mapv(|v| v * 31.0 % 17.0)
            .insert_axis(ndarray::Axis(1));
        let values = (0..n_values).map(|value| value.to_string()).collect();
        let data = Dataset::new(x.into(), y.into(), Task::Regression)
            .and_then(|data| data.with_nominal([(0, values)].into()))
            .unwrap();
        let model = Model::fit(&params, &data).unwrap();
        let selection = selection(&model);
        let methods = selection
            .candidates
            .iter()
            .map(|candidate| candidate.method.clone());
        let expected = [
            format!("random-forest --trees 10{encoding}"),
            "ridge --impute median".to_owned(),
        ];
        assert_eq!(methods.collect::<Vec<_>>(), expected);
    }
}

/// One missing output leaves no member out that fits outputs by themselves.
#[test]
fn ridge_takes_part_with_missing_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let params = with_portfolio(&folder, &["random-forest --trees 10", "ridge"]);
    let x = Array2::from_shape_fn((200, 3), |(i, j)| (i * (j + 3) % 17) as f32);
    let mut y = Array2::from_shape_fn((200, 2), |(i, j)| x[[i, 0]] - 2.0 * x[[i, 1 + j]]);
    y[[7, 1]] = f32::NAN;
    let data = Dataset::with_missing(x.into(), y.into(), Task::Regression).unwrap();
    let model = Model::fit(&params, &data).unwrap();
    let selection = selection(&model);
    let ridge = &selection.candidates[1];
    assert!(ridge.score.is_some_and(|score| score > 0.9), "{ridge:?}");
}
