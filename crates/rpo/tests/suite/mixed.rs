//! Models of which some outputs are labels and others numbers.

use ndarray::Array2;
use rpo::data::{Dataset, Task};
use rpo::metrics::{Metric, Score};
use rpo::{Method, Model, ModelError, Predictor};

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
    assert!(matches!(refused, ModelError::MetricForLabels { metric } if metric == Metric::PspAt(1).name()));
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
