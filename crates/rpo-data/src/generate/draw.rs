//! Draws multi-label sets, with blocks of samples in parallel.

use super::multi_label::{FeatureStyle, MultiLabelSet};
use super::topics::{Model, Scratch};
use super::{GenerateError, Generator};
use crate::builder::MatrixBuilder;
use crate::dataset::{Dataset, Task};
use rayon::prelude::*;
use rpo_core::Seed;

/// Number of rows drawn by one task.
const BLOCK: usize = 2048;

impl Generator for MultiLabelSet {
    fn generate(&self, seed: Seed) -> Result<Dataset, GenerateError> {
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
        let mut data = Dataset::new(features.finish(), labels.finish(), Task::MultiLabel)?;
        "generated".clone_into(&mut data.name);
        Ok(data)
    }
}

impl MultiLabelSet {
    fn builders(&self) -> (MatrixBuilder, MatrixBuilder) {
        let features = match self.features {
            FeatureStyle::Sparse { .. } => MatrixBuilder::sparse(self.n_features),
            FeatureStyle::Dense { .. } => MatrixBuilder::dense(self.n_features),
        };
        (features, MatrixBuilder::sparse(self.n_outputs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rpo_core::Matrix;

    #[test]
    fn label_frequencies_fall_as_asked() {
        // One label per sample: no draw is lost to repetition, so that counts are binomial.
        let n = 50_000;
        let set = MultiLabelSet {
            cardinality: 1.0,
            ..MultiLabelSet::new(n, 50, 20)
        };
        let data = set.generate(Seed::new(5)).unwrap();
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
        let params = MultiLabelSet {
            exponent: 0.0,
            n_topics: Some(4),
            topics_per_sample: 1.0,
            ..MultiLabelSet::new(20_000, 50, 40)
        };
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
        let cardinality = data.label_statistics().cardinality;
        assert!((2.9..3.1).contains(&cardinality), "{cardinality}");
    }

    /// Returns the precision at 1 on new samples, of scoring labels by the correlation of features with them and of
    /// always predicting the most frequent label.
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
        for features in [
            FeatureStyle::Sparse {
                per_label: 6,
                noise: 10.0,
            },
            FeatureStyle::Dense { noise: 1.0 },
        ] {
            let params = MultiLabelSet {
                exponent: 0.5,
                features,
                ..MultiLabelSet::new(8000, 200, 50)
            };
            let (learned, constant) = precision_at_1(&params.generate(Seed::new(1)).unwrap());
            assert!(
                learned > 0.8 && constant < 0.3,
                "{features:?}: {learned} {constant}"
            );
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
        assert_eq!(short, one.select_samples(&(0..10).collect::<Vec<_>>()).unwrap());
        let Matrix::Sparse(x) = one.features() else {
            panic!("sparse")
        };
        let per_row = x.nnz() as f64 / x.rows() as f64;
        // 8.1 features of the labels, 2.7 for each of about 1.4 topics, and 10 of noise, minus those that coincide.
        assert!((18.0..22.0).contains(&per_row), "{per_row}");
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let set = || MultiLabelSet::new(10, 5, 4);
        let check = |params: MultiLabelSet, start: &str| {
            let e = params.generate(Seed::new(0)).unwrap_err();
            assert!(e.to_string().starts_with(start), "{e}");
        };
        check(MultiLabelSet::new(1, 0, 4), "`n_features`");
        check(MultiLabelSet::new(1, 5, 0), "`n_outputs`");
        for cardinality in [0.9, f64::NAN, 4.1] {
            check(MultiLabelSet { cardinality, ..set() }, "`cardinality`");
        }
        check(
            MultiLabelSet {
                exponent: -0.1,
                ..set()
            },
            "`exponent`",
        );
        check(
            MultiLabelSet {
                n_topics: Some(5),
                ..set()
            },
            "`n_topics`",
        );
        check(
            MultiLabelSet {
                topics_per_sample: 0.5,
                ..set()
            },
            "`topics_per_sample`",
        );
        let (dense, per_label, noise) = (|noise| FeatureStyle::Dense { noise }, 0, 1.0);
        check(
            MultiLabelSet {
                features: FeatureStyle::Sparse { per_label, noise },
                ..set()
            },
            "`per_label`",
        );
        check(
            MultiLabelSet {
                features: dense(f64::INFINITY),
                ..set()
            },
            "`noise`",
        );
        let large = "the set would take ";
        check(
            MultiLabelSet {
                features: dense(1.0),
                ..MultiLabelSet::new(1 << 20, 1 << 20, 4)
            },
            large,
        );
        for n in [usize::MAX, 1 << 40] {
            check(MultiLabelSet::new(n, 5, 4), large);
        }
        check(MultiLabelSet::new(1, u32::MAX as usize, 4), large);
        check(MultiLabelSet::new(1, 5, u32::MAX as usize), large);
        check(MultiLabelSet::new(1, 5, usize::MAX), "`n_outputs`");
        let empty = MultiLabelSet {
            topics_per_sample: 1.0,
            ..MultiLabelSet::new(0, 5, 1)
        };
        assert_eq!(empty.generate(Seed::new(0)).unwrap().n_samples(), 0);
    }
}
