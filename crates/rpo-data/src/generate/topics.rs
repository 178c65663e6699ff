//! The topic model behind `MultiLabelSet`: random choices common to all samples, and the draw of one sample.

use super::multi_label::{FeatureStyle, MultiLabelSet};
use crate::builder::MatrixBuilder;
use rand::{Rng, RngCore};
#[allow(
    clippy::disallowed_types,
    reason = "experiments are recorded on the sets that it draws; no model depends on it"
)]
use rand_distr::{Distribution, Poisson, StandardNormal, WeightedAliasIndex};
use rpo_core::Seed;
use rpo_core::math;

/// Probability that a label shows one of its features.
const SHOWN: f64 = 0.9;
/// Number of attempts to draw a label before a sample is left with fewer labels than drawn.
const ATTEMPTS: usize = 16;

/// The random choices shared by all samples.
pub(super) struct Model<'a> {
    params: &'a MultiLabelSet,
    seed: Seed,
    pub(super) topic_of: Vec<u32>,
    topics: WeightedAliasIndex<f64>,
    /// Labels of each topic, and their distribution within it.
    labels_of: Vec<(Vec<u32>, Option<WeightedAliasIndex<f64>>)>,
    noise: Option<WeightedAliasIndex<f64>>,
    more_labels: Option<Poisson<f64>>,
    more_topics: Option<Poisson<f64>>,
    n_noise: Option<Poisson<f64>>,
}

/// Buffers for the draws of one sample, reused.
#[derive(Default)]
pub(super) struct Scratch {
    topics: Vec<u32>,
    pub(super) labels: Vec<u32>,
    features: Vec<(u32, f32)>,
    dense: Vec<f32>,
}

impl<'a> Model<'a> {
    pub(super) fn new(params: &'a MultiLabelSet, seed: Seed) -> Self {
        let n_topics = params.topics();
        let topic_seed = seed.purpose("topic of label");
        let topic_of: Vec<u32> = (0..params.n_outputs)
            .map(|label| below(topic_seed.hash(label as u64), n_topics))
            .collect();
        let mut labels_of = vec![Vec::new(); n_topics];
        for (label, &topic) in topic_of.iter().enumerate() {
            labels_of[topic as usize].push(label as u32);
        }
        let weight = |label: u32| math::powf(f64::from(label) + 1.0, -params.exponent);
        let labels_of: Vec<(Vec<u32>, Vec<f64>)> = labels_of
            .into_iter()
            .map(|labels| {
                let weights = labels.iter().map(|&label| weight(label)).collect();
                (labels, weights)
            })
            .collect();
        let topic_weights: Vec<f64> = labels_of
            .iter()
            .map(|(_, weights)| weights.iter().sum())
            .collect();
        let (noise, n_noise) = match params.features {
            FeatureStyle::Sparse { noise, .. } if noise > 0.0 => {
                let weights: Vec<f64> = (0..params.n_features)
                    .map(|rank| 1.0 / (rank as f64 + 1.0))
                    .collect();
                (Some(alias(weights)), poisson(noise))
            }
            _ => (None, None),
        };
        Self {
            params,
            seed,
            topic_of,
            topics: alias(topic_weights),
            labels_of: labels_of
                .into_iter()
                .map(|(labels, weights)| {
                    let table = (!labels.is_empty()).then(|| alias(weights));
                    (labels, table)
                })
                .collect(),
            noise,
            more_labels: poisson(params.cardinality - 1.0),
            more_topics: poisson(params.topics_per_sample - 1.0),
            n_noise,
        }
    }

    /// Draws the labels of a sample, increasing.
    pub(super) fn draw_labels(&self, sample: &mut Scratch, rng: &mut impl RngCore) {
        let Scratch { topics, labels, .. } = sample;
        topics.clear();
        labels.clear();
        let n_topics = 1 + count(self.more_topics.as_ref(), rng);
        topics.extend((0..n_topics).map(|_| self.topics.sample(rng) as u32));
        let n_labels = 1 + count(self.more_labels.as_ref(), rng);
        for _ in 0..ATTEMPTS * n_labels {
            let topic = topics[below(rng.next_u64(), topics.len()) as usize];
            let (of_topic, table) = &self.labels_of[topic as usize];
            let Some(table) = table else { continue };
            let label = of_topic[table.sample(rng)];
            if !labels.contains(&label) {
                labels.push(label);
                if labels.len() == n_labels {
                    break;
                }
            }
        }
        labels.sort_unstable();
    }

