//! `cargo xtask semver BASELINE`: checks that the version announces changes of the public interface.

use crate::cargo;
use anyhow::{Context, bail, ensure};

/// Runs `cargo semver-checks` on every published crate against a revision of this repository.
///
/// # Errors
/// A tool that is not installed, or changes that require a higher version.
pub(crate) fn run(baseline: &str) -> anyhow::Result<()> {
    let installed = cargo(&["semver-checks", "--version"]).output();
    if !installed.is_ok_and(|output| output.status.success()) {
        bail!("cargo-semver-checks is not installed; run `cargo install --locked cargo-semver-checks`");
    }
    let status = cargo(&["semver-checks", "--workspace", "--baseline-rev", baseline]).status();
    ensure!(
        status.context("cargo does not run")?.success(),
        "the interface changed more since {baseline} than the version says"
    );
    Ok(())
}
