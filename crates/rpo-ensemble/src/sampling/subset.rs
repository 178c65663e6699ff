//! Random subsets of samples and features, drawn without replacement.

use rand::seq::index;
use rpo_core::Seed;

/// Returns round(share · n), at least 1.
pub(crate) fn size(share: f64, n: usize) -> usize {
    ((share * n as f64).round() as usize).clamp(1, n.max(1))
}

/// Draws `k` of `0..n` without replacement, in increasing order; all of them, without drawing, if k is n.
pub(crate) fn subset(n: usize, k: usize, seed: Seed) -> Vec<u32> {
    if k >= n {
        return (0..n as u32).collect();
    }
    let drawn = index::sample(&mut seed.rng(), n, k);
    let mut drawn: Vec<u32> = drawn.into_iter().map(|i| i as u32).collect();
    drawn.sort_unstable();
    drawn
}

/// Returns the rows that a tree grows on.
pub(crate) fn rows(tree: Seed, n: usize, k: usize) -> Vec<u32> {
    subset(n, k, tree.purpose("rows"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded_and_never_empty() {
        let sizes = [(0.75, 294), (0.75, 6), (0.1, 3), (1.0, 5), (0.5, 1)].map(|(s, n)| size(s, n));
        assert_eq!(sizes, [221, 5, 1, 5, 1]);
    }

    #[test]
    fn subsets_are_increasing_and_of_the_right_size() {
        for (n, k) in [(10, 7), (10, 10), (1, 1), (1000, 3)] {
            let drawn = subset(n, k, Seed::new(4));
            assert_eq!(drawn.len(), k);
            assert!(drawn.windows(2).all(|w| w[0] < w[1]) && drawn.iter().all(|&i| (i as usize) < n));
        }
    }
}
