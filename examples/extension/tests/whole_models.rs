//! Tests each extension point in a whole model that is fitted, evaluated, saved, loaded and tuned.

use ndarray::Array2;
use rpo::data::generate::{Friedman, FriedmanKind, MultiLabelSet};
use rpo::metrics::Score;
use rpo::prelude::*;
use rpo::tune::Tuning;
use rpo_extension_example::{WorstF1, registry};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Few labels, which the features explain; returns training and test samples.
fn labels() -> (Dataset, Dataset) {
    let data = MultiLabelSet::new(300, 20, 6).generate(Seed::new(1)).unwrap();
    data.split(0.3, Seed::new(2)).unwrap()
}

fn numbers() -> (Dataset, Dataset) {
    let problem = Friedman {
        n_outputs: 3,
        ..Friedman::from(FriedmanKind::Chain)
    };
    let data = problem.generate(Seed::new(1)).unwrap();
    data.split(0.3, Seed::new(2)).unwrap()
}

fn method(name: &str, parameters: &[(&str, &str)]) -> Method {
    let method = registry().method(name).unwrap();
    parameters
        .iter()
        .fold(method, |method, (name, value)| method.with(name, value).unwrap())
}

fn fit(name: &str, parameters: &[(&str, &str)], train: &Dataset) -> Model {
    Model::fit(&method(name, parameters), train).unwrap()
}

fn score(model: &Model, test: &Dataset, metric: impl Score) -> f64 {
    model.evaluate(test, &[metric]).unwrap()[0]
}

/// Checks that a model read from its file is equal, and that its record describes the method that fits it again.
fn comes_back(model: &Model, train: &Dataset) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("custom.rpo");
    model.save(&path).unwrap();
    let loaded = Model::load_with(&path, &registry()).unwrap();
    assert_eq!(loaded, *model);
    let x = train.features().view();
    assert_eq!(loaded.predict(x).unwrap(), model.predict(x).unwrap());
    let again = registry().method_of(&loaded.parameters).unwrap();
    assert_eq!(Model::fit(&again, train).unwrap(), *model);
}

/// Tries two settings of a parameter, and fits the better one.
fn tune(name: &str, space: &str, metric: Option<Arc<dyn Score>>, train: &Dataset) -> Model {
    let mut tuning = Tuning::new(method(name, &[]), [space], 7);
    tuning.metric = metric;
    let tuned = tuning.run(train, &|| ()).unwrap();
    assert_eq!(tuned.result.history.len(), 2);
    assert!(tuned.result.best_score.is_finite());
    let best = tuning.fit_best(&tuned, train, Refit::Everything, &FitContext::default());
    best.unwrap()
}

#[test]
fn weights_are_respected_or_refused() {
    let (train, _) = numbers();
    let weights: Vec<f32> = (0..train.n_samples()).map(|i| 1.0 + (i % 3) as f32).collect();
    let weighted = train.clone().with_weights(weights).unwrap();
    for text in ["quantile-boosting --iterations 3", "predictable-forest --trees 3"] {
        let method = registry().parse(text).unwrap();
        let [plain, with_weights] = [&train, &weighted].map(|data| Model::fit(&method, data).unwrap());
        let x = train.features().view();
        assert_ne!(
            plain.predict(x.reborrow()).unwrap(),
            with_weights.predict(x).unwrap(),
            "{text}"
        );
    }
    assert!(Model::fit(&registry().method("pair-forest").unwrap(), &weighted).is_err());
}

#[test]
fn a_criterion_in_a_whole_forest() {
    let (train, test) = labels();
    let model = fit("balanced-forest", &[], &train);
    let baseline = fit("baseline", &[], &train);
    assert!(score(&model, &test, Metric::Lrap) > score(&baseline, &test, Metric::Lrap));
    comes_back(&model, &train);
    tune("balanced-forest", "balance=0,1", None, &train);

    // Equal weights are plain variance: the forest equals that of `rpo`, up to rounding of split scores.
    let plain = fit("random-forest", &[("trees", "20")], &train);
    let equal = fit("balanced-forest", &[("balance", "0")], &train);
    let difference = score(&plain, &test, Metric::Lrap) - score(&equal, &test, Metric::Lrap);
    assert!(difference.abs() < 0.02, "{difference}");
}

#[test]
fn a_splitter_with_a_custom_rule_in_a_whole_forest() {
    for (train, test) in [labels(), numbers()] {
        let model = fit("pair-forest", &[], &train);
        let baseline = fit("baseline", &[], &train);
        let metric = model.default_metric();
        assert!(score(&model, &test, metric) > score(&baseline, &test, metric));
        comes_back(&model, &train);
        tune("pair-forest", "pairs=3,20", None, &train);
    }
}

