//! An experiment as its file describes it: data sets, methods, protocol, claims.
//!
//! The files are TOML, one per experiment, in `experiments/descriptions`; `experiments/README.md` explains every
//! field. What is read here is checked as far as it can be without data; errors name file, line and field.

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
    /// What the command line calls it.
    pub(crate) name: String,
    /// One line.
    pub(crate) title: String,
    /// Which paper it is from.
    pub(crate) paper: Option<Spanned<String>>,
    /// Which table, figure or section of the paper.
    pub(crate) table: String,
    /// How long it takes, in words.
    pub(crate) expected: String,
    /// What is run and what is worth knowing, in Markdown paragraphs.
    pub(crate) about: String,
    /// Names of metrics; the first one is the score that tables show. A decomposition has none: it shows errors.
    #[serde(default)]
    pub(crate) metrics: Vec<Spanned<String>>,
    /// Repetitions per cell, unless a data set says otherwise.
    pub(crate) repeats: usize,
    /// The master seed.
    pub(crate) seed: u64,
    /// Whether all repetitions share one split, so that only methods vary.
    #[serde(default)]
    pub(crate) fixed_split: bool,
    /// The option that varies along a curve, if there are curves.
    pub(crate) axis: Option<String>,
    /// Whether the axis is logarithmic.
    #[serde(default)]
    pub(crate) log_axis: bool,
    /// Whether what is drawn against it is.
    #[serde(default)]
    pub(crate) log_values: bool,
    /// Measures to draw against the axis; the score if empty.
    #[serde(default)]
    pub(crate) figures: Vec<Spanned<String>>,
    /// The column that others are compared with by the paper's rule.
    pub(crate) baseline: Option<Spanned<String>>,
    /// Resamples of the test samples for an interval around each metric.
    pub(crate) bootstrap: Option<usize>,
    /// The sizes of a bias and variance decomposition, if that is what the cells compute.
    pub(crate) decompose: Option<Decompose>,
    /// The time that a fit may take with `--time-budget`, times that of one step of gbmort with stumps and the square
    /// loss.
    pub(crate) time_budget: Option<u32>,
    /// What is done to the data before it is split, and with what is known of the training part.
    #[serde(default)]
    pub(crate) preprocess: Preprocess,
    /// What `--quick` changes.
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
    /// What the paper says, and how to check it.
    #[serde(default, rename = "claim")]
    pub(crate) claims: Vec<ClaimText>,
}

/// Reductions for a quick look.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Quick {
    /// Repetitions per cell.
    pub(crate) repeats: Option<usize>,
    /// Options that are numbers, for methods that give larger ones and do not vary them.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, usize>,
    /// Trials of every search.
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
    /// The paper it is from.
    pub(crate) fn paper(&self) -> Option<&'static Paper> {
        Published::get().papers.get(self.paper.as_ref()?.get_ref())
    }

    /// What the axis is called.
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

    /// Whether a measure is one of the metrics, and not a cost.
    pub(crate) fn is_metric(&self, measure: &str) -> bool {
        measure == self.score() || self.metrics.iter().any(|metric| metric.get_ref() == measure)
    }

    /// Whether a larger value of a measure is a better one. All that is not a metric is an error or a cost.
    pub(crate) fn higher_is_better(&self, measure: &str) -> bool {
        measure
            .parse::<Metric>()
            .is_ok_and(|metric| metric.higher_is_better())
    }
}
