//! Bad input gives an error that names what is wrong and where, not a panic or a silent result.

use ndarray::{Array2, array};
use rpo::core::{CsrMatrix, Learner, Matrix, MatrixView, MemoryLimit, Mismatch};
use rpo::data::{Dataset, Task};
use rpo::ensemble::EnsembleError;
use rpo::ensemble::boosting::{Algorithm, BoostingParams};
use rpo::ensemble::thresholds::{ThresholdRule, find};
use rpo::prelude::*;
use rpo::{Estimator, Registry};

fn labels(n: usize) -> Dataset {
    let x = Array2::from_shape_fn((n, 2), |(i, j)| ((i * (j + 3)) % 7) as f32);
    let y = Array2::from_shape_fn((n, 3), |(i, j)| f32::from(u8::from((i + j) % 3 == 0)));
    Dataset::new(x.into(), y.into(), Task::MultiLabel).unwrap()
}

#[test]
fn scores_of_another_width_are_not_decided_on() {
    let data = labels(12);
    let params = ForestParams {
        trees: 2,
        ..ForestParams::default()
    };
    let model = Model::fit(&params, &data).unwrap();
    let mut expecting = model.clone();
    expecting.decision = Decision::ExpectedF1;
    for model in [model, expecting] {
        assert!(model.decide(array![[0.5_f32, 0.5, 0.5]].view()).is_ok());
        for given in [2, 4] {
            let scores = Array2::<f32>::zeros((1, given));
            let (what, expected) = ("columns of the scores", 3);
            assert_eq!(
                model.decide(scores.view()),
                Err(Mismatch {
                    what,
                    expected,
                    given
                }
                .into())
            );
        }
    }
}

#[test]
fn no_samples_are_decided_on_as_they_are_predicted() {
    let params = ForestParams {
        trees: 2,
        ..ForestParams::default()
    };
    let model = Model::fit(&params, &labels(12)).unwrap();
    let scores = model.predict((&Array2::zeros((0, 2))).into()).unwrap();
    assert!(model.target_values(scores.view()).unwrap().is_empty());
    let mut expecting = model.clone();
    expecting.decision = Decision::ExpectedF1;
    for model in [model, expecting] {
        let decided = model.decide(scores.view()).unwrap();
        assert_eq!((decided.rows(), decided.cols()), (0, 3));
    }
}

#[test]
fn trees_without_an_index_are_refused() {
    let params = ForestParams {
        trees: 3,
        first_tree: usize::MAX - 1,
        ..ForestParams::default()
    };
    let data = labels(12);
    let refused = Learner::fit(&params, data.features().view(), data.outputs().view()).unwrap_err();
    assert!(refused.to_string().contains("`first_tree`"), "{refused}");
    let expected = ModelError::from(refused);
    assert_eq!(Model::fit(&params, &data).unwrap_err(), expected);
    let in_parts = params.fit_in_parts(&data, &FitContext::default(), &[1], &mut |_, _| {
        panic!("no tree grows")
    });
    assert_eq!(in_parts.unwrap_err(), expected);
}

/// Includes square matrices, for which a transposed reading would go unnoticed.
#[test]
fn labels_stored_by_columns_are_read_as_they_are() {
    for n in [3, 7] {
        let rows: CsrMatrix = labels(n).outputs().view().to_csr();
        let columns = rows.to_csc();
        let (rows, columns) = (MatrixView::from(&rows), MatrixView::from(&columns));
        let scores = Array2::from_shape_fn((n, 3), |(i, j)| ((5 * i + 2 * j) % 11) as f32);
        let found = |y| find(ThresholdRule::MacroF, scores.view(), y).unwrap();
        assert_eq!(found(rows), found(columns));
        let owned = Matrix::Sparse(columns.to_csr().to_csc());
        let x = Array2::<f32>::zeros((n, 1));
        let data = Dataset::new(x.into(), owned, Task::MultiLabel).unwrap();
        assert_eq!(data.outputs(), &rows.to_owned());
    }
}

