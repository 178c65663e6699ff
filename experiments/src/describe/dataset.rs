//! The data sets of an experiment.

use rpo::data::generate::FriedmanKind;
use serde::{Deserialize, Serialize};
use toml::Spanned;

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
