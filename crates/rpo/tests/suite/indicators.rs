//! Categories that become indicators, which are sparse, in the methods that need indicators.

use ndarray::{Array2, s};
use rpo::core::{MatrixView, Seed};
use rpo::data::preprocess::{Standardize, Steps, Transform};
use rpo::data::{Dataset, Layout, Task};
use rpo::{Method, Model, Predictor};

/// Number of values of the category.
const VALUES: usize = 30;

const METHODS: [&str; 6] = [
    "ridge",
    "logistic-regression",
    "one-vs-rest --cost 1",
    "label-tree --trees 1 --cost 1",
    "label-embedding --features 20",
    "craftml --trees 2 --nominal one-hot",
];

/// Positions of values, and numbers of thousands, on both of which three labels depend.
fn samples() -> (Vec<usize>, Vec<f32>, Array2<f32>) {
    let unit = |i: usize, j: u64| (Seed::new(3).child(i as u64).hash(j) >> 40) as f32 / (1 << 24) as f32;
    let value: Vec<usize> = (0..300).map(|i| (unit(i, 0) * VALUES as f32) as usize).collect();
    let number: Vec<f32> = (0..300).map(|i| 1000.0 * unit(i, 1)).collect();
    let y = Array2::from_shape_fn((300, 3), |(i, label)| {
        let effect = (value[i] * (label + 3)) % 7;
        f32::from(effect as f32 + number[i] / 300.0 + unit(i, 2 + label as u64) > 5.0)
    });
    (value, number, y)
}

/// The data with the category as a nominal feature.
fn nominal() -> Dataset {
    let (value, number, y) = samples();
    let x = Array2::from_shape_fn((y.nrows(), 2), |(i, j)| [number[i], value[i] as f32][j]);
    let names = (0..VALUES).map(|v| format!("word {v}")).collect();
    Dataset::new(x.into(), y.into(), Task::MultiLabel)
        .and_then(|data| data.with_nominal([(1, names)].into()))
        .unwrap()
}

/// The same data with dense indicators and the standardized number.
fn prepared() -> Dataset {
    let (value, number, y) = samples();
    let x = Array2::from_shape_fn((y.nrows(), 1 + VALUES), |(i, j)| match j {
        0 => number[i],
        _ => f32::from(u8::from(value[i] == j - 1)),
    });
    let binary = || ["0", "1"].map(String::from).into();
    let dense = Dataset::new(x.into(), y.into(), Task::MultiLabel)
        .and_then(|data| data.with_nominal((1..=VALUES).map(|j| (j, binary())).collect()))
        .unwrap();
    let steps = Steps {
        standardize: Standardize::All,
        ..Steps::default()
    };
    steps.fit(&dense).unwrap().apply(&dense).unwrap()
}

fn fit(options: &str, data: &Dataset) -> Model {
    Model::fit(&options.parse::<Method>().unwrap(), data).unwrap()
}

/// Models of sparse indicators are those of dense ones.
#[test]
fn sparse_indicators_give_the_models_of_dense_ones() {
    let (nominal, dense) = (nominal(), prepared());
    for method in METHODS {
        let model = fit(method, &nominal);
        assert_eq!(model.predictor().n_features(), 1 + VALUES, "{method}");
        let plain = fit(&format!("{method} --standardize=false"), &dense);
        let found = model.predict(nominal.features().view()).unwrap();
        let expected = plain.predict(dense.features().view()).unwrap();
        let largest = (&found - &expected)
            .iter()
            .fold(0.0_f32, |most, v| most.max(v.abs()));
        assert!(largest < 1e-5, "{method}: {largest}");
    }
}

/// The layout of the rows changes no bit of their predictions, and neither does the number of rows.
#[test]
fn rows_are_predicted_alike_in_any_layout() {
    let dense = nominal();
    let sparse = dense.clone().with_layout(Layout::Sparse, usize::MAX).unwrap();
    for method in METHODS {
        let model = fit(method, &dense);
        let expected = model.predict(dense.features().view()).unwrap();
        assert_eq!(
            model.predict(sparse.features().view()).unwrap(),
            expected,
            "{method}"
        );
        for row in [0, 7, 299] {
            let one = |x: MatrixView<'_>| model.predict(x.select_rows(&[row]).view()).unwrap();
            for x in [dense.features().view(), sparse.features().view()] {
                assert_eq!(one(x).row(0), expected.row(row), "{method}");
            }
        }
    }
}

/// A missing category, such as one that training did not have, has the effect of no category, whether missing features
/// are filled in or not: not that of the most frequent one.
#[test]
fn a_missing_category_has_no_effect() {
    let (nominal, dense) = (nominal(), prepared());
    let mut x = nominal.features().view().to_dense(usize::MAX).unwrap();
    let mut expected = dense.features().view().to_dense(usize::MAX).unwrap();
    x.column_mut(1).fill(f32::NAN);
    expected.slice_mut(s![.., 1..]).fill(0.0);
    for method in METHODS {
        let plain = fit(&format!("{method} --standardize=false"), &dense);
        let expected = plain.predict((&expected).into()).unwrap();
        for option in ["", " --impute median"] {
            let found = fit(&format!("{method}{option}"), &nominal)
                .predict((&x).into())
                .unwrap();
            let differ = (&found - &expected).into_iter().any(|v| v.abs() > 1e-5);
            assert!(!differ, "{method}{option}");
        }
    }
}

/// Numbers among features that are mostly 0 count alike in any unit, and no less than these.
#[test]
fn the_unit_of_numbers_beside_indicators_does_not_matter() {
    let (value, number, y) = samples();
    let in_units = |unit: f32| {
        let x = Array2::from_shape_fn((y.nrows(), 1 + VALUES), |(i, j)| match j {
            0 => unit * number[i],
            _ => f32::from(u8::from(value[i] == j - 1)),
        });
        Dataset::new(x.into(), y.clone().into(), Task::MultiLabel).unwrap()
    };
    for method in [
        "one-vs-rest --cost 1",
        "label-tree --trees 1 --cost 1",
        "craftml --trees 2",
    ] {
        let standardized = fit(&format!("{method} --standardize=false"), &prepared());
        let expected = standardized.predict(prepared().features().view()).unwrap();
        for unit in [1e-6, 1.0, 1e3] {
            let data = in_units(unit);
            let found = fit(method, &data).predict(data.features().view()).unwrap();
            let largest = (&found - &expected)
                .iter()
                .fold(0.0_f32, |most, v| most.max(v.abs()));
            assert!(largest < 1e-4, "{method} {unit}: {largest}");
        }
    }
}
