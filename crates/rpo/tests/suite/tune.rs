//! Spaces and searches: orders, limits, failures, and the same result for any number of threads.

use ndarray::Array2;
use proptest::prelude::*;
use rpo::core::{Predictor, Seed};
use rpo::data::generate::{Generator, MultiLabelSet};
use rpo::data::{Dataset, Task};
use rpo::metrics::Metric;
use rpo::tune::{
    Direction, Holdout, Outcome, ParamDistribution, Pruner, Refit, Search, SearchError, SearchLimit,
    SearchOrder, SearchResult, Setting, Space, SpaceError, Trial, TrialError, TuneError, Tuning, Value,
};
use rpo::{FitContext, Method, MethodError, Model, ModelError};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

fn law(text: &str) -> ParamDistribution {
    text.parse().unwrap()
}

fn space(parameters: &[(&str, &str)]) -> Space {
    let add = |space: Space, (name, values): &(&str, &str)| space.parameter(name, law(values)).unwrap();
    parameters.iter().fold(Space::default(), add)
}

fn texts(settings: impl Iterator<Item = Setting>) -> Vec<String> {
    settings.map(|setting| setting.to_string()).collect()
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap().install(work)
}

#[test]
fn a_grid_lists_all_combinations_the_last_parameter_fastest() {
    let grid = texts(
        space(&[("a", "x,y"), ("b", "integers:3:5"), ("c", "1")])
            .settings(SearchOrder::Grid, Seed::new(0))
            .unwrap(),
    );
    assert_eq!(
        grid,
        [
            "a=x b=3 c=1",
            "a=x b=4 c=1",
            "a=x b=5 c=1",
            "a=y b=3 c=1",
            "a=y b=4 c=1",
            "a=y b=5 c=1"
        ]
    );
    assert_eq!(
        texts(
            Space::default()
                .settings(SearchOrder::Grid, Seed::new(0))
                .unwrap()
        ),
        [""]
    );
    assert_eq!(
        space(&[("a", "x"), ("b", "uniform:0:1")])
            .settings(SearchOrder::Grid, Seed::new(0))
            .err(),
        Some(SpaceError::Continuous("b".to_owned()))
    );
}

/// c does not apply if b is none.
fn conditional() -> Space {
    space(&[("a", "1,2"), ("b", "none,g")])
        .parameter_unless("c", law("5,6"), "b", "none")
        .unwrap()
}

#[test]
fn a_parameter_without_meaning_is_left_out_and_its_settings_come_once() {
    let space = conditional();
    let mut grid = texts(space.settings(SearchOrder::Grid, Seed::new(0)).unwrap());
    assert_eq!(
        grid,
        [
            "a=1 b=none",
            "a=1 b=g c=5",
            "a=1 b=g c=6",
            "a=2 b=none",
            "a=2 b=g c=5",
            "a=2 b=g c=6"
        ]
    );
    // Random settings visit a finite space once and then end.
    let mut random = texts(space.settings(SearchOrder::Random, Seed::new(3)).unwrap());
    random.sort();
    grid.sort();
    assert_eq!(random, grid);
    assert_eq!(
        Space::default()
            .parameter_unless("c", law("1"), "b", "none")
            .err(),
        Some(SpaceError::NoParameter("b".to_owned()))
    );
}

#[test]
fn what_is_no_law_or_space_is_refused() {
    for (text, expected) in [
        ("", SpaceError::NoValue),
        ("a,,b", SpaceError::NoValue),
        ("a,b,a", SpaceError::Repeated(Value::from("a"))),
        ("integers:1:x", SpaceError::Unreadable("integers:1:x".to_owned())),
        ("uniform:1", SpaceError::Unreadable("uniform:1".to_owned())),
        (
            "loguniform:0.01:1",
            SpaceError::Unreadable("loguniform:0.01:1".to_owned()),
        ),
    ] {
        assert_eq!(text.parse::<ParamDistribution>(), Err(expected), "{text}");
    }
    for text in [
        "integers:2:1",
        "uniform:1:1",
        "uniform:NaN:1",
        "uniform:0:inf",
        "uniform:-1.7e308:1.7e308",
        "log-uniform:0:1",
        "log-uniform:1:1",
        "log-uniform:1:NaN",
    ] {
        assert!(
            matches!(text.parse::<ParamDistribution>(), Err(SpaceError::Bounds { .. })),
            "{text}"
        );
    }
    assert_eq!(
        ParamDistribution::try_from(vec![f64::NAN, 1.0, f64::NAN])
            .map(drop)
            .unwrap_err()
            .to_string(),
        "the value NaN is given twice"
    );
    assert_eq!(
        space(&[("a", "1")]).parameter("a", law("2")).err(),
        Some(SpaceError::RepeatedParameter("a".to_owned()))
    );
    let two = space(&[("a", "rademacher:3,none")]);
    assert_eq!(two.settings(SearchOrder::Grid, Seed::new(0)).unwrap().count(), 2);
    // One more integer than 64 bits can count.
    let all = format!("integers:{}:{}", i64::MIN, i64::MAX);
    let first = space(&[("a", &all)])
        .settings(SearchOrder::Grid, Seed::new(0))
        .unwrap()
        .next()
        .unwrap();
    assert_eq!(first.get("a"), Ok(i64::MIN));
}

