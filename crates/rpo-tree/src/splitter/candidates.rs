//! Which features a node inspects.
//!
//! A node draws k features without replacement, constant ones included; if all k are constant in the node,
//! it goes on until it meets one that is not (spec of the forest paper's released implementation: constant
//! features count towards k). Going on in random order is choosing the non-constant feature with the
//! smallest hash under the node's seed, which can be found without drawing the constant ones.
//!
//! Of equal scores the feature drawn first wins. Where all features are searched, their order is that of the hashes, too:
//! as random as a draw of all, but needed of those alone that tie.

use rand::RngCore;
use rpo_core::Seed;

/// Draws features without replacement by a partial Fisher-Yates shuffle that is undone afterwards.
#[derive(Debug, Clone)]
pub(crate) struct FeatureDraw {
    features: Vec<u32>,
    /// The same between draws.
    order: Vec<u32>,
    /// The places that were swapped with the first ones.
    swapped: Vec<u32>,
}

impl FeatureDraw {
    /// Draws from the given features.
    pub(crate) fn new(features: Vec<u32>) -> Self {
        Self {
            order: features.clone(),
            features,
            swapped: Vec::new(),
        }
    }

    /// The features drawn from, in their own order.
    pub(crate) fn features(&self) -> &[u32] {
        &self.features
    }

    /// Writes k features into `out` in draw order; all of them in their own order if k is their number, where
    /// [`RandomOrder`] decides ties.
    pub(crate) fn draw(&mut self, k: usize, seed: Seed, out: &mut Vec<u32>) {
        out.clear();
        let n = self.order.len();
        if k >= n {
            out.extend_from_slice(&self.order);
            return;
        }
        let mut rng = seed.stream();
        self.swapped.clear();
        for i in 0..k {
            // Multiply-shift: the bias is below n / 2^64.
            let offset = (u128::from(rng.next_u64()) * (n - i) as u128) >> 64;
            let j = i + offset as usize;
            self.order.swap(i, j);
            self.swapped.push(j as u32);
        }
        out.extend_from_slice(&self.order[..k]);
        self.order[..k].copy_from_slice(&self.features[..k]);
        for &j in &self.swapped {
            self.order[j as usize] = self.features[j as usize];
        }
    }
}

/// A random order of all features of a node: that in which it goes on past its k draws, and that in which features win
/// among equal scores where all are searched.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RandomOrder(Seed);

impl RandomOrder {
    /// The order of a node with this seed.
    pub(crate) fn of(node: Seed) -> Self {
        Self(node.purpose("further features"))
    }

    /// What the features are ordered by.
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
}
