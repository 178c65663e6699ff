//! A random threshold inside one feature: nothing is sorted.
//!
//! Makes two passes over the values of a node's rows. One finds the smallest and the largest value; the other marks the
//! rows on the side of the threshold opposite to zero, one bit each. As scores do not depend on which side is called
//! moved, the marked rows are moved, in row order, and both feature layouts sum alike.

use super::sweep::{SplitCandidate, Threshold, is_admissible, keep_better};
use crate::criterion::{Criterion, MOST_FEW, SomeRows};
use rpo_core::vectorized;
use wide::{CmpGt, f32x8};

/// Buffers of the search.
#[derive(Debug, Clone, Default)]
pub(super) struct RandomThreshold {
    values: Vec<f32>,
    moved: Marks,
    missing: Marks,
}

/// A subset of the rows that a node's search reads.
#[derive(Debug, Clone, Default)]
struct Marks {
    /// Bit i of word w is row 64 w + i.
    words: Vec<u64>,
    n: usize,
}

/// Number of values compared side by side.
const LANES: usize = 8;

impl RandomThreshold {
    /// Splits a node of `n_rows` rows at the threshold that `choose` returns for its smallest and its largest value, at
    /// least the one and less than the other; each child needs `min_leaf` rows. Returns `None` if the feature is
    /// constant, `Some(None)` if the split is rejected.
    ///
    /// `rows`, increasing, hold `values`; all other rows hold zero. Missing values (NaN) go to the better side. If all
    /// observed values are equal, they are separated from the missing ones.
    pub(super) fn split(
        &mut self,
        (rows, values): (&[u32], impl Iterator<Item = f32>),
        sizes: (usize, usize),
        choose: impl Fn(f32, f32) -> f32,
        criterion: &mut impl Criterion,
    ) -> Option<Option<SplitCandidate>> {
        vectorized(
            #[inline(always)]
            || {
                self.values.clear();
                self.values.extend(values);
                // Whole lanes, padded with a value that does not change the range.
                let first = self.values.first().copied().unwrap_or_default();
                self.values.resize(rows.len().next_multiple_of(LANES), first);
                self.search(rows, sizes, choose, criterion)
            },
        )
    }

