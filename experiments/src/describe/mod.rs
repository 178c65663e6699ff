//! The description of an experiment in its file: data sets, methods, protocol, claims.
//!
//! The files are TOML, one per experiment, in `experiments/descriptions`; `experiments/README.md` explains every field.
//! Contents are checked as far as possible without data; errors name file, line and field.

mod check;
mod check_claims;
mod claim;
mod dataset;
mod error;
mod like;
pub(crate) mod measures;
mod method;
mod published;
mod read;
mod values;

pub(crate) use claim::{
    Ahead, ClaimText, Compare, Reaches, Relation, SameVerdicts, Significant, WithinPublished,
};
pub(crate) use dataset::{Absent, DatasetText, FriedmanText, MultiLabelText, Preprocess, SplitText};
pub(crate) use error::DescribeError;
pub(crate) use method::{MethodJob, MethodText, PublishedName, Targets};
#[cfg(test)]
pub(crate) use published::Figure;
pub(crate) use published::{Paper, Published};
pub(crate) use read::{find, list, parse};
pub(crate) use values::Values;

use rpo::metrics::{Metric, Score};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toml::Spanned;

/// An experiment.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Description {
    /// The name on the command line.
    pub(crate) name: String,
    /// A one-line title.
    pub(crate) title: String,
    /// The paper.
    pub(crate) paper: Option<Spanned<String>>,
    /// The table, figure or section of the paper.
    pub(crate) table: String,
    /// The expected time, in words.
    pub(crate) expected: String,
    /// What is run, and remarks for readers, in Markdown paragraphs.
    pub(crate) about: String,
    /// Names of metrics; the first one is the score that tables show. A decomposition has none: it shows errors.
    #[serde(default)]
    pub(crate) metrics: Vec<Spanned<String>>,
    /// Number of repetitions per cell, unless a data set has its own.
    pub(crate) repeats: usize,
    /// The master seed.
    pub(crate) seed: u64,
    /// Uses one split for all repetitions, so that only methods vary.
    #[serde(default)]
    pub(crate) fixed_split: bool,
    /// The option that varies along a curve, if there are curves.
    pub(crate) axis: Option<String>,
    /// True for a logarithmic axis.
    #[serde(default)]
    pub(crate) log_axis: bool,
    /// True for a logarithmic vertical axis.
    #[serde(default)]
    pub(crate) log_values: bool,
    /// Measures to draw against the axis; the score if empty.
    #[serde(default)]
    pub(crate) figures: Vec<Spanned<String>>,
    /// The column with which others are compared by the paper's rule.
    pub(crate) baseline: Option<Spanned<String>>,
    /// Number of resamples of the test samples for an interval around each metric.
    pub(crate) bootstrap: Option<usize>,
    /// The sizes of a bias and variance decomposition, if cells compute one.
    pub(crate) decompose: Option<Decompose>,
    /// Time limit of a fit with `--time-budget`, as a multiple of one step of gbmort with stumps and the square loss.
    pub(crate) time_budget: Option<u32>,
    /// Preprocessing of the data before the split, and with statistics of the training samples.
    #[serde(default)]
    pub(crate) preprocess: Preprocess,
    /// Reductions made by `--quick`.
    #[serde(default)]
    pub(crate) quick: Quick,
    /// Data sets.
    #[serde(default, rename = "dataset")]
    pub(crate) datasets: Vec<DatasetText>,
    /// Data sets of the paper that cannot be run.
    #[serde(default, rename = "absent")]
    pub(crate) absent: Vec<Absent>,
    /// Methods.
    #[serde(rename = "method")]
    pub(crate) methods: Vec<MethodText>,
    /// Statements of the paper, with their checks.
    #[serde(default, rename = "claim")]
    pub(crate) claims: Vec<ClaimText>,
}

/// Reductions for a quick look.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Quick {
    /// Repetitions per cell.
    pub(crate) repeats: Option<usize>,
    /// Numeric options that replace larger values of methods, unless they vary along the axis.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, usize>,
    /// Number of trials of every search.
    pub(crate) trials: Option<usize>,
    /// The data sets to keep.
    pub(crate) datasets: Option<Vec<Spanned<String>>>,
    /// Values along the axis to keep.
    pub(crate) axis: Option<Vec<String>>,
}

/// Sizes of the nested Monte Carlo of a bias and variance decomposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Decompose {
    /// Learning sets L.
    pub(crate) learning_sets: usize,
    /// Draws P of the projections per learning set.
    pub(crate) projections: usize,
    /// Runs A of the tree algorithm per draw.
    pub(crate) runs: usize,
}

impl Description {
    /// The paper of the experiment.
    pub(crate) fn paper(&self) -> Option<&'static Paper> {
        Published::get().papers.get(self.paper.as_ref()?.get_ref())
    }

    /// The label of the axis.
    pub(crate) fn axis_label(&self) -> &str {
        match self.axis.as_deref() {
            None => "",
            Some("components") => "components m",
            Some("max-features") => "features per node k",
            Some("trees") => "trees t",
            Some("iterations") => "boosting steps M",
            Some(name) => name,
        }
    }

    /// The measure that tables show.
    pub(crate) fn score(&self) -> &str {
        self.metrics
            .first()
            .map_or(measures::ERROR, |name| name.get_ref())
    }

    /// Returns true if a measure is a metric rather than a cost.
    pub(crate) fn is_metric(&self, measure: &str) -> bool {
        measure == self.score() || self.metrics.iter().any(|metric| metric.get_ref() == measure)
    }

    /// Returns true if larger values of a measure are better. Every measure that is not a metric is an error or a cost.
    pub(crate) fn higher_is_better(&self, measure: &str) -> bool {
        measure
            .parse::<Metric>()
            .is_ok_and(|metric| metric.higher_is_better())
    }
}
