//! A random threshold inside one feature: nothing is sorted.
//!
//! Two passes over what the rows of a node hold: one finds the smallest and the largest value, the other the rows on the
//! side of the threshold that zero is not on. As scores do not depend on which side is called moved, those are moved, in
//! row order, and both layouts of the features sum alike.

use super::sweep::{SplitCandidate, Threshold, is_admissible, keep_better};
use crate::criterion::Criterion;
use rpo_core::vectorized;

/// Buffers of the search.
#[derive(Debug, Clone, Default)]
pub(super) struct RandomThreshold {
    values: Vec<f32>,
    moved: Vec<u32>,
    missing: Vec<u32>,
}

/// Values that are compared side by side.
const LANES: usize = 8;

impl RandomThreshold {
    /// Splits a node of `n_rows` rows at a threshold that `uniform` in [0, 1) draws between its smallest and its largest
    /// value; each child needs `min_leaf` rows. `None` if the feature is constant, `Some(None)` if the split is refused.
    ///
    /// `entries` are rows, increasing, and their values; the rows that are not among them hold zero. Missing values (NaN)
    /// go to the better side. If all observed values are equal, they are separated from the missing ones.
    pub(super) fn split(
        &mut self,
        entries: impl ExactSizeIterator<Item = (u32, f32)> + Clone,
        sizes: (usize, usize),
        uniform: f64,
        criterion: &mut impl Criterion,
    ) -> Option<Option<SplitCandidate>> {
        vectorized(
            #[inline(always)]
            || self.search(entries, sizes, uniform, criterion),
        )
    }

    #[inline(always)]
    fn search(
        &mut self,
        entries: impl ExactSizeIterator<Item = (u32, f32)> + Clone,
        (n_rows, min_leaf): (usize, usize),
        uniform: f64,
        criterion: &mut impl Criterion,
    ) -> Option<Option<SplitCandidate>> {
        let has_zero = entries.len() < n_rows;
        self.values.clear();
        self.values.extend(entries.clone().map(|(_, value)| value));
        let (low, high, n_missing) = range(&self.values, has_zero)?;
        if low == high && n_missing == 0 {
            return None;
        }
        let rows = entries.map(|(row, _)| row).zip(&self.values);
        if n_missing > 0 {
            keep(rows.clone(), f32::is_nan, &mut self.missing);
        } else {
            self.missing.clear();
        }
        let missing = &self.missing;
        let admits = |n_moved: usize| is_admissible(n_moved, n_rows, min_leaf);
        if low == high {
            criterion.clear();
            criterion.move_rows(missing.iter().copied());
            let apart = || {
                let n_left = n_rows - n_missing;
                SplitCandidate::new(
                    criterion.score(),
                    Threshold::At(f32::INFINITY),
                    Some(false),
                    n_left,
                    n_rows,
                )
            };
            let mut best = None;
            keep_better(&mut best, admits(n_missing).then(apart));
            return Some(best);
        }
        let threshold = draw(low, high, uniform);
        let zero_left = threshold >= 0.0;
        if zero_left {
            keep(rows, |value| value > threshold, &mut self.moved);
        } else {
            keep(rows, |value| value <= threshold, &mut self.moved);
        }
        let mut best = None;
        for with_missing in [false, true] {
            if with_missing && n_missing == 0 {
                break;
            }
            criterion.clear();
            let mut n_moved = self.moved.len();
            if with_missing {
                criterion.move_rows(missing.iter().copied());
                n_moved += n_missing;
            }
            criterion.move_rows(self.moved.iter().copied());
            if admits(n_moved) {
                let n_left = if zero_left { n_rows - n_moved } else { n_moved };
                let missing_left = (n_missing > 0).then_some(with_missing != zero_left);
                let candidate = SplitCandidate::new(
                    criterion.score(),
                    Threshold::At(threshold),
                    missing_left,
                    n_left,
                    n_rows,
                );
                keep_better(&mut best, Some(candidate));
            }
        }
        Some(best)
    }
}

/// The smallest and the largest observed value, and how many are missing; `None` if all are.
#[inline(always)]
fn range(values: &[f32], has_zero: bool) -> Option<(f32, f32, usize)> {
    let start = if has_zero {
        (0.0, 0.0)
    } else {
        (f32::INFINITY, f32::NEG_INFINITY)
    };
    // False for what is not a number.
    let lower = |a: f32, b: f32| if b < a { b } else { a };
    let higher = |a: f32, b: f32| if b > a { b } else { a };
    let (mut lows, mut highs) = ([start.0; LANES], [start.1; LANES]);
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lows[lane] = lower(lows[lane], chunk[lane]);
            highs[lane] = higher(highs[lane], chunk[lane]);
        }
    }
    let low = lows.iter().chain(rest).copied().fold(start.0, lower);
    let high = highs.iter().chain(rest).copied().fold(start.1, higher);
    let n_missing = values.iter().filter(|v| v.is_nan()).count();
    (low <= high).then_some((low, high, n_missing))
}

