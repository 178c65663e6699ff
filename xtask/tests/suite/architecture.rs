//! Checks the statements of ARCHITECTURE.md about the crates: their dependencies, and which of them read no files.

use std::fs;
use std::path::{Path, PathBuf};

/// Each crate with the workspace crates that it may use outside its tests.
const ARROWS: [(&str, &[&str]); 10] = [
    ("rpo-core", &[]),
    ("rpo-data", &["rpo-core"]),
    ("rpo-metrics", &["rpo-core"]),
    ("rpo-projections", &["rpo-core"]),
    ("rpo-stats", &["rpo-core"]),
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

/// Packages outside `crates/`, which nothing depends on.
const TOOLS: [(&str, &[&str]); 4] = [
    ("benches", &["rpo"]),
    ("examples/extension", &["rpo"]),
    ("experiments", &["rpo", "rpo-stats"]),
    ("xtask", &[]),
];

/// The modules of the experiments: each uses only those before it.
const STAGES: [&str; 5] = ["describe", "plan", "run", "analyse", "report"];

/// Crates that take views and return values.
const NUMERIC: [&str; 7] = [
    "rpo-core",
    "rpo-ensemble",
    "rpo-linear",
    "rpo-metrics",
    "rpo-projections",
    "rpo-stats",
    "rpo-tree",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn crates() -> PathBuf {
    root().join("crates")
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
    let packages = ARROWS.map(|(name, allowed)| (crates().join(name), allowed));
    let tools = TOOLS.map(|(name, allowed)| (root().join(name), allowed));
    for (folder, allowed) in packages.into_iter().chain(tools) {
        let name = folder.display();
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        for used in manifest["dependencies"].as_table().unwrap().keys() {
            let arrow = known.contains(&used.as_str());
            assert!(!arrow || allowed.contains(&used.as_str()), "{name} uses {used}");
        }
    }
}

#[test]
fn stages_of_the_experiments_use_only_those_before() {
    for (place, stage) in STAGES.iter().enumerate() {
        let mut files = Vec::new();
        sources(&root().join("experiments/src").join(stage), &mut files);
        assert!(!files.is_empty(), "{stage} has sources");
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            for later in &STAGES[place + 1..] {
                let used = text.contains(&format!("crate::{later}"));
                assert!(!used, "{} uses {later}", file.display());
            }
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

/// The result of x.powi(n) depends on the system, unless n is 2: then it is x * x. Other powers use `math::powi` of
/// rpo-core.
#[test]
fn powers_other_than_squares_are_portable() {
    for (name, _) in ARROWS {
        let mut files = Vec::new();
        sources(&crates().join(name).join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap();
            for (place, _) in text.match_indices(".powi(") {
                let square = text[place..].starts_with(".powi(2)");
                assert!(square, "{} has a power other than a square", file.display());
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
