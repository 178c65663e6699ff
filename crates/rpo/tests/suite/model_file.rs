//! Saving and loading: exact, atomic, and never silently wrong.

use crate::common::Case;
use proptest::prelude::*;
use rpo::Predictor;
use rpo::core::Learner;
use rpo::data::{Columns, Names, Task};
use rpo::ensemble::ForestParams;
use rpo::model_file::ModelFileErrorKind as Kind;
use rpo::tree::LeafKind;
use rpo::{FileTarget, Merging, Model, ModelError, TargetError};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

fn cases() -> impl Strategy<Value = Case> {
    let sizes = (any::<u64>(), 1_usize..60, 1_usize..6, 1_usize..7);
    let leaves = prop_oneof![
        Just(None),
        Just(Some(LeafKind::Dense)),
        Just(Some(LeafKind::Sparse)),
        Just(Some(LeafKind::Samples))
    ];
    let flags = proptest::collection::vec(any::<bool>(), 8);
    (sizes, leaves, proptest::option::of(1_usize..9), flags).prop_map(
        |((seed, rows, features, outputs), leaves, max_leaves, flags)| Case {
            seed,
            rows,
            features,
            outputs,
            task: if flags[0] {
                Task::MultiLabel
            } else {
                Task::Regression
            },
            binary_features: flags[1],
            sparse_features: flags[2],
            missing: flags[3],
            leaves,
            max_leaves,
            bootstrap: flags[4],
            projected: flags[5],
            weights: flags[6],
            random_thresholds: flags[7],
            craftml: None,
            centroids: None,
        },
    )
}

fn bits(model: &Model, case: &Case) -> Vec<u32> {
    let data = case.data();
    let scores = model.predict(data.features().into()).unwrap();
    scores.iter().map(|v| v.to_bits()).collect()
}

proptest! {
    #[test]
    fn what_is_loaded_is_what_was_saved(case in cases()) {
        let model = case.model();
        let bytes = model.to_bytes().unwrap();
        let loaded = Model::from_bytes(&bytes).unwrap();
        prop_assert_eq!(&loaded, &model);
        prop_assert_eq!(bits(&loaded, &case), bits(&model, &case));
        prop_assert_eq!(loaded.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn any_flipped_bit_is_found(case in cases(), places in proptest::collection::vec((any::<prop::sample::Index>(), 0_u8..8), 20)) {
        let bytes = case.model().to_bytes().unwrap();
        for (place, bit) in places {
            let mut damaged = bytes.clone();
            damaged[place.index(bytes.len())] ^= 1 << bit;
            prop_assert!(Model::from_bytes(&damaged).is_err());
        }
    }

    #[test]
    fn any_end_is_missed(case in cases(), places in proptest::collection::vec(any::<prop::sample::Index>(), 20)) {
        let bytes = case.model().to_bytes().unwrap();
        for place in places {
            prop_assert!(Model::from_bytes(&bytes[..place.index(bytes.len())]).is_err());
        }
        let mut longer = bytes;
        longer.push(0);
        prop_assert!(Model::from_bytes(&longer).is_err());
    }

    #[test]
    fn noise_is_no_model(noise in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Model::from_bytes(&noise).is_err());
    }
}

#[test]
fn every_bit_of_a_small_file_counts() {
    let case = Case {
        rows: 4,
        features: 2,
        outputs: 2,
        ..Case::default()
    };
    let bytes = case.model().to_bytes().unwrap();
    for place in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1 << bit;
            assert!(Model::from_bytes(&damaged).is_err(), "bit {bit} of byte {place}");
        }
    }
}

#[test]
fn names_kinds_parameters_and_thresholds_are_kept() {
    let case = Case {
        binary_features: true,
        features: 3,
        outputs: 2,
        ..Case::default()
    };
    let nominal = BTreeMap::from([(1, ["no \"quotes\"", "yes\\"].map(String::from).into())]);
    let data = case
        .data()
        .with_names(Columns::Features, Names::from_iter(["a", "Größe", "c\n"]))
        .and_then(|data| data.with_names(Columns::Outputs, Names::from_iter(["", "0"])))
        .and_then(|data| data.with_nominal(nominal))
        .unwrap();
    let forest = case.params();
    let forest = forest.fit(data.features().into(), data.outputs().into()).unwrap();
    let parameters = json!({"trees": 3, "min_impurity_decrease": 1.1e-17, "projection": null});
    let mut model = Model::new(forest, &data)
        .unwrap()
        .with_thresholds(Some(vec![0.1, f64::INFINITY]))
        .unwrap();
    model.parameters = parameters.as_object().unwrap().clone();
    let loaded = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(loaded, model);
    assert_eq!(loaded.thresholds(), Some(&[0.1, f64::INFINITY][..]));
    assert_eq!(loaded.schema().nominal[&1][1], "yes\\");
}

