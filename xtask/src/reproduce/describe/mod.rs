//! An experiment as its file describes it: data sets, methods, protocol, claims.
//!
//! The files are TOML, one per experiment, in `docs/experiments`; `docs/experiments/README.md` explains every
//! field. What is read here is checked as far as it can be without data; errors name file, line and field.

mod check;
mod check_claims;
mod claim;
mod error;
mod like;
mod read;
mod values;

pub(crate) use claim::{
    Ahead, ClaimText, Compare, Reaches, Relation, SameVerdicts, Significant, WithinPublished,
};
pub(crate) use error::DescribeError;
pub(crate) use read::{find, list};
pub(crate) use values::Values;

use crate::reproduce::measures;
use crate::reproduce::published::Paper;
use rpo::data::generate::FriedmanKind;
use rpo::metrics::Metric;
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
    pub(crate) paper: Option<Paper>,
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

/// A data set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct DatasetText {
    /// Its name in the catalogue, or any for a generated one.
    pub(crate) name: Spanned<String>,
    /// Its name in the paper.
    pub(crate) published: Option<String>,
    /// Training samples of a random split.
    pub(crate) train: usize,
    /// Test samples of a random split.
    pub(crate) test: usize,
    /// Whether it is divided at random or as it comes.
    #[serde(default)]
    pub(crate) split: SplitText,
    /// Repetitions, where they differ from the experiment's.
    pub(crate) repeats: Option<usize>,
    /// Whether nominal features of three or more values become indicators.
    #[serde(default)]
    pub(crate) one_hot: bool,
    /// Features to leave out, by name.
    #[serde(default)]
    pub(crate) without: Vec<String>,
    /// What is done to it, instead of what the experiment says.
    pub(crate) preprocess: Option<Preprocess>,
    /// What is worth knowing about it.
    pub(crate) note: Option<String>,
    /// To generate a multi-label set of train + test samples.
    pub(crate) multi_label: Option<MultiLabelText>,
    /// To generate a regression problem.
    pub(crate) friedman: Option<FriedmanText>,
}

/// How a data set is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SplitText {
    /// At random, anew in every repetition.
    #[default]
    Random,
    /// As it comes: into its training and its test part.
    Given,
}

/// What is done to the data. Filters see all samples, as in Daniels and Metaxas (2017, section 4); the rest is fitted
/// to the training part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Preprocess {
    /// Leaves out labels whose samples without and with them, or with and without, are in a larger ratio.
    pub(crate) max_imbalance: Option<f64>,
    /// Leaves out labels that fewer samples have or do not have.
    pub(crate) min_label_count: Option<usize>,
    /// Leaves out nominal features, of sparse sets any, that a smaller share of the samples has.
    pub(crate) min_presence: Option<f64>,
    /// Whether features get mean 0 and deviation 1.
    #[serde(default)]
    pub(crate) standardize: bool,
    /// Whether outputs that are numbers do.
    #[serde(default)]
    pub(crate) standardize_outputs: bool,
}

/// A search of options on a part of the training samples, as `rpo tune` does it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Search {
    /// Options with their values or laws: `NAME=V1,V2` or `NAME=LAW:LOW:HIGH`.
    pub(crate) space: Vec<String>,
    /// Random settings to try; all combinations if not given.
    pub(crate) trials: Option<usize>,
    /// Steps (trees or iterations) that the trials may take together; settings are then drawn at random.
    pub(crate) steps: Option<u64>,
    /// Metric to choose by; the score if not given.
    pub(crate) metric: Option<String>,
    /// Share of the training samples that settings are scored on.
    pub(crate) validation: f64,
    /// Whether the winner is fitted to all training samples in the end.
    #[serde(default)]
    pub(crate) refit: bool,
}

