//! Models with features prepared by a pipeline: they predict as their predictors do, and are saved with the pipeline.

use ndarray::{Array2, array};
use proptest::prelude::*;
use rpo::Predictor;
use rpo::core::{Learner, Matrix, MatrixView, Mismatch, Seed};
use rpo::data::preprocess::{Encoding, Fill, Pipeline, PreprocessError, Standardize, Steps, Transform};
use rpo::data::read::{Format, ReadOptions, Targets, read_from};
use rpo::data::{Dataset, DatasetError, Layout, Task};
use rpo::ensemble::boosting::{Algorithm, BoostingParams};
use rpo::ensemble::craftml::{CraftmlParams, CraftmlVariant};
use rpo::ensemble::structured::StructuredForestParams;
use rpo::ensemble::{ForestParams, SingleTargetParams};
use rpo::linear::{LabelEmbeddingParams, LogisticRegressionParams, RidgeParams};
use rpo::{Model, ModelError, Predict};

/// Forty samples with a number, nominal features of five and of two values, and another number; a fraction of the
/// values is missing.
fn data(seed: u64, missing: f32, layout: Layout) -> Dataset {
    let unit =
        |i: usize, j: usize| (Seed::new(seed).child(i as u64).hash(j as u64) >> 40) as f32 / (1 << 24) as f32;
    let x = Array2::from_shape_fn((40, 4), |(i, j)| match unit(i, j) {
        _ if unit(i, j + 10) < missing => f32::NAN,
        u if j == 1 => (u * 5.0).floor(),
        u if j == 2 => (u * 2.0).floor(),
        u => (u - 0.4).max(0.0) * 3.0,
    });
    let y = Array2::from_shape_fn((40, 3), |(i, j)| f32::from(unit(i, j + 20) < 0.4));
    let list = |n: usize| (0..n).map(|v| format!("v{v}")).collect();
    Dataset::new(x.into(), y.into(), Task::MultiLabel)
        .and_then(|data| data.with_nominal([(1, list(5)), (2, list(2))].into()))
        .and_then(|data| data.with_layout(layout, usize::MAX))
        .unwrap()
}

fn model(data: &Dataset, predictor: impl Predict) -> Model {
    Model::new(predictor, data).unwrap()
}

/// Models of every kind; those that need all values only if none is missing.
fn models(data: &Dataset) -> Vec<Model> {
    let (x, y) = (|| data.features().view(), || data.outputs().view());
    let forest = ForestParams {
        trees: 2,
        ..ForestParams::default()
    };
    let boosting = BoostingParams {
        iterations: 2,
        ..BoostingParams::from(Algorithm::Gbmort)
    };
    let structured = StructuredForestParams {
        trees: 2,
        ..StructuredForestParams::default()
    };
    let mut models = vec![
        model(data, forest.fit(x(), y()).unwrap()),
        model(data, SingleTargetParams(forest.clone()).fit(x(), y()).unwrap()),
        model(data, boosting.fit(x(), y()).unwrap()),
    ];
    if !data.features().view().has_missing() {
        let craftml = CraftmlParams {
            trees: 2,
            ..CraftmlParams::from(CraftmlVariant::Original)
        };
        models.extend([
            model(data, structured.fit(x(), y()).unwrap()),
            model(data, craftml.fit(x(), y()).unwrap()),
            model(data, RidgeParams::default().fit(x(), y()).unwrap()),
            model(data, LogisticRegressionParams::default().fit(x(), y()).unwrap()),
            model(data, LabelEmbeddingParams::default().fit(x(), y()).unwrap()),
        ]);
    }
    models
}

fn bits(x: &Array2<f32>) -> Vec<u32> {
    x.iter().map(|v| v.to_bits()).collect()
}

