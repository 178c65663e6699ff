//! CRAFTML model files: written at once, tree by tree, and merged from parts.

use crate::common::Case;
use proptest::prelude::*;
use rpo::Predictor;
use rpo::core::{ForestLearner, Learner, Matrix};
use rpo::data::{Dataset, Task};
use rpo::ensemble::craftml::{CentroidKind, CraftmlParams};
use rpo::ensemble::{CraftmlVariant, EnsembleError};
use rpo::metrics::{Gain, LabelSets, MissingTruth, TopK, gain_at_k};
use rpo::tree::LeafKind;
use rpo::{Decision, FitContext, Model, ModelError, StreamDestination, StreamingFit};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};

const VARIANTS: [(CraftmlVariant, CentroidKind); 4] = [
    (CraftmlVariant::Original, CentroidKind::Rows),
    (CraftmlVariant::Original, CentroidKind::Values),
    (CraftmlVariant::Report, CentroidKind::Values),
    (CraftmlVariant::ReportQuirks, CentroidKind::Values),
];

fn case() -> impl Strategy<Value = Case> {
    let leaves = prop_oneof![
        Just(None),
        Just(Some(LeafKind::Dense)),
        Just(Some(LeafKind::Sparse)),
        Just(Some(LeafKind::Samples))
    ];
    let variant = prop::sample::select(VARIANTS.to_vec());
    (0_u64..1000, 1_usize..60, variant, leaves, any::<bool>()).prop_map(
        |(seed, rows, (variant, centroids), leaves, sparse_features)| Case {
            seed,
            rows,
            sparse_features,
            leaves,
            craftml: Some(variant),
            centroids: Some(centroids),
            ..Case::default()
        },
    )
}