/// Absurdly many components: nothing is drawn that would not fit in memory.
#[test]
fn projections_beyond_memory_are_refused() {
    let data = labels(300);
    let components = Some(Components::Exact(1 << 24));
    let what = "a projection of 300 samples and 3 outputs to 16777216 components";
    let expected = MemoryLimit {
        what: what.into(),
        bytes: 303 << 26,
        limit: 4 << 30,
    };
    let forest = ForestParams {
        projection: ProjectionKind::Gaussian.into(),
        components,
        ..ForestParams::default()
    };
    let refused = Model::fit(&forest, &data).unwrap_err();
    assert_eq!(refused, EnsembleError::Memory(expected.clone()).into());
    let boosting = BoostingParams {
        components,
        ..BoostingParams::from(Algorithm::GbrtRelabelRpo)
    };
    let refused = Model::fit(&boosting, &data).unwrap_err();
    assert_eq!(refused, EnsembleError::Memory(expected).into());
}

/// Scores that thresholds are found on are refused before there is a model.
#[test]
fn thresholds_beyond_memory_are_refused() {
    let (n, d) = (9000, 1 << 17);
    let rows: Vec<usize> = (0..=n).collect();
    let y = CsrMatrix::new((n, d), rows, (0..n as u32).collect(), vec![1.0; n]);
    let x = Array2::from_shape_fn((n, 1), |(i, _)| i as f32);
    let data = Dataset::new(x.into(), y.into(), Task::MultiLabel).unwrap();
    let method: Method = "random-forest --trees 1 --max-depth 1 --thresholds macro-f"
        .parse()
        .unwrap();
    let expected = MemoryLimit {
        what: format!("scores of {n} samples and {d} outputs").into(),
        bytes: 4 * n * d,
        limit: 4 << 30,
    };
    assert_eq!(Model::fit(&method, &data), Err(ModelError::MemoryLimit(expected)));
}

/// As many best labels as any number, also where outputs are missing.
#[test]
fn metrics_of_any_number_of_best_labels_are_computed() {
    let complete = labels(12);
    let mut y = complete.outputs().view().to_dense(1 << 10).unwrap();
    y[[3, 1]] = f32::NAN;
    let missing = Dataset::with_missing(complete.features().clone(), y.into(), Task::MultiLabel).unwrap();
    let model = Model::fit(&BaselineParams::default(), &missing).unwrap();
    for data in [&complete, &missing] {
        let metrics = [Metric::NdcgAt(usize::MAX), Metric::NdcgAt(3)];
        let values = model.evaluate(data, &metrics).unwrap();
        assert_eq!(values[0], values[1]);
        let small = EvaluateOptions {
            memory_limit: 1,
            ..EvaluateOptions::default()
        };
        let metrics = [Metric::NdcgAt(usize::MAX), Metric::Lrap];
        let evaluated = model.evaluate_with(data, &metrics, small).unwrap();
        assert_eq!(evaluated.values[0], values[0]);
    }
}

