//! Sums of one target per bin, and their scores.

use super::categories::{arrange, group};
use super::cell::{Cell, gather, gathered_of, pick, sum, sum_touched};
use super::dense::AT_ONCE;
use super::features::{BinnedFeatures, Place};
use super::fixed::{Code, Decoded, Fixed};
use super::occupied::Occupied;
use super::scores::{MOST, first_of, largest};
use super::search::{Limits, Scanned, Sums, choose, first_of_best};
use super::sparse::zero_sums;
use super::touched::Touched;
use crate::categories::Groups;
use crate::criterion::{LeafPenalty, square_beyond};
use rpo_core::vectorized;
use std::sync::Arc;

/// One target in fixed point.
#[derive(Debug, Clone)]
pub(super) struct Scalar<C> {
    /// By row.
    cells: Vec<C>,
    /// Sums of the root by bin, if they were [computed before](super::shared_root).
    root: Option<Root<C>>,
    code: Code,
    /// Penalty of leaf values, with α in units.
    penalty: LeafPenalty,
    min_child_weight: f64,
}

/// Sums of the root by bin, with those of several targets side by side.
#[derive(Debug, Clone)]
pub(super) struct Root<C> {
    pub(super) sums: Arc<Vec<C>>,
    /// Number of rows of the root; no other node has as many.
    pub(super) n_rows: usize,
    pub(super) n_targets: usize,
    pub(super) target: usize,
}

/// The sides of splits of a feature, and the score of each.
#[derive(Debug)]
pub(super) struct ScanBuffer<C> {
    sides: Occupied<C>,
    scores: [f64; MOST],
}

impl<C: Cell> Default for ScanBuffer<C> {
    fn default() -> Self {
        Self {
            sides: Occupied::default(),
            scores: [0.0; MOST],
        }
    }
}

impl<C: Fixed> Scalar<C> {
    pub(super) fn new(cells: Vec<C>, code: Code, penalty: LeafPenalty, min_child_weight: f64) -> Self {
        let l1 = penalty.l1 * code.scale;
        // If samples are not counted, a side has some if its curvature is at least a unit.
        let least = if C::COUNTS { 0.0 } else { code.curvature_unit };
        Self {
            cells,
            root: None,
            code,
            penalty: LeafPenalty { l1, ..penalty },
            min_child_weight: min_child_weight.max(least),
        }
    }

    /// Returns the target of each row.
    pub(super) fn cells(&self) -> &[C] {
        &self.cells
    }

    /// Sets the sums of the root by bin.
    pub(super) fn set_root(&mut self, root: Root<C>) {
        self.root = Some(root);
    }

    /// Computes the scores of sides, at most [`MOST`], with `extra` added to each; returns the largest and the position
    /// where it is first reached, unless it is below `at_least`.
    fn best(
        &self,
        (sides, extra): (&[C], &C),
        total: &Decoded,
        limits: &Limits,
        at_least: f64,
        scores: &mut [f64; MOST],
    ) -> Option<(f64, usize)> {
        let scores = &mut scores[..sides.len()];
        let top = vectorized(
            #[inline(always)]
            || {
                if self.penalty.l1 == 0.0 {
                    self.score::<false>(sides, extra, total, limits, scores);
                } else {
                    self.score::<true>(sides, extra, total, limits, scores);
                }
                largest(scores)
            },
        );
        first_of(scores, top, at_least)
    }

    /// Computes the score of each split into a side, with `extra` added to it, and the rest; −∞ if it is not admissible.
    /// `SHRINKS` is false only if α is 0.
    #[inline(always)]
    fn score<const SHRINKS: bool>(
        &self,
        sides: &[C],
        extra: &C,
        total: &Decoded,
        limits: &Limits,
        scores: &mut [f64],
    ) {
        let LeafPenalty { l1, l2 } = self.penalty;
        let (fewest, least) = (limits.min_samples_leaf as f64, self.min_child_weight);
        for (&side, score) in sides.iter().zip(scores) {
            let mut side = side;
            side.add(extra);
            let Decoded { g, h, n } = side.decode(&self.code);
            let (rest_h, rest_n) = (total.h - h, total.n - n);
            let of_side = square_beyond::<SHRINKS>(g, l1);
            let of_rest = square_beyond::<SHRINKS>(total.g - g, l1);
            let (side_h, all_h) = (h + l2, rest_h + l2);
            // Adds two quotients over a common denominator, as one division costs more than the rest.
            let both = (of_side * all_h + of_rest * side_h) / (side_h * all_h);
            let has_enough = !C::COUNTS | ((n >= fewest) & (rest_n >= fewest));
            let admissible = has_enough & (h >= least) & (rest_h >= least) & (both < f64::INFINITY);
            *score = if admissible { both } else { f64::NEG_INFINITY };
        }
    }
}

impl<C: Fixed> Sums for Scalar<C> {
    const WIDTH: usize = 1;
    const AT_ONCE: usize = AT_ONCE;
    type Histogram = Vec<C>;
    type Total = C;
    type Gathered = Vec<C>;
    type Buffer = ScanBuffer<C>;

    fn cell_bytes(&self) -> usize {
        size_of::<C>()
    }

