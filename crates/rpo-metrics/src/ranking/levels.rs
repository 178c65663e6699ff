//! Where the relevant scores stand among all scores: the one computation behind LRAP, ranking loss, average
//! precision and ROC areas.
//!
//! All of them depend only on how many scores, relevant or not, reach each relevant score. So nothing is sorted
//! but the few relevant scores, and the others are counted against them: O(d r) simple comparisons for a row with
//! r relevant labels out of d if r is small, O(d log r) otherwise, and no memory but for the relevant ones, which
//! lets the micro averages run over every entry of a matrix.

use crate::Real;

/// Up to this many levels, comparing every score with every level, which vectorises, beats a binary search per
/// score. Measured on x86-64 without extensions, the two cost the same at about 100 levels of `f32` and 40 of `f64`.
const SCAN_LIMIT: usize = 64;

/// The distinct relevant scores, decreasing, and how many relevant items share each.
#[derive(Debug, Default)]
pub(crate) struct Levels<S> {
    scores: Vec<S>,
    relevant: Vec<u64>,
}

/// What was counted against [`Levels`].
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// Scores that reach a level but not the one above it; last those that reach none, where a search may leave
    /// them without asking.
    reached: Vec<u64>,
    /// Scores equal to a level; left at 0 unless asked for.
    tied: Vec<u64>,
}

/// One level with its cumulative counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level {
    /// Relevant items exactly here.
    pub(crate) relevant: u64,
    /// Relevant items here or above.
    pub(crate) relevant_at_least: u64,
    /// All items here or above.
    pub(crate) at_least: u64,
    /// All items exactly here, if ties were counted.
    pub(crate) tied: u64,
}

impl<S: Real> Levels<S> {
    /// Replaces the relevant scores.
    pub(crate) fn set(&mut self, relevant: impl Iterator<Item = S>) {
        self.scores.clear();
        self.scores.extend(relevant);
        self.scores.sort_unstable_by(|a, b| b.order(*a));
        self.relevant.clear();
        let mut kept = 0;
        for i in 0..self.scores.len() {
            if kept > 0 && self.scores[kept - 1] == self.scores[i] {
                self.relevant[kept - 1] += 1;
            } else {
                self.scores[kept] = self.scores[i];
                self.relevant.push(1);
                kept += 1;
            }
        }
        self.scores.truncate(kept);
    }

    /// Adds `scores` to `counts`; those equal to a level only if `TIES`.
    pub(crate) fn count<const TIES: bool>(&self, scores: &[S], counts: &mut Counts) {
        if self.scores.len() <= SCAN_LIMIT {
            self.scan::<TIES>(scores, counts);
        } else {
            self.search::<TIES>(scores, counts);
        }
    }

    fn scan<const TIES: bool>(&self, scores: &[S], counts: &mut Counts) {
        let mut above = 0;
        for (k, &level) in self.scores.iter().enumerate() {
            let at_least = count_if(scores, |s| s >= level);
            counts.reached[k] += at_least - above;
            above = at_least;
            if TIES {
                counts.tied[k] += count_if(scores, |s| s == level);
            }
        }
    }

    fn search<const TIES: bool>(&self, scores: &[S], counts: &mut Counts) {
        for &score in scores {
            let first = self.scores.partition_point(|&level| level > score);
            counts.reached[first] += 1;
            if TIES {
                counts.tied[first] += u64::from(self.scores.get(first) == Some(&score));
            }
        }
    }

    /// The levels in decreasing order with their cumulative counts.
    pub(crate) fn walk<'a>(&'a self, counts: &'a Counts) -> impl Iterator<Item = Level> + 'a {
        let (mut relevant_at_least, mut at_least) = (0, 0);
        self.relevant.iter().enumerate().map(move |(k, &relevant)| {
            relevant_at_least += relevant;
            at_least += counts.reached[k];
            Level {
                relevant,
                relevant_at_least,
                at_least,
                tied: counts.tied[k],
            }
        })
    }

    /// The number of relevant scores.
    pub(crate) fn n_relevant(&self) -> u64 {
        self.relevant.iter().sum()
    }
}

impl Counts {
    /// Starts counting against other levels.
    pub(crate) fn reset<S>(&mut self, levels: &Levels<S>) {
        for counts in [&mut self.reached, &mut self.tied] {
            counts.clear();
            counts.resize(levels.scores.len() + 1, 0);
        }
    }

    /// Adds what was counted elsewhere against the same levels.
    pub(crate) fn merge(mut self, other: &Self) -> Self {
        for (mine, theirs) in [(&mut self.reached, &other.reached), (&mut self.tied, &other.tied)] {
            mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        }
        self
    }
}

/// Counts in blocks of 32-bit sums, as wide as an `f32`, so that the loop vectorises and cannot overflow.
fn count_if<S: Real>(scores: &[S], condition: impl Fn(S) -> bool) -> u64 {
    let block = |block: &[S]| block.iter().map(|&s| u32::from(condition(s))).sum::<u32>();
    scores.chunks(1 << 16).map(|b| u64::from(block(b))).sum()
}

/// Average precision: (1/P) sum over relevant items of (relevant at least as high) / (all at least as high).
///
/// Over the labels of a row this is the row's LRAP, over the rows of a label its average precision.
pub(crate) fn average_precision(levels: impl Iterator<Item = Level>, n_relevant: u64) -> f64 {
    let term = |l: Level| l.relevant as f64 * (l.relevant_at_least as f64 / l.at_least as f64);
    levels.map(term).sum::<f64>() / n_relevant as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_ways_of_counting_agree_with_the_definition(
            scores in proptest::collection::vec(-4_i8..5, 1..60),
            relevant in proptest::collection::vec(-4_i8..5, 1..40),
        ) {
            let scores: Vec<f32> = scores.into_iter().map(f32::from).collect();
            let relevant: Vec<f32> = relevant.into_iter().map(f32::from).collect();
            let mut levels = Levels::default();
            levels.set(relevant.iter().copied());
            prop_assert_eq!(levels.n_relevant(), relevant.len() as u64);
            let (mut scanned, mut searched) = (Counts::default(), Counts::default());
            scanned.reset(&levels);
            searched.reset(&levels);
            levels.scan::<true>(&scores, &mut scanned);
            levels.search::<true>(&scores, &mut searched);
            let at_least = |of: &[f32], t: f32| of.iter().filter(|&&s| s >= t).count() as u64;
            let equal = |of: &[f32], t: f32| of.iter().filter(|&&s| s == t).count() as u64;
            let expected: Vec<Level> = levels.scores.iter().map(|&t| Level {
                relevant: equal(&relevant, t),
                relevant_at_least: at_least(&relevant, t),
                at_least: at_least(&scores, t),
                tied: equal(&scores, t),
            }).collect();
            prop_assert!(levels.scores.windows(2).all(|w| w[0] > w[1]));
            prop_assert_eq!(levels.walk(&scanned).collect::<Vec<_>>(), expected.clone());
            prop_assert_eq!(levels.walk(&searched).collect::<Vec<_>>(), expected);
        }
    }
}