fn fit(steps: Steps<'_>, data: &Dataset) -> (Pipeline, Dataset) {
    let pipeline = steps.fit(data).unwrap();
    let prepared = pipeline.apply(data).unwrap();
    (pipeline, prepared)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// A model with a pipeline predicts from features what its predictor predicts from the prepared features, for its
    /// training samples and for others, before and after saving.
    #[test]
    fn features_are_prepared_for_prediction_as_for_training(
        seed in any::<u64>(),
        fill in proptest::option::of(prop_oneof![Just(Fill::Median), Just(Fill::Mean), Just(Fill::MostFrequent)]),
        one_hot in any::<bool>(), all in any::<bool>(), sparse in any::<bool>(), missing in any::<bool>(),
    ) {
        let layout = if sparse { Layout::Sparse } else { Layout::Dense };
        let missing = if missing { 0.1 } else { 0.0 };
        let (train, other) = (data(seed, missing, layout), data(seed ^ 1, missing, layout));
        let (pipeline, prepared) = fit(Steps { impute: fill, nominal: if one_hot { Encoding::OneHot } else { Encoding::Positions }, standardize: if all { Standardize::All } else { Standardize::None }, ..Steps::default() }, &train);
        let other_prepared = pipeline.apply(&other).unwrap();
        for plain in models(&prepared) {
            let model = plain.clone().with_pipeline(pipeline.clone(), &train).unwrap();
            prop_assert_eq!(model.n_features(), 4);
            prop_assert_eq!(&model.schema().nominal, train.nominal());
            let names: Vec<_> = (0..).map_while(|column| model.column_name(column)).collect();
            prop_assert_eq!(names, prepared.feature_names().iter().collect::<Vec<_>>());
            let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
            prop_assert_eq!(&loaded, &model);
            for model in [&model, &loaded] {
                for (raw, prepared) in [(&train, &prepared), (&other, &other_prepared)] {
                    let (x, z) = (raw.features().view(), prepared.features().view());
                    let (mine, theirs) = (model.predict(x.reborrow()), plain.predict(z.reborrow()));
                    match theirs {
                        Ok(theirs) => {
                            prop_assert_eq!(bits(&mine.unwrap()), bits(&theirs));
                            prop_assert_eq!(model.predict_top_k(x, 2), plain.predict_top_k(z, 2));
                        }
                        Err(e) => prop_assert!(mine.is_err(), "{e}"),
                    }
                }
                let (mine, theirs) = (
                    model.oob_predictions(train.features().view()).unwrap(),
                    plain.oob_predictions(prepared.features().view()).unwrap(),
                );
                let bits = |found: Option<(Array2<f32>, Vec<u32>)>| found.map(|(s, n)| (bits(&s), n));
                prop_assert_eq!(bits(mine), bits(theirs));
            }
        }
    }
}

