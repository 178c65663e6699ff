//! Files with a correct checksum and invalid contents: nothing in them is trusted.

use crate::common::{Case, boosted};
use ndarray::Array2;
use proptest::prelude::*;
use rpo::Predictor;
use rpo::core::{CsrMatrix, Learner};
use rpo::data::preprocess::{Encoding, Fill, PreprocessError, Standardize, Steps, Transform};
use rpo::data::read::{ColumnType, Format, ReadOptions, Targets, read_from};
use rpo::data::text::TextOptions;
use rpo::data::{Columns, Dataset, DatasetError, Task};
use rpo::ensemble::craftml::CentroidKind;
use rpo::ensemble::{CraftmlVariant, EnsembleError, Forest, ForestOptions, ForestParams};
use rpo::linear::LinearError;
use rpo::model_file::ModelFileErrorKind as Kind;
use rpo::tree::LeafKind;
use rpo::{Method, Model, ModelError};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The parts of a file.
struct Parts {
    description: Map<String, Value>,
    /// Name, type, shape and bytes of each array.
    arrays: Vec<(String, String, Vec<u64>, Vec<u8>)>,
}

impl Parts {
    fn of(model: &Model) -> Self {
        let bytes = model.to_bytes().unwrap();
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let header: Map<String, Value> = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let text = header["__metadata__"]["rpo"].as_str().unwrap();
        let data = &bytes[8 + length..];
        let mut arrays: Vec<_> = header
            .iter()
            .filter(|(name, _)| *name != "__metadata__")
            .map(|(name, info)| {
                let at = |i: usize| info["data_offsets"][i].as_u64().unwrap() as usize;
                let shape = info["shape"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|n| n.as_u64().unwrap());
                let dtype = info["dtype"].as_str().unwrap().to_owned();
                (
                    at(0),
                    (name.clone(), dtype, shape.collect(), data[at(0)..at(1)].to_vec()),
                )
            })
            .collect();
        arrays.sort_by_key(|(start, (name, ..))| (*start, name.clone()));
        Self {
            description: serde_json::from_str(text).unwrap(),
            arrays: arrays.into_iter().map(|(_, array)| array).collect(),
        }
    }

    fn array(&mut self, name: &str) -> &mut (String, String, Vec<u64>, Vec<u8>) {
        self.arrays
            .iter_mut()
            .find(|a| a.0 == name)
            .expect("the array is there")
    }

    /// Builds the file again, with the correct checksum of its contents.
    fn bytes(&self) -> Vec<u8> {
        let mut description = self.description.clone();
        let rest = {
            description.remove("checksum");
            serde_json::to_string(&description).unwrap()
        };
        let text = format!("{{\"checksum\":\"00000000\",{}", &rest[1..]);
        let mut header = format!("{{\"__metadata__\":{{\"rpo\":{}}}", json!(text));
        let mut data = Vec::new();
        for (name, dtype, shape, bytes) in &self.arrays {
            let start = data.len();
            data.extend_from_slice(bytes);
            let info = json!({"dtype": dtype, "shape": shape, "data_offsets": [start, data.len()]});
            header += &format!(",{}:{info}", json!(name));
        }
        header.push('}');
        let mut file = (header.len() as u64).to_le_bytes().to_vec();
        file.extend_from_slice(header.as_bytes());
        file.extend_from_slice(&data);
        let checksum = format!("{:08x}", crc32fast::hash(&file));
        let at = file.windows(8).position(|w| w == b"00000000").unwrap();
        file[at..at + 8].copy_from_slice(checksum.as_bytes());
        file
    }

    fn load(&self) -> Result<Model, Kind> {
        Model::from_bytes(&self.bytes()).map_err(|e| e.kind)
    }
}