/// The threshold of a number in [0, 1): in [low, high), so that neither side is empty.
pub(super) fn draw(low: f32, high: f32, uniform: f64) -> f32 {
    let (from, to) = (f64::from(low), f64::from(high));
    let drawn = (from + uniform * (to - from)) as f32;
    if f64::from(drawn) >= to { low } else { drawn }
}

/// Writes the rows whose values fit; without a branch, as which do cannot be predicted.
#[inline(always)]
fn keep<'v>(
    rows: impl ExactSizeIterator<Item = (u32, &'v f32)>,
    fits: impl Fn(f32) -> bool,
    kept: &mut Vec<u32>,
) {
    kept.resize(rows.len(), 0);
    let mut n = 0;
    for (row, &value) in rows {
        kept[n] = row;
        n += usize::from(fits(value));
    }
    kept.truncate(n);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criterion::SingleVariance;
    use proptest::prelude::*;

    /// Sorts, and tries both sides for missing values, as the definition reads.
    fn naive(
        values: &[f32],
        min_leaf: usize,
        uniform: f64,
        criterion: &mut SingleVariance,
    ) -> Option<Option<SplitCandidate>> {
        let n = values.len();
        let mut observed: Vec<f32> = values.iter().copied().filter(|v| !v.is_nan()).collect();
        observed.sort_by(f32::total_cmp);
        let (&low, &high) = (observed.first()?, observed.last()?);
        let has_missing = observed.len() < n;
        if low == high && !has_missing {
            return None;
        }
        let threshold = if low == high {
            f32::INFINITY
        } else {
            draw(low, high, uniform)
        };
        let mut best: Option<SplitCandidate> = None;
        for missing_left in [false, true] {
            let is_left = |v: f32| v <= threshold || (v.is_nan() && missing_left);
            let left: Vec<u32> = (0..n as u32).filter(|&i| is_left(values[i as usize])).collect();
            if left.len() < min_leaf || n - left.len() < min_leaf || (low == high && missing_left) {
                continue;
            }
            criterion.clear();
            left.iter().for_each(|&row| criterion.move_row(row));
            let missing_left = if has_missing {
                missing_left
            } else {
                left.len() > n - left.len()
            };
            let score = criterion.score();
            if best.as_ref().is_none_or(|b| score > b.score) {
                best = Some(SplitCandidate {
                    score,
                    threshold: Threshold::At(threshold),
                    missing_left,
                    n_left: left.len(),
                });
            }
            if !has_missing {
                break;
            }
        }
        Some(best)
    }

    proptest! {
        #[test]
        fn splits_as_by_the_definition(
            cells in prop::collection::vec(prop_oneof![Just(f32::NAN), Just(0.0), (-4_i8..5).prop_map(f32::from)], 2..40),
            targets in prop::collection::vec(-8_i8..8, 40),
            min_leaf in 1_usize..4,
            uniform in 0.0..1.0,
        ) {
            let n = cells.len();
            let weights = vec![1.0; n];
            let mut criterion = SingleVariance::new(targets[..n].iter().map(|&t| f32::from(t)), &weights);
            criterion.start(&(0..n as u32).collect::<Vec<_>>());
            let expected = naive(&cells, min_leaf, uniform, &mut criterion);
            let all: Vec<(u32, f32)> = (0..).zip(cells).collect();
            let stored: Vec<(u32, f32)> = all.iter().copied().filter(|(_, v)| *v != 0.0).collect();
            for entries in [all, stored] {
                let found = RandomThreshold::default().split(entries.into_iter(), (n, min_leaf), uniform, &mut criterion);
                // Sums are whole numbers, so that scores do not depend on the side that is moved.
                prop_assert_eq!(found.map(|f| f.is_some()), expected.map(|e| e.is_some()));
                if let (Some(Some(found)), Some(Some(expected))) = (found, expected) {
                    prop_assert!((found.score - expected.score).abs() <= 1e-9 * expected.score.abs());
                    prop_assert_eq!((found.threshold, found.n_left), (expected.threshold, expected.n_left));
                    prop_assert_eq!(found.missing_left, expected.missing_left);
                }
            }
        }
    }
}
