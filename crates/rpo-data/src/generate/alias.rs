//! Draws from a discrete distribution in constant time.

use rand::RngCore;

/// Walker's alias method, set up in O(n) as by Vose (1991): a draw looks at one cell, which holds its own
/// outcome with some probability and one other outcome else.
#[derive(Debug)]
pub(super) struct AliasTable {
    /// Probability, in units of 2^-32, that a cell yields itself; 2^32 for certain.
    own: Vec<u64>,
    other: Vec<u32>,
}

const CERTAIN: u64 = 1 << 32;

impl AliasTable {
    /// A table for weights that are finite and not negative, with a positive sum.
    pub(super) fn new(weights: &[f64]) -> Self {
        let n = weights.len();
        let scale = n as f64 / weights.iter().sum::<f64>();
        let mut height: Vec<f64> = weights.iter().map(|weight| weight * scale).collect();
        let mut own = vec![CERTAIN; n];
        let mut other: Vec<u32> = (0..n as u32).collect();
        let (mut low, mut high): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| height[i] < 1.0);
        while let (Some(&l), Some(&h)) = (low.last(), high.last()) {
            low.pop();
            own[l] = (height[l] * CERTAIN as f64) as u64;
            other[l] = h as u32;
            height[h] -= 1.0 - height[l];
            if height[h] < 1.0 {
                high.pop();
                low.push(h);
            }
        }
        // Cells left by rounding are full but for that; one of no weight at all stays impossible.
        for l in low {
            if weights[l] == 0.0 {
                let heaviest = (0..n)
                    .max_by(|&a, &b| weights[a].total_cmp(&weights[b]))
                    .unwrap_or(l);
                (own[l], other[l]) = (0, heaviest as u32);
            }
        }
        Self { own, other }
    }

    #[inline]
    pub(super) fn draw(&self, rng: &mut impl RngCore) -> u32 {
        let bits = rng.next_u64();
        let cell = ((bits >> 32) * self.own.len() as u64) >> 32;
        if bits & (CERTAIN - 1) < self.own[cell as usize] {
            cell as u32
        } else {
            self.other[cell as usize]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rpo_core::Seed;

    proptest! {
        #[test]
        fn cells_add_up_to_the_weights(weights in proptest::collection::vec(prop_oneof![Just(0.0), 0.01_f64..10.0], 1..50)) {
            let total: f64 = weights.iter().sum();
            prop_assume!(total > 0.0);
            let table = AliasTable::new(&weights);
            let mut implied = vec![0.0; weights.len()];
            for cell in 0..weights.len() {
                let own = table.own[cell] as f64 / CERTAIN as f64;
                implied[cell] += own;
                implied[table.other[cell] as usize] += 1.0 - own;
            }
            for (implied, weight) in implied.iter().zip(&weights) {
                let expected = weight / total * weights.len() as f64;
                prop_assert!((implied - expected).abs() < 1e-7, "{implied} {expected}");
                prop_assert!(*weight > 0.0 || *implied == 0.0);
            }
        }
    }

    #[test]
    fn draws_follow_the_table() {
        let table = AliasTable::new(&[1.0, 0.0, 3.0]);
        let mut rng = Seed::new(1).stream();
        let mut counts = [0; 3];
        (0..40_000).for_each(|_| counts[table.draw(&mut rng) as usize] += 1);
        // 4 standard errors: 4 sqrt(40000 x 1/4 x 3/4) = 346.
        assert!(
            counts[1] == 0 && (counts[0] - 10_000_i32).abs() < 346,
            "{counts:?}"
        );
    }
}