#[test]
fn the_best_labels_may_have_negative_scores() {
    let data = labels(40);
    // Five labels that no sample has: their scores are exactly 0.
    let outputs = data.outputs().view().to_dense(usize::MAX).unwrap();
    let mut wider = ndarray::Array2::zeros((outputs.nrows(), outputs.ncols() + 5));
    wider
        .slice_mut(ndarray::s![.., ..outputs.ncols()])
        .assign(&outputs);
    let data = Dataset::new(data.features().clone(), wider.into(), Task::MultiLabel).unwrap();
    let model = Model::fit(&Method::named("ridge").unwrap(), &data).unwrap();
    let scores = model.predict(data.features().view()).unwrap();
    assert!(scores.column(outputs.ncols()).iter().all(|score| *score == 0.0));
    let few_positive =
        |row: ndarray::ArrayView1<'_, f32>| row.iter().filter(|score| **score > 0.0).count() < 5;
    assert!(scores.rows().into_iter().any(few_positive));
    let expected = model.evaluate(&data, &[Metric::NdcgAt(5), Metric::Lrap]).unwrap();
    let small = EvaluateOptions {
        memory_limit: 1,
        ..EvaluateOptions::default()
    };
    let in_blocks = model
        .evaluate_with(&data, &[Metric::NdcgAt(5), Metric::Lrap], small)
        .unwrap();
    assert!(
        (in_blocks.values[0] - expected[0]).abs() < 1e-12,
        "{in_blocks:?} {expected:?}"
    );
    assert_eq!(
        model.evaluate(&data, &[Metric::NdcgAt(5)]).unwrap()[0],
        expected[0]
    );
    // Scores that are no probabilities are only refused where labels are decided.
    let method = Method::named("ridge").unwrap().with("decide", "f1").unwrap();
    let model = Model::fit(&method, &data).unwrap();
    assert!(model.evaluate_with(&data, &[Metric::Lrap], small).is_ok());
    assert!(model.evaluate_with(&data, &[Metric::Hamming], small).is_err());
}

#[test]
fn metrics_of_labels_are_refused_for_numbers_whatever_their_values() {
    let data = labels(12);
    let numbers = Dataset::new(data.features().clone(), data.outputs().clone(), Task::Regression).unwrap();
    let model = Model::fit(&BaselineParams::default(), &numbers).unwrap();
    for metric in [
        Metric::Lrap,
        Metric::PrecisionAt(1),
        Metric::Hamming,
        Metric::Brier,
    ] {
        let error = model.evaluate(&numbers, &[Metric::Mae, metric]).unwrap_err();
        let metric = metric.to_string();
        assert_eq!(error, ModelError::MetricForLabels { metric });
    }
    // Scores of labels are numbers too.
    let model = Model::fit(&BaselineParams::default(), &data).unwrap();
    assert!(model.evaluate(&data, &[Metric::Mse]).unwrap()[0] > 0.0);
}

#[test]
fn every_method_refuses_data_without_samples_or_outputs() {
    let data = labels(12);
    let no_samples = data.select_samples(&[]).unwrap();
    let no_outputs = data.select_outputs(&[]).unwrap();
    let estimators: [&dyn Estimator; 4] = [
        &BaselineParams::default(),
        &ForestParams::default(),
        &RidgeParams::default(),
        &Method::named("baseline").unwrap(),
    ];
    for estimator in estimators {
        for (data, counts) in [
            (&no_samples, "0 samples and 3 outputs"),
            (&no_outputs, "12 samples and 0 outputs"),
        ] {
            let error = Model::fit(estimator, data).unwrap_err().to_string();
            let expected = format!(
                "{} needs at least one sample and one output; the data have {counts}",
                estimator.method()
            );
            assert_eq!(error, expected);
        }
    }
}

/// Parameters are estimators like methods by name: nothing that they cannot use is ignored, in folds neither.
#[test]
fn cross_validation_refuses_what_a_fit_refuses() {
    let weighted = labels(12).with_weights(vec![1.0; 12]).unwrap();
    let cells = labels(12).with_weights(Array2::ones((12, 3))).unwrap();
    let cases: [(&dyn Estimator, &Dataset); 4] = [
        (&BaselineParams::default(), &weighted),
        (&CraftmlParams::default(), &weighted),
        (&StructuredForestParams::default(), &weighted),
        (&ForestParams::default(), &cells),
    ];
    for (estimator, data) in cases {
        let expected = Model::fit(estimator, data).unwrap_err();
        assert!(expected.to_string().contains("does not take"), "{expected}");
        let found = cross_validate(estimator, data, &[Metric::Lrap], Folds::default());
        assert_eq!(found, Err(expected.clone()));
        let scores = rpo::cross_val_scores(estimator, data, Folds::default());
        assert_eq!(scores.unwrap_err(), expected);
    }
}