    #[inline(always)]
    fn search(
        &mut self,
        rows: &[u32],
        (n_rows, min_leaf): (usize, usize),
        choose: impl Fn(f32, f32) -> f32,
        criterion: &mut impl Criterion,
    ) -> Option<Option<SplitCandidate>> {
        let Self {
            values,
            moved,
            missing,
        } = self;
        let (lanes, _) = values.as_chunks();
        missing.clear();
        let any_nan = |any: f32x8, &values: &[f32; LANES]| any | f32x8::new(values).is_nan();
        if lanes.iter().fold(f32x8::ZERO, any_nan).any() {
            missing.mark(lanes, rows.len(), f32x8::is_nan, false, &[]);
        }
        let (low, high) = range(lanes, missing.n > 0, rows.len() < n_rows)?;
        if low == high && missing.n == 0 {
            return None;
        }
        let admits = |n_moved: usize| is_admissible(n_moved, n_rows, min_leaf);
        if low == high {
            criterion.clear();
            missing.move_rows(rows, criterion);
            let apart = || {
                let n_left = n_rows - missing.n;
                SplitCandidate::new(
                    criterion.score(),
                    Threshold::At(f32::INFINITY),
                    Some(false),
                    n_left,
                    n_rows,
                )
            };
            let mut best = None;
            keep_better(&mut best, admits(missing.n).then(apart));
            return Some(best);
        }
        let threshold = choose(low, high);
        let zero_left = threshold >= 0.0;
        let at = f32x8::splat(threshold);
        // Without a branch on the side of zero, which cannot be predicted.
        moved.mark(
            lanes,
            rows.len(),
            |value| value.cmp_gt(at),
            !zero_left,
            &missing.words,
        );
        let mut best = None;
        for with_missing in [false, true] {
            if with_missing && missing.n == 0 {
                break;
            }
            criterion.clear();
            let mut n_moved = moved.n;
            if with_missing {
                missing.move_rows(rows, criterion);
                n_moved += missing.n;
            }
            moved.move_rows(rows, criterion);
            if admits(n_moved) {
                let n_left = if zero_left { n_rows - n_moved } else { n_moved };
                let missing_left = (missing.n > 0).then_some(with_missing != zero_left);
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

impl Marks {
    fn clear(&mut self) {
        self.words.clear();
        self.n = 0;
    }

    /// Marks those of the first `n` rows whose values satisfy `fits`; if `flip`, the others but those of `except`.
    #[inline(always)]
    fn mark(
        &mut self,
        values: &[[f32; LANES]],
        n: usize,
        fits: impl Fn(f32x8) -> f32x8,
        flip: bool,
        except: &[u64],
    ) {
        self.words.clear();
        let flip = u64::from(flip).wrapping_neg();
        for (w, of_word) in values.chunks(64 / LANES).enumerate() {
            let mut word = 0;
            for &values in of_word.iter().rev() {
                word = word << LANES | fits(f32x8::new(values)).move_mask() as u64;
            }
            let except = except.get(w).copied().unwrap_or(0);
            self.words.push(word ^ flip & !except);
        }
        if let Some(last) = self.words.last_mut()
            && !n.is_multiple_of(64)
        {
            *last &= (1 << (n % 64)) - 1;
        }
        self.n = self.words.iter().map(|word| word.count_ones() as usize).sum();
    }

    /// Moves the marked rows.
    #[inline(always)]
    fn move_rows(&mut self, rows: &[u32], criterion: &mut impl Criterion) {
        if !criterion.move_marked(rows, &self.words) {
            for (all, &which) in rows.chunks(MOST_FEW).zip(&self.words) {
                criterion.move_rows(SomeRows { all, which }.into_iter());
            }
        }
    }
}

/// Returns the smallest and the largest observed value; `None` if all are missing.
#[inline(always)]
fn range(values: &[[f32; LANES]], any_missing: bool, has_zero: bool) -> Option<(f32, f32)> {
    let (low, high) = if has_zero {
        (0.0, 0.0)
    } else {
        (f32::INFINITY, f32::NEG_INFINITY)
    };
    // Comparisons with NaN are false.
    let lower = |a: f32, b: f32| if b < a { b } else { a };
    let higher = |a: f32, b: f32| if b > a { b } else { a };
    let (low, high) = if any_missing {
        let all = values.as_flattened().iter().copied();
        (all.clone().fold(low, lower), all.fold(high, higher))
    } else {
        let (mut lows, mut highs) = (f32x8::splat(low), f32x8::splat(high));
        for &values in values {
            let values = f32x8::new(values);
            (lows, highs) = (values.fast_min(lows), values.fast_max(highs));
        }
        (halved(lows.to_array(), lower), halved(highs.to_array(), higher))
    };
    (low <= high).then_some((low, high))
}

/// Reduces lanes by halves, so that independent operations run together.
#[inline(always)]
fn halved(mut lanes: [f32; LANES], join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut n = LANES;
    while n > 1 {
        n /= 2;
        for i in 0..n {
            lanes[i] = join(lanes[i], lanes[i + n]);
        }
    }
    lanes[0]
}

/// Maps a number in [0, 1) to a threshold in [low, high), so that neither side is empty.
pub(super) fn draw(low: f32, high: f32, uniform: f64) -> f32 {
    let (from, to) = (f64::from(low), f64::from(high));
    let drawn = (from + uniform * (to - from)) as f32;
    if f64::from(drawn) >= to { low } else { drawn }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criterion::SingleVariance;
    use proptest::prelude::*;

    /// Sorts, and tries both sides for missing values, as in the definition.
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
            let choose = |low, high| draw(low, high, uniform);
            let all: Vec<(u32, f32)> = (0..).zip(cells).collect();
            let stored: Vec<(u32, f32)> = all.iter().copied().filter(|(_, v)| *v != 0.0).collect();
            for entries in [all, stored] {
                let (rows, values): (Vec<u32>, Vec<f32>) = entries.into_iter().unzip();
                let cells = (&rows[..], values.into_iter());
                let found = RandomThreshold::default().split(cells, (n, min_leaf), choose, &mut criterion);
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
