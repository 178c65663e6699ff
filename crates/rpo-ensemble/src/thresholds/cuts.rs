//! Thresholds of pairs of a score and a label: only the pairs of the largest scores are put in order.

/// A score, and whether the sample has the label.
pub(super) type Pair = (f32, bool);

/// The threshold where none is better: without pairs, or if none predicts a positive one.
const HALF: f64 = 0.5;
/// Largest number of predictions of a label, as a multiple of its number of positive samples.
pub(super) const MOST: usize = 5;

/// Numbers of pairs, and the smallest score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Totals {
    pub(super) n_pairs: usize,
    pub(super) n_positive: usize,
    lowest: f64,
}

impl Totals {
    pub(super) const NONE: Self = Self {
        n_pairs: 0,
        n_positive: 0,
        lowest: f64::INFINITY,
    };

    pub(super) fn of(pairs: &[Pair]) -> Self {
        Self {
            n_pairs: pairs.len(),
            n_positive: pairs.iter().filter(|(_, positive)| *positive).count(),
            lowest: pairs
                .iter()
                .fold(f64::INFINITY, |lowest, (score, _)| lowest.min(f64::from(*score))),
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            n_pairs: self.n_pairs + other.n_pairs,
            n_positive: self.n_positive + other.n_positive,
            lowest: self.lowest.min(other.lowest),
        }
    }

    /// The threshold of a label that all samples have, given at least one.
    pub(super) fn of_certain(self) -> Option<f64> {
        let is_certain = self.n_pairs > 0 && self.n_positive == self.n_pairs;
        is_certain.then(|| self.lowest - self.lowest.abs() / 2.0)
    }

    /// Largest number of predictions.
    pub(super) fn most(self) -> usize {
        MOST.saturating_mul(self.n_positive)
    }
}

/// The best F-measure of some cuts, hits over predictions and positive pairs, which is half of it, and its threshold.
#[derive(Debug, Clone, Copy)]
pub(super) struct BestF {
    hits: usize,
    all: usize,
    pub(super) threshold: f64,
}

impl BestF {
    /// Finds the highest threshold of the largest F-measure among those with at most `most` predictions.
    pub(super) fn of(pairs: &mut [Pair], n_positive: usize, most: usize) -> Self {
        let mut best = Self {
            hits: 0,
            all: 1,
            threshold: HALF,
        };
        for_each_cut(pairs, most, |threshold, predicted, hits| {
            let all = predicted + n_positive;
            if best.is_less_than(hits, all) {
                best = Self { hits, all, threshold };
            }
        });
        best
    }

    /// Compares fractions exactly.
    fn is_less_than(&self, hits: usize, all: usize) -> bool {
        hits as u128 * self.all as u128 > self.hits as u128 * all as u128
    }
}

/// Returns the threshold of the largest F-measure, given a function that finds the best one among those with at most a
/// given number of predictions: as many of them are looked at as could be better.
pub(super) fn best_of_all(totals: Totals, mut find: impl FnMut(usize) -> BestF) -> f64 {
    if let Some(threshold) = totals.of_certain() {
        return threshold;
    }
    let n_positive = totals.n_positive;
    if n_positive == 0 {
        return HALF;
    }
    let mut most = n_positive.saturating_mul(4);
    loop {
        let best = find(most);
        // More predictions have at most all positive pairs.
        let others = most.saturating_add(1).saturating_add(n_positive);
        if most >= totals.n_pairs || !best.is_less_than(n_positive, others) {
            return best.threshold;
        }
        most = most.saturating_mul(4);
    }
}

/// Returns the threshold at which as many pairs are predicted as are positive, if some are not. The largest
/// `totals.most()` pairs and the next one are enough.
pub(super) fn same_rate(totals: Totals, pairs: &mut [Pair]) -> f64 {
    if totals.n_pairs == 0 {
        return HALF;
    }
    let mut threshold = None;
    for_each_cut(pairs, totals.most(), |cut, predicted, _| {
        if threshold.is_none() || predicted <= totals.n_positive {
            threshold = Some(cut);
        }
    });
    threshold.unwrap_or(f64::INFINITY)
}

/// Calls `f(threshold, predicted, hits)` for every possible threshold with at most `most` predictions, highest first.
fn for_each_cut(pairs: &mut [Pair], most: usize, mut f: impl FnMut(f64, usize, usize)) {
    let pairs = largest(pairs, most);
    pairs.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let mut hits = 0;
    for (i, &(score, positive)) in pairs.iter().enumerate().take(most) {
        hits += usize::from(positive);
        match pairs.get(i + 1) {
            Some(&(next, _)) if next == score => {}
            Some(&(next, _)) => f((f64::from(score) + f64::from(next)) / 2.0, i + 1, hits),
            None => f(f64::from(score), i + 1, hits),
        }
    }
}

/// Returns the `most` pairs of the largest scores and the next one, in any order.
fn largest(pairs: &mut [Pair], most: usize) -> &mut [Pair] {
    if most < pairs.len() {
        pairs.select_nth_unstable_by(most, |a, b| b.0.total_cmp(&a.0));
        return &mut pairs[..=most];
    }
    pairs
}

/// Collects the `most` pairs of the largest scores and the next one of many.
pub(super) struct Largest {
    most: usize,
    /// Number of pairs from which the others are left out.
    full: usize,
    kept: Vec<Pair>,
}

impl Largest {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            full: most.saturating_mul(2).saturating_add(SPARE),
            kept: Vec::new(),
        }
    }

    pub(super) fn extend(&mut self, pairs: &[Pair]) {
        self.kept.extend_from_slice(pairs);
        if self.kept.len() > self.full {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        let n = largest(&mut self.kept, self.most).len();
        self.kept.truncate(n);
    }

    pub(super) fn finish(mut self) -> Vec<Pair> {
        self.shrink();
        self.kept
    }
}

/// Number of pairs beyond twice those wanted at which the others are left out.
const SPARE: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Leaving out pairs on the way changes no threshold, whatever ties they have.
        #[test]
        fn the_largest_pairs_are_enough(
            parts in prop::collection::vec(prop::collection::vec((0_u8..6, any::<bool>()), 0..9), 1..12),
            most in 0_usize..40,
        ) {
            let parts: Vec<Vec<Pair>> = parts
                .into_iter()
                .map(|part| part.into_iter().map(|(score, positive)| (f32::from(score), positive)).collect())
                .collect();
            let mut all = parts.concat();
            let totals = Totals::of(&all);
            let collected = |most: usize| {
                let mut largest = Largest { full: most + 1, ..Largest::new(most) };
                parts.iter().for_each(|part| largest.extend(part));
                largest.finish()
            };
            prop_assert!(collected(most).len() <= most + 1);
            let best = |pairs: &mut [Pair]| BestF::of(pairs, totals.n_positive, most).threshold;
            prop_assert_eq!(best(&mut collected(most)), best(&mut all));
            let of_rate = same_rate(totals, &mut collected(totals.most()));
            prop_assert_eq!(of_rate, same_rate(totals, &mut all));
        }
    }
}