#[test]
fn models_of_folds_record_their_parameters() {
    let params = ForestParams {
        trees: 2,
        ..ForestParams::default()
    };
    let mut on_fold = |fold: rpo::Fold<'_>| {
        assert_eq!(fold.model.parameters, Estimator::parameters(&params));
        Ok(())
    };
    let folds = Folds {
        k: 3,
        on_fold: Some(&mut on_fold),
        ..Folds::default()
    };
    cross_validate(&params, &labels(12), &[Metric::Lrap], folds).unwrap();
}

/// Thresholds would have no effect.
#[test]
fn numbers_have_no_thresholds() {
    let data = labels(12);
    let numbers = Dataset::new(data.features().clone(), data.outputs().clone(), Task::Regression).unwrap();
    let model = Model::fit(&BaselineParams::default(), &numbers).unwrap();
    let refused = model.clone().with_thresholds(vec![0.5; 3]).unwrap_err();
    assert!(matches!(refused, ModelError::MetricForLabels { .. }), "{refused}");
    assert_eq!(model.clone().with_thresholds(None::<Vec<f64>>).unwrap(), model);
}

/// What a fit leaves out may lack anything; the message on another sample has its number in the data.
#[test]
fn samples_that_are_left_out_may_lack_what_others_need() {
    let mut x = Array2::from_shape_fn((30, 2), |(i, j)| ((i * (j + 3)) % 7) as f32);
    let mut y = x.mapv(|v| 2.0 * v + 1.0);
    y.row_mut(1).fill(f32::NAN);
    x[[4, 1]] = f32::NAN;
    let set = |x: &Array2<f32>| Dataset::with_missing(x.clone().into(), y.clone().into(), Task::Regression);
    let weights: Vec<f32> = (0..30).map(|i| f32::from(u8::from(i != 4))).collect();
    let data = set(&x).unwrap().with_weights(weights.clone()).unwrap();
    let by_name = Method::named("ridge").unwrap();
    let estimators: [&dyn Estimator; 2] = [&by_name, &rpo::linear::RidgeParams::default()];
    for ridge in estimators {
        let model = Model::fit(ridge, &data).unwrap();
        assert_eq!(model.training().n_samples, 28);
        assert_eq!(model.training_samples(&data).n_samples(), 28);
    }
    x[[7, 0]] = f32::NAN;
    let data = set(&x).unwrap().with_weights(weights).unwrap();
    for ridge in estimators {
        let message = Model::fit(ridge, &data).unwrap_err().to_string();
        assert!(message.contains("\"0\" of sample 7 is missing"), "{message}");
    }
}

/// Square is the loss of numbers by default and logistic that of labels: parameters that suit one of them are checked
/// before there are data.
#[test]
fn parameters_for_numbers_alone_are_not_refused_beforehand() {
    let method: Method = "gbmort --iterations 3 --scale-outputs deviation".parse().unwrap();
    assert_eq!(method.check(), Ok(()));
    assert!(method.estimator_for_any_task().is_ok());
    let refused = method.estimator(Task::MultiLabel).unwrap_err().to_string();
    assert!(
        refused.contains("needs a loss whose residuals have a unit"),
        "{refused}"
    );
    assert!(Model::fit(&method, &labels(20)).is_err());
    let x = labels(20).features().clone();
    let y = Array2::from_shape_fn((20, 2), |(i, j)| (i * (j + 1)) as f32);
    let numbers = Dataset::new(x, y.into(), Task::Regression).unwrap();
    assert!(Model::fit(&method, &numbers).is_ok());
    let members = "gbmort --iterations 3 --scale-outputs deviation; ridge";
    let blend = Method::named("blend").unwrap().with("members", members).unwrap();
    assert!(Model::fit(&blend, &numbers).is_ok());
}