    pub(super) fn draw_features(
        &self,
        sample: &mut Scratch,
        rng: &mut impl RngCore,
        features: &mut MatrixBuilder,
    ) {
        match self.params.features {
            FeatureStyle::Sparse { per_label, .. } => {
                self.draw_sparse(sample, per_label, rng);
                sample
                    .features
                    .iter()
                    .for_each(|&(feature, value)| features.push(feature, value));
            }
            FeatureStyle::Dense { noise } => {
                self.draw_dense(sample, noise, rng);
                sample
                    .dense
                    .iter()
                    .enumerate()
                    .for_each(|(j, &value)| features.push(j as u32, value));
            }
        }
    }

    fn draw_sparse(&self, sample: &mut Scratch, per_label: usize, rng: &mut impl RngCore) {
        let Scratch { labels, features, .. } = sample;
        features.clear();
        let value = |rng: &mut dyn RngCore| 0.5 + rng.r#gen::<f32>();
        for &label in labels.iter() {
            for i in 0..per_label {
                if rng.r#gen::<f64>() < SHOWN {
                    features.push((self.feature_of(label, i), value(rng)));
                }
            }
        }
        if let Some(noise) = &self.noise {
            for _ in 0..count(self.n_noise.as_ref(), rng) {
                // Ranks are scattered, so that frequent noise is not in neighbouring columns.
                let rank = noise.sample(rng) as u64;
                let feature = below(self.seed.purpose("noise").hash(rank), self.params.n_features);
                features.push((feature, value(rng)));
            }
        }
        features.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        features.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
    }

    /// Returns the i-th feature of a label: even features are its own, odd ones those of its topic.
    fn feature_of(&self, label: u32, i: usize) -> u32 {
        let (kind, owner) = match i % 2 {
            0 => ("own feature", label),
            _ => ("topic feature", self.topic_of[label as usize]),
        };
        let hash = self.seed.purpose(kind).child(u64::from(owner)).hash(i as u64);
        below(hash, self.params.n_features)
    }

    fn draw_dense(&self, sample: &mut Scratch, noise: f64, rng: &mut impl RngCore) {
        let Scratch { labels, dense, .. } = sample;
        dense.clear();
        dense.extend(
            (0..self.params.n_features).map(|_| (noise * rng.sample::<f64, _>(StandardNormal)) as f32),
        );
        let (own, shared) = (self.seed.purpose("own vector"), self.seed.purpose("topic vector"));
        for &label in labels.iter() {
            let own = own.child(u64::from(label));
            let shared = shared.child(u64::from(self.topic_of[label as usize]));
            for (block, values) in dense.chunks_mut(64).enumerate() {
                let (own, shared) = (own.hash(block as u64), shared.hash(block as u64));
                for (j, value) in values.iter_mut().enumerate() {
                    let sign = |bits: u64| if bits >> j & 1 == 1 { 1.0 } else { -1.0 };
                    *value += (sign(own) + sign(shared)) * std::f32::consts::FRAC_1_SQRT_2;
                }
            }
        }
    }
}

/// Creates a sampler with constant time per draw (Walker's alias method) from finite weights that are not negative,
/// with a positive sum.
fn alias(weights: Vec<f64>) -> WeightedAliasIndex<f64> {
    WeightedAliasIndex::new(weights).expect("positive finite weights")
}

/// Creates a Poisson distribution; `None` for a mean of 0.
fn poisson(mean: f64) -> Option<Poisson<f64>> {
    (mean > 0.0).then(|| Poisson::new(mean).expect("a positive finite mean"))
}

fn count(distribution: Option<&Poisson<f64>>, rng: &mut impl RngCore) -> usize {
    distribution.map_or(0, |poisson| poisson.sample(rng) as usize)
}

/// Maps random bits to an integer from 0 to n exclusive; n fits 32 bits.
fn below(bits: u64, n: usize) -> u32 {
    (((bits >> 32) * n as u64) >> 32) as u32
}
