//! The data sets of an experiment.

use rpo::data::generate::FriedmanKind;
use serde::{Deserialize, Serialize};
use toml::Spanned;

/// A data set.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct DatasetText {
    /// Its name in the catalogue; arbitrary for a generated set.
    pub(crate) name: Spanned<String>,
    /// Its name in the paper.
    pub(crate) published: Option<String>,
    /// Number of training samples of a random split.
    pub(crate) train: usize,
    /// Number of test samples of a random split.
    pub(crate) test: usize,
    /// How it is split: at random, or as given.
    #[serde(default)]
    pub(crate) split: SplitText,
    /// Number of repetitions, if different from that of the experiment.
    pub(crate) repeats: Option<usize>,
    /// Encodes nominal features with three or more values as indicators.
    #[serde(default)]
    pub(crate) one_hot: bool,
    /// Names of features to leave out.
    #[serde(default)]
    pub(crate) without: Vec<String>,
    /// Preprocessing, instead of that of the experiment.
    pub(crate) preprocess: Option<Preprocess>,
    /// A remark for readers.
    pub(crate) note: Option<String>,
    /// Parameters to generate a multi-label set of train + test samples.
    pub(crate) multi_label: Option<MultiLabelText>,
    /// Parameters to generate a regression problem.
    pub(crate) friedman: Option<FriedmanText>,
}

/// How a data set is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SplitText {
    /// At random, with a new split in every repetition.
    #[default]
    Random,
    /// As given: into its training and test samples.
    Given,
}

/// Preprocessing of the data. Filters see all samples, as in Daniels and Metaxas (2017, section 4); the other steps are
/// fitted to the training samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Preprocess {
    /// Leaves out labels with a larger ratio between the samples with and without them, in either direction.
    pub(crate) max_imbalance: Option<f64>,
    /// Leaves out labels that fewer samples have, or fewer do not have.
    pub(crate) min_label_count: Option<usize>,
    /// Leaves out nominal features (in sparse sets any features) present in a smaller fraction of the samples.
    pub(crate) min_presence: Option<f64>,
    /// Scales features to mean 0 and deviation 1.
    #[serde(default)]
    pub(crate) standardize: bool,
    /// Scales numeric outputs as well.
    #[serde(default)]
    pub(crate) standardize_outputs: bool,
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
    /// Standard deviation of the noise on dense features; if not given, features are sparse.
    pub(crate) dense_noise: Option<f64>,
    /// Number of sparse features that indicate a label; 6 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) per_label: Option<usize>,
    /// Mean number of uninformative sparse features; 10 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) noise: Option<f64>,
}

/// Parameters of [`Friedman`](rpo::data::generate::Friedman).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct FriedmanText {
    /// The dependence between outputs.
    pub(crate) kind: FriedmanKind,
    /// Number of outputs.
    pub(crate) outputs: usize,
    /// Adds a copy of each output in random order: pure noise.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) permuted: bool,
    /// Number of inputs without effect on any output.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) irrelevant: usize,
    /// Starts the chain from an output that is already noisy.
    #[serde(default, skip_serializing_if = "is_default")]
    pub(crate) base_noise: bool,
}

/// Returns true if a field is omitted, so that the keys of cells without the field do not change.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Data sets of the paper that are not run.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Absent {
    /// Their names in the paper.
    pub(crate) names: Vec<String>,
    /// The reason why they are not run.
    pub(crate) why: String,
}
