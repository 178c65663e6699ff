//! Models of structured forests and single-target forests: files, thresholds, merging.

use crate::common::Case;
use ndarray::array;
use rpo::Predictor;
use rpo::core::Learner;
use rpo::data::{Dataset, Task};
use rpo::ensemble::structured::{StructuredForestParams, Variant};
use rpo::ensemble::thresholds::ThresholdRule;
use rpo::ensemble::{EnsembleError, ForestParams, ForestPreset, SingleTargetParams};
use rpo::{Method, Model, ModelError, ThresholdSource};

fn case() -> Case {
    Case {
        seed: 4,
        rows: 60,
        features: 6,
        ..Case::default()
    }
}

fn structured(params: &StructuredForestParams) -> Model {
    let data = case().data();
    let (x, y) = (data.features().view(), data.outputs().view());
    Model::new(params.fit(x, y).unwrap(), &data).unwrap()
}

fn single_targets(params: &ForestParams) -> Model {
    let data = case().data();
    let (x, y) = (data.features().view(), data.outputs().view());
    let forests = SingleTargetParams(params.clone()).fit(x, y);
    Model::new(forests.unwrap(), &data).unwrap()
}

fn small() -> StructuredForestParams {
    StructuredForestParams {
        trees: 3,
        ..StructuredForestParams::default()
    }
}

fn models() -> Vec<Model> {
    vec![
        structured(&small()),
        structured(&StructuredForestParams {
            variant: Variant::SfCs,
            ..small()
        }),
        structured(&StructuredForestParams {
            variant: Variant::SfLrCs,
            fall_back: Some(true),
            ..small()
        }),
        single_targets(&ForestParams {
            trees: 3,
            ..ForestPreset::RfCost.into()
        }),
        single_targets(&ForestParams {
            trees: 3,
            ..ForestParams::default()
        }),
    ]
}

#[test]
fn what_is_loaded_is_what_was_saved() {
    let data = case().data();
    for model in models() {
        let bytes = model.to_bytes().unwrap();
        let loaded = Model::from_bytes(&bytes).unwrap();
        assert_eq!(loaded, model);
        assert_eq!(loaded.to_bytes().unwrap(), bytes);
        let scores = |model: &Model| model.predict(data.features().view()).unwrap();
        assert_eq!(scores(&loaded), scores(&model));
    }
}

#[test]
fn no_flipped_bit_and_no_missing_end_is_accepted() {
    for model in models() {
        let bytes = model.to_bytes().unwrap();
        for place in (0..bytes.len()).step_by(bytes.len() / 97 + 1) {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1 << (place % 8);
            assert!(Model::from_bytes(&damaged).is_err(), "{place}");
            assert!(Model::from_bytes(&bytes[..place]).is_err(), "{place}");
        }
    }
}

#[test]
fn thresholds_come_from_out_of_bag_scores() {
    let data = case().data();
    for model in models() {
        let (scores, _) = model.oob_predictions(data.features().view()).unwrap().unwrap();
        let expected =
            rpo::ensemble::thresholds::find(ThresholdRule::MacroF, scores.view(), data.outputs().view());
        let decided = model
            .with_thresholds(ThresholdSource::OutOfBag(ThresholdRule::MacroF, &data))
            .unwrap();
        assert_eq!(decided.thresholds(), Some(&expected.unwrap()[..]));
        assert_eq!(Model::from_bytes(&decided.to_bytes().unwrap()).unwrap(), decided);
    }
    let all_rows = structured(&StructuredForestParams {
        row_share: 1.0,
        ..small()
    });
    assert_eq!(all_rows.oob_predictions(data.features().view()), Ok(None));
    let all_rows = all_rows.with_thresholds(ThresholdSource::OutOfBag(ThresholdRule::Rate, &data));
    assert_eq!(all_rows, Err(ModelError::Ensemble(EnsembleError::NoBootstrap)));
}

#[test]
fn thresholds_come_from_scores_of_withheld_samples() {
    let data = case().data();
    let withheld = data.select_samples(&[0, 3, 4, 7]).unwrap();
    let (x, y) = (withheld.features().view(), withheld.outputs().view());
    for model in models() {
        let scores = model.predict(x).unwrap();
        let expected = rpo::ensemble::thresholds::find(ThresholdRule::Rate, scores.view(), y).unwrap();
        let decided = model
            .with_thresholds(ThresholdSource::Withheld(ThresholdRule::Rate, &withheld))
            .unwrap();
        assert_eq!(decided.thresholds(), Some(&expected[..]));
    }
}

#[test]
fn parts_of_forests_merge() {
    let (first, rest) = (
        structured(&small()),
        structured(&StructuredForestParams {
            first_tree: 3,
            ..small()
        }),
    );
    let whole = structured(&StructuredForestParams { trees: 6, ..small() });
    assert_eq!(first.clone().merge(rest).unwrap(), whole);
    assert!(matches!(first.clone().merge(whole), Err(ModelError::Merge(_))));
    let single = |first, n| {
        single_targets(&ForestParams {
            first_tree: first,
            trees: n,
            ..ForestPreset::RfCost.into()
        })
    };
    let whole = single(0, 3);
    assert_eq!(single(0, 2).merge(single(2, 1)).unwrap(), whole);
    assert!(matches!(
        single(0, 2).merge(whole.clone()),
        Err(ModelError::Merge(_))
    ));
    assert!(matches!(first.merge(whole), Err(ModelError::Merge(_))));
}

#[test]
fn a_forest_without_samples_out_of_bag_decides_at_one_half_by_default() {
    let (x, y) = (array![[1.0_f32, 2.0]], array![[0.0_f32, 1.0]]);
    let data = Dataset::new(x.into(), y.into(), Task::MultiLabel).unwrap();
    let method = Method::named("structured-forest").unwrap();
    assert_eq!(Model::fit(&method, &data).unwrap().thresholds(), None);
    let asked = method.with("thresholds", "macro-f").unwrap();
    let found = Model::fit(&asked, &data);
    assert!(matches!(
        found,
        Err(ModelError::Ensemble(EnsembleError::NoBootstrap))
    ));
}
