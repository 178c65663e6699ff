//! Nominal features with very many values, encoded as means of the outputs, from the data set to the model file.

use ndarray::{Array2, array};
use rpo::Predictor;
use rpo::core::{MatrixView, Seed};
use rpo::data::{Dataset, Layout, Task};
use rpo::metrics::Metric;
use rpo::{FitContext, Method, MethodError, Model, ModelError};

fn unit(seed: u64, i: usize, j: u64) -> f32 {
    (Seed::new(seed).child(i as u64).hash(j) >> 40) as f32 / (1 << 24) as f32
}

const WORDS: usize = 300;

/// A number and a word, one of 300. Outputs depend on the word unless `effect` is 0.
fn data(seed: u64, n: usize, d: usize, task: Task, effect: f32) -> Dataset {
    let word = |i: usize| (unit(seed, i, 0) * WORDS as f32).floor();
    let x = Array2::from_shape_fn((n, 2), |(i, j)| if j == 0 { unit(seed, i, 1) } else { word(i) });
    let y = Array2::from_shape_fn((n, d), |(i, j)| {
        let of_word = unit(7, word(i) as usize, j as u64) - 0.5;
        let value = effect * of_word + 0.5 * unit(seed, i, 1) + unit(seed, i, 100 + j as u64) - 0.75;
        match task {
            Task::Regression => value * (1.0 + j as f32),
            Task::MultiLabel => f32::from(value > 0.0),
        }
    });
    let words = (0..WORDS).map(|v| format!("word {v}")).collect();
    Dataset::new(x.into(), y.into(), task)
        .and_then(|data| data.with_nominal([(1, words)].into()))
        .unwrap()
}

fn fit(options: &str, data: &Dataset) -> Result<Model, ModelError> {
    Model::fit(&options.parse::<Method>().unwrap(), data)
}

fn score(model: &Model, data: &Dataset) -> f64 {
    let metric = match data.task() {
        Task::MultiLabel => Metric::Lrap,
        Task::Regression => Metric::R2,
    };
    model.evaluate(data, &[metric]).unwrap()[0]
}

const METHODS: [(&str, Task); 7] = [
    ("ridge", Task::Regression),
    ("logistic-regression", Task::MultiLabel),
    ("one-vs-rest", Task::MultiLabel),
    ("label-embedding", Task::MultiLabel),
    ("craftml --trees 20", Task::MultiLabel),
    ("random-forest --trees 20 --min-samples-leaf 50", Task::Regression),
    ("gbmort --iterations 50", Task::Regression),
];

#[test]
fn words_say_what_they_say_and_no_more() {
    for (method, task) in METHODS {
        let scores = |effect: f32| {
            let (train, test) = (data(1, 3000, 5, task, effect), data(2, 1000, 5, task, effect));
            let model = fit(&format!("{method} --nominal target"), &train).unwrap();
            let numbers = |data: &Dataset| data.select_features(&[0]).unwrap();
            let without = fit(method, &numbers(&train)).unwrap();
            (score(&model, &test), score(&without, &numbers(&test)))
        };
        let (with, without) = scores(2.0);
        assert!(with > without + 0.05, "{method}: {with} {without}");
        // Meaningless words cost little and gain nothing.
        let (with, without) = scores(0.0);
        assert!((with - without).abs() < 0.05, "{method}: {with} {without}");
    }
}

#[test]
fn many_outputs_become_few_columns() {
    for task in [Task::MultiLabel, Task::Regression] {
        let (train, test) = (data(3, 2000, 40, task, 2.0), data(4, 500, 40, task, 2.0));
        for (components, n_columns) in [
            ("", 17),
            (" --nominal_components 3", 4),
            (" --nominal_components 40", 41),
        ] {
            let model = fit(&format!("ridge --nominal target{components}"), &train).unwrap();
            assert_eq!(model.predictor().n_features(), n_columns);
            let named = if n_columns == 41 {
                "mean(0|1)"
            } else {
                "mean(component 0|1)"
            };
            assert_eq!(model.column_name(1).as_deref(), Some(named));
            let plain = fit("ridge --nominal codes", &train).unwrap();
            assert!(score(&model, &test) > score(&plain, &test) + 0.02, "{components}");
            // The file stores the encoding; the model is the same for any number of threads.
            let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
            assert_eq!(loaded, model);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            let again = pool.install(|| fit(&format!("ridge --nominal target{components}"), &train));
            assert_eq!(again.unwrap().to_bytes(), model.to_bytes());
        }
    }
}

