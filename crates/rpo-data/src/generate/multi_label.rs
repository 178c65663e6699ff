//! Multi-label sets of any size.

use super::topics::{Model, Scratch};
use super::{GenerateError, check_count, check_dense, check_range};
use crate::builder::MatrixBuilder;
use crate::dataset::{Dataset, Task};
use rayon::prelude::*;
use rpo_core::Seed;
use serde::{Deserialize, Serialize};

/// What the features of a [`MultiLabelSet`] are like.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureStyle {
    /// Like words of a text, CSR. Every label of a sample shows `per_label` features, half of them its own, half
    /// shared by the labels of its topic, each with probability 0.9 and a value uniform on [0.5, 1.5). On top
    /// come `noise` features on average, of frequencies that fall like 1 / rank, with values of the same law.
    Sparse {
        /// Features by which a label shows.
        per_label: usize,
        /// Mean number of features that tell nothing.
        noise: f64,
    },
    /// Dense: the sum, over the labels of a sample, of a vector of their topic and one of their own, both of
    /// random signs and length 1 per feature over the square root of 2, plus normal noise.
    Dense {
        /// Standard deviation of the noise.
        noise: f64,
    },
}

/// A multi-label set with power-law label frequencies, correlated labels and features that tell the labels.
///
/// Labels belong to topics at random. A sample draws its topics (1 + Poisson, by the sum of their labels'
/// weights), the number of its labels (1 + Poisson) and each label from one of its topics. A draw so yields label
/// j, from 0, with probability proportional to (j + 1)^-exponent, and labels of one topic occur together. A label
/// drawn twice counts once, which makes the most frequent labels a little rarer and the mean number of labels a
/// little smaller than asked for.
///
/// Time is O(stored values) for up to some hundred labels per sample, memory less than twice the set itself;
/// nothing dense is held for sparse features.
///
/// ```
/// use rpo_core::Seed;
/// use rpo_data::generate::MultiLabelSet;
/// let data = MultiLabelSet::new(2000, 500, 100_000).cardinality(4.0).generate(Seed::new(1))?;
/// assert_eq!((data.n_samples(), data.n_features(), data.n_outputs()), (2000, 500, 100_000));
/// assert!((3.0..4.0).contains(&data.label_statistics().cardinality()));
/// # Ok::<(), rpo_data::generate::GenerateError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MultiLabelSet {
    n_samples: usize,
    pub(super) n_features: usize,
    pub(super) n_outputs: usize,
    pub(super) cardinality: f64,
    pub(super) exponent: f64,
    n_topics: Option<usize>,
    pub(super) topics_per_sample: f64,
    pub(super) features: FeatureStyle,
}

impl MultiLabelSet {
    /// So many samples, features and labels; 3 labels per sample (or as many as there are), exponent 1, a topic for
    /// every 50 labels, 1.5 topics per sample, sparse features with 6 per label and 10 of noise.
    pub fn new(n_samples: usize, n_features: usize, n_outputs: usize) -> Self {
        Self {
            n_samples,
            n_features,
            n_outputs,
            cardinality: 3.0_f64.min(n_outputs as f64).max(1.0),
            exponent: 1.0,
            n_topics: None,
            topics_per_sample: 1.5,
            features: FeatureStyle::Sparse {
                per_label: 6,
                noise: 10.0,
            },
        }
    }

    /// Mean number of label draws per sample, from 1 on.
    #[must_use]
    pub fn cardinality(mut self, mean: f64) -> Self {
        self.cardinality = mean;
        self
    }

    /// Exponent of the power law of label frequencies, 0 (all alike) to 4.
    #[must_use]
    pub fn exponent(mut self, exponent: f64) -> Self {
        self.exponent = exponent;
        self
    }

    /// Number of topics, 1 (labels without correlation) to the number of labels.
    #[must_use]
    pub fn n_topics(mut self, n: usize) -> Self {
        self.n_topics = Some(n);
        self
    }

    /// Mean number of topics per sample, from 1 on.
    #[must_use]
    pub fn topics_per_sample(mut self, mean: f64) -> Self {
        self.topics_per_sample = mean;
        self
    }

    /// What the features are like.
    #[must_use]
    pub fn features(mut self, style: FeatureStyle) -> Self {
        self.features = style;
        self
    }