fn kinds_of_models() -> Vec<Case> {
    let leaves = [LeafKind::Dense, LeafKind::Sparse, LeafKind::Samples];
    let tasks = [Task::MultiLabel, Task::Regression];
    let mut cases = Vec::new();
    for (leaves, task) in leaves.into_iter().flat_map(|l| tasks.map(|t| (l, t))) {
        for max_leaves in [None, Some(5)] {
            cases.push(Case {
                rows: 12,
                leaves: Some(leaves),
                task,
                max_leaves,
                missing: true,
                ..Case::default()
            });
        }
    }
    for (variant, centroids) in [
        (CraftmlVariant::Original, CentroidKind::Rows),
        (CraftmlVariant::Original, CentroidKind::Values),
        (CraftmlVariant::Report, CentroidKind::Values),
    ] {
        for leaves in leaves {
            cases.push(Case {
                rows: 12,
                leaves: Some(leaves),
                craftml: Some(variant),
                centroids: Some(centroids),
                ..Case::default()
            });
        }
    }
    cases
}

/// A forest on features prepared by a pipeline.
fn prepared(case: &Case) -> Model {
    let data = case.data();
    let steps = Steps {
        impute: Some(Fill::Mean),
        nominal: Encoding::Positions,
        standardize: Standardize::All,
        ..Steps::default()
    };
    let pipeline = steps.fit(&data).unwrap();
    let prepared = pipeline.apply(&data).unwrap();
    let params = case.params();
    let forest = params.fit(prepared.features().into(), prepared.outputs().into());
    Model::new(forest.unwrap(), &prepared)
        .unwrap()
        .with_pipeline(pipeline, &data)
        .unwrap()
}

/// A forest that splits all features as categories.
fn of_categories(case: &Case) -> Model {
    let data = case.data();
    let x = data.features().view().to_dense(usize::MAX).unwrap();
    let codes = x.mapv(|v| (v.abs() * 4.0).floor() % 9.0 * 40.0);
    let categorical: Vec<u32> = (0..x.ncols() as u32).collect();
    let options = ForestOptions {
        categorical: &categorical,
        missing_outputs: true,
        ..ForestOptions::default()
    };
    let params = ForestParams {
        min_category_count: 1,
        ..case.params()
    };
    let forest = params.fit_with((&codes).into(), data.outputs().into(), options);
    Model::new(forest.unwrap(), &data).unwrap()
}

/// Models with the cases they were fitted to.
static MODELS: LazyLock<Vec<(Case, Model)>> = LazyLock::new(|| {
    let of = |case: Case| {
        let mut models = vec![(case, case.model())];
        if case.missing {
            models.push((case, prepared(&case)));
            models.push((case, of_categories(&case)));
        }
        // The storage of forest leaves does not affect boosting.
        if case.leaves == Some(LeafKind::Dense) && case.craftml.is_none() {
            models.extend(boosted(&case).into_iter().map(|model| (case, model)));
        }
        models
    };
    let mut models: Vec<(Case, Model)> = kinds_of_models().into_iter().flat_map(of).collect();
    let case = Case {
        rows: 12,
        ..Case::default()
    };
    for method in [
        "structured-forest",
        "one-vs-rest",
        "label-tree",
        "ridge",
        "label-embedding",
    ] {
        let method = Method::named(method).unwrap();
        models.push((case, Model::fit(&method, &case.data()).unwrap()));
    }
    models
});

#[test]
fn a_file_taken_apart_and_put_together_is_the_same_model() {
    for (case, model) in MODELS.iter() {
        assert_eq!(Parts::of(model).load().as_ref(), Ok(model), "{case:?}");
    }
}