fn trees(case: &Case, data: &Dataset, first: usize, n: usize) -> Model {
    let variant = case.craftml.expect("a CRAFTML case");
    let params = case.craftml_params(variant).of_trees(first..first + n);
    let forest = &params;
    let forest = forest.fit(data.features().into(), data.outputs().into()).unwrap();
    let parameters = json!({"trees": n});
    let mut model = Model::new(forest, data).unwrap();
    model.parameters = parameters.as_object().unwrap().clone();
    model
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_loaded_is_what_was_saved(case in case()) {
        let (model, data) = (case.model(), case.data());
        let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        prop_assert!(loaded == model);
        let scores = |model: &Model| model.predict(data.features().into()).unwrap();
        prop_assert_eq!(scores(&loaded), scores(&model));
    }

    #[test]
    fn trees_written_one_by_one_make_the_same_file(case in case()) {
        let data = case.data();
        let whole = trees(&case, &data, 0, 3);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.rpo");
        let params = case.craftml_params(case.craftml.unwrap());
        let destination = StreamDestination {
            path: &path,
            parameters: &whole.parameters,
            pipeline: None,
            decision: Decision::default(),
        };
        let no_file_yet = || assert!(!path.exists());
        let context = FitContext {
            on_step: Some(&no_file_yet),
            ..FitContext::default()
        };
        let n_bytes = params.fit_to_file(&data, &context, &destination).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        prop_assert_eq!(n_bytes, bytes.len() as u64);
        prop_assert_eq!(bytes, whole.to_bytes().unwrap());
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}

/// No file appears, and no tree grows after the first.
#[test]
fn a_fit_to_a_file_stops_between_trees() {
    let case = Case {
        craftml: Some(CraftmlVariant::Original),
        ..Case::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.rpo");
    let n_grown = AtomicUsize::new(0);
    let on_step = || {
        n_grown.fetch_add(1, Ordering::Relaxed);
    };
    let stop = || n_grown.load(Ordering::Relaxed) > 0;
    let context = FitContext {
        on_step: Some(&on_step),
        stop: Some(&stop),
        ..FitContext::default()
    };
    let destination = StreamDestination {
        path: &path,
        parameters: &serde_json::Map::new(),
        pipeline: None,
        decision: Decision::default(),
    };
    let params = case.craftml_params(CraftmlVariant::Original);
    let stopped = params.fit_to_file(&case.data(), &context, &destination);
    assert_eq!(stopped, Err(ModelError::Ensemble(EnsembleError::Stopped)));
    assert_eq!(n_grown.into_inner(), 1);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn parts_merge_into_the_file_of_the_whole() {
    for (variant, centroids) in VARIANTS {
        let case = Case {
            craftml: Some(variant),
            centroids: Some(centroids),
            ..Case::default()
        };
        let data = case.data();
        let merged = trees(&case, &data, 0, 2)
            .merge(trees(&case, &data, 2, 3))
            .unwrap();
        assert_eq!(
            merged.to_bytes().unwrap(),
            trees(&case, &data, 0, 5).to_bytes().unwrap(),
            "{variant:?}"
        );
        let twice = trees(&case, &data, 0, 2).merge(trees(&case, &data, 1, 2));
        assert!(matches!(twice, Err(ModelError::Merge(_))), "tree 1 is in both");
        let forest = Case::default().model();
        assert!(
            matches!(merged.merge(forest), Err(ModelError::Merge(_))),
            "another method"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// k times the precision at k is the mean number of relevant labels among the first k.
    #[test]
    fn precision_at_k_counts_hits(case in case()) {
        let (model, data) = (case.model(), case.data());
        let truth = LabelSets::new(data.outputs().into(), MissingTruth::Refuse).unwrap();
        let k = case.outputs + 2;
        let best = model.predict_top_k(data.features().into(), k).unwrap();
        let best = TopK::from_csr(best.view(), k).unwrap();
        let hits = (1..=k).map(|k| k as f64 * gain_at_k(&truth, &best, Gain::Precision, k).unwrap());
        let hits: Vec<f64> = hits.collect();
        prop_assert!(hits[0] >= 0.0);
        // These are means of integers, each divided by k and multiplied again.
        prop_assert!(hits.windows(2).all(|w| w[0] <= w[1] + 1e-12), "{hits:?}");
    }
}

#[test]
fn naming_the_rows_that_taught_takes_less_room() {
    let rows = 400;
    let mark = |i: usize, j: usize, one_in: usize| (i * 31 + j * 17 + i * j).is_multiple_of(one_in);
    let x = ndarray::Array2::from_shape_fn((rows, 300), |(i, j)| f32::from(u8::from(mark(i, j, 11))));
    let y = ndarray::Array2::from_shape_fn((rows, 40), |(i, j)| f32::from(u8::from(mark(i, j, 7))));
    let data = Dataset::new(Matrix::Dense(x), Matrix::Dense(y), Task::MultiLabel).unwrap();
    let [small, large] = [CentroidKind::Rows, CentroidKind::Values].map(|kind| {
        let params = CraftmlParams {
            trees: 10,
            centroids: kind,
            ..CraftmlVariant::Original.into()
        };
        let forest = &params;
        let forest = forest.fit(data.features().into(), data.outputs().into()).unwrap();
        let model = Model::new(forest, &data).unwrap();
        let scores = model.predict(data.features().into()).unwrap();
        (model.to_bytes().unwrap().len(), scores)
    });
    assert_eq!(small.1, large.1, "no prediction depends on it");
    assert!(2 * small.0 < large.0, "{} bytes, {} bytes", small.0, large.0);
}

#[test]
fn a_model_of_numbers_is_kept_too() {
    let case = Case {
        task: Task::Regression,
        craftml: Some(CraftmlVariant::Original),
        ..Case::default()
    };
    let model = case.model();
    assert!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap() == model);
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing").join("m.rpo");
    let destination = StreamDestination {
        path: &path,
        parameters: &serde_json::Map::new(),
        pipeline: None,
        decision: Decision::default(),
    };
    let data = Case::default().data();
    let error = CraftmlParams::default()
        .fit_to_file(&data, &FitContext::default(), &destination)
        .unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
}
