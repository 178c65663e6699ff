//! Prediction intervals of numbers.

use ndarray::{Array2, Axis};
use rpo::prelude::*;
use rpo::{IntervalSource, Model, ModelError};

/// Two numbers with noise of different size, which depend on three features.
fn numbers(n: usize, seed: u64) -> Dataset {
    let unit = |i: usize, j: usize| {
        let hash = Seed::new(seed).child(i as u64).hash(j as u64) >> 40;
        hash as f32 / (1 << 24) as f32
    };
    let x = Array2::from_shape_fn((n, 3), |(i, j)| unit(i, j));
    let y = Array2::from_shape_fn((n, 2), |(i, j)| {
        // A sum of uniform numbers is nearly normal.
        let noise: f32 = (10..16).map(|k| unit(i, k + 10 * j)).sum::<f32>() - 3.0;
        x[[i, j]] * 4.0 + noise * [0.5, 50.0][j]
    });
    Dataset::new(x.into(), y.into(), Task::Regression).unwrap()
}

fn fit(text: &str, data: &Dataset) -> Result<Model, ModelError> {
    Model::fit(&text.parse::<Method>().unwrap(), data)
}

const COVERAGE: [Metric; 2] = [Metric::IntervalCoverage, Metric::IntervalWidth];

#[test]
fn intervals_cover_new_samples_as_often_as_they_say() {
    let (train, test) = (numbers(800, 1), numbers(4000, 2));
    for method in [
        "random-forest --trees 30",
        "extra-trees --trees 20",
        "gbmort --iterations 30",
        "gbmort --loss quantile --quantile 0.2,0.8 --iterations 60",
        "gbmort --loss quantile --quantile 0.5 --iterations 30",
        "ridge",
        "blend --members ridge;baseline",
    ] {
        for level in [0.6, 0.9] {
            let model = fit(&format!("{method} --intervals {level}"), &train).unwrap();
            let values = model.evaluate(&test, &COVERAGE).unwrap();
            assert!((values[0] - level).abs() < 0.06, "{method} {level}: {values:?}");
            assert!(values[1] > 1.0, "{method} {level}: {values:?}");
            if model.quantile_levels().is_empty() {
                let each = model.evaluate_outputs(&test).unwrap();
                assert_eq!(each.measures[3..], ["interval-coverage", "interval-width"]);
                for (k, mean) in (3..).zip(values) {
                    let of_both: f64 = each.values.iter().map(|row| row[k]).sum();
                    assert!((of_both / 2.0 - mean).abs() < 1e-9, "{method}: {each:?}");
                }
            }
        }
    }
}

#[test]
fn offsets_of_the_largest_numbers_are_finite() {
    let y = Array2::from_shape_fn((100, 1), |(i, _)| if i % 2 == 0 { -3e38 } else { 3e38 });
    let (train, other) = (y.clone(), -y);
    let [train, other] = [train, other].map(|y| {
        let x = Array2::from_shape_fn((100, 1), |(i, _)| (i % 2) as f32);
        Dataset::new(x.into(), y.into(), Task::Regression).unwrap()
    });
    let model = fit("extra-trees --trees 2", &train).unwrap();
    let model = model
        .with_intervals(IntervalSource::Withheld(0.8, &other))
        .unwrap();
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(again.intervals(), model.intervals());
}

#[test]
fn offsets_are_order_statistics_of_residuals() {
    let (train, other) = (numbers(100, 1), numbers(39, 2));
    let model = fit("ridge", &train).unwrap();
    assert_eq!(model.evaluate(&other, &COVERAGE), Err(ModelError::NoIntervals));
    let predicted = model.predict(other.features().view()).unwrap();
    assert_eq!(model.bounds(predicted.view()), Err(ModelError::NoIntervals));
    let model = model
        .with_intervals(IntervalSource::Withheld(0.9, &other))
        .unwrap();
    let truth = other.outputs().view().to_dense(usize::MAX).unwrap();
    let bounds = model.bounds(predicted.view()).unwrap();
    for j in 0..2 {
        let errors = truth.column(j).into_iter().zip(predicted.column(j));
        let mut errors: Vec<f64> = errors.map(|(&y, &p)| f64::from(y) - f64::from(p)).collect();
        errors.sort_by(f64::total_cmp);
        // (39 + 1) 0.05 = 2.
        let offsets = model.intervals().unwrap().offsets()[j];
        assert_eq!(offsets, [errors[1], errors[37]]);
        for i in 0..39 {
            let expected = offsets.map(|offset| (f64::from(predicted[[i, j]]) + offset) as f32);
            assert_eq!([bounds[[i, 2 * j]], bounds[[i, 2 * j + 1]]], expected);
        }
    }
    assert_eq!(model.bound_names(), ["0@lower", "0@upper", "1@lower", "1@upper"]);
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(again, model);
    let without = again.with_intervals(IntervalSource::Given(None)).unwrap();
    assert!(without.intervals().is_none());
    assert!(matches!(model.merge(without), Err(ModelError::Merge(_))));
}