    fn accumulate(
        &self,
        features: &BinnedFeatures,
        rows: &[u32],
        gathered: &mut Vec<C>,
        histogram: &mut Vec<C>,
    ) -> C {
        let cells = gather(&self.cells, rows, gathered);
        match &self.root {
            Some(root) if rows.len() == root.n_rows => {
                let sums = root.sums.chunks_exact(root.n_targets);
                histogram.clear();
                histogram.extend(sums.map(|sums| sums[root.target]));
            }
            _ => features.accumulate(rows, cells, histogram),
        }
        sum(cells)
    }

    fn total(&self, rows: &[u32], gathered: &mut Vec<C>) -> C {
        sum(gather(&self.cells, rows, gathered))
    }

    fn accumulate_apart(
        &self,
        features: &BinnedFeatures,
        chosen: &[u32],
        rows: &[u32],
        gathered: &Vec<C>,
        sums: &mut Vec<C>,
    ) {
        features.accumulate_apart(chosen, rows, gathered_of(&self.cells, rows, gathered), sums);
    }

    fn sum_touched(
        &self,
        touched: &Touched,
        bins: &[u32],
        rows: &[u32],
        gathered: &Vec<C>,
        sums: &mut Vec<C>,
    ) {
        sum_touched(touched, bins, gathered_of(&self.cells, rows, gathered), sums);
    }

    fn subtract(&self, features: &BinnedFeatures, parent: (&mut Vec<C>, &mut C), child: (&Vec<C>, &C)) {
        parent.1.subtract(child.1);
        features.subtract(parent.0, child.0);
    }

    fn scan(
        &self,
        place: Place,
        histogram: &Vec<C>,
        total: &C,
        limits: &Limits,
        buffer: &mut ScanBuffer<C>,
    ) -> Scanned {
        let stored = &histogram[place.start..][..place.n_stored()];
        if place.zero.is_some() && stored.iter().all(|cell| *cell == C::ZERO) {
            // This is the case for most sparse features in a small node. Returning at once lets the search overlap the
            // loads of many features' sums.
            return Scanned::Constant;
        }
        let (observed, missing) = stored.split_at(stored.len() - usize::from(place.has_missing));
        let missing = missing.first().copied().unwrap_or(C::ZERO);
        let k = match place.zero {
            None => buffer.sides.add_up(observed.iter().copied()),
            Some(zero) => {
                let zero_sums = zero_sums(stored, *total);
                let (below, above) = observed.split_at(zero);
                let all = below.iter().chain(std::iter::once(&zero_sums)).chain(above);
                buffer.sides.add_up(all.copied())
            }
        };
        let any_missing = missing != C::ZERO;
        if k == 0 || (k == 1 && !any_missing) {
            return Scanned::Constant;
        }
        let all = total.decode(&self.code);
        // With missing values on the right, they are also tried against all observed values.
        let ScanBuffer { sides, scores } = buffer;
        let n_right = if any_missing { k } else { k - 1 };
        let any = f64::NEG_INFINITY;
        let right = self.best((&sides.sums[..n_right], &C::ZERO), &all, limits, any, scores);
        let left = if any_missing {
            self.best((&sides.sums[..k - 1], &missing), &all, limits, any, scores)
        } else {
            None
        };
        choose(right, left, &sides.bins[..k], any_missing)
    }

    fn group(&self, place: Place, histogram: &Vec<C>, fewest: usize, groups: &mut Groups) -> f64 {
        let stored = &histogram[place.start..][..place.n_stored()];
        let count = |bin: usize| stored[bin].decode(&self.code).n;
        group(1, place, count, fewest, groups, |bin, (weight, sums)| {
            let cell = stored[bin].decode(&self.code);
            *weight += cell.h;
            sums[0] += cell.g;
        })
    }

    fn arrange(&self, place: Place, histogram: &Vec<C>, order: &[u16], arranged: &mut Vec<C>) {
        arrange(&histogram[place.start..][..place.n_stored()], order, arranged);
    }

    fn divides(&self, sum: usize, histogram: &Vec<C>, total: &C) -> bool {
        let cell = histogram[sum];
        cell != C::ZERO && cell != *total
    }

    fn pick(&self, sums: &[u32], histogram: &Vec<C>, picked: &mut Vec<C>) {
        pick(sums, histogram, picked);
    }

    fn best_single(
        &self,
        singles: std::ops::Range<usize>,
        histogram: &Vec<C>,
        total: &C,
        limits: &Limits,
        buffer: &mut ScanBuffer<C>,
        rank: impl Fn(usize) -> u64,
    ) -> Option<(f64, usize)> {
        let total = total.decode(&self.code);
        let mut best: Option<(f64, usize)> = None;
        for start in singles.clone().step_by(MOST) {
            let cells = &histogram[start..singles.end.min(start + MOST)];
            let at_least = best.map_or(f64::NEG_INFINITY, |(score, _)| score);
            let found = self.best((cells, &C::ZERO), &total, limits, at_least, &mut buffer.scores);
            best = first_of_best(best, &buffer.scores[..cells.len()], start, found, &rank);
        }
        best
    }

    fn gain(&self, score: f64, total: &C) -> f64 {
        let total = total.decode(&self.code);
        (score - self.penalty.score(total.g, total.h)) / (self.code.scale * self.code.scale)
    }
}