#[test]
fn values_are_refused_by_what_is_wrong_with_them() {
    let refused = |method: &str, name: &str, value: &str| {
        let method = Method::named(method).unwrap();
        let estimator = method.with(name, value).map_err(ModelError::from);
        let checked = estimator.and_then(|method| method.check());
        checked.unwrap_err().to_string()
    };
    assert_eq!(
        refused("random-forest", "projection", "rademacher:0.5"),
        "`projection` = \"rademacher:0.5\": the sparsity s of rademacher:S must be at least 1 and at most 2^53, got 0.5"
    );
    assert_eq!(
        refused("gbmort", "validation-metric", "p@0"),
        "`validation_metric` = \"p@0\": `K` must be a whole number of at least 1, got 0"
    );
    assert_eq!(
        refused("random-forest", "trees", "0"),
        "`trees` must be at least 1, got 0"
    );
    assert_eq!(
        refused("blend", "members", "ridge; extra-trees --trees 0"),
        "`members`: in \"extra-trees --trees 0\", `trees` must be at least 1, got 0"
    );
}

/// A value that is finite, but infinite once it is standardized as those in training.
#[test]
fn values_too_far_from_those_of_training_are_named() {
    let mut x = Array2::from_shape_fn((30, 2), |(i, j)| ((i * (j + 3)) % 7) as f32);
    x.column_mut(1).mapv_inplace(|v| v * 1e-6);
    let y = Array2::from_shape_fn((30, 1), |(i, _)| f32::from(u8::from(i % 3 == 0)));
    let data = Dataset::new(x.into(), y.into(), Task::MultiLabel).unwrap();
    let method: Method = "ridge --standardize --impute median".parse().unwrap();
    let model = Model::fit(&method, &data).unwrap();
    let (nan, far) = (f32::NAN, 3e38);
    let rows = array![[0.0, 0.0], [nan, 0.0], [1.0, far]];
    let refused = model.predict((&rows).into()).unwrap_err();
    let expected = ModelError::UnusableFeature {
        row: 2,
        name: "1".to_owned(),
        value: far,
    };
    assert_eq!(refused, expected);
    assert!(matches!(
        refused.in_block(40),
        ModelError::UnusableFeature { row: 42, .. }
    ));
    let infinite = array![[0.0, f32::INFINITY], [nan, 0.0]];
    assert!(matches!(
        model.predict((&infinite).into()),
        Err(ModelError::UnusableFeature { row: 0, .. })
    ));
    let plain = Model::fit(&"ridge".parse::<Method>().unwrap(), &data).unwrap();
    let missing = array![[0.0, 1.0], [nan, 0.0]];
    let refused = plain.predict((&missing).into()).unwrap_err().in_block(7);
    assert!(
        matches!(refused, ModelError::MissingFeature { row: 8, .. }),
        "{refused}"
    );
}

/// Help texts, forms in other languages and error messages show `range`, which is written apart from the check.
#[test]
fn ranges_that_are_checked_are_stated() {
    let mut unstated = Vec::new();
    for entry in Registry::standard() {
        for parameter in entry
            .parameters()
            .iter()
            .filter(|p| p.range.is_empty() && p.choices.is_empty())
        {
            let problems = ["-1", "0", "1.5"].iter().filter_map(|value| {
                let method = Method::named(entry.name)
                    .unwrap()
                    .with(&parameter.name, value)
                    .ok()?;
                Some(method.check().err()?.to_string())
            });
            let of_range = format!("`{}` must be ", parameter.name);
            let starts = ["at least", "positive", "in [", "in ("];
            let mut expected =
                problems.filter_map(|problem| Some(problem.split_once(&of_range)?.1.to_owned()));
            if expected.any(|range| starts.iter().any(|start| range.starts_with(start))) {
                unstated.push(format!("{} {}", entry.name, parameter.name));
            }
        }
    }
    // Penalties are written in two ways, and their documentation states the range of both.
    assert_eq!(unstated, ["label-embedding lambda", "logistic-regression lambda"]);
}
