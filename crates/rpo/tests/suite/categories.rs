//! Nominal features that trees split natively, from the data set to the model file.

use ndarray::{Array2, array};
use rpo::Predictor;
use rpo::core::{MatrixView, Seed, TreeEnsemble};
use rpo::data::{Dataset, DatasetError, Layout, Task};
use rpo::ensemble::boosting::Boosted;
use rpo::ensemble::{Forest, ForestTree, SingleTargetForest};
use rpo::tree::AxisRule;
use rpo::{Method, Model, ModelError};

/// Samples with a number and a nominal feature of 100 values. The values' effect on two outputs is that of a subset
/// that no order of codes reveals; some values are missing.
fn data(seed: u64, n: usize, task: Task) -> Dataset {
    let unit = |i: usize, j: u64| (Seed::new(seed).child(i as u64).hash(j) >> 40) as f32 / (1 << 24) as f32;
    let code = |i: usize| (unit(i, 0) * 100.0).floor();
    let side = |i: usize| {
        if (code(i) as u32 * 37) % 100 < 43 {
            1.0
        } else {
            -1.0
        }
    };
    let x = Array2::from_shape_fn((n, 2), |(i, j)| match j {
        0 => unit(i, 1),
        _ if unit(i, 2) < 0.05 => f32::NAN,
        _ => code(i),
    });
    let y = Array2::from_shape_fn((n, 2), |(i, j)| {
        let value = side(i) * [1.0, -2.0][j] + unit(i, 3 + j as u64) - 0.5;
        match task {
            Task::Regression => value,
            Task::MultiLabel => f32::from(value > 0.0),
        }
    });
    let words = (0..100).map(|v| format!("word {v}")).collect();
    Dataset::new(x.into(), y.into(), task)
        .and_then(|data| data.with_nominal([(1, words)].into()))
        .unwrap()
}

const METHODS: [&str; 8] = [
    "random-forest --trees 10 --max-features 1",
    "random-forest --trees 10 --max-features 1 --bins 255 --projection gaussian --components 2",
    "extra-trees --trees 10 --max-features 1",
    "single-target-forest --trees 5 --max-features 1",
    "gbmort --iterations 20 --max-features 1",
    "gbrt-rpo --iterations 20 --max-features 1",
    "single-target-gbrt --iterations 20 --bins exact",
    "gbrt-relabel-rpo --iterations 20 --max-features 0.4",
];

fn fit(options: &str, data: &Dataset) -> Result<Model, ModelError> {
    Model::fit(&options.parse::<Method>().unwrap(), data)
}

/// The rules of a model's trees.
fn rules(model: &Model) -> Vec<AxisRule> {
    let of_forest = |trees: &[ForestTree]| -> Vec<AxisRule> {
        trees
            .iter()
            .flat_map(|t| t.tree.structure().splits().map(|(_, rule)| rule.clone()))
            .collect()
    };
    let predictor = model.predictor();
    if let Some(forest) = predictor.downcast_ref::<Forest>() {
        of_forest(forest.trees())
    } else if let Some(forest) = predictor.downcast_ref::<SingleTargetForest>() {
        of_forest(forest.trees())
    } else {
        let boosted = predictor.downcast_ref::<Boosted>().unwrap();
        let trees = boosted.trees().iter();
        trees
            .flat_map(|t| t.structure.splits().map(|(_, rule)| rule.clone()))
            .collect()
    }
}

fn mean_square(model: &Model, data: &Dataset) -> f32 {
    let predicted = model.predict(data.features().view()).unwrap();
    let truth = data.outputs().view().to_dense(usize::MAX).unwrap();
    (predicted - truth).mapv(|v| v * v).mean().unwrap()
}

#[test]
fn trees_split_subsets_of_values_and_the_file_keeps_them() {
    for task in [Task::Regression, Task::MultiLabel] {
        let (train, test) = (data(1, 2500, task), data(2, 500, task));
        for options in METHODS {
            let model = fit(options, &train).unwrap();
            assert!(
                rules(&model).iter().any(|rule| rule.test().categories.is_some()),
                "{options}"
            );
            let codes = fit(&format!("{options} --nominal codes"), &train).unwrap();
            assert!(
                rules(&codes).iter().all(|rule| rule.test().categories.is_none()),
                "{options}"
            );
            assert_eq!(codes.schema(), model.schema());
            let loss = [&model, &codes].map(|model| mean_square(model, &test));
            assert!(loss[0] < 0.8 * loss[1], "{options}: {loss:?}");

            let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
            assert_eq!(loaded, model, "{options}");
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
            let again = pool.install(|| fit(options, &train)).unwrap();
            assert_eq!(again, model, "{options}");
            // Stored rows are predicted like dense ones.
            let x = array![[0.5, 3.0], [0.0, 0.0], [0.25, f32::NAN]];
            let csr = MatrixView::from(&x).to_csr();
            let dense = model.predict((&x).into()).unwrap();
            assert_eq!(model.predict(MatrixView::Sparse(csr.view())).unwrap(), dense);
        }
    }
}

#[test]
fn numbers_that_are_no_positions_are_refused_whatever_the_encoding() {
    let train = data(5, 200, Task::Regression);
    for options in [
        "extra-trees --trees 3",
        "extra-trees --trees 3 --nominal codes",
        "gbmort --iterations 3",
        "ridge --impute median",
    ] {
        let model = fit(options, &train).unwrap();
        for value in [100.0, 1.5, -3.0] {
            let x = array![[0.5, 99.0], [0.5, value]];
            let expected = ModelError::Dataset(DatasetError::NotAPosition {
                sample: 1,
                feature: 1,
                value,
                n_values: 100,
            });
            let x = MatrixView::from(&x);
            assert_eq!(model.predict(x).as_ref(), Err(&expected), "{options}");
            assert_eq!(model.predict_top_k(x, 1).as_ref(), Err(&expected), "{options}");
            assert_eq!(model.apply(x).as_ref(), Err(&expected), "{options}");
        }
    }
}

#[test]
fn codes_are_what_numbers_are() {
    let train = data(3, 200, Task::Regression);
    let numbers = train.clone().with_nominal([].into()).unwrap();
    for options in ["random-forest --trees 3", "gbmort --iterations 5"] {
        let codes = fit(&format!("{options} --nominal codes"), &train).unwrap();
        let plain = fit(options, &numbers).unwrap();
        assert_eq!(rules(&codes), rules(&plain));
    }
}

#[test]
fn what_cannot_split_categories_says_so() {
    let train = data(4, 100, Task::MultiLabel);
    let problem = |options: &str, data: &Dataset| fit(options, data).unwrap_err().to_string();
    let refused = problem("structured-forest --trees 2 --nominal native", &train);
    assert!(
        refused.contains("random forests, Extra-Trees and boosting"),
        "{refused}"
    );
    let sparse = train.with_layout(Layout::Sparse, usize::MAX).unwrap();
    let refused = problem("random-forest --trees 2 --nominal native", &sparse);
    assert!(refused.contains("dense features"), "{refused}");
    // By default, sparse features keep their codes.
    let model = fit("random-forest --trees 2", &sparse).unwrap();
    assert!(rules(&model).iter().all(|rule| rule.test().categories.is_none()));
}
