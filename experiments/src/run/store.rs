//! Stores finished cells on disk: one JSON object per line, appended when a cell is done.

use crate::plan::job::Job;
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// The measurements of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Values by name of metric or measure; undefined values are omitted.
    pub(crate) values: BTreeMap<String, f64>,
}

/// A finished cell, as stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) key: String,
    /// The job: parameters, seeds, version, hash of the data.
    pub(crate) job: Job,
    /// The measurements.
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}

/// The finished cells of an experiment, by the key of their job. Cells of other versions, descriptions or data stay in
/// the file unused, and are used again if the description is restored.
pub(crate) struct Store {
    path: PathBuf,
    file: File,
    outcomes: BTreeMap<String, Outcome>,
    n_unreadable: usize,
}

impl Store {
    /// Opens a store, or creates an empty one. Lines that are not valid records, such as one that a killed run left
    /// incomplete, are ignored and counted.
    ///
    /// # Errors
    /// If the file cannot be read or written.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let context = || format!("{}", path.display());
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .with_context(context)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(context)?;
        if bytes.last().is_some_and(|&last| last != b'\n') {
            file.write_all(b"\n").with_context(context)?;
        }
        let (mut outcomes, mut n_unreadable) = (BTreeMap::new(), 0);
        for line in bytes.split(|&b| b == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice::<Record>(line) {
                // A record whose key does not match its job is not trusted.
                Ok(record) if record.key == record.job.key() => {
                    outcomes.insert(record.key, record.outcome);
                }
                _ => n_unreadable += 1,
            }
        }
        file.seek(SeekFrom::End(0)).with_context(context)?;
        Ok(Self {
            path: path.to_owned(),
            file,
            outcomes,
            n_unreadable,
        })
    }

    /// The measurements of a job, if it is finished.
    pub(crate) fn get(&self, key: &str) -> Option<&Outcome> {
        self.outcomes.get(key)
    }

    /// Number of lines that are not valid records.
    pub(crate) fn n_unreadable(&self) -> usize {
        self.n_unreadable
    }

    /// Stores a finished cell; the record has been passed to the system when this returns.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn append(&mut self, record: Record) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(&record)?;
        line.push(b'\n');
        // A single write, so that two runs in one folder do not mix their lines.
        self.file
            .write_all(&line)
            .with_context(|| format!("{}", self.path.display()))?;
        self.outcomes.insert(record.key, record.outcome);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::MethodJob;
    use crate::describe::{MultiLabelText, Preprocess, SplitText};
    use crate::plan::job::{Job, Source, Work};

    pub(crate) fn job(trees: usize) -> Job {
        let set = MultiLabelText {
            features: 5,
            outputs: 3,
            cardinality: 1.5,
            exponent: 0.0,
            dense_noise: None,
            per_label: None,
            noise: None,
        };
        Job {
            version: "1".to_owned(),
            source: Source::MultiLabel { set, seed: u64::MAX },
            train: 10,
            test: 5,
            data_seed: 1,
            split: SplitText::Random,
            preprocess: Preprocess::default(),
            method: MethodJob {
                algorithm: "random-forest".to_owned(),
                options: BTreeMap::from([("trees".to_owned(), trees.to_string())]),
                search: None,
                targets: None,
                time_budget: None,
                seed: 3,
            },
            work: Work::Score {
                metrics: vec!["lrap".to_owned()],
                bootstrap: None,
            },
        }
    }

    fn record(trees: usize) -> Record {
        let values = BTreeMap::from([("lrap".to_owned(), 0.1 + 0.2), ("nodes".to_owned(), 1e300)]);
        Record {
            key: job(trees).key(),
            job: job(trees),
            outcome: Outcome { values },
        }
    }

    #[test]
    fn what_is_stored_is_found_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.jsonl");
        let mut store = Store::open(&path).unwrap();
        assert!(store.get(&job(1).key()).is_none());
        store.append(record(1)).unwrap();
        let store = Store::open(&path).unwrap();
        assert_eq!(store.get(&job(1).key()), Some(&record(1).outcome));
        assert!(store.get(&job(2).key()).is_none());
        assert_eq!(store.n_unreadable(), 0);
    }

    #[test]
    fn a_line_cut_short_costs_one_cell() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.jsonl");
        let mut store = Store::open(&path).unwrap();
        store.append(record(1)).unwrap();
        store.append(record(2)).unwrap();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        let mut store = Store::open(&path).unwrap();
        assert!(store.get(&job(1).key()).is_some() && store.get(&job(2).key()).is_none());
        assert_eq!(store.n_unreadable(), 1);
        store.append(record(2)).unwrap();
        let store = Store::open(&path).unwrap();
        assert_eq!(store.get(&job(2).key()), Some(&record(2).outcome));
    }

    #[test]
    fn a_record_under_a_wrong_key_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cells.jsonl");
        let forged = Record {
            key: job(2).key(),
            ..record(1)
        };
        Store::open(&path).unwrap().append(forged).unwrap();
        let store = Store::open(&path).unwrap();
        assert!(store.get(&job(2).key()).is_none());
        assert_eq!(store.n_unreadable(), 1);
    }

    #[test]
    fn anything_a_result_depends_on_changes_the_key() {
        let key = job(1).key();
        assert_eq!(key.len(), 64);
        let changed = [
            Job {
                version: "2".to_owned(),
                ..job(1)
            },
            Job {
                data_seed: 2,
                ..job(1)
            },
            Job { train: 11, ..job(1) },
            Job {
                work: Work::Score {
                    metrics: vec!["lrap".to_owned()],
                    bootstrap: Some(9),
                },
                ..job(1)
            },
            Job {
                work: Work::Score {
                    metrics: vec!["p@1".to_owned()],
                    bootstrap: None,
                },
                ..job(1)
            },
            job(2),
        ];
        assert!(changed.iter().all(|job| job.key() != key));
    }
}
