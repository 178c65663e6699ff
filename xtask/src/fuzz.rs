//! Coverage-guided fuzzing for a few minutes: runs the targets of `fuzz/` one after the other.

use crate::ci::root;
use anyhow::{Context, bail};
use std::path::Path;
use std::process::Command;

/// Builds the targets and runs each for an equal fraction of the time, starting from the seeds of the repository and
/// the finds of earlier runs.
///
/// # Errors
/// If a target fails on an input, or cargo-fuzz or the nightly toolchain is missing.
pub(crate) fn run(seconds: u64) -> anyhow::Result<()> {
    let root = root();
    let targets = targets(root)?;
    let each = (seconds / targets.len() as u64).max(1);
    cargo_fuzz(root, &["build"])?;
    let mut failed = Vec::new();
    for target in &targets {
        println!("== {target}");
        let corpus = format!("fuzz/corpus/{target}");
        std::fs::create_dir_all(root.join(&corpus)).with_context(|| corpus.clone())?;
        let seeds = format!("fuzz/seeds/{target}");
        let time = format!("-max_total_time={each}");
        // Excessive memory for a small input counts as a find.
        let limits = [
            "-malloc_limit_mb=512",
            "-rss_limit_mb=2048",
            "-timeout=60",
            "-max_len=8192",
        ];
        let mut arguments = vec!["run", target, &corpus, &seeds, "--", &time];
        arguments.extend(limits);
        if cargo_fuzz(root, &arguments).is_err() {
            failed.push(target.as_str());
        }
    }
    if !failed.is_empty() {
        bail!("finds: {}; the inputs are in fuzz/artifacts", failed.join(", "));
    }
    Ok(())
}

/// The names of the targets.
fn targets(root: &Path) -> anyhow::Result<Vec<String>> {
    let folder = root.join("fuzz/targets");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let stem = path.file_stem().unwrap_or_default();
        names.push(stem.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn cargo_fuzz(root: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo", "fuzz"]).args(arguments);
    // One thread, because targets check results, not parallelism.
    command.current_dir(root).env("RAYON_NUM_THREADS", "1");
    let status = command.status().context("rustup does not run")?;
    if !status.success() {
        bail!("cargo fuzz {} ended with {status}", arguments.join(" "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_seeds_and_a_place_in_the_manifest() {
        let root = root();
        let manifest = std::fs::read_to_string(root.join("fuzz/Cargo.toml")).unwrap();
        let targets = targets(root).unwrap();
        assert!(targets.len() >= 9);
        for target in targets {
            let seeds = root.join("fuzz/seeds").join(&target);
            assert!(std::fs::read_dir(seeds).unwrap().next().is_some(), "{target}");
            assert!(
                manifest.contains(&format!("path = \"targets/{target}.rs\"")),
                "{target}"
            );
        }
    }
}