#[test]
fn other_versions_and_formats_are_refused_by_name() {
    let bytes = Case::default().model().to_bytes().unwrap();
    let with = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let at = bytes
            .windows(from.len())
            .position(|w| w == from.as_bytes())
            .unwrap();
        let mut bytes = bytes.clone();
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        Model::from_bytes(&bytes).unwrap_err().kind
    };
    for (found, remedy) in [(1, "train the model again"), (3, "use a newer release")] {
        let error = with(r#"\"version\":2"#, &format!(r#"\"version\":{found}"#));
        assert_eq!(error, Kind::Version { found, supported: 2 });
        let expected =
            format!("written by version {found} of the model format; this program reads version 2: {remedy}");
        assert_eq!(error.to_string(), expected);
    }
    assert!(matches!(with("rpo-model", "xyz-model"), Kind::NotAModel { .. }));
    assert!(matches!(with(r#""rpo""#, r#""abc""#), Kind::NotAModel { .. }));
    assert!(matches!(with("forest", "garden"), Kind::Checksum { .. }));
}

#[test]
fn a_file_of_version_1_is_refused_with_what_to_do() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/version-1.rpo");
    let expected = format!(
        "{}: written by version 1 of the model format; this program reads version 2: train the model again",
        path.display()
    );
    assert_eq!(Model::load(&path).unwrap_err().to_string(), expected);
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_is_replaced_when_the_new_one_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.rpo");
    let (first, second) = (
        Case::default().model(),
        Case {
            seed: 2,
            ..Case::default()
        }
        .model(),
    );
    let size = first.save(&path).unwrap();
    assert_eq!(size, std::fs::metadata(&path).unwrap().len());
    let mut target = FileTarget::new(&path).unwrap();
    target.put(b"half a file").unwrap();
    assert_eq!(Model::load(&path).unwrap(), first);
    drop(target);
    assert_eq!(
        files(folder.path()),
        ["m.rpo"],
        "an abandoned target leaves nothing"
    );
    second.save(&path).unwrap();
    assert_eq!(Model::load(&path).unwrap(), second);
    assert_eq!(files(folder.path()), ["m.rpo"]);
}

#[test]
fn places_that_cannot_be_written_are_named() {
    let model = Case::default().model();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    assert_eq!(
        model.save(&path).unwrap_err().kind,
        TargetError::IsFolder { path }.into()
    );
    let nowhere = folder.path().join("missing").join("m.rpo");
    let e = FileTarget::check(&nowhere).unwrap_err();
    assert_eq!(FileTarget::new(&nowhere).unwrap_err(), e);
    FileTarget::check(folder.path().join("possible")).unwrap();
    assert_eq!(files(folder.path()), [""; 0], "checking leaves nothing");
    let not_found = std::io::ErrorKind::NotFound;
    assert!(
        matches!(e, TargetError::Io { kind, .. } if kind == not_found),
        "{e}"
    );
    assert!(e.to_string().starts_with(nowhere.to_str().unwrap()), "{e}");
    let e = Model::load(&nowhere).unwrap_err();
    assert!(e.to_string().contains("cannot read"), "{e}");
}

#[cfg(unix)]
#[test]
fn links_permissions_and_devices_are_respected() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let model = Case::default().model();
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("m.rpo"), folder.path().join("link"));
    std::fs::write(&path, "an earlier file").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&path, &link).unwrap();
    model.save(&link).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(Model::load(&path).unwrap(), model);
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o640
    );
    if Path::new("/dev/full").exists() {
        let e = model.save("/dev/full").unwrap_err();
        let full = std::io::ErrorKind::StorageFull;
        assert!(
            matches!(&e.kind, Kind::Write(TargetError::Io { kind, .. }) if *kind == full),
            "{e}"
        );
        assert!(!std::fs::metadata("/dev/full").unwrap().is_file());
    }
}