#[test]
fn values_are_read_as_types() {
    let space = Space::default()
        .parameter("share", vec![1.0].try_into().unwrap())
        .and_then(|s| s.parameter("name", law("gaussian")));
    let setting = space
        .unwrap()
        .settings(SearchOrder::Grid, Seed::new(0))
        .unwrap()
        .next()
        .unwrap();
    assert_eq!(setting.get("share"), Ok(rpo::ensemble::MaxFeatures::Share(1.0)));
    assert_eq!(setting.get("share"), Ok(1.0));
    assert_eq!(
        setting.get::<f64>("depth"),
        Err(SpaceError::NoParameter("depth".to_owned()))
    );
    let wrong = setting.get::<f64>("name").unwrap_err();
    assert_eq!(wrong.to_string(), "name is gaussian: invalid float literal");
}

proptest! {
    #[test]
    fn draws_keep_their_bounds_and_depend_on_seed_and_index_alone(seed in any::<u64>(), n in 1_usize..40) {
        let continuous = space(&[
            ("u", "uniform:-2:3"), ("l", "log-uniform:0.001:10"), ("i", "integers:-1:4"), ("v", "a,b,c"),
        ]);
        let seed = Seed::new(seed);
        let long: Vec<Setting> = continuous.settings(SearchOrder::Random, seed).unwrap().take(n + 10).collect();
        let short: Vec<Setting> = continuous.settings(SearchOrder::Random, seed).unwrap().take(n).collect();
        prop_assert_eq!(&long[..n], &short[..]);
        // The values of a list take turns.
        for turn in short.chunks_exact(3) {
            let mut drawn: Vec<String> = turn.iter().map(|s| s.get("v").unwrap()).collect();
            drawn.sort();
            prop_assert_eq!(drawn, ["a", "b", "c"]);
        }
        // An additional parameter does not change the others.
        let wider = continuous.clone().parameter("more", law("1,2")).unwrap();
        for (setting, wide) in short.iter().zip(wider.settings(SearchOrder::Random, seed).unwrap()) {
            prop_assert_eq!(setting.get::<String>("l"), wide.get::<String>("l"));
            let number = |name| setting.get::<f64>(name).unwrap();
            prop_assert!((-2.0..3.0).contains(&number("u")) && (0.001..=10.0).contains(&number("l")));
            prop_assert!((-1..=4).contains(&setting.get::<i64>("i").unwrap()));
            prop_assert!(["a", "b", "c"].contains(&setting.get::<String>("v").unwrap().as_str()));
        }
    }

    #[test]
    fn random_settings_of_a_finite_space_are_its_grid(seed in any::<u64>(), a in 1_i64..5, b in 1_i64..5) {
        let space = space(&[("a", &format!("integers:1:{a}")), ("b", &format!("integers:1:{b}"))]);
        let mut random = texts(space.settings(SearchOrder::Random, Seed::new(seed)).unwrap());
        let mut grid = texts(space.settings(SearchOrder::Grid, Seed::new(0)).unwrap());
        random.sort();
        grid.sort();
        prop_assert_eq!(random, grid);
    }

    #[test]
    fn any_number_of_threads_finds_the_same(
        seed in any::<u64>(), steps in 1_u64..2000, round in 1_usize..12, median in any::<bool>(), up in any::<bool>(),
    ) {
        let space = space(&[("x", "uniform:0:1"), ("n", "integers:1:30")]);
        let stopping = if median { Pruner::Median { warm_up: 5, min_trials: 3 } } else { Pruner::Never };
        let direction = if up { Direction::Maximize } else { Direction::Minimize };
        let search = Search { direction, limit: SearchLimit::Steps(steps), pruner: stopping, round };
        let run = |threads| on_threads(threads, || without_seconds(search.run(space.settings(SearchOrder::Random, Seed::new(seed)).unwrap(), climb)));
        let one = run(1);
        prop_assert_eq!(&run(2), &one);
        prop_assert_eq!(&run(8), &one);
        // The first setting is run to its end or fails; either way it is in the history.
        if let Ok((history, best)) = one {
            let used: u64 = history.iter().map(|(_, _, steps)| steps).sum();
            let last = history.last().unwrap().2;
            prop_assert!(used >= steps && used - last < steps, "{} of {}", used, steps);
            let score = |i: usize| match history[i].1 { Outcome::Scored(score) => Some(score), _ => None };
            let better = |i: usize| match (score(i), score(best)) {
                (Some(a), Some(b)) => if up { a > b || (a == b && i < best) } else { a < b || (a == b && i < best) },
                _ => false,
            };
            prop_assert!(!(0..history.len()).any(better));
        }
    }
}

