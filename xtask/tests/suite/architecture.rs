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

/// Packages outside `crates/`, on which no crate depends.
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
        for used in dependencies(&manifest) {
            let arrow = known.contains(&used);
            assert!(!arrow || allowed.contains(&used), "{name} uses {used}");
        }
    }
}

/// The names of the dependencies of a package outside its tests, on any system.
fn dependencies(manifest: &toml::Table) -> Vec<&str> {
    let systems = manifest.get("target").and_then(toml::Value::as_table);
    let systems = systems.into_iter().flat_map(toml::Table::values);
    let tables = systems.filter_map(toml::Value::as_table).chain([manifest]);
    let lists = tables.flat_map(|table| ["dependencies", "build-dependencies"].map(|list| table.get(list)));
    let lists = lists.flatten().filter_map(toml::Value::as_table);
    let used = lists.flat_map(toml::Table::iter);
    // A package may be renamed.
    used.map(|(name, how)| how.get("package").and_then(toml::Value::as_str).unwrap_or(name))
        .collect()
}

#[test]
fn dependencies_are_found_wherever_they_stand() {
    let manifest = "[dependencies]\na = \"1\"\n[build-dependencies]\nb.workspace = true\n\
                    [target.'cfg(unix)'.dependencies]\nother = { package = \"c\", version = \"1\" }\n[dev-dependencies]\nd = \"1\"\n";
    let manifest: toml::Table = manifest.parse().unwrap();
    let mut found = dependencies(&manifest);
    found.sort_unstable();
    assert_eq!(found, ["a", "b", "c"]);
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
                assert!(!uses(&text, "crate", later), "{} uses {later}", file.display());
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
            for module in ["fs", "env", "io", "net", "process"] {
                assert!(
                    !uses(&text, "std", module),
                    "{} uses std::{module}",
                    file.display()
                );
            }
        }
    }
}

/// Returns true if a source names a module of a crate, in a path or in a group of imports.
fn uses(text: &str, of: &str, module: &str) -> bool {
    let is_module = |path: &str| {
        let name = path.trim_start().strip_prefix(module);
        name.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let start = format!("{of}::");
    let mut paths = text
        .match_indices(&start)
        .map(|(at, _)| &text[at + start.len()..]);
    paths.any(|path| match path.strip_prefix('{') {
        Some(group) => members(group).into_iter().any(is_module),
        None => is_module(path),
    })
}

/// The members of a group of imports that begins here, up to its closing brace.
fn members(group: &str) -> Vec<&str> {
    let (mut found, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            ',' if depth == 0 => {
                found.push(&group[start..at]);
                start = at + 1;
            }
            '}' if depth == 0 => {
                found.push(&group[start..at]);
                break;
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
    found
}

#[test]
fn modules_are_found_however_they_are_imported() {
    for text in [
        "use std::io;",
        "use std::io::Read;",
        "std::io::stdin()",
        "use std::{fmt, io};",
        "use std::{\n    fmt::{self, Display},\n    io::{self, Read},\n};",
        "use std::{io as system};",
    ] {
        assert!(uses(text, "std", "io"), "{text}");
    }
    for text in [
        "use std::iota;",
        "use std::{fmt::{io}, mem}; use other::io;",
        "use std::{iter}, io",
    ] {
        assert!(!uses(text, "std", "io"), "{text}");
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
