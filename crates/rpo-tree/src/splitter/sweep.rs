//! The search for the best threshold inside one feature.
//!
//! The input is the entries of a node (rows whose value is not zero, each with the rank of its value), sorted by rank,
//! then row. Rows that hold zero are never touched: the sweep moves the negative values upwards towards zero and the
//! positive ones downwards towards it, and the rest of the node is whatever was not moved. As a score does not depend
//! on which side is called moved, every boundary between neighbouring values is visited once.

use crate::criterion::{Criterion, Equals};
use crate::ranks::{ColumnValues, RankBounds};
use rpo_core::vectorized;
use std::ops::Range;

/// A threshold between two ranks or at a value. Thresholds inside one feature are ordered as their values are. Storing
/// ranks avoids looking up the values of losing candidates, as the values of a feature are seldom in a core's cache.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Threshold {
    /// Between two neighbouring ranks.
    Between(u32, u32),
    At(f32),
}

impl Threshold {
    /// Returns its value in a feature with these values.
    pub(super) fn value<'v>(self, values: impl FnOnce() -> &'v ColumnValues) -> f32 {
        match self {
            Self::Between(low, high) => values().threshold(low, high),
            Self::At(value) => value,
        }
    }

    /// Returns the first rank above it in a feature with these values, which are looked up only if necessary.
    pub(super) fn first_right(self, values: &ColumnValues) -> u32 {
        match self {
            Self::Between(_, high) => high,
            Self::At(value) => values.values.partition_point(|&v| v <= value) as u32,
        }
    }
}

/// A candidate split of a feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SplitCandidate {
    pub(super) score: f64,
    /// Observed values up to this one go left.
    pub(super) threshold: Threshold,
    /// True if missing values go left; decided by the sizes of the children if the node has no missing value.
    pub(super) missing_left: bool,
    /// Number of distinct rows that go left.
    pub(super) n_left: usize,
}

impl SplitCandidate {
    /// Creates a candidate that sends `n_left` of `n_rows` rows left, and missing values left if `missing_left` is
    /// true, or to the larger child if the node has none.
    pub(super) fn new(
        score: f64,
        threshold: Threshold,
        missing_left: Option<bool>,
        n_left: usize,
        n_rows: usize,
    ) -> Self {
        Self {
            score,
            threshold,
            missing_left: missing_left.unwrap_or(n_left > n_rows - n_left),
            n_left,
        }
    }
}

/// The entries of one feature in a node, split at zero.
pub(super) struct Feature<'a, E> {
    entries: &'a [E],
    ranks: RankBounds,
    negative: Range<usize>,
    positive: Range<usize>,
    missing: Range<usize>,
    n_rows: usize,
    min_leaf: usize,
}

/// A row of a node and the rank of its value in a feature; they sort by rank, then row.
pub(super) trait Entry: Copy + Default + Ord {
    fn new(rank: u32, row: u32) -> Self;
    fn rank(self) -> u32;
    fn row(self) -> u32;
}

impl Entry for u64 {
    #[inline(always)]
    fn new(rank: u32, row: u32) -> Self {
        u64::from(rank) << 32 | u64::from(row)
    }

    #[inline(always)]
    fn rank(self) -> u32 {
        (self >> 32) as u32
    }

    #[inline(always)]
    fn row(self) -> u32 {
        self as u32
    }
}

/// For at most [`MOST_ROWS`](crate::ranks::MOST_ROWS) rows.
impl Entry for u32 {
    #[inline(always)]
    fn new(rank: u32, row: u32) -> Self {
        rank << 16 | row
    }

    #[inline(always)]
    fn rank(self) -> u32 {
        self >> 16
    }

    #[inline(always)]
    fn row(self) -> u32 {
        self & 0xffff
    }
}

/// Returns true if a split that moves `n_moved` of `n_rows` rows leaves both children large enough, and neither empty.
#[inline(always)]
pub(super) fn is_admissible(n_moved: usize, n_rows: usize, min_leaf: usize) -> bool {
    let least = min_leaf.max(1);
    n_moved >= least && n_rows - n_moved >= least
}

/// Returns the position of the first of the sorted entries with this rank or a larger one; mostly the first entry of
/// all or none.
fn first_from(entries: &[impl Entry], rank: u32) -> usize {
    let is_below = |entry: Option<&_>| entry.is_some_and(|e: &_| Entry::rank(*e) < rank);
    if !is_below(entries.first()) {
        0
    } else if is_below(entries.last()) {
        entries.len()
    } else {
        entries.partition_point(|e| e.rank() < rank)
    }
}