    /// Draws a set.
    ///
    /// # Errors
    /// [`GenerateError`] for a parameter out of range, or dense features of more than 4 GiB.
    pub fn generate(&self, seed: Seed) -> Result<Dataset, GenerateError> {
        self.check()?;
        let model = Model::new(self, seed.purpose("multi-label model"));
        let rows = seed.purpose("multi-label rows");
        let drawn: Vec<(MatrixBuilder, MatrixBuilder)> = (0..self.n_samples.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let (mut features, mut labels) = self.builders();
                let mut sample = Scratch::default();
                for row in block * BLOCK..((block + 1) * BLOCK).min(self.n_samples) {
                    let mut rng = rows.child(row as u64).stream();
                    model.draw_labels(&mut sample, &mut rng);
                    sample.labels.iter().for_each(|&label| labels.push(label, 1.0));
                    labels.end_row();
                    model.draw_features(&mut sample, &mut rng, &mut features);
                    features.end_row();
                }
                (features, labels)
            })
            .collect();
        let (mut features, mut labels) = self.builders();
        let (drawn_features, drawn_labels) = drawn.into_iter().unzip();
        features.append(drawn_features);
        labels.append(drawn_labels);
        let data = Dataset::new(features.finish(), labels.finish(), Task::MultiLabel)?;
        Ok(data.named("generated"))
    }

    fn builders(&self) -> (MatrixBuilder, MatrixBuilder) {
        let features = match self.features {
            FeatureStyle::Sparse { .. } => MatrixBuilder::sparse(self.n_features),
            FeatureStyle::Dense { .. } => MatrixBuilder::dense(self.n_features),
        };
        (features, MatrixBuilder::sparse(self.n_outputs))
    }

    fn check(&self) -> Result<(), GenerateError> {
        let most = u32::MAX as usize;
        check_count("n_features", self.n_features, 1, most)?;
        check_count("n_outputs", self.n_outputs, 1, most)?;
        check_range("cardinality", self.cardinality, 1.0, self.n_outputs as f64)?;
        check_range("exponent", self.exponent, 0.0, 4.0)?;
        check_count("n_topics", self.topics(), 1, self.n_outputs)?;
        check_range(
            "topics_per_sample",
            self.topics_per_sample,
            1.0,
            self.topics() as f64,
        )?;
        match self.features {
            FeatureStyle::Sparse { per_label, noise } => {
                check_count("per_label", per_label, 1, 1 << 16)?;
                check_range("noise", noise, 0.0, 1e6)
            }
            FeatureStyle::Dense { noise } => {
                check_range("noise", noise, 0.0, 1e6)?;
                check_dense(self.n_samples, self.n_features)
            }
        }
    }

    /// One for every 50 labels, but as many as a sample has on average.
    pub(super) fn topics(&self) -> usize {
        self.n_topics.unwrap_or_else(|| {
            let fewest = (self.topics_per_sample.ceil() as usize).min(self.n_outputs);
            self.n_outputs.div_ceil(50).max(fewest)
        })
    }
}

/// Rows drawn by one task.
const BLOCK: usize = 2048;

#[cfg(test)]
mod tests {
    use super::*;
    use rpo_core::Matrix;

    #[test]
    fn label_frequencies_fall_as_asked() {
        // One label per sample: no draw is lost to repetition, so counts are binomial.
        let n = 50_000;
        let data = MultiLabelSet::new(n, 50, 20)
            .cardinality(1.0)
            .exponent(1.0)
            .generate(Seed::new(5))
            .unwrap();
        let harmonic: f64 = (1..=20).map(|j| 1.0 / f64::from(j)).sum();
        for (j, &count) in data.label_statistics().counts.iter().enumerate() {
            let share = 1.0 / (j as f64 + 1.0) / harmonic;
            let (expected, error) = (share * n as f64, (share * (1.0 - share) * n as f64).sqrt());
            assert!(
                (count as f64 - expected).abs() < 4.0 * error,
                "label {j}: {count}, expected {expected}"
            );
        }
    }

    #[test]
    fn labels_of_a_topic_occur_together() {
        let params = MultiLabelSet::new(20_000, 50, 40)
            .exponent(0.0)
            .n_topics(4)
            .topics_per_sample(1.0);
        let seed = Seed::new(2);
        let data = params.generate(seed).unwrap();
        let model = Model::new(&params, seed.purpose("multi-label model"));
        for row in 0..data.n_samples() {
            let mut topics = Vec::new();
            data.outputs()
                .view()
                .for_each_in_row(row, |label, _| topics.push(model.topic_of[label as usize]));
            topics.dedup();
            assert_eq!(topics.len(), 1);
        }
        let cardinality = data.label_statistics().cardinality();
        assert!((2.9..3.1).contains(&cardinality), "{cardinality}");
    }

