//! Runs an experiment in its own folder, as from a command line.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder with a description and its results.
pub(crate) struct Experiment(TempDir);

impl Experiment {
    pub(crate) fn new(description: &str) -> Self {
        let experiment = Self(tempfile::tempdir().unwrap());
        experiment.describe(description);
        experiment
    }

    pub(crate) fn describe(&self, description: &str) {
        std::fs::write(self.0.path().join("tiny.toml"), description).unwrap();
    }

    pub(crate) fn run(&self, options: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rpo-experiments"));
        let (file, out) = (self.0.path().join("tiny.toml"), self.0.path().join("out"));
        command.arg(file).arg("--out").arg(out).args(options);
        command.env_remove("RPO_DATA").output().unwrap()
    }

    /// Runs the experiment and returns the number of cells run and the number of all cells.
    pub(crate) fn run_well(&self, options: &[&str]) -> (usize, usize) {
        let output = self.run(options);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        let counts: Vec<usize> = said
            .lines()
            .find(|line| line.contains("cells run"))
            .unwrap()
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        (counts[0], counts[1])
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join("out").join(name)).unwrap()
    }

    pub(crate) fn store(&self) -> impl AsRef<Path> {
        self.0.path().join("out/cells.jsonl")
    }

    /// Mean scores by method.
    pub(crate) fn scores(&self) -> Vec<(String, f64)> {
        self.means("lrap")
    }

    /// Means of a measure by method.
    pub(crate) fn means(&self, measure: &str) -> Vec<(String, f64)> {
        let results: Value = serde_json::from_str(&self.read("results.json")).unwrap();
        let rows = results["results"].as_array().unwrap().iter();
        rows.filter(|row| row["measure"] == measure)
            .map(|row| {
                (
                    row["method"].as_str().unwrap().to_owned(),
                    row["mean"].as_f64().unwrap(),
                )
            })
            .collect()
    }
}