/// Returns true if sorted entries, at least one, all hold the same value.
fn hold_one_value(entries: &[impl Entry]) -> bool {
    entries[0].rank() == entries[entries.len() - 1].rank()
}

impl<'a, E: Entry> Feature<'a, E> {
    /// Splits sorted `entries` at zero; the node has `n_rows` distinct rows, and each child needs `min_leaf` of them.
    pub(super) fn new(entries: &'a [E], ranks: RankBounds, n_rows: usize, min_leaf: usize) -> Self {
        let negative = first_from(entries, ranks.zero);
        let positive = first_from(entries, ranks.missing);
        Self {
            entries,
            ranks,
            negative: 0..negative,
            positive: negative..positive,
            missing: positive..entries.len(),
            n_rows,
            min_leaf,
        }
    }

    /// Like [`new`](Self::new) where all rows of the node are among the entries, for a [criterion](Criterion::is_exact)
    /// whose scores do not depend on the side from which a threshold is reached: one sweep over all values instead of
    /// two towards zero.
    pub(super) fn in_one_sweep(entries: &'a [E], ranks: RankBounds, min_leaf: usize) -> Self {
        let observed = first_from(entries, ranks.missing);
        Self {
            entries,
            ranks,
            negative: 0..observed,
            positive: observed..observed,
            missing: observed..entries.len(),
            n_rows: entries.len(),
            min_leaf,
        }
    }

    fn n_zero(&self) -> usize {
        self.n_rows - self.entries.len()
    }

    /// Returns the smallest and the largest rank present, zero included; `None` if all values are missing.
    fn rank_range(&self) -> Option<(u32, u32)> {
        let zero = (self.n_zero() > 0).then_some(self.ranks.zero);
        let present = &self.entries[..self.missing.start];
        let low = present.first().map(|e| e.rank()).into_iter().chain(zero).min()?;
        let high = present.last().map(|e| e.rank()).into_iter().chain(zero).max()?;
        Some((low, high))
    }

    /// Returns true if all rows of the node hold the same value, or all miss it.
    pub(super) fn is_constant(&self) -> bool {
        match self.rank_range() {
            None => true,
            Some((low, high)) => low == high && self.missing.is_empty(),
        }
    }

    /// Returns the best threshold: the largest score and, among equal scores, the smallest threshold. With missing
    /// values, each threshold is tried with all of them left and all of them right (right wins ties), and "observed
    /// left, missing right" as the largest threshold of all.
    pub(super) fn best_split(&self, criterion: &mut impl Criterion) -> Option<SplitCandidate> {
        vectorized(
            #[inline(always)]
            || self.sweep_all(criterion),
        )
    }

    #[inline(always)]
    pub(super) fn sweep_all(&self, criterion: &mut impl Criterion) -> Option<SplitCandidate> {
        let mut best = None;
        for with_missing in [false, true] {
            if with_missing && self.missing.is_empty() {
                break;
            }
            if !self.negative.is_empty() {
                self.sweep_up(criterion, with_missing, &mut best);
            }
            if !self.positive.is_empty() {
                self.sweep_down(criterion, with_missing, &mut best);
            }
        }
        keep_better(&mut best, self.missing_apart(criterion));
        best
    }

    /// Moves nothing, or all missing rows.
    #[inline(always)]
    fn begin(&self, criterion: &mut impl Criterion, with_missing: bool) {
        criterion.clear();
        if with_missing {
            self.missing
                .clone()
                .for_each(|i| criterion.move_row(self.entries[i].row()));
        }
    }

    /// Moves negative values in increasing order, or all values if there is one sweep: the moved rows are the left
    /// child.
    #[inline(always)]
    fn sweep_up(
        &self,
        criterion: &mut impl Criterion,
        with_missing: bool,
        best: &mut Option<SplitCandidate>,
    ) {
        self.begin(criterion, with_missing);
        let entries = &self.entries[self.negative.clone()];
        // With no zero and nothing positive, the last value has no neighbour above it.
        let to_the_end = self.n_zero() > 0 || !self.positive.is_empty();
        let found = self.sweep(
            criterion,
            (entries, false),
            with_missing,
            to_the_end,
            Equals::First,
        );
        if let Some((score, end)) = found {
            let next = match self.entries.get(end) {
                Some(&entry) if end < self.negative.end || self.n_zero() == 0 => entry.rank(),
                _ => self.ranks.zero,
            };
            let threshold = Threshold::Between(entries[end - 1].rank(), next);
            keep_better(
                best,
                Some(self.candidate(score, end, true, with_missing, threshold)),
            );
        }
    }