    /// Precision at 1 on fresh samples of scoring labels by the correlation of features with them, against always
    /// predicting the most frequent label.
    fn precision_at_1(data: &Dataset) -> (f64, f64) {
        let (n, p, d) = (data.n_samples() / 2, data.n_features(), data.n_outputs());
        let (x, y) = (data.features().view(), data.outputs().view());
        let (mut mean, mut of_label, mut counts) = (vec![0.0; p], vec![0.0; p * d], vec![0.0; d]);
        let mut row_of = vec![0.0; p];
        for row in 0..n {
            x.copy_row(row, &mut row_of);
            mean.iter_mut().zip(&row_of).for_each(|(m, v)| *m += v / n as f32);
            y.for_each_in_row(row, |label, _| {
                let label = label as usize;
                counts[label] += 1.0_f32;
                of_label[label * p..][..p]
                    .iter_mut()
                    .zip(&row_of)
                    .for_each(|(m, v)| *m += v);
            });
        }
        let most = (0..d).max_by(|&a, &b| counts[a].total_cmp(&counts[b])).unwrap();
        let (mut hits, mut hits_of_most) = (0, 0);
        for row in n..2 * n {
            x.copy_row(row, &mut row_of);
            let score = |label: usize| {
                let of_label = &of_label[label * p..][..p];
                let terms = of_label
                    .iter()
                    .zip(&mean)
                    .map(|(s, m)| s / counts[label].max(1.0) - m);
                let (dot, norm) = terms
                    .zip(&row_of)
                    .fold((0.0, 1e-9), |(dot, norm), (t, v)| (dot + t * v, norm + t * t));
                dot / norm.sqrt()
            };
            let best = (0..d).max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap();
            y.for_each_in_row(row, |label, _| {
                hits += usize::from(label as usize == best);
                hits_of_most += usize::from(label as usize == most);
            });
        }
        (hits as f64 / n as f64, hits_of_most as f64 / n as f64)
    }

    #[test]
    fn features_tell_the_labels() {
        for style in [
            FeatureStyle::Sparse {
                per_label: 6,
                noise: 10.0,
            },
            FeatureStyle::Dense { noise: 1.0 },
        ] {
            let params = MultiLabelSet::new(8000, 200, 50).exponent(0.5).features(style);
            let (learned, constant) = precision_at_1(&params.generate(Seed::new(1)).unwrap());
            assert!(learned > 0.8 && constant < 0.3, "{style:?}: {learned} {constant}");
        }
    }

    #[test]
    fn any_number_of_threads_draws_the_same() {
        let params = MultiLabelSet::new(BLOCK * 2 + 7, 300, 1000);
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| params.generate(Seed::new(9)).unwrap())
        };
        let one = on(1);
        assert_eq!(one, on(5));
        assert_ne!(one, params.generate(Seed::new(10)).unwrap());
        let short = MultiLabelSet::new(10, 300, 1000).generate(Seed::new(9)).unwrap();
        assert_eq!(short, one.select_rows(&(0..10).collect::<Vec<_>>()).unwrap());
        let Matrix::Sparse(x) = one.features() else {
            panic!("sparse")
        };
        let per_row = x.nnz() as f64 / x.rows() as f64;
        // 8.1 of the labels' own, 2.7 for each of about 1.4 topics, 10 of noise less those that coincide.
        assert!((18.0..22.0).contains(&per_row), "{per_row}");
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let set = || MultiLabelSet::new(10, 5, 4);
        let check = |params: MultiLabelSet, parameter: &str| {
            let e = params.generate(Seed::new(0)).unwrap_err();
            assert!(e.to_string().starts_with(parameter), "{e}");
        };
        check(MultiLabelSet::new(1, 0, 4), "n_features");
        check(MultiLabelSet::new(1, 5, 0), "n_outputs");
        check(set().cardinality(0.9), "cardinality");
        check(set().cardinality(f64::NAN), "cardinality");
        check(set().cardinality(4.1), "cardinality");
        check(set().exponent(-0.1), "exponent");
        check(set().n_topics(5), "n_topics");
        check(set().topics_per_sample(0.5), "topics_per_sample");
        check(
            set().features(FeatureStyle::Sparse {
                per_label: 0,
                noise: 1.0,
            }),
            "per_label",
        );
        check(
            set().features(FeatureStyle::Dense { noise: f64::INFINITY }),
            "noise",
        );
        let large = MultiLabelSet::new(1 << 20, 1 << 20, 4).features(FeatureStyle::Dense { noise: 1.0 });
        let (rows, columns) = (1 << 20, 1 << 20);
        assert_eq!(
            large.generate(Seed::new(0)),
            Err(GenerateError::TooLarge { rows, columns })
        );
        assert_eq!(
            MultiLabelSet::new(0, 5, 1)
                .cardinality(1.0)
                .topics_per_sample(1.0)
                .generate(Seed::new(0))
                .unwrap()
                .n_samples(),
            0
        );
    }
}
