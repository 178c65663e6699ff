//! Weights of samples in the bags of trees.

use super::targets::largest;
use crate::sampling::bag::Bag;
use rpo_core::Seed;

/// The given weight of each sample, 1 by default.
#[derive(Clone, Copy)]
pub(super) struct GivenWeights<'a> {
    weights: Option<&'a [f32]>,
    /// The factor by which they are multiplied in bags.
    unit: f32,
}

impl<'a> GivenWeights<'a> {
    pub(super) fn new(weights: Option<&'a [f32]>) -> Self {
        let unit = weights.map_or(1.0, unit_of);
        Self { weights, unit }
    }

    /// Returns the mean of the weights of the samples with a positive one, in the unit of bags.
    pub(super) fn mean(self) -> f64 {
        let Some(given) = self.weights else { return 1.0 };
        let positive = given.iter().filter(|weight| **weight > 0.0);
        let (n, total) = positive.fold((0_usize, 0.0), |(n, total), weight| {
            (n + 1, total + f64::from(self.unit * weight))
        });
        total / n.max(1) as f64
    }

    /// Returns the weight of each of n samples in a tree: how often it is in the bag times its given weight.
    pub(super) fn in_bag(self, bag: Bag, tree: Seed, n_samples: usize) -> Vec<f32> {
        let mut counts = bag.counts(tree, n_samples);
        if let Some(given) = self.weights {
            counts
                .iter_mut()
                .zip(given)
                .for_each(|(w, g)| *w *= self.unit * g);
        }
        counts
    }
}

/// Returns a factor for the weights with which samples may be drawn any number of times without their weight exceeding
/// the range of `f32`. Trees depend only on ratios of weights, which a power of two does not change.
fn unit_of(weights: &[f32]) -> f32 {
    const SMALL: f32 = 1.0 / (1_u64 << 40) as f32;
    if largest(weights) * SMALL * SMALL > 1.0 {
        SMALL
    } else {
        1.0
    }
}