/// A score that grows with the steps up to the setting's level; some settings fail.
fn climb(setting: &Setting, trial: &mut Trial<'_>) -> Result<f64, String> {
    let (level, n): (f64, u64) = (setting.get("x").unwrap(), setting.get("n").unwrap());
    if n == 7 {
        return Err("seven".to_owned());
    }
    for step in 1..n {
        let score = level * step as f64 / n as f64;
        if trial.report(step, score).is_break() {
            return Ok(score);
        }
    }
    trial.used(n);
    Ok(if n == 13 { f64::NAN } else { level })
}

type Told = (Vec<(Setting, Outcome<String>, u64)>, usize);

fn without_seconds(found: Result<SearchResult<String>, SearchError<String>>) -> Result<Told, String> {
    let found = found.map_err(|e| e.to_string())?;
    let tell = |r: &rpo::tune::Record<String>| (r.setting.clone(), r.outcome.clone(), r.steps);
    Ok((found.history.iter().map(tell).collect(), found.best))
}

/// The score is the parameter x.
fn x(setting: &Setting, _: &mut Trial<'_>) -> Result<f64, SpaceError> {
    setting.get("x")
}

#[test]
fn the_best_is_by_the_metric_and_the_earliest_of_equal_ones() {
    let space = space(&[("x", "2,3,1"), ("y", "a,b")]);
    let best = |metric: Metric| {
        let found = Search::new(metric)
            .run(space.settings(SearchOrder::Grid, Seed::new(0)).unwrap(), x)
            .unwrap();
        (found.best_setting.to_string(), found.best_score)
    };
    assert_eq!(best(Metric::Lrap), ("x=3 y=a".to_owned(), 3.0));
    assert_eq!(best(Metric::Hamming), ("x=1 y=a".to_owned(), 1.0));
}

#[test]
fn failures_are_recorded_and_do_not_end_the_search() {
    let space = space(&[("x", "seven,NaN,inf,0.5,0.25")]);
    let found = Search::new(Direction::Maximize)
        .run(space.settings(SearchOrder::Grid, Seed::new(0)).unwrap(), x)
        .unwrap();
    assert_eq!(found.best, 3);
    let outcomes: Vec<_> = found.history.iter().map(|r| &r.outcome).collect();
    assert!(matches!(
        outcomes[0],
        Outcome::Failed(TrialError::Error(SpaceError::Type { .. }))
    ));
    assert_eq!(outcomes[1], &Outcome::Failed(TrialError::NotANumber));
    assert_eq!(outcomes[2], &Outcome::Failed(TrialError::Infinite));
    assert_eq!(outcomes[3..], [&Outcome::Scored(0.5), &Outcome::Scored(0.25)]);
    let two = Search {
        limit: SearchLimit::Trials(2),
        ..Search::new(Direction::Maximize)
    };
    let all = two.run(space.settings(SearchOrder::Grid, Seed::new(0)).unwrap(), x);
    let message = all.unwrap_err().to_string();
    assert_eq!(
        message,
        "all 2 settings failed; the first, x=seven: x is seven: invalid float literal"
    );
}