/// Parameters of [`MultiLabelSet`](rpo::data::generate::MultiLabelSet).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct MultiLabelText {
    /// Number of features.
    pub(crate) features: usize,
    /// Number of labels.
    pub(crate) outputs: usize,
    /// Mean number of label draws per sample.
    pub(crate) cardinality: f64,
    /// Exponent of the power law of label frequencies.
    pub(crate) exponent: f64,
    /// Standard deviation of the noise on dense features; sparse features where it is not given.
    pub(crate) dense_noise: Option<f64>,
    /// Sparse features by which a label shows; 6 where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) per_label: Option<usize>,
    /// Mean number of sparse features that tell nothing; 10 where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) noise: Option<f64>,
}

/// Parameters of [`Friedman`](rpo::data::generate::Friedman).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct FriedmanText {
    /// How outputs hang together.
    pub(crate) kind: FriedmanKind,
    /// Number of outputs.
    pub(crate) outputs: usize,
    /// Whether each is there twice, the second time in random order: pure noise.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) permuted: bool,
    /// Number of inputs that no output depends on.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) irrelevant: usize,
    /// Whether the chain starts from an already noisy output.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) base_noise: bool,
}

/// Whether a field need not be written, so that the keys of cells without it stay what they were.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Data sets of the paper that are not run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Absent {
    /// Their names in the paper.
    pub(crate) names: Vec<String>,
    /// Why they are not run.
    pub(crate) why: String,
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

/// A method: a column of a table, or a curve where one of its parameters is a list.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct MethodText {
    /// What claims and the command line call it.
    pub(crate) id: Spanned<String>,
    /// A method before it, whose options and search it takes where it gives none of its own.
    pub(crate) like: Option<Spanned<String>>,
    /// What tables call it; `{}` stands for the value along the axis.
    pub(crate) label: String,
    /// What is fitted, by its name on the command line.
    pub(crate) algorithm: Spanned<String>,
    /// Options by their names on the command line; that of the axis may be a list.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, Spanned<Values>>,
    /// The data sets it is run on; all if not given.
    pub(crate) on: Option<Vec<Spanned<String>>>,
    /// A search of further options on a part of the training samples.
    pub(crate) search: Option<Search>,
    /// What it is fitted to on a data set, where that is not the outputs as they are.
    #[serde(default)]
    pub(crate) targets: BTreeMap<Spanned<String>, Targets>,
    /// Its name in the published figures: one, or one for each value along the axis that has some.
    #[serde(default)]
    pub(crate) published: PublishedName,
}

/// What a method is fitted to that knows how the outputs of a data set hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Targets {
    /// The first output; its prediction is that of all.
    First,
    /// The mean of the outputs; its prediction is that of all.
    Mean,
    /// Every output by itself, with a search of its own.
    Each,
}

/// What the published figures call a method.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(untagged)]
pub(crate) enum PublishedName {
    /// They do not have it.
    #[default]
    None,
    /// A method that is one column.
    One(String),
    /// By value along the axis.
    ByValue(BTreeMap<String, String>),
}

impl PublishedName {
    /// The names.
    #[cfg(test)]
    pub(crate) fn names(&self) -> Vec<&String> {
        match self {
            Self::None => Vec::new(),
            Self::One(name) => vec![name],
            Self::ByValue(names) => names.values().collect(),
        }
    }
}

impl MethodText {
    /// Whether it is run on a data set.
    pub(crate) fn is_on(&self, dataset: &DatasetText) -> bool {
        let name = dataset.name.get_ref();
        let mut named = self.on.iter().flatten();
        self.on.is_none() || named.any(|on| on.get_ref() == name)
    }

    /// What its curve is called: the label without the value along the axis and what binds it.
    pub(crate) fn curve_label(&self) -> String {
        let label = self.label.split("{}").next().unwrap_or_default();
        let label = label.trim_end_matches(|c: char| c == '=' || c.is_whitespace());
        // "Gaussian, m" is about "Gaussian".
        label
            .rsplit_once(',')
            .filter(|_| self.label.contains("{}"))
            .map_or(label, |(name, _)| name)
            .to_owned()
    }
}

impl Description {
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
        measure.parse::<Metric>().is_ok_and(Metric::higher_is_better)
    }
}
