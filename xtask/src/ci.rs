//! Everything that continuous integration checks: formatting, words, lints, tests, documentation, dependencies, and, if
//! a Python interpreter is found, the Python package.

use anyhow::{Context, bail};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// Runs every check, continuing after failures, and sums up.
///
/// Nothing is updated: `Cargo.lock` is used as it is. If the database of security advisories cannot be fetched, the
/// other checks of the dependencies run without it.
///
/// # Errors
/// If a check fails, or cargo does not run.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut checks = Checks::default();
    checks.cargo("formatting", &["fmt", "--all", "--check"])?;
    checks.words();
    checks.cargo(
        "lints",
        &[
            "clippy",
            "--locked",
            "--workspace",
            "--all-targets",
            "--all-features",
            "--",
            "-D",
            "warnings",
        ],
    )?;
    // In the workspace, a crate could use a feature that only another crate's manifest enables.
    for package in packages()? {
        checks.cargo(
            &format!("{package} alone"),
            &["check", "--locked", "--package", &package],
        )?;
    }
    checks.cargo(
        "tests",
        &[
            "test",
            "--locked",
            "--workspace",
            "--all-features",
            "--no-fail-fast",
        ],
    )?;
    // With the features of the tests, so that crates are not built once more.
    checks.cargo(
        "benches",
        &[
            "test",
            "--locked",
            "--workspace",
            "--all-features",
            "--bench",
            "*",
        ],
    )?;
    checks.documentation()?;
    checks.cargo("dependencies", &["deny", "check", "bans", "licenses", "sources"])?;
    if cargo(&["deny", "fetch", "db"]).status()?.success() {
        checks.cargo("advisories", &["deny", "check", "advisories"])?;
    } else {
        println!("the database of advisories cannot be had: dependencies are not compared with it");
    }
    if !crate::python::add_to(&mut checks)? {
        println!("there is no Python 3.10 or newer: the Python package is not checked");
    }
    // Cargo does not show what tests print that pass.
    for (variable, tests) in [
        ("RPO_DATA", "tests on public data sets"),
        ("RPO_FIXTURES", "comparisons with reference vectors"),
    ] {
        if std::env::var_os(variable).is_none() {
            println!("{variable} is not set: {tests} were skipped");
        }
    }
    checks.sum_up()
}

/// The outcomes of the checks so far.
#[derive(Default)]
pub(crate) struct Checks(Vec<(String, bool, f64)>);

impl Checks {
    /// Adds a check that runs cargo in the root of the workspace.
    pub(crate) fn cargo(&mut self, name: &str, arguments: &[&str]) -> anyhow::Result<()> {
        self.check(name, &mut cargo(arguments))
    }

    fn words(&mut self) {
        println!("== words");
        let start = Instant::now();
        let outcome = crate::tidy::run();
        if let Err(e) = &outcome {
            println!("{e}");
        }
        let seconds = start.elapsed().as_secs_f64();
        self.0.push(("words".to_owned(), outcome.is_ok(), seconds));
    }

    fn documentation(&mut self) -> anyhow::Result<()> {
        let mut command = cargo(&["doc", "--locked", "--workspace", "--no-deps"]);
        self.check("documentation", command.env("RUSTDOCFLAGS", "-D warnings"))
    }

    /// Adds a check that runs a program.
    pub(crate) fn check(&mut self, name: &str, command: &mut Command) -> anyhow::Result<()> {
        println!("== {name}");
        let start = Instant::now();
        let status = command
            .status()
            .with_context(|| format!("{name}: it does not run"))?;
        self.0
            .push((name.to_owned(), status.success(), start.elapsed().as_secs_f64()));
        Ok(())
    }

    /// Reports all outcomes.
    ///
    /// # Errors
    /// If a check failed.
    pub(crate) fn sum_up(&self) -> anyhow::Result<()> {
        println!("== summary");
        for (name, passed, seconds) in &self.0 {
            let outcome = if *passed { "ok" } else { "FAILED" };
            println!("{outcome:>6} {seconds:7.1} s  {name}");
        }
        let failed: Vec<&str> = self
            .0
            .iter()
            .filter(|(_, passed, _)| !passed)
            .map(|(name, ..)| name.as_str())
            .collect();
        if !failed.is_empty() {
            bail!("failed: {}", failed.join(", "));
        }
        Ok(())
    }
}

/// Cargo, in the root of the workspace.
fn cargo(arguments: &[&str]) -> Command {
    let mut command = crate::cargo(arguments);
    command.current_dir(root());
    command
}

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().expect("the tasks are a folder of the workspace")
}

/// The names of the packages of the workspace.
fn packages() -> anyhow::Result<Vec<String>> {
    let arguments = ["metadata", "--locked", "--no-deps", "--format-version", "1"];
    let output = cargo(&arguments).output().context("cargo does not run")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    packages
        .iter()
        .map(|package| Ok(package["name"].as_str().context("no name")?.to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_that_fails_fails_all() {
        let mut checks = Checks::default();
        checks.cargo("good", &["--version"]).unwrap();
        assert!(checks.sum_up().is_ok());
        checks.cargo("bad", &["no-such-command"]).unwrap();
        checks.cargo("good again", &["--version"]).unwrap();
        assert_eq!(checks.sum_up().unwrap_err().to_string(), "failed: bad");
    }

    #[test]
    fn the_packages_are_those_of_the_workspace() {
        let packages = packages().unwrap();
        for expected in [
            "rpo-learn",
            "rpo-benches",
            "rpo-learn-cli",
            "rpo-experiments",
            "xtask",
        ] {
            assert!(packages.iter().any(|p| p == expected), "{packages:?}");
        }
    }
}