#[test]
fn budgets_are_kept() {
    let space = space(&[("x", "integers:1:100")]);
    let tried = |limit| {
        let calls = AtomicUsize::new(0);
        let search = Search {
            limit,
            ..Search::new(Direction::Maximize)
        };
        let found = search.run(
            space.settings(SearchOrder::Grid, Seed::new(0)).unwrap(),
            |setting, trial| {
                calls.fetch_add(1, Ordering::Relaxed);
                trial.used(10);
                x(setting, trial)
            },
        );
        (found.map(|f| f.history.len()), calls.into_inner())
    };
    assert_eq!(tried(SearchLimit::Everything), (Ok(100), 100));
    assert_eq!(tried(SearchLimit::Trials(13)), (Ok(13), 13));
    assert_eq!(tried(SearchLimit::Trials(1000)), (Ok(100), 100));
    // 21 steps: the third setting crosses the limit. The whole round is tried.
    assert_eq!(tried(SearchLimit::Steps(21)), (Ok(3), 8));
    for nothing in [
        SearchLimit::Trials(0),
        SearchLimit::Steps(0),
        SearchLimit::WallClock(Duration::ZERO),
    ] {
        assert_eq!(tried(nothing), (Err(SearchError::NoTrial), 0));
    }
    assert_eq!(tried(SearchLimit::WallClock(Duration::MAX)), (Ok(100), 100));
}