/// Returns true if changed numbers of a pipeline make a feature infinite, or changed leaves or weights a prediction.
fn is_out_of_range(error: &ModelError) -> bool {
    if matches!(
        error,
        ModelError::Ensemble(EnsembleError::Prediction { .. })
            | ModelError::Linear(LinearError::Score { .. })
            | ModelError::UnusableFeature { .. }
    ) {
        return true;
    }
    let ModelError::Preprocess(PreprocessError::Dataset(error)) = error else {
        return false;
    };
    matches!(error, DatasetError::InfiniteFeature { .. })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever the arrays contain, loading ends in an error or in a model that predicts, or that reports that it
    /// cannot prepare the features.
    #[test]
    fn changed_arrays_end_in_an_error_or_a_usable_model(
        which in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let (case, model) = &MODELS[which.index(MODELS.len())];
        let mut parts = Parts::of(model);
        for (array, byte, value) in changes {
            let n = parts.arrays.len();
            let bytes = &mut parts.arrays[array.index(n)].3;
            if !bytes.is_empty() {
                let at = byte.index(bytes.len());
                bytes[at] = value;
            }
        }
        if let Ok(model) = parts.load() {
            let data = case.data();
            match model.predict(data.features().into()) {
                Ok(scores) => {
                    prop_assert_eq!(scores.dim(), (case.rows, case.outputs));
                    model.predict_top_k(data.features().into(), 2).unwrap();
                }
                Err(e) => prop_assert!(is_out_of_range(&e), "{}", e),
            }
            prop_assert_eq!(Model::from_bytes(&model.to_bytes().unwrap()).unwrap(), model);
        }
    }

    /// Sizes in the description that contradict the arrays are refused before anything is allocated.
    #[test]
    fn sizes_that_lie_are_refused(
        which in any::<prop::sample::Index>(),
        field in prop_oneof![Just("n_train"), Just("n_features"), Just("n_outputs")],
        size in prop_oneof![0_u64..30, Just(1 << 31), Just((1 << 32) - 1), Just(1 << 32), any::<u64>()],
    ) {
        let (_, model) = &MODELS[which.index(MODELS.len())];
        let mut parts = Parts::of(model);
        prop_assume!(parts.description[field] != json!(size));
        parts.description.insert(field.to_owned(), json!(size));
        if parts.load().is_ok() {
            // No array has an entry per training sample: leaves may refer to any sample. Models other than forests have
            // no array with an entry per feature either: any number above those of the rules is valid.
            let is_forest = model.predictor().downcast_ref::<Forest>().is_some();
            prop_assert!(field == "n_train" || (field == "n_features" && !is_forest), "{field}");
        }
    }
}

#[test]
fn what_is_wrong_is_named() {
    let case = Case {
        rows: 12,
        leaves: Some(LeafKind::Samples),
        ..Case::default()
    };
    let model = case.model();
    let changed = |change: &dyn Fn(&mut Parts)| {
        let mut parts = Parts::of(&model);
        change(&mut parts);
        parts.load().unwrap_err().to_string()
    };
    let check = |change: &dyn Fn(&mut Parts), expected: &str| {
        let found = changed(change);
        assert!(found.contains(expected), "{found:?} should say {expected:?}");
    };
    check(
        &|p| p.arrays.retain(|a| a.0 != "leaf.size"),
        "array \"leaf.size\" is missing",
    );
    check(
        &|p| p.array("tree.seed").0 = "tree.sead".to_owned(),
        "array \"tree.seed\" is missing",
    );
    check(
        &|p| p.arrays.push(("extra".into(), "U8".into(), vec![0], vec![])),
        "array \"extra\" is unknown",
    );
    check(
        &|p| p.array("importance").1 = "I64".to_owned(),
        "array \"importance\" has type I64, which no array of a model has",
    );
    check(
        &|p| p.array("importance").1 = "F64".to_owned(),
        "array \"importance\" has type F64 and shape [5]; expected U64, one dimension",
    );
    check(
        &|p| p.array("importance").2.push(1),
        "expected U64, one dimension",
    );
    check(&|p| p.array("node.kind").3[0] = 3, "expected 0, 2, 4, 130 or 132");
    check(
        &|p| p.array("split.feature").3[1] = 5,
        "entry 1: 5 is invalid; expected a feature of the model",
    );
    check(&|p| p.array("tree.nodes").3[0] -= 1, "array \"node.kind\" has");
    check(&|p| p.array("tree.leaves").3[0] = 7, "expected 0, 1 or 2");
    check(&|p| p.array("leaf.row").3.fill(12), "rows of outputs");
    check(&|p| p.array("output.column").3[0] = 4, "columns that increase");
    check(
        &|p| p.array("train.label_counts").3[0] = 13,
        "the label count of output 0 is 13",
    );
    check(
        &|p| {
            p.array("tree.nodes").3[0] += 2;
            p.array("tree.nodes").3[1] -= 2;
        },
        "tree 0: nodes follow after its last leaf",
    );
    check(
        &|p| {
            p.description.insert("kind".into(), json!("garden"));
        },
        "unknown kind of model \"garden\"; this program reads baseline, boosting, ",
    );
    check(
        &|p| {
            p.description.insert("feature_names".into(), json!(["a"]));
        },
        "names of features: expected 5, got 1",
    );
    check(
        &|p| {
            p.description
                .insert("output_names".into(), json!(["a", "b", "c", "a"]));
        },
        "output name \"a\" is used twice",
    );
    check(
        &|p| {
            p.description.insert("nominal".into(), json!({"9": ["x"]}));
        },
        "feature 9 is declared nominal, there are 5",
    );
    check(
        &|p| {
            p.description.insert("colour".into(), json!("red"));
        },
        "unknown field `colour`",
    );
    check(
        &|p| {
            p.description.remove("task");
        },
        "missing field `task`",
    );
}