#[test]
fn quantiles_move_by_the_same_amount() {
    let (train, other) = (numbers(300, 1), numbers(99, 2));
    let model = fit(
        "gbmort --loss quantile --quantile 0.1,0.5,0.9 --iterations 20 --intervals 0.8",
        &train,
    )
    .unwrap();
    let model = model
        .with_intervals(IntervalSource::Withheld(0.8, &other))
        .unwrap();
    for [low, high] in model.intervals().unwrap().offsets() {
        assert_eq!(*low, -high);
    }
    // Of those that it was calibrated on, it covers ⌈(99 + 1) 0.8⌉.
    let coverage = model.evaluate(&other, &COVERAGE[..1]).unwrap()[0];
    assert!((coverage - 80.0 / 99.0).abs() < 1e-9, "{coverage}");
    assert_eq!(model.bound_names()[3], "1@upper");
}

#[test]
fn missing_values_and_labels_beside_numbers_have_no_part() {
    let data = numbers(400, 1);
    let mut y = data.outputs().view().to_dense(usize::MAX).unwrap();
    y.column_mut(0).iter_mut().step_by(3).for_each(|y| *y = f32::NAN);
    let some = Dataset::with_missing(data.features().clone(), y.into(), Task::Regression).unwrap();
    let model = fit("random-forest --trees 20 --intervals 0.8", &some).unwrap();
    let values = model.evaluate(&some, &COVERAGE).unwrap();
    assert!((0.75..=1.0).contains(&values[0]), "{values:?}");

    let mut y = data.outputs().view().to_dense(usize::MAX).unwrap();
    y.column_mut(0).mapv_inplace(|y| f32::from(y > 2.0));
    let mixed = Dataset::new(data.features().clone(), y.into(), Task::Regression).unwrap();
    let model = fit("gbmort --iterations 20 --intervals 0.8", &mixed).unwrap();
    assert_eq!(model.bound_names(), ["1@lower", "1@upper"]);
    let predicted = model.predict(mixed.features().view()).unwrap();
    assert_eq!(model.bounds(predicted.view()).unwrap().len_of(Axis(1)), 2);
    assert!(model.evaluate(&mixed, &COVERAGE).unwrap()[0] > 0.75);
}

#[test]
fn what_cannot_be_calibrated_is_refused() {
    let data = numbers(60, 1);
    let refused = |method: &str, data: &Dataset| fit(method, data).unwrap_err().to_string();
    let found = refused("ridge --intervals 0.9", &data);
    assert!(
        found.contains("need at least 19 samples") && found.contains("observed in 12"),
        "{found}"
    );
    assert!(
        found.contains("a larger `calibration_share` withholds more"),
        "{found}"
    );
    // Out-of-bag predictions refuse that option.
    let found = refused("random-forest --intervals 0.99", &data);
    assert!(
        found.contains("a lower level needs fewer") && !found.contains("calibration_share"),
        "{found}"
    );
    let found = refused("ridge --intervals 1", &data);
    assert!(found.contains("intervals"), "{found}");
    let found = refused("random-forest --intervals 0.9 --calibration-share 0.3", &data);
    assert!(found.contains("out-of-bag"), "{found}");
    let labels = data.outputs().view().to_dense(usize::MAX).unwrap();
    let labels = labels.mapv(|y| f32::from(y > 1.0));
    let labels = Dataset::new(data.features().clone(), labels.into(), Task::MultiLabel).unwrap();
    let found = refused("random-forest --intervals 0.9", &labels);
    assert!(found.contains("which is for numbers"), "{found}");
    let forest = fit("random-forest --trees 2", &labels).unwrap();
    let refused = forest.with_intervals(IntervalSource::OutOfBag(0.9, &labels));
    assert_eq!(refused.unwrap_err(), ModelError::NoNumbers);
    let blend = Method::named("blend").unwrap();
    let blend = blend
        .with("members", "ridge --intervals 0.9; extra-trees")
        .unwrap();
    let found = Model::fit(&blend, &data).unwrap_err().to_string();
    assert!(found.contains("set them for the ensemble"), "{found}");
}

/// Numbers that cannot be negative have no negative bounds, whatever the residuals.
#[test]
fn positive_numbers_have_no_negative_bounds() {
    let x = Array2::from_shape_fn((400, 2), |(i, j)| ((i * (7 + 4 * j) + j) % 101) as f32);
    let y = Array2::from_shape_fn((400, 1), |(i, _)| ((i * 7) % 101 / 20 * (i % 3)) as f32);
    let data = Dataset::new(x.into(), y.into(), Task::Regression).unwrap();
    for (loss, is_limited) in [("poisson", true), ("square", false)] {
        let text = format!("gbmort --loss {loss} --iterations 20 --intervals 0.8");
        let model = fit(&text, &data).unwrap();
        let predicted = model.predict(data.features().view()).unwrap();
        let bounds = model.bounds(predicted.view()).unwrap();
        let [low, high] = model.intervals().unwrap().offsets()[0];
        assert!(low < 0.0 && high > 0.0);
        assert_eq!(bounds.iter().all(|bound| *bound >= 0.0), is_limited, "{loss}");
        for (bounds, &predicted) in bounds.rows().into_iter().zip(&predicted) {
            let expected = f64::from(predicted) + low;
            let expected = if is_limited { expected.max(0.0) } else { expected };
            assert!((f64::from(bounds[0]) - expected).abs() < 1e-5, "{loss}");
        }
        let pair = Model::combine(vec![(model.clone(), 1.0), (model, 2.0)]).unwrap();
        assert_eq!(!pair.predictor().not_negative().is_empty(), is_limited);
    }
}