#[test]
fn time_that_is_up_stops_trials_and_the_search() {
    let space = space(&[("x", "uniform:0:1")]);
    let search = Search {
        limit: SearchLimit::WallClock(Duration::from_millis(300)),
        ..Search::new(Direction::Maximize)
    };
    // Without the limit, neither the trial nor the search would end.
    let found = search.run(
        space.settings(SearchOrder::Random, Seed::new(1)).unwrap(),
        |setting, trial| {
            let mut step = 0;
            while trial.report(step, 0.0).is_continue() {
                step += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
            x(setting, trial)
        },
    );
    let found = found.unwrap();
    assert!(
        found
            .history
            .iter()
            .all(|r| matches!(r.outcome, Outcome::Stopped(_)))
    );
    let best = found
        .history
        .iter()
        .filter_map(rpo::tune::Record::score)
        .fold(0.0, f64::max);
    assert_eq!(found.best_score, best);
}

#[test]
fn the_median_rule_stops_what_is_worse_than_the_median_of_earlier_rounds() {
    // Rounds of one trial. Scores by step: x at step 1, y at the end.
    let run = |min_trials, warm_up| {
        let settings = space(&[("x", "5,1,3,2,9"), ("y", "10")]);
        let search = Search {
            round: 1,
            pruner: Pruner::Median { warm_up, min_trials },
            ..Search::new(Direction::Maximize)
        };
        let found = search.run(
            settings.settings(SearchOrder::Grid, Seed::new(0)).unwrap(),
            |setting, trial| {
                let early = setting.get("x")?;
                if trial.report(1, early).is_break() {
                    return Ok(early);
                }
                setting.get("y")
            },
        );
        let found: SearchResult<SpaceError> = found.unwrap();
        let stopped = |r: &rpo::tune::Record<SpaceError>| matches!(r.outcome, Outcome::Stopped(_));
        found.history.iter().map(stopped).collect::<Vec<_>>()
    };
    // 1 < 5; 3 < 5; 2 < 5: stopped trials are not used for comparison.
    assert_eq!(run(1, 0), [false, true, true, true, false]);
    // From two earlier trials: 3 equals the median of 5 and 1; 2 is below the median 3 of 5, 1, 3.
    assert_eq!(run(2, 0), [false, false, false, true, false]);
    assert_eq!(run(9, 0), [false; 5]);
    assert_eq!(run(1, 2), [false; 5]);
}

#[test]
fn close_bounds_have_draws_too() {
    let drawn = texts(
        space(&[("a", "log-uniform:1000000:1000000.0000000001")])
            .settings(SearchOrder::Random, Seed::new(1))
            .unwrap()
            .take(3),
    );
    assert!(!drawn.is_empty(), "{drawn:?}");
}

#[test]
fn the_record_of_a_model_can_be_tuned() {
    let data = MultiLabelSet::new(100, 10, 4).generate(Seed::new(1)).unwrap();
    let method = Method::named("gbmort").unwrap().with("iterations", "3").unwrap();
    let model = Model::fit(&method, &data).unwrap();
    let again = Method::try_from(&model.parameters).unwrap();
    let data = data.with_groups((0..100).map(|i| i / 10).collect()).unwrap();
    let tuning = Tuning::new(again, ["max_leaves=2,4"], 1);
    let tuned = tuning.run(&data, &|| ()).unwrap();
    assert_eq!(tuned.result.history.len(), 2);
    // What the record says is off is off: all samples are used, with the given number of steps.
    let refitted = tuning
        .fit_best(&tuned, &data, Refit::Everything, &FitContext::default())
        .unwrap();
    assert_eq!(refitted.training().n_samples, 100);
    assert_eq!(refitted.parameters["validation"], serde_json::Value::Null);
}

#[test]
fn data_that_a_method_cannot_use_are_no_error_of_a_setting() {
    let x = ndarray::Array2::from_shape_fn((20, 1), |(i, _)| i as f32);
    let y = ndarray::Array2::from_shape_fn((20, 2), |(i, j)| if (i, j) == (3, 0) { f32::NAN } else { 1.0 });
    let data = Dataset::with_missing(x.into(), y.into(), Task::Regression).unwrap();
    let method = Method::named("label-embedding").unwrap();
    let method = method.with("link_loss", "squared").unwrap();
    let tuning = Tuning::new(method, ["lambda=1,2"], 0);
    let found = tuning.run(&data, &|| ()).unwrap_err();
    let is_of_data = matches!(
        &found,
        TuneError::Model(ModelError::Method(MethodError::Data { .. }))
    );
    assert!(is_of_data, "{found}");
}

#[test]
fn a_holdout_is_disjoint_complete_and_keeps_labels() {
    let n = 200;
    let x = ndarray::Array2::from_shape_fn((n, 1), |(i, _)| i as f32);
    let y = ndarray::Array2::from_shape_fn((n, 2), |(i, j)| f32::from(u8::from(i % (5 + 15 * j) == 0)));
    for task in [Task::MultiLabel, Task::Regression] {
        let data = Dataset::new(x.clone().into(), y.clone().into(), task).unwrap();
        let holdout = Holdout::new(&data, 0.2, Seed::new(1)).unwrap();
        assert_eq!(Holdout::new(&data, 0.2, Seed::new(1)).unwrap(), holdout);
        assert_ne!(Holdout::new(&data, 0.2, Seed::new(2)).unwrap(), holdout);
        let column = |part: &Dataset| match part.features() {
            rpo::core::Matrix::Dense(x) => x.iter().copied().collect::<Vec<_>>(),
            rpo::core::Matrix::Sparse(_) => unreachable!("the features are dense"),
        };
        let mut all = [column(&holdout.train), column(&holdout.validation)].concat();
        all.sort_by(f32::total_cmp);
        assert_eq!(all, column(&data));
        if task == Task::MultiLabel {
            let rows = column(&holdout.validation);
            let rare = rows.iter().filter(|i| (**i as usize).is_multiple_of(20)).count();
            assert_eq!(rare, 2, "a fifth of the ten samples with the rare label");
        }
        for share in [0.0, 1.0, f64::NAN] {
            assert!(Holdout::new(&data, share, Seed::new(1)).is_err());
        }
    }
}

/// Models are compared by the loss that is minimized, as is the best of their steps.
#[test]
fn losses_of_counts_are_scored_by_their_deviance() {
    let x = Array2::from_shape_fn((120, 2), |(i, j)| ((i * (7 + 4 * j) + j) % 31) as f32);
    let y = Array2::from_shape_fn((120, 1), |(i, _)| ((i * 7) % 31 / 10 * (i % 3)) as f32);
    let data = Dataset::new(x.into(), y.into(), Task::Regression).unwrap();
    for (loss, expected) in [
        ("square", "r2"),
        ("poisson", "poisson-deviance"),
        ("tweedie", "tweedie-deviance"),
        ("tweedie --tweedie-power 1.7", "tweedie-deviance@1.7"),
        ("absolute", "mae"),
        ("huber", "mae"),
    ] {
        let method: Method = format!("gbmort --iterations 40 --loss {loss}").parse().unwrap();
        let tuned = Tuning::new(method.clone(), ["learning_rate=0.1,0.3"], 3)
            .run(&data, &|| ())
            .unwrap();
        assert_eq!(tuned.metric.name(), expected);
        let model = Model::fit(&method, &data).unwrap();
        assert_eq!(model.default_metric().to_string(), expected);
        let stopping = |metric: Option<&str>| {
            let method = method.clone().with("validation", "0.3").unwrap();
            let method = match metric {
                Some(metric) => method.with("validation_metric", metric).unwrap(),
                None => method,
            };
            Model::fit(&method, &data).unwrap()
        };
        let predicted = |model: Model| model.predict(data.features().view()).unwrap();
        assert_eq!(predicted(stopping(None)), predicted(stopping(Some(expected))));
    }
}
