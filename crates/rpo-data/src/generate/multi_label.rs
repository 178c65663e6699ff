//! The parameters of multi-label sets of any shape.

use super::{GenerateError, check_memory, dense_bytes};
use rpo_core::ParameterError;
use serde::{Deserialize, Serialize};

/// The dependence of the features of a [`MultiLabelSet`] on its labels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureStyle {
    /// Like words of a text, CSR. Every label of a sample shows `per_label` features, half of them its own and half
    /// shared by the labels of its topic, each with probability 0.9 and a value uniform on [0.5, 1.5). In addition
    /// there are `noise` features on average, whose frequencies fall like 1 / rank, with values of the same
    /// distribution.
    Sparse {
        /// Number of features per label.
        per_label: usize,
        /// Mean number of features per sample that do not depend on labels.
        noise: f64,
    },
    /// Dense: the sum, over the labels of a sample, of the vectors of the labels and of their topics, both with random
    /// signs and length 1 per feature divided by the square root of 2, plus normal noise.
    Dense {
        /// Standard deviation of the noise.
        noise: f64,
    },
}

/// A multi-label set with power-law label frequencies, correlated labels and features from which labels can be learnt.
///
/// Labels belong to topics at random. A sample draws its topics (1 + Poisson, by the sum of their labels' weights), its
/// number of labels (1 + Poisson) and each label from one of its topics. A draw thus yields label j, from 0, with
/// probability proportional to (j + 1)^-exponent, and labels of one topic occur together. A label drawn twice counts
/// once, so that the most frequent labels are slightly rarer, and the mean number of labels slightly smaller, than
/// requested.
///
/// Takes O(stored values) time for up to a few hundred labels per sample, and less than twice the memory of the set
/// itself; sparse features are never stored dense.
///
/// ```
/// use rpo_data::Seed;
/// use rpo_data::generate::{Generator, MultiLabelSet};
/// let set = MultiLabelSet { cardinality: 4.0, ..MultiLabelSet::new(2000, 500, 100_000) };
/// let data = set.generate(Seed::new(1))?;
/// assert_eq!((data.n_samples(), data.n_features(), data.n_outputs()), (2000, 500, 100_000));
/// assert!((3.0..4.0).contains(&data.label_statistics().cardinality));
/// # Ok::<(), rpo_data::generate::GenerateError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MultiLabelSet {
    /// Number of samples.
    pub n_samples: usize,
    /// Number of features.
    pub n_features: usize,
    /// Number of labels.
    pub n_outputs: usize,
    /// Mean number of label draws per sample, from 1 to the number of labels.
    pub cardinality: f64,
    /// Exponent of the power law of label frequencies, from 0 (all equal) to 4.
    pub exponent: f64,
    /// Number of topics, from 1 (labels without correlation) to the number of labels. The default is one per 50 labels,
    /// but at least the mean number per sample.
    pub n_topics: Option<usize>,
    /// Mean number of topics per sample, from 1 to the number of topics.
    pub topics_per_sample: f64,
    /// The features.
    pub features: FeatureStyle,
}

impl MultiLabelSet {
    /// Creates a set of this shape with 3 labels per sample (or as many as there are), exponent 1, 1.5 topics per
    /// sample (or 1 for a single label), and sparse features, 6 per label and 10 of noise.
    pub fn new(n_samples: usize, n_features: usize, n_outputs: usize) -> Self {
        Self {
            n_samples,
            n_features,
            n_outputs,
            cardinality: 3.0_f64.min(n_outputs as f64).max(1.0),
            exponent: 1.0,
            n_topics: None,
            topics_per_sample: 1.5_f64.min(n_outputs as f64).max(1.0),
            features: FeatureStyle::Sparse {
                per_label: 6,
                noise: 10.0,
            },
        }
    }

    pub(super) fn check(&self) -> Result<(), GenerateError> {
        let count = |name, n: usize, most: usize, expected| {
            ParameterError::unless((1..=most).contains(&n), name, n, expected)
        };
        let range = |name, v: f64, least: f64, most: f64, expected| {
            ParameterError::unless((least..=most).contains(&v), name, v, expected)
        };
        let indices = u32::MAX as usize;
        count("n_features", self.n_features, indices, "from 1 to 2^32 - 1")?;
        count("n_outputs", self.n_outputs, indices, "from 1 to 2^32 - 1")?;
        let (labels, topics) = (self.n_outputs, self.topics());
        let cardinality = self.cardinality;
        range(
            "cardinality",
            cardinality,
            1.0,
            labels as f64,
            "from 1 to the number of labels",
        )?;
        range("exponent", self.exponent, 0.0, 4.0, "from 0 to 4")?;
        count("n_topics", topics, labels, "from 1 to the number of labels")?;
        let per_sample = self.topics_per_sample;
        range(
            "topics_per_sample",
            per_sample,
            1.0,
            topics as f64,
            "from 1 to the number of topics",
        )?;
        let most_noise = |noise| range("noise", noise, 0.0, 1e6, "from 0 to 1e6");
        // A stored entry takes a column and a value; a label or feature takes its weights and tables.
        let entry = (size_of::<u32>() + size_of::<f32>()) as f64;
        let table = 12.0 * entry;
        let rows = self.n_samples as f64;
        let label_bytes = rows * cardinality * entry + labels as f64 * table;
        check_memory(match self.features {
            FeatureStyle::Sparse { per_label, noise } => {
                count("per_label", per_label, 1 << 16, "from 1 to 65536")?;
                most_noise(noise)?;
                let stored = rows * (cardinality * per_label as f64 + noise);
                label_bytes + stored * entry + self.n_features as f64 * table
            }
            FeatureStyle::Dense { noise } => {
                most_noise(noise)?;
                label_bytes + dense_bytes(self.n_samples, self.n_features)
            }
        })
    }

    pub(super) fn topics(&self) -> usize {
        self.n_topics.unwrap_or_else(|| {
            let fewest = (self.topics_per_sample.ceil() as usize).min(self.n_outputs);
            self.n_outputs.div_ceil(50).max(fewest)
        })
    }
}