#[test]
fn what_is_missing_has_the_mean_of_all() {
    let train = data(5, 500, 3, Task::Regression, 2.0);
    let x = train.features().view().to_dense(usize::MAX).unwrap();
    let mut holes = x.clone();
    holes[[7, 1]] = f32::NAN;
    let with = |x: Array2<f32>| {
        let made = Dataset::new(x.into(), train.outputs().clone(), Task::Regression);
        made.unwrap().with_nominal(train.nominal().clone()).unwrap()
    };
    // Missing nominal values do not require imputation in any method.
    let model = fit("ridge --nominal target", &with(holes.clone())).unwrap();
    let imputed = fit("ridge --nominal target --impute median", &with(holes)).unwrap();
    let missing = array![[0.5, f32::NAN]];
    let predicted = model.predict(MatrixView::from(&missing)).unwrap();
    assert_eq!(predicted, imputed.predict(MatrixView::from(&missing)).unwrap());
    // Missing numbers are still refused, by name.
    let missing = array![[f32::NAN, f32::NAN]];
    let refused = model.predict(MatrixView::from(&missing)).unwrap_err();
    let name = "0".to_owned();
    assert_eq!(refused, ModelError::MissingFeature { row: 0, name });
    let mut holes = x;
    holes[[7, 0]] = f32::NAN;
    holes[[3, 1]] = f32::NAN;
    let refused = fit("ridge --nominal target", &with(holes))
        .unwrap_err()
        .to_string();
    assert!(refused.contains("\"0\" of sample 7"), "{refused}");
}

#[test]
fn missing_outputs_take_no_part() {
    for task in [Task::MultiLabel, Task::Regression] {
        let train = data(6, 400, 12, task, 2.0);
        let mut y = train.outputs().view().to_dense(usize::MAX).unwrap();
        y.indexed_iter_mut()
            .filter(|((i, j), _)| (i + j) % 9 == 0)
            .for_each(|(_, v)| *v = f32::NAN);
        let holes = Dataset::with_missing(train.features().clone(), y.into(), task).unwrap();
        let holes = holes.with_nominal(train.nominal().clone()).unwrap();
        for components in ["4", "12"] {
            let model = fit(
                &format!("gbmort --iterations 20 --nominal target --nominal-components {components}"),
                &holes,
            );
            assert!(score(&model.unwrap(), &data(8, 200, 12, task, 2.0)).is_finite());
        }
    }
}

/// The features of training samples contain their targets at prediction, so no estimate on them is honest.
#[test]
fn nothing_is_estimated_on_means_that_contain_the_target() {
    let train = data(9, 600, 3, Task::MultiLabel, 0.0);
    let method: Method = "random-forest --trees 30 --nominal target --thresholds macro-f"
        .parse()
        .unwrap();
    let estimator = method.estimator(Task::MultiLabel).unwrap();
    assert!(!estimator.has_oob());
    let model = Model::fit(&method, &train).unwrap();
    assert_eq!(model.oob_predictions(train.features().view()), Ok(None));
    // Thresholds are found on the features used in training, which are out of fold.
    assert_eq!(model.thresholds().map(<[f64]>::len), Some(3));
    let ridge: Method = "ridge --nominal target".parse().unwrap();
    let ridge = ridge.estimator(Task::MultiLabel).unwrap();
    let found = ridge.fit_leaving_one_out(&train, &FitContext::default(), &[0, 1]);
    assert_eq!(found.unwrap().map(|_| ()), None);
}

/// A 0 that is not stored is not a first value: sparse features become indicators by default, whatever the method.
#[test]
fn nominal_features_that_are_sparse_become_indicators() {
    let sparse = data(10, 300, 3, Task::MultiLabel, 2.0);
    let sparse = sparse.with_layout(Layout::Sparse, usize::MAX).unwrap();
    for (method, n_columns) in [
        ("ridge", WORDS + 1),
        ("craftml --trees 2", WORDS + 1),
        ("random-forest --trees 2", WORDS + 1),
        ("random-forest --trees 2 --nominal target", 4),
        ("gbmort --iterations 2 --nominal codes", 2),
    ] {
        let model = fit(method, &sparse).unwrap();
        assert_eq!(model.predictor().n_features(), n_columns, "{method}");
    }
}

#[test]
fn parameters_that_have_no_effect_are_refused() {
    let refusal = |options: &str| {
        let method = options.parse::<Method>().map_err(|e: MethodError| e.to_string());
        let estimator = method.and_then(|m| m.estimator(Task::Regression).map_err(|e| e.to_string()));
        estimator.err().unwrap()
    };
    let needs = "`nominal_components` = 4 needs `nominal` = target";
    assert!(refusal("ridge --nominal-components 4").contains(needs));
    assert!(refusal("ridge --nominal one-hot --nominal-components 4").contains(needs));
    let range = refusal("ridge --nominal target --nominal-components 0");
    assert!(
        range.contains("`nominal_components` must be at least 1"),
        "{range}"
    );
}
