//! Measurements on a data set, stored as JSON beside the page.

use crate::contestant::CONTESTANTS;
use crate::export::Sizes;
use crate::measure::Record;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// All measurements on a set.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Results {
    pub(crate) set: String,
    pub(crate) sizes: Sizes,
    /// In the order of [`CONTESTANTS`].
    pub(crate) runs: Vec<Runs>,
}

/// All fits of a contestant on a set.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Runs {
    pub(crate) contestant: String,
    /// The processor on which it was measured.
    pub(crate) processor: String,
    /// The number of threads and the record of each fit.
    pub(crate) records: Vec<(usize, Record)>,
    /// The reason why there are no further records.
    pub(crate) failure: Option<String>,
}

impl Runs {
    pub(crate) fn new(contestant: &str, processor: &str) -> Self {
        Self {
            contestant: contestant.to_owned(),
            processor: processor.to_owned(),
            records: Vec::new(),
            failure: None,
        }
    }

    /// Adds a fit.
    pub(crate) fn add(&mut self, threads: usize, fit: Result<Record, String>) {
        match fit {
            Ok(record) => self.records.push((threads, record)),
            Err(failure) => self.failure = Some(failure),
        }
    }

    /// The records for a number of threads.
    pub(crate) fn with_threads(&self, threads: usize) -> impl Iterator<Item = &Record> {
        let records = self.records.iter().filter(move |(n, _)| *n == threads);
        records.map(|(_, record)| record)
    }

    /// The first record.
    pub(crate) fn first(&self) -> Option<&Record> {
        self.records.first().map(|(_, record)| record)
    }

    /// The smallest processor time of a fit, among those with the fewest threads.
    pub(crate) fn fit_cpu(&self) -> Option<f64> {
        let threads = self.records.iter().map(|(n, _)| *n).min()?;
        self.with_threads(threads)
            .map(|r| r.fit_cpu)
            .min_by(f64::total_cmp)
    }
}

impl Results {
    pub(crate) fn new(set: &str, sizes: Sizes) -> Self {
        Self {
            set: set.to_owned(),
            sizes,
            runs: Vec::new(),
        }
    }

    /// The metric by which contestants are compared.
    pub(crate) fn metric(&self) -> &'static str {
        if self.sizes.labels { "lrap" } else { "r2" }
    }

    /// The score of a contestant.
    pub(crate) fn score(&self, runs: &Runs) -> Option<f64> {
        runs.first()?.scores.get(self.metric()).copied()
    }

    /// The numbers of threads, increasing.
    pub(crate) fn threads(&self) -> Vec<usize> {
        let mut threads: Vec<usize> = self
            .runs
            .iter()
            .flat_map(|r| r.records.iter().map(|(n, _)| *n))
            .collect();
        threads.sort_unstable();
        threads.dedup();
        threads
    }

    /// Replaces the runs of the same contestants with these numbers of threads; all runs, if the set has changed.
    pub(crate) fn replace(&mut self, sizes: Sizes, threads: &[usize], new: impl Iterator<Item = Runs>) {
        if self.sizes != sizes {
            (self.sizes, self.runs) = (sizes, Vec::new());
        }
        for mut runs in new {
            if let Some(place) = self.runs.iter().position(|old| old.contestant == runs.contestant) {
                let old = self.runs.swap_remove(place).records.into_iter();
                runs.records.extend(old.filter(|(n, _)| !threads.contains(n)));
                runs.records.sort_by_key(|(n, _)| *n);
            }
            self.runs.push(runs);
        }
        self.runs.retain(|runs| place(runs).is_some());
        self.runs.sort_by_key(place);
    }

    pub(crate) fn load(folder: &Path, set: &str) -> anyhow::Result<Option<Self>> {
        let file = file(folder, set);
        if !file.exists() {
            return Ok(None);
        }
        let text = fs::read(&file).with_context(|| file.display().to_string())?;
        let results = serde_json::from_slice(&text).with_context(|| file.display().to_string())?;
        Ok(Some(results))
    }

    /// Loads all sets of a folder, the smallest first.
    pub(crate) fn load_all(folder: &Path) -> anyhow::Result<Vec<Self>> {
        let mut all = Vec::new();
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "json") {
                let set = path
                    .file_stem()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned();
                all.extend(Self::load(folder, &set)?);
            }
        }
        all.sort_by_key(|r| (r.sizes.n_train * r.sizes.n_outputs, r.set.clone()));
        Ok(all)
    }

    pub(crate) fn save(&self, folder: &Path) -> anyhow::Result<()> {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let file = file(folder, &self.set);
        fs::write(&file, serde_json::to_string_pretty(self)? + "\n")
            .with_context(|| file.display().to_string())
    }
}

fn place(runs: &Runs) -> Option<usize> {
    CONTESTANTS.iter().position(|c| c.name == runs.contestant)
}

fn file(folder: &Path, set: &str) -> PathBuf {
    folder.join(format!("{set}.json"))
}

/// The name of this machine's processor.
pub(crate) fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name"));
    let name = name.and_then(|rest| rest.split_once(':'));
    name.map_or("an unknown processor", |(_, name)| name.trim())
        .to_owned()
}