#[test]
fn what_is_wrong_with_categories_is_named() {
    let model = of_categories(&Case {
        rows: 12,
        ..Case::default()
    });
    let check = |change: &dyn Fn(&mut Parts), expected: &str| {
        let mut parts = Parts::of(&model);
        change(&mut parts);
        let found = parts.load().unwrap_err().to_string();
        assert!(found.contains(expected), "{found:?} should say {expected:?}");
    };
    check(
        &|p| p.arrays.retain(|a| a.0 != "category.bits"),
        "array \"category.bits\" is missing",
    );
    check(
        &|p| p.array("category.words").3[0] += 1,
        "array \"category.word\" has",
    );
    check(&|p| p.array("category.bits").3.fill(0), "have a member");
    let of_numbers = |p: &mut Parts| p.array("node.kind").3.iter_mut().for_each(|kind| *kind &= !6);
    check(&of_numbers, "array \"node.kind\"");
}

#[test]
fn columns_of_dates_have_their_parts() {
    let text = "x,since,y\n1,2024-01-31,0\n2,2024-02-01,1\n";
    let options = ReadOptions {
        format: Format::Csv,
        targets: Targets::Last(1),
        ..ReadOptions::default()
    };
    let data = read_from(text.as_bytes(), &options).unwrap();
    let model = Model::fit(&"random-forest --trees 2".parse::<Method>().unwrap(), &data).unwrap();
    let mut parts = Parts::of(&model);
    let date = |has_time: bool| json!({"name": "since", "has_time": has_time});
    assert_eq!(parts.description["dates"], json!({"1": date(false)}));
    assert_eq!(&parts.load().unwrap(), &model);
    for dates in [
        json!({"0": date(false)}),
        json!({"1": date(true)}),
        json!({"18446744073709551615": date(false)}),
    ] {
        parts.description["dates"] = dates;
        let error = parts.load().unwrap_err().to_string();
        assert!(
            error.contains("the column of dates \"since\" do not match"),
            "{error}"
        );
    }
}

