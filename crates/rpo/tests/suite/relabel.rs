//! New labels for the models of grown forests.

use ndarray::Array2;
use rpo::data::generate::MultiLabelSet;
use rpo::ensemble::LeafSamples;
use rpo::ensemble::thresholds::ThresholdRule;
use rpo::prelude::*;
use rpo::{IntervalSource, Model, ModelError, ThresholdSource};

fn labels() -> Dataset {
    MultiLabelSet::new(120, 12, 6).generate(Seed::new(1)).unwrap()
}

fn fit(text: &str, data: &Dataset) -> Model {
    Model::fit(&text.parse::<Method>().unwrap(), data).unwrap()
}

/// The same features with one number, missing in the first sample.
fn numbers(data: &Dataset) -> Dataset {
    let y = Array2::from_shape_fn((data.n_samples(), 1), |(i, _)| match i {
        0 => f32::NAN,
        i => (i * 7 % 13) as f32,
    });
    Dataset::with_missing(data.features().clone(), y.into(), Task::Regression).unwrap()
}

/// Labels that were left out of the training come back with the scores of a forest that had them in its leaves.
#[test]
fn labels_are_added_to_a_forest() {
    let data = labels();
    let some = data.select_outputs(&[1, 4]).unwrap();
    for method in [
        "random-forest --trees 8",
        "extra-trees --trees 8 --impute mean",
        "structured-forest --trees 8",
    ] {
        let grown = fit(method, &some);
        let of_all = grown.relabel(&data, LeafSamples::Training).unwrap();
        assert_eq!(of_all.schema().output_names, *data.output_names());
        assert_eq!(of_all.training().label_counts().unwrap().len(), 6);
        let back = of_all.relabel(&some, LeafSamples::Training).unwrap();
        if !method.starts_with("structured") {
            assert_eq!(back.predictor(), grown.predictor(), "{method}");
            let x = data.features().view();
            assert_eq!(
                of_all.predict(x).unwrap().column(4),
                grown.predict(x).unwrap().column(1)
            );
        }
        // What belongs to the scores of the other labels is gone; the record of the trees is not.
        assert_eq!(of_all.thresholds(), None);
        assert_eq!(of_all.parameters.get("trees"), grown.parameters.get("trees"));
        assert!(!of_all.parameters.contains_key("thresholds"));
        let method = Method::try_from(&of_all.parameters).unwrap();
        assert_eq!(method.entry().name, grown.parameters["method"]);
        let bytes = of_all.to_bytes().unwrap();
        assert_eq!(Model::from_bytes(&bytes).unwrap(), of_all);
    }
}

/// Samples without a new output take no part, and do not move the others in the bags of trees.
#[test]
fn numbers_replace_labels() {
    let data = labels();
    let grown = fit("random-forest --trees 30", &data);
    let numbers = numbers(&data);
    let relabelled = grown.relabel(&numbers, LeafSamples::Training).unwrap();
    assert_eq!(
        (relabelled.schema().task, relabelled.n_train()),
        (Task::Regression, 120)
    );
    let relabelled = relabelled
        .with_intervals(IntervalSource::OutOfBag(0.8, &numbers))
        .unwrap();
    let values = relabelled
        .evaluate(&numbers, &[Metric::IntervalCoverage])
        .unwrap();
    assert!(values[0] > 0.7, "{values:?}");
    let any = grown.relabel(&numbers, LeafSamples::Any).unwrap();
    assert_eq!(any.n_train(), 119);
    assert_eq!(any.oob_predictions(data.features().view()), Ok(None));
    // Thresholds on what is out of bag, by name whatever the order of labels.
    let reversed = data.select_outputs(&[5, 4, 3, 2, 1, 0]).unwrap();
    let decided = grown.relabel(&reversed, LeafSamples::Training).unwrap();
    let found = decided.with_thresholds(ThresholdSource::OutOfBag(ThresholdRule::MacroF, &data));
    let direct = grown.with_thresholds(ThresholdSource::OutOfBag(ThresholdRule::MacroF, &data));
    assert_eq!(found.unwrap().thresholds(), direct.unwrap().thresholds());
}

#[test]
fn what_cannot_be_relabelled_is_refused() {
    let data = labels();
    for method in [
        "gbmort --iterations 3",
        "ridge",
        "baseline",
        "blend --members baseline",
    ] {
        let refused = fit(method, &data).relabel(&data, LeafSamples::Any);
        assert!(matches!(refused, Err(ModelError::Relabel(_))), "{method}");
    }
    let grown = fit("random-forest --trees 3", &data);
    let fewer = data.select_samples(&(0..50).collect::<Vec<_>>()).unwrap();
    assert!(matches!(
        grown.relabel(&fewer, LeafSamples::Training),
        Err(ModelError::Ensemble(_))
    ));
    let other = data.select_features(&[0, 1]).unwrap();
    assert!(matches!(
        grown.relabel(&other, LeafSamples::Any),
        Err(ModelError::ColumnCount { .. } | ModelError::MissingColumn { .. })
    ));
}

/// With the names, outputs and weights of the training, predictions are those of the forest, whichever samples training
/// left out.
#[test]
fn the_outputs_of_the_training_give_the_same_predictions() {
    let data = labels();
    let mut y = data.outputs().view().to_dense(usize::MAX).unwrap();
    y.row_mut(3).fill(f32::NAN);
    let some = Dataset::with_missing(data.features().clone(), y.into(), Task::MultiLabel).unwrap();
    let weights: Vec<f32> = (0..120).map(|i| [1.0, 0.0, 2.0][i % 3]).collect();
    let weighted = data.clone().with_weights(weights.clone()).unwrap();
    let x = data.features().view();
    for method in [
        "random-forest --trees 4",
        "extra-trees --trees 4",
        "single-target-forest --trees 2",
        "binary-relevance-forest --trees 2",
        "structured-forest --trees 4",
    ] {
        for data in [&data, &some, &weighted] {
            let is_plain = data.weights().is_none() && !data.outputs().view().has_missing();
            if method.starts_with("structured") && !is_plain {
                continue;
            }
            let grown = fit(method, data);
            let same = grown.relabel(data, LeafSamples::Training).unwrap();
            assert_eq!(same.predict(x).unwrap(), grown.predict(x).unwrap(), "{method}");
        }
    }
    let grown = fit("random-forest --trees 4", &some);
    let other = data.select_outputs(&[0, 1]).unwrap();
    assert_eq!(
        grown.relabel(&other, LeafSamples::Training),
        Err(ModelError::LeftOut {
            n_train: 119,
            given: 120
        })
    );
    let grown = fit("random-forest --trees 4", &weighted);
    let other = other.with_weights(weights).unwrap();
    assert!(grown.relabel(&other, LeafSamples::Training).is_ok());
}
