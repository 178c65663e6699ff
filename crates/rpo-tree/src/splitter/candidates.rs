//! Selection of the features that a node searches.
//!
//! A node draws k features without replacement, constant ones included; if all k are constant in the node, it continues
//! until it finds one that is not (spec of the forest paper's released implementation: constant features count towards
//! k). Continuing in random order means choosing the non-constant feature with the smallest hash under the node's seed,
//! which can be found without drawing the constant ones.
//!
//! Among equal scores the feature drawn first wins. If all features are searched, their order is that of the hashes,
//! too: as random as a draw of all features, but computed only for those that tie.

use crate::ranks::bits;
use rand::RngCore;
use rpo_core::Seed;

/// Draws features without replacement. Few of many features are drawn by rejecting those drawn already, others by a
/// partial Fisher-Yates shuffle that is undone afterwards. A shuffle reads and writes all over an array, which for many
/// features does not fit into a core's cache.
#[derive(Debug, Clone)]
pub(crate) struct FeatureDraw {
    features: Vec<u32>,
    /// Unchanged between draws.
    order: Vec<u32>,
    /// A bit per drawn feature, used when few of many are drawn; clear between draws.
    is_drawn: Vec<u64>,
    /// Positions that were drawn, or swapped with the first ones.
    places: Vec<u32>,
}

/// Fewest features that count as many.
const MANY: usize = 1 << 13;
/// A draw of at most this fraction (one in `FEW`) of many features is few.
const FEW: usize = 16;

impl FeatureDraw {
    /// Draws from the given features.
    pub(crate) fn new(features: Vec<u32>) -> Self {
        Self {
            order: features.clone(),
            is_drawn: vec![0; features.len().div_ceil(64)],
            features,
            places: Vec::new(),
        }
    }

    /// The features drawn from, in their own order.
    pub(crate) fn features(&self) -> &[u32] {
        &self.features
    }

    /// Writes k features into `out` in draw order; if k is the number of all features, writes all in their own order,
    /// and [`RandomOrder`] decides ties.
    pub(crate) fn draw(&mut self, k: usize, seed: Seed, out: &mut Vec<u32>) {
        out.clear();
        let n = self.order.len();
        if k >= n {
            out.extend_from_slice(&self.order);
            return;
        }
        let mut rng = seed.stream();
        // Multiply-shift: the bias is below n / 2^64.
        let mut below = |n: usize| ((u128::from(rng.next_u64()) * n as u128) >> 64) as usize;
        self.places.clear();
        if n >= MANY && FEW * k <= n {
            while self.places.len() < k {
                let place = below(n);
                if !bits::is_set(&self.is_drawn, place) {
                    bits::set(&mut self.is_drawn, place);
                    self.places.push(place as u32);
                }
            }
            if self.features[n - 1] as usize == n - 1 {
                // All features, in increasing order: looking them up would wait for memory.
                out.extend_from_slice(&self.places);
            } else {
                out.extend(self.places.iter().map(|&place| self.features[place as usize]));
            }
            self.places
                .iter()
                .for_each(|&place| self.is_drawn[place as usize / 64] = 0);
            return;
        }
        for i in 0..k {
            let j = i + below(n - i);
            self.order.swap(i, j);
            self.places.push(j as u32);
        }
        out.extend_from_slice(&self.order[..k]);
        self.order[..k].copy_from_slice(&self.features[..k]);
        for &j in &self.places {
            self.order[j as usize] = self.features[j as usize];
        }
    }
}

/// A random order of all features of a node, used to continue after its k draws and to break ties between equal scores
/// when all features are searched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RandomOrder(Seed);

impl RandomOrder {
    /// Returns the order of a node with this seed.
    pub(crate) fn of(node: Seed) -> Self {
        Self(node.purpose("further features"))
    }

    /// Returns the sort key of a feature.
    #[inline]
    pub(crate) fn rank(self, feature: u32) -> (u64, u32) {
        (self.0.hash(u64::from(feature)), feature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_distinct_uniform_and_repeatable() {
        let mut draw = FeatureDraw::new((0..10).collect());
        let (mut out, mut again) = (Vec::new(), Vec::new());
        let mut counts = [0_u32; 10];
        let trials = 20_000;
        for i in 0..trials {
            let seed = Seed::new(3).child(i);
            draw.draw(4, seed, &mut out);
            draw.draw(4, seed, &mut again);
            assert_eq!(out, again);
            out.iter().for_each(|&f| counts[f as usize] += 1);
            again.sort_unstable();
            again.dedup();
            assert_eq!(again.len(), 4);
        }
        // Each feature is drawn with probability 0.4; four standard errors.
        let expected = 0.4 * trials as f64;
        let tolerance = 4.0 * (trials as f64 * 0.4 * 0.6).sqrt();
        assert!(
            counts
                .iter()
                .all(|&c| (f64::from(c) - expected).abs() < tolerance),
            "{counts:?}"
        );
        draw.draw(10, Seed::new(0), &mut out);
        assert_eq!(out, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn few_of_many_are_drawn_alike() {
        let (n, k, trials) = (MANY as u32, MANY / FEW, 500);
        // All features, and some that increase.
        for step in [1, 3] {
            let features: Vec<u32> = (0..n).map(|i| i * step).collect();
            let mut draw = FeatureDraw::new(features.clone());
            let (mut out, mut again) = (Vec::new(), Vec::new());
            let (mut in_first_half, mut first_in_first_half) = (0, 0);
            for i in 0..trials {
                let seed = Seed::new(5).child(i);
                draw.draw(k, seed, &mut out);
                draw.draw(k, seed, &mut again);
                assert_eq!(out, again);
                let is_first = |&&f: &&u32| f < n / 2 * step;
                in_first_half += out.iter().filter(is_first).count();
                first_in_first_half += usize::from(out.first().is_some_and(|f| is_first(&f)));
                again.sort_unstable();
                again.dedup();
                assert_eq!(again.len(), k);
                assert!(again.iter().all(|f| features.binary_search(f).is_ok()));
            }
            // Half of those drawn, and of the first ones; four standard errors of draws with replacement, which vary more.
            let is_half = |count: usize, of: f64| (count as f64 - of / 2.0).abs() < 2.0 * of.sqrt();
            assert!(
                is_half(in_first_half, (trials as usize * k) as f64),
                "{in_first_half}"
            );
            assert!(
                is_half(first_in_first_half, trials as f64),
                "{first_in_first_half}"
            );
        }
    }
}