    /// Moves positive values in decreasing order: the moved rows are the right child.
    #[inline(always)]
    fn sweep_down(
        &self,
        criterion: &mut impl Criterion,
        with_missing: bool,
        best: &mut Option<SplitCandidate>,
    ) {
        self.begin(criterion, with_missing);
        let entries = &self.entries[self.positive.clone()];
        // Below the last value are zeros, negative values that were swept from the other side, or nothing.
        let to_the_end = self.n_zero() > 0;
        let found = self.sweep(
            criterion,
            (entries, true),
            with_missing,
            to_the_end,
            // Among equal scores, the last one visited has the smallest threshold.
            Equals::Last,
        );
        if let Some((score, n_moved)) = found {
            let first = entries.len() - n_moved;
            let next = if first > 0 {
                entries[first - 1].rank()
            } else {
                self.ranks.zero
            };
            let threshold = Threshold::Between(next, entries[first].rank());
            keep_better(
                best,
                Some(self.candidate(score, n_moved, false, with_missing, threshold)),
            );
        }
    }

    /// Moves entries, the last one first if `is_down`, and scores between different values, and after the last one if
    /// `to_the_end`. Returns the best score (among equal ones the first or the last) and the number of entries moved
    /// for it.
    #[inline(always)]
    fn sweep(
        &self,
        criterion: &mut impl Criterion,
        (entries, is_down): (&[E], bool),
        with_missing: bool,
        to_the_end: bool,
        equals: Equals,
    ) -> Option<(f64, usize)> {
        let missing = if with_missing { self.missing.len() } else { 0 };
        // Smallest and largest number of entries that leave both children large enough.
        let fewest = self.min_leaf.saturating_sub(missing).max(1);
        let most = (self.n_rows - missing).saturating_sub(self.min_leaf);
        let n_entries = entries.len();
        let n = most.min(if to_the_end { n_entries } else { n_entries - 1 });
        let entry = |i: usize| entries[if is_down { n_entries - 1 - i } else { i }];
        if hold_one_value(entries) {
            if n < n_entries || n < fewest {
                return None;
            }
            criterion.move_rows(entries.iter().map(|entry| entry.row()));
            let score = criterion.score();
            return equals.improves(score, f64::NEG_INFINITY).then_some((score, n));
        }
        let row = |i: usize| {
            let (row, rank) = (entry(i).row(), entry(i).rank());
            let parts = i + 1 == n_entries || entry(i + 1).rank() != rank;
            (row, parts && i + 1 >= fewest)
        };
        criterion.best_of(n, row, equals)
    }

    /// Scores observed values left, missing values right.
    #[inline(always)]
    fn missing_apart(&self, criterion: &mut impl Criterion) -> Option<SplitCandidate> {
        if self.missing.is_empty() || self.missing.len() == self.n_rows {
            return None;
        }
        self.begin(criterion, true);
        self.admits(self.missing.len())
            .then(|| self.candidate(criterion.score(), 0, false, true, Threshold::At(f32::INFINITY)))
    }

    fn admits(&self, n_moved: usize) -> bool {
        is_admissible(n_moved, self.n_rows, self.min_leaf)
    }

    /// Returns the candidate that moves `n_entries` rows of observed values, and the missing ones if `missing_moved`.
    fn candidate(
        &self,
        score: f64,
        n_entries: usize,
        left_moved: bool,
        missing_moved: bool,
        threshold: Threshold,
    ) -> SplitCandidate {
        let n_moved = n_entries + if missing_moved { self.missing.len() } else { 0 };
        let n_left = if left_moved {
            n_moved
        } else {
            self.n_rows - n_moved
        };
        let missing_left = (!self.missing.is_empty()).then_some(missing_moved == left_moved);
        SplitCandidate::new(score, threshold, missing_left, n_left, self.n_rows)
    }
}

/// Keeps the better candidate. Among equal scores the smaller threshold wins, then missing values right: the choice
/// must not depend on the order in which candidates are visited, which changes with the position of zero among the
/// values. Candidates whose score is not finite are ignored: targets are not finite, or the weight of one side is
/// negligible beside the other.
#[inline]
pub(super) fn keep_better(best: &mut Option<SplitCandidate>, candidate: Option<SplitCandidate>) {
    let beats = |c: &SplitCandidate, b: &SplitCandidate| {
        let earlier = (c.threshold, c.missing_left) < (b.threshold, b.missing_left);
        c.score > b.score || (c.score == b.score && earlier)
    };
    let wins = |c: &SplitCandidate| c.score.is_finite() && best.as_ref().is_none_or(|b| beats(c, b));
    if let Some(candidate) = candidate.filter(wins) {
        *best = Some(candidate);
    }
}