#[test]
fn parts_of_a_forest_merge_into_the_file_of_the_whole() {
    let case = Case::default();
    let data = case.data();
    let part = |first: usize, n: usize| {
        let params = ForestParams {
            first_tree: first,
            trees: n,
            ..ForestParams::default()
        };
        let forest = params;
        let forest = forest.fit(data.features().into(), data.outputs().into()).unwrap();
        let parameters = json!({"seed": 0, "trees": n});
        let mut model = Model::new(forest, &data).unwrap();
        model.parameters = parameters.as_object().unwrap().clone();
        model
    };
    let merged = part(0, 3).merge(part(3, 4)).unwrap();
    assert_eq!(merged, part(0, 7));
    assert_eq!(merged.to_bytes(), part(0, 7).to_bytes());
    assert!(part(0, 3).merge(part(2, 1)).is_err(), "tree 2 is in both");
    let other = Case { seed: 5, ..case };
    assert!(part(0, 3).merge(other.model()).is_err(), "other data");

    for n_parts in 1..=9 {
        let mut merging = Merging::default();
        (0..n_parts).for_each(|i| merging.push(part(2 * i, 2)).unwrap());
        assert_eq!(merging.finish().unwrap(), Some(part(0, 2 * n_parts)));
    }
    assert_eq!(Merging::default().finish(), Ok(None));
    // The error names the part with other data.
    for wrong in 1..7 {
        let mut merging = Merging::default();
        let found =
            (0..7).try_for_each(|i| merging.push(if i == wrong { other.model() } else { part(i, 1) }));
        let error = found.and_then(|()| merging.finish().map(drop)).unwrap_err();
        assert_eq!(error.part, wrong, "{error}");
    }
    // Parts that record their trees may arrive in any order.
    let numbered = |first: usize, n: usize| {
        let mut model = part(first, n);
        model.parameters.insert("first_tree".to_owned(), json!(first));
        model
    };
    for order in [
        [0, 2, 4, 6],
        [6, 4, 2, 0],
        [2, 0, 6, 4],
        [4, 0, 6, 2],
        [0, 4, 2, 6],
    ] {
        let mut merging = Merging::default();
        order
            .into_iter()
            .for_each(|first| merging.push(numbered(first, 2)).unwrap());
        assert_eq!(merging.finish().unwrap(), Some(numbered(0, 8)), "{order:?}");
    }
    let missing = 2..4;
    assert_eq!(
        numbered(4, 2).merge(numbered(0, 2)),
        Err(ModelError::MergeGap {
            missing: missing.clone()
        })
    );
    let mut merging = Merging::default();
    [4, 0]
        .into_iter()
        .for_each(|first| merging.push(numbered(first, 2)).unwrap());
    let error = merging.finish().unwrap_err();
    assert_eq!((error.part, error.source), (1, ModelError::MergeGap { missing }));
    let mut deep = part(2, 2);
    deep.parameters.insert("seed".to_owned(), json!(1));
    let refused = part(0, 2).merge(deep).unwrap_err().to_string();
    assert!(
        refused.contains("`seed` is 0 in one and 1 in the other"),
        "{refused}"
    );

    let mut merging = Merging::default();
    let found = [0, 2, 4, 3]
        .into_iter()
        .try_for_each(|first| merging.push(part(first, 2)));
    assert_eq!(found.unwrap_err().part, 3, "tree 4 is in two parts");
}

#[test]
fn boosted_models_come_back_equal() {
    for task in [Task::MultiLabel, Task::Regression] {
        for case in [
            Case {
                task,
                ..Case::default()
            },
            Case {
                task,
                missing: true,
                max_leaves: Some(3),
                ..Case::default()
            },
        ] {
            for model in crate::common::boosted(&case) {
                let bytes = model.to_bytes().unwrap();
                let loaded = Model::from_bytes(&bytes).unwrap();
                assert_eq!(loaded, model);
                assert_eq!(loaded.to_bytes().unwrap(), bytes);
                let data = case.data();
                let x = data.features().view();
                assert_eq!(loaded.predict(x).unwrap(), model.predict(x).unwrap());
                assert!(model.clone().merge(model).is_err(), "only forests merge");
            }
        }
    }
}