#[test]
fn a_leaf_model_in_a_whole_forest() {
    let (train, test) = numbers();
    let model = fit("shrunken-forest", &[], &train);
    assert!(score(&model, &test, Metric::R2) > 0.5);
    comes_back(&model, &train);
    tune("shrunken-forest", "shrinkage=0,10", None, &train);

    // Without shrinkage leaves hold means; with strong shrinkage all predictions are nearly equal.
    let x = test.features().view();
    let plain = [("trees", "20"), ("preset", "paper")];
    let means = fit("random-forest", &plain, &train).predict(x).unwrap();
    let unshrunken = fit("shrunken-forest", &[("shrinkage", "0")], &train);
    let differences = unshrunken.predict(x).unwrap() - means;
    assert!(differences.iter().all(|v| v.abs() < 1e-3));
    let constant = fit("shrunken-forest", &[("shrinkage", "1e9")], &train);
    let spread = constant.predict(x).unwrap().std_axis(ndarray::Axis(0), 0.0);
    assert!(spread.iter().all(|&v| v < 1e-3));
}

#[test]
fn a_projection_that_looks_at_features_in_a_whole_forest() {
    // Three outputs depend on a function of the features, the other three are noise: one component suffices if it is
    // one of the former.
    let problem = Friedman {
        n_outputs: 3,
        permuted_outputs: true,
        ..Friedman::from(FriedmanKind::Group)
    };
    let data = problem.generate(Seed::new(1)).unwrap();
    let (train, test) = data.split(0.3, Seed::new(2)).unwrap();
    let model = fit("predictable-forest", &[], &train);
    let errors =
        model.predict(test.features().view()).unwrap() - test.outputs().view().to_dense(1 << 20).unwrap();
    let mse = errors.mapv(|e| e * e).mean_axis(ndarray::Axis(0)).unwrap();
    let variance = test
        .outputs()
        .view()
        .to_dense(1 << 20)
        .unwrap()
        .var_axis(ndarray::Axis(0), 0.0);
    assert!((0..3).all(|j| mse[j] < 0.5 * variance[j]), "{mse} of {variance}");
    comes_back(&model, &train);
    tune("predictable-forest", "components=1,3", None, &train);
    // Custom parts have custom errors.
    let constant = Matrix::from(Array2::ones((20, 2)));
    let outputs = Matrix::from(Array2::from_shape_fn((20, 2), |(i, j)| (i * (j + 3) % 7) as f32));
    let constant = Dataset::new(constant, outputs, Task::Regression).unwrap();
    let error = Model::fit(&method("predictable-forest", &[]), &constant).unwrap_err();
    assert!(
        error.to_string().contains("predictable: no feature varies"),
        "{error}"
    );
}

#[test]
fn a_loss_in_a_whole_boosting() {
    let (train, test) = numbers();
    for (quantile, expected) in [("0.1", 0.0..0.4), ("0.9", 0.6..1.0)] {
        let model = fit("quantile-boosting", &[("quantile", quantile)], &train);
        let predicted = model.predict(test.features().view()).unwrap();
        let truth = test.outputs().view().to_dense(1 << 20).unwrap();
        let below = predicted.iter().zip(&truth).filter(|(p, y)| y <= p).count();
        let fraction = below as f64 / truth.len() as f64;
        assert!(
            expected.contains(&fraction),
            "{fraction} of values are below quantile {quantile}"
        );
        assert_eq!(model.default_metric(), Metric::Pinball);
        comes_back(&model, &train);
    }
    tune("quantile-boosting", "iterations=5,30", None, &train);
}

#[test]
fn a_metric_of_a_whole_model() {
    let (train, test) = labels();
    let model = tune(
        "balanced-forest",
        "max_depth=1,8",
        Some(Arc::new(WorstF1)),
        &train,
    );
    let metrics: [&dyn Score; 2] = [&WorstF1, &Metric::MacroF1];
    let values = model.evaluate(&test, &metrics).unwrap();
    assert!(0.0 <= values[0] && values[0] <= values[1], "{values:?}");
    comes_back(&model, &train);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let (train, _) = labels();
    for (name, parameter, value) in [
        ("balanced-forest", "balance", "2"),
        ("pair-forest", "pairs", "0"),
        ("shrunken-forest", "shrinkage", "-1"),
        ("predictable-forest", "components", "0"),
        ("quantile-boosting", "quantile", "1"),
    ] {
        let error = Model::fit(&method(name, &[(parameter, value)]), &train).unwrap_err();
        assert!(error.to_string().contains(parameter), "{error}");
    }
}

/// Methods pass the observers on, so that a fit can be followed and stopped.
#[test]
fn every_method_can_be_stopped() {
    let (train, _) = numbers();
    for (name, steps) in [
        ("balanced-forest", "trees"),
        ("pair-forest", "trees"),
        ("shrunken-forest", "trees"),
        ("predictable-forest", "trees"),
        ("quantile-boosting", "iterations"),
    ] {
        let made = AtomicUsize::new(0);
        let on_step = || {
            made.fetch_add(1, Ordering::Relaxed);
        };
        let stop = || made.load(Ordering::Relaxed) > 0;
        let context = FitContext {
            on_step: Some(&on_step),
            stop: Some(&stop),
            ..FitContext::default()
        };
        let stopped = Model::fit_with(&method(name, &[(steps, "1000")]), &train, &context);
        assert!(stopped.is_err_and(|e| e.is_stopped()), "{name}");
        assert!(made.into_inner() < 100, "{name}");
    }
}
