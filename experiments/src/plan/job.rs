//! A cell: one data set, one method, one repetition, and the work to do.

use crate::describe::{Decompose, FriedmanText, MethodJob, MultiLabelText, Preprocess, SplitText};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Everything that the result of a cell depends on. Its hash is the cell's key, so a changed description, data file or
/// version invalidates exactly the affected cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) version: String,
    pub(crate) source: Source,
    pub(crate) train: usize,
    pub(crate) test: usize,
    /// Seed of the split, or of the learning sets; shared by all methods.
    pub(crate) data_seed: u64,
    /// How the data is split.
    #[serde(default)]
    pub(crate) split: SplitText,
    /// Preprocessing of the data.
    #[serde(default)]
    pub(crate) preprocess: Preprocess,
    pub(crate) method: MethodJob,
    pub(crate) work: Work,
}

/// The source of samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Source {
    Catalogue {
        name: String,
        /// Hash of the hashes of its files.
        sha256: String,
        /// True if nominal features of three or more values become indicators.
        one_hot: bool,
        /// Names of features left out.
        without: Vec<String>,
    },
    MultiLabel {
        set: MultiLabelText,
        seed: u64,
    },
    Friedman {
        problem: FriedmanText,
        seed: u64,
    },
}

/// The work of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Work {
    /// Fits to the training samples and scores on the test samples.
    Score {
        metrics: Vec<String>,
        /// Number of resamples of the test samples for an interval around each metric.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bootstrap: Option<usize>,
    },
    Decompose(Decompose),
}

/// The option for the number of boosting steps.
pub(crate) const STEPS: &str = "iterations";

impl Job {
    /// SHA-256 of the job's JSON, in hexadecimal.
    ///
    /// # Panics
    /// Never: a job is plain data.
    pub(crate) fn key(&self) -> String {
        hash(&serde_json::to_vec(self).expect("a job is plain data"))
    }

    /// The job without its number of steps, if a fit passes through the models with fewer steps, as boosting without
    /// early stopping does. One fit then serves all jobs that differ in nothing else.
    pub(crate) fn but_for_steps(&self) -> Option<Self> {
        let method = &self.method;
        let ends_early = ["validation", "early-stopping", "time-limit"]
            .iter()
            .any(|name| method.options.contains_key(*name));
        let plain = matches!(self.work, Work::Score { bootstrap: None, .. })
            && !ends_early
            && method.search.is_none()
            && method.targets.is_none()
            && method.time_budget.is_none();
        let mut job = self.clone();
        job.method.options.remove(STEPS).filter(|_| plain)?;
        Some(job)
    }
}

/// SHA-256 in hexadecimal.
pub(crate) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut text, byte| {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}