#[test]
fn what_is_wrong_with_a_pipeline_is_named() {
    let case = Case {
        rows: 12,
        missing: true,
        ..Case::default()
    };
    let model = prepared(&case);
    let check = |change: &dyn Fn(&mut Parts), expected: &str| {
        let mut parts = Parts::of(&model);
        change(&mut parts);
        let found = parts.load().unwrap_err().to_string();
        assert!(found.contains(expected), "{found:?} should say {expected:?}");
    };
    let first = |value: f64| value.to_le_bytes();
    check(
        &|p| p.array("impute.fill").3[4..8].copy_from_slice(&f32::INFINITY.to_le_bytes()),
        "inf cannot fill feature 1",
    );
    check(
        &|p| p.array("standardize.mean").3[..8].copy_from_slice(&first(f64::NAN)),
        "NaN is not a valid mean, factor or weight of feature 0",
    );
    check(
        &|p| p.array("standardize.factor").3[..8].copy_from_slice(&first(-1.0)),
        "-1 is not a valid mean, factor or weight of feature 0",
    );
    check(
        &|p| p.arrays.retain(|a| a.0 != "standardize.factor"),
        "array \"standardize.factor\" is missing",
    );
    // Indicators that the other arrays do not account for.
    check(
        &|p| {
            p.description
                .insert("nominal".into(), json!({"0": ["a", "b", "c", "d"]}));
            p.description["fields"]["one_hot"] = json!(true);
            p.array("impute.fill").3.fill(0);
        },
        "expected 8, got",
    );
}

/// Means of targets that are not numbers, too few, without names, or combined with indicators.
#[test]
fn means_of_targets_that_are_invalid_are_refused() {
    let x = Array2::from_shape_fn((12, 2), |(i, j)| if j == 0 { i as f32 } else { (i % 4) as f32 });
    let y = x.mapv(|v| v * 2.0);
    let words = ["a", "b", "c", "d"].map(String::from).into();
    let data = Dataset::new(x.into(), y.into(), Task::Regression);
    let data = data.unwrap().with_nominal([(1, words)].into()).unwrap();
    let method: Method = "ridge --nominal target".parse().unwrap();
    let model = Model::fit(&method, &data).unwrap();
    let check = |change: &dyn Fn(&mut Parts), expected: &str| {
        let mut parts = Parts::of(&model);
        change(&mut parts);
        let found = parts.load().unwrap_err().to_string();
        assert!(found.contains(expected), "{found:?} should say {expected:?}");
    };
    let targets = "target_encoding.targets";
    check(
        &|p| p.array("target_encoding.mean").3[..4].copy_from_slice(&f32::NAN.to_le_bytes()),
        "NaN is not a valid mean, factor or weight of feature 1",
    );
    check(&|p| p.description["fields"][targets] = json!([]), "at least 1");
    check(
        &|p| p.description["fields"][targets] = json!(["a", "b", "c"]),
        "means of targets: expected 15, got 10",
    );
    check(
        &|p| p.description["fields"]["one_hot"] = json!(true),
        "cannot be combined",
    );
    check(
        &|p| p.description["nominal"] = json!({"1": ["a", "b", "c"]}),
        "means of targets: expected 8, got 10",
    );
}

/// Leaves that sum to more than `f32` can hold: the error names the sample, whichever block it is in.
#[test]
fn predictions_beyond_numbers_name_the_sample() {
    let case = Case {
        rows: 12,
        task: Task::Regression,
        ..Case::default()
    };
    let data = case.data();
    let mut n_models = 0;
    for model in boosted(&case) {
        let mut parts = Parts::of(&model);
        for (name, _, _, bytes) in &mut parts.arrays {
            if ["leaf.dense", "leaf.value"].contains(&name.as_str()) {
                let (values, _) = bytes.as_chunks_mut::<4>();
                values
                    .iter_mut()
                    .for_each(|value| *value = f32::MAX.to_le_bytes());
            }
        }
        let Ok(model) = parts.load() else { continue };
        let x = data.features().view();
        let first = EnsembleError::Prediction {
            sample: 0,
            output: 0,
            value: f32::INFINITY,
        };
        if model.predict(x).is_ok() {
            continue;
        }
        n_models += 1;
        assert_eq!(model.predict(x), Err(first.clone().into()));
        assert_eq!(model.predict_top_k(x, 1), Err(first.clone().into()));
        let shifted = ModelError::from(first).in_block(40).to_string();
        assert!(shifted.contains("output 0 for sample 40 is inf"), "{shifted}");
    }
    assert!(n_models > 0);
}

