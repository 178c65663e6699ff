//! What ARCHITECTURE.md says of the crates: which may use which, and which keep away from files.

use std::fs;
use std::path::{Path, PathBuf};

/// Each crate with those of the workspace it may use outside its tests.
const ARROWS: [(&str, &[&str]); 9] = [
    ("rpo-core", &[]),
    ("rpo-data", &["rpo-core"]),
    ("rpo-metrics", &["rpo-core"]),
    ("rpo-projections", &["rpo-core"]),
    ("rpo-tree", &["rpo-core"]),
    ("rpo-linear", &["rpo-core", "rpo-projections"]),
    ("rpo-ensemble", &["rpo-core", "rpo-projections", "rpo-tree"]),
    (
        "rpo",
        &[
            "rpo-core",
            "rpo-data",
            "rpo-ensemble",
            "rpo-linear",
            "rpo-metrics",
            "rpo-projections",
            "rpo-tree",
        ],
    ),
    ("rpo-cli", &["rpo"]),
];

/// Crates that take views and return values.
const NUMERIC: [&str; 6] = [
    "rpo-core",
    "rpo-ensemble",
    "rpo-linear",
    "rpo-metrics",
    "rpo-projections",
    "rpo-tree",
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates")
}

#[test]
fn dependencies_point_one_way() {
    let mut known: Vec<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    known.sort_unstable();
    let entries = fs::read_dir(crates()).unwrap();
    let mut found: Vec<String> = entries
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort_unstable();
    assert_eq!(found, known);
    for (name, allowed) in ARROWS {
        let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        for used in manifest["dependencies"].as_table().unwrap().keys() {
            let arrow = known.contains(&used.as_str());
            assert!(!arrow || allowed.contains(&used.as_str()), "{name} uses {used}");
        }
    }
}

#[test]
fn numeric_crates_keep_away_from_files_and_the_environment() {
    for name in NUMERIC {
        let mut files = Vec::new();
        sources(&crates().join(name).join("src"), &mut files);
        assert!(!files.is_empty(), "{name} has sources");
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            for word in ["std::fs", "std::env", "std::io", "std::net", "std::process"] {
                assert!(!text.contains(word), "{} uses {word}", file.display());
            }
        }
    }
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
