//! Models of which some outputs are labels and others numbers.

use ndarray::Array2;
use rpo::data::{Dataset, Task};
use rpo::metrics::{Metric, Score};
use rpo::{Method, Model, ModelError};

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