/// A small file may declare 2^32 - 1 features: nothing is allocated for them.
#[test]
fn promised_features_take_no_memory() {
    let n_features = u32::MAX as usize;
    let x = CsrMatrix::new((1, n_features), vec![0, 1], vec![3], vec![1.0]);
    let mut n_models = 0;
    for (case, model) in MODELS.iter().filter(|(_, model)| model.pipeline().is_none()) {
        let mut parts = Parts::of(model);
        parts.description.insert("n_features".into(), json!(n_features));
        parts.description.remove("feature_names");
        let Ok(model) = parts.load() else { continue };
        n_models += 1;
        match model.predict((&x).into()) {
            Ok(scores) => assert_eq!(scores.dim(), (1, case.outputs)),
            Err(e) => assert!(e.to_string().contains("1 x 4294967295"), "{e}"),
        }
        assert_eq!(
            model.predict_top_k((&x).into(), 1).is_ok(),
            model.predict((&x).into()).is_ok()
        );
        let data = case.data();
        let aligned = model.schema().align_features(&data);
        assert!(
            matches!(aligned, Err(ModelError::ColumnCount { .. })),
            "{aligned:?}"
        );
        let names = ["b", "2", "0"].into_iter().collect();
        let named = data
            .select_features(&[0, 1, 2])
            .unwrap()
            .with_names(Columns::Features, names)
            .unwrap();
        let missing_name = |name: i32| rpo::MissingName {
            name: name.to_string(),
            nearest: None,
        };
        let missing = ModelError::MissingColumn {
            what: "feature",
            missing: [1, 3, 4, 5, 6].map(missing_name).into(),
            more: n_features - 7,
        };
        assert_eq!(model.schema().align_features(&named), Err(missing));
    }
    assert!(n_models > 10, "{n_models} models");
}

/// The names of hashed terms are made when a file is read, so that their numbers and places are checked.
#[test]
fn hashed_terms_are_where_the_file_says() {
    let csv = "x,a,b,y\n1,good,so good,1\n2,bad,not good,0\n3,bad,bad,0\n";
    let types = ["a", "b"].map(|name| (name.to_owned(), ColumnType::Text));
    let options = ReadOptions {
        types: types.into(),
        text: TextOptions {
            hash: Some(4),
            ..TextOptions::default()
        },
        targets: Targets::Names(vec!["y".to_owned()]),
        ..ReadOptions::default()
    };
    let data = read_from(csv.as_bytes(), &options).unwrap();
    let model = Model::fit(&Method::named("baseline").unwrap(), &data).unwrap();
    let parts = Parts::of(&model);
    assert_eq!(parts.description["feature_names"], json!(["x"]));
    assert_eq!(parts.load().as_ref(), Ok(&model));
    let refused = |change: &dyn Fn(&mut Map<String, Value>)| {
        let mut parts = Parts::of(&model);
        change(&mut parts.description);
        parts.load().unwrap_err().to_string()
    };
    let many = 1 << 24;
    let wide = |description: &mut Map<String, Value>| {
        description["texts"]["1"]["n_features"] = json!(many);
        description["texts"]["1"]["options"]["hash"] = json!(many);
    };
    assert!(refused(&wide).contains("names of features"));
    let named = refused(&|description| {
        wide(description);
        description["texts"]["1"]["column"] = json!("a".repeat(1000));
        description.insert("n_features".to_owned(), json!(many + 5));
    });
    assert!(named.contains("the names of hashed terms would take"), "{named}");
    let other_width = refused(&|description| description["texts"]["1"]["options"]["hash"] = json!(5));
    assert!(other_width.contains("\"a\""), "{other_width}");
    for place in ["0", "3", "9"] {
        let moved = refused(&|description| {
            let second = description["texts"].as_object_mut().unwrap().remove("5").unwrap();
            description["texts"][place] = second;
        });
        assert!(
            moved.contains("feature") || moved.contains("\"b\"") || moved.contains("\"a\""),
            "{place}: {moved}"
        );
    }
}
