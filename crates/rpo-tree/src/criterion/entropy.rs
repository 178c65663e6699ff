//! Entropy of one 0/1 target.

use super::Criterion;
use std::sync::Arc;

/// Entropy of a 0/1 target in bits, rows counted alike: with n rows of which k are 1, split into l and r,
///
/// ```text
/// n H   = n log₂ n − k log₂ k − (n−k) log₂ (n−k)
/// gain  = n H − n_l H_l − n_r H_r = |S| · (information gain),   score = −n_l H_l − n_r H_r
/// ```
///
/// (0 log 0 = 0.) The target may change from node to node: [`mark`](Self::mark). Cost: O(1) per moved row and per
/// score, the logarithms coming from a table.
#[derive(Debug, Clone)]
pub struct Entropy {
    positive: Vec<bool>,
    /// k log₂ k by k.
    k_log_k: Arc<[f64]>,
    node: [u32; 2],
    moved: [u32; 2],
}

impl Entropy {
    /// A target, by training row.
    pub fn new(positive: Vec<bool>) -> Self {
        Self {
            k_log_k: (0..=positive.len()).map(k_log_k).collect(),
            positive,
            node: [0; 2],
            moved: [0; 2],
        }
    }

    /// Whether a row's target is 1.
    #[inline]
    pub fn is_positive(&self, row: u32) -> bool {
        self.positive[row as usize]
    }

    /// Sets the target of the given rows.
    ///
    /// # Panics
    /// If a row is not among the training rows.
    pub fn mark(&mut self, rows: &[u32], positive: &[bool]) {
        rows.iter()
            .zip(positive)
            .for_each(|(&row, &positive)| self.positive[row as usize] = positive);
    }

    /// −n H of the rows counted.
    #[inline]
    fn certainty(&self, [n, ones]: [u32; 2]) -> f64 {
        let table = |k: u32| self.k_log_k[k as usize];
        table(ones) + table(n - ones) - table(n)
    }
}

fn k_log_k(k: usize) -> f64 {
    // 0 log 0 = 0.
    k as f64 * (k.max(1) as f64).log2()
}

impl Criterion for Entropy {
    fn start(&mut self, rows: &[u32]) {
        let ones = rows.iter().filter(|&&row| self.positive[row as usize]).count();
        self.node = [rows.len() as u32, ones as u32];
        self.moved = [0; 2];
    }

    fn is_pure(&self) -> bool {
        self.node[1] == 0 || self.node[1] == self.node[0]
    }

    fn clear(&mut self) {
        self.moved = [0; 2];
    }

    #[inline]
    fn move_row(&mut self, row: u32) {
        self.moved[0] += 1;
        self.moved[1] += u32::from(self.positive[row as usize]);
    }

    #[inline]
    fn score(&self) -> f64 {
        let rest = [self.node[0] - self.moved[0], self.node[1] - self.moved[1]];
        self.certainty(self.moved) + self.certainty(rest)
    }

    fn gain(&self, score: f64) -> f64 {
        (score - self.certainty(self.node)).max(0.0)
    }
}

/// |S| times the information gain, in bits, of a split into children 0 and 1 on a 0/1 target.
pub(crate) fn information_gain(positive: &[bool], children: &[u16]) -> f64 {
    // By child: rows, and ones among them.
    let mut counts = [[0_usize; 2]; 2];
    for (&positive, &child) in positive.iter().zip(children) {
        counts[usize::from(child)][0] += 1;
        counts[usize::from(child)][1] += usize::from(positive);
    }
    let spread = |[n, ones]: [usize; 2]| k_log_k(n) - k_log_k(ones) - k_log_k(n - ones);
    let [left, right] = counts;
    let whole = [left[0] + right[0], left[1] + right[1]];
    (spread(whole) - spread(left) - spread(right)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// n H by the definition.
    fn spread(positive: &[bool]) -> f64 {
        let n = positive.len() as f64;
        let ones = positive.iter().filter(|p| **p).count() as f64;
        let term = |k: f64| if k > 0.0 { -k * (k / n).log2() } else { 0.0 };
        term(ones) + term(n - ones)
    }

    proptest! {
        #[test]
        fn gain_is_the_decrease_of_entropy(
            rows in prop::collection::vec((any::<bool>(), 0_u16..2), 2..40),
        ) {
            let (positive, mut children): (Vec<bool>, Vec<u16>) = rows.into_iter().unzip();
            (children[0], children[1]) = (0, 1);
            let mut entropy = Entropy::new(vec![false; positive.len()]);
            let all: Vec<u32> = (0..positive.len() as u32).collect();
            entropy.mark(&all, &positive);
            entropy.start(&all);
            let side = |child| -> Vec<bool> {
                positive.iter().zip(&children).filter(|(_, c)| **c == child).map(|(p, _)| *p).collect()
            };
            let expected = spread(&positive) - spread(&side(0)) - spread(&side(1));
            let mut scores = [0.0; 2];
            for child in [0, 1] {
                entropy.clear();
                all.iter().filter(|&&i| children[i as usize] == child).for_each(|&i| entropy.move_row(i));
                scores[usize::from(child)] = entropy.score();
            }
            prop_assert!((scores[0] - scores[1]).abs() < 1e-9);
            prop_assert!((entropy.gain(scores[0]) - expected).abs() < 1e-9);
            prop_assert!((information_gain(&positive, &children) - expected).abs() < 1e-9);
            prop_assert_eq!(entropy.is_pure(), spread(&positive) == 0.0);
        }
    }
}