#[test]
fn a_pipeline_without_steps_leaves_no_trace() {
    let train = data(1, 0.0, Layout::Dense);
    for plain in models(&train) {
        let nothing = Steps::default().fit(&train).unwrap();
        let model = plain.clone().with_pipeline(nothing, &train).unwrap();
        assert!(model.pipeline().is_none());
        assert_eq!(model.to_bytes(), plain.to_bytes());
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let train = data(1, 0.1, Layout::Dense);
    let steps = Steps {
        impute: Some(Fill::Median),
        nominal: Encoding::OneHot,
        ..Steps::default()
    };
    let (pipeline, prepared) = fit(steps, &train);
    let ridge = RidgeParams::default().fit(prepared.features().view(), prepared.outputs().view());
    let plain = Model::new(ridge.unwrap(), &prepared).unwrap();
    assert!(matches!(
        plain.clone().with_pipeline(pipeline.clone(), &prepared),
        Err(ModelError::Preprocess(PreprocessError::Mismatch(Mismatch {
            expected: 4,
            given: 8,
            ..
        })))
    ));
    let only_filled = Steps {
        nominal: Encoding::Positions,
        ..steps
    };
    assert!(matches!(
        plain
            .clone()
            .with_pipeline(only_filled.fit(&train).unwrap(), &train),
        Err(ModelError::Mismatch(Mismatch {
            expected: 8,
            given: 4,
            ..
        }))
    ));
    // The error names a missing feature as the data do.
    let (pipeline, prepared) = fit(
        Steps {
            impute: None,
            ..steps
        },
        &data(1, 0.0, Layout::Dense),
    );
    let ridge = RidgeParams::default().fit(prepared.features().view(), prepared.outputs().view());
    let plain = Model::new(ridge.unwrap(), &prepared).unwrap();
    let model = plain.with_pipeline(pipeline, &train).unwrap();
    assert_eq!(
        model.predict((&array![[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, f32::NAN]]).into()),
        Err(ModelError::MissingFeature {
            row: 1,
            name: "3".into()
        })
    );
    // A value that is in no list.
    let x = array![[0.0, 0.0, 0.0, 0.0], [0.0, 5.0, 0.0, 0.0]];
    let expected = DatasetError::NotAPosition {
        sample: 1,
        feature: 1,
        value: 5.0,
        n_values: 5,
    };
    for x in [
        Matrix::from(x.clone()),
        Matrix::from(MatrixView::from(&x).to_csr()),
    ] {
        let found = model.predict(x.view());
        assert_eq!(found, Err(ModelError::Dataset(expected.clone())));
    }
}

#[test]
fn parts_merge_if_their_pipelines_are_one() {
    let train = data(1, 0.1, Layout::Dense);
    let grow = |first_tree: usize, fill: Fill| {
        let steps = Steps {
            impute: Some(fill),
            ..Steps::default()
        };
        let (pipeline, prepared) = fit(steps, &train);
        let params = ForestParams {
            trees: 2,
            first_tree,
            ..ForestParams::default()
        };
        let forest = params.fit(prepared.features().view(), prepared.outputs().view());
        Model::new(forest.unwrap(), &prepared)
            .unwrap()
            .with_pipeline(pipeline, &train)
            .unwrap()
    };
    let whole = grow(0, Fill::Mean).merge(grow(2, Fill::Mean)).unwrap();
    assert!(whole.pipeline().is_some());
    assert!(matches!(
        grow(0, Fill::Mean).merge(grow(2, Fill::Median)),
        Err(ModelError::Merge(_))
    ));
}

const TRAIN: &str = "@relation r\n@attribute colour {red,green,blue}\n@attribute width numeric\n\
    @attribute area numeric\n@data\nred,1,1\ngreen,?,4\nblue,3,9\n?,2,1\n";

/// Files declare values in their own order, and may omit some.
#[test]
fn other_files_are_brought_into_order_first() {
    let read = |text: &str, targets: Targets| {
        let options = ReadOptions {
            format: Format::Arff,
            targets,
            task: Some(Task::Regression),
            ..ReadOptions::default()
        };
        read_from(text.as_bytes(), &options).unwrap()
    };
    let train = read(TRAIN, Targets::Last(1));
    let steps = Steps {
        impute: Some(Fill::Mean),
        nominal: Encoding::OneHot,
        standardize: Standardize::All,
        ..Steps::default()
    };
    let (pipeline, prepared) = fit(steps, &train);
    let ridge = RidgeParams::default().fit(prepared.features().view(), prepared.outputs().view());
    let model = Model::new(ridge.unwrap(), &prepared)
        .unwrap()
        .with_pipeline(pipeline, &train)
        .unwrap();
    let names: Vec<_> = (0..).map_while(|column| model.column_name(column)).collect();
    assert_eq!(names, ["colour=red", "colour=green", "colour=blue", "width"]);

    let head = "@relation r\n@attribute width numeric\n@attribute id numeric\n";
    let new = read(
        &format!("{head}@attribute colour {{blue,red}}\n@data\n3,8,blue\n?,9,red\n"),
        Targets::None,
    );
    let x = model.schema().align_features(&new).unwrap();
    let same = model.predict(x.as_ref().into()).unwrap();
    let expected = model.predict((&array![[2.0, 3.0], [0.0, 2.0]]).into()).unwrap();
    assert_eq!(bits(&same), bits(&expected));
    let other = read(
        &format!("{head}@attribute colour {{pink}}\n@data\n3,8,pink\n"),
        Targets::None,
    );
    // Values that the model has not seen are missing, and filled in accordingly.
    let x = model.schema().align_features(&other).unwrap();
    let found = model.predict(x.as_ref().into()).unwrap();
    let expected = model.predict((&array![[f32::NAN, 3.0]]).into()).unwrap();
    assert_eq!(bits(&found), bits(&expected));
}
