//! A cell: one data set, one method, one repetition; what is computed for it and what is kept of it.

use crate::reproduce::describe::{
    Algorithm, ComponentRule, Decompose, Features, FriedmanText, MultiLabelText, Scope,
};
use rpo::ensemble::{EnsembleError, ForestParams, OutputProjection, ProjectionScope};
use rpo::projections::{Components, Projection, ProjectionKind};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Everything that a cell's result depends on. Its hash is the cell's key, so that a changed description, data
/// file or version invalidates exactly the cells that it changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Job {
    /// Version of the workspace.
    pub(crate) version: String,
    /// The data.
    pub(crate) source: Source,
    /// Training samples.
    pub(crate) train: usize,
    /// Test samples.
    pub(crate) test: usize,
    /// Seed of the split, or of the learning sets; shared by all methods.
    pub(crate) data_seed: u64,
    /// The method.
    pub(crate) forest: Forest,
    /// What to compute.
    pub(crate) work: Work,
}

/// Where samples come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Source {
    /// A set of the catalogue.
    Catalogue {
        /// Its name.
        name: String,
        /// Hash of its files' hashes.
        sha256: String,
        /// Whether nominal features of three or more values become indicators.
        one_hot: bool,
        /// Names of features left out.
        without: Vec<String>,
    },
    /// A generated multi-label set.
    MultiLabel {
        /// Its parameters.
        set: MultiLabelText,
        /// Its seed.
        seed: u64,
    },
    /// A generated regression problem.
    Friedman {
        /// Its parameters.
        problem: FriedmanText,
        /// Its seed.
        seed: u64,
    },
}

/// A method with one value for each parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Forest {
    /// The ensemble.
    pub(crate) algorithm: Algorithm,
    /// Number of trees.
    pub(crate) trees: usize,
    /// Features per node.
    pub(crate) max_features: Features,
    /// The projection, if there is one.
    pub(crate) projection: Option<ProjectionJob>,
    /// The master seed.
    pub(crate) seed: u64,
}

/// A projection of the outputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProjectionJob {
    /// The family.
    pub(crate) family: ProjectionKind,
    /// Number of components.
    pub(crate) components: ComponentRule,
    /// Whether trees share it.
    pub(crate) scope: Scope,
}

/// What to compute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Work {
    /// Fit on the training part, score on the test part.
    Score {
        /// Names of metrics.
        metrics: Vec<String>,
    },
    /// Take the error apart.
    Decompose(Decompose),
}

/// What a cell measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Values by the name of metric or measure. One that is undefined is absent.
    pub(crate) values: BTreeMap<String, f64>,
}

/// A finished cell, as stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Key of the job.
    pub(crate) key: String,
    /// The job: parameters, seeds, version, hash of the data.
    pub(crate) job: Job,
    /// What it measured.
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
}

impl Job {
    /// SHA-256 of the job's JSON, in hexadecimal.
    ///
    /// # Panics
    /// Never: a job is plain data.
    pub(crate) fn key(&self) -> String {
        hash(&serde_json::to_vec(self).expect("a job is plain data"))
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

impl Forest {
    /// The parameters of the library, with a family that may wrap the one named.
    pub(crate) fn params(
        &self,
        n_outputs: usize,
        wrap: impl FnOnce(ProjectionKind) -> Arc<dyn Projection>,
    ) -> Result<ForestParams, EnsembleError> {
        let base = match self.algorithm {
            Algorithm::RandomForest => ForestParams::random_forest(),
            Algorithm::ExtraTrees => ForestParams::extra_trees(),
            Algorithm::Cart => ForestParams::cart(),
        };
        let projection = match &self.projection {
            None => None,
            Some(projection) => Some(OutputProjection {
                family: wrap(projection.family),
                components: Components::Exact(projection.components.resolve(n_outputs)?),
                scope: match projection.scope {
                    Scope::Tree => ProjectionScope::Tree,
                    Scope::Shared => ProjectionScope::Shared,
                },
            }),
        };
        Ok(base
            .n_trees(self.trees)
            .max_features(self.max_features.0)
            .projection(projection)
            .seed(self.seed))
    }
}
