//! Scans of the bins of features for the best split.

use super::observed::Observed;
use super::terms::Terms;
use super::{Histogram, Total, Vector};
use crate::histogram::cell::{Cell, Integer};
use crate::histogram::features::Place;
use crate::histogram::occupied::Occupied;
use crate::histogram::scores::MOST;
use crate::histogram::search::{Limits, Scanned, choose, first_of_best};
use std::ops::Range;

/// The sides of splits.
#[derive(Debug)]
pub(in crate::histogram) struct Buffer<T, const W: usize> {
    counts: Occupied<i64>,
    gradients: Vec<[T; W]>,
    curvatures: Vec<[T; W]>,
    right: Terms,
    left: Terms,
    scores: Vec<f64>,
}

impl<T, const W: usize> Default for Buffer<T, W> {
    fn default() -> Self {
        Self {
            counts: Occupied::default(),
            gradients: Vec::new(),
            curvatures: Vec::new(),
            right: Terms::default(),
            left: Terms::default(),
            scores: Vec::new(),
        }
    }
}

impl<T: Integer, const W: usize> Vector<T, W> {
    /// Returns the best split of a feature.
    pub(super) fn scan_feature(
        &self,
        place: Place,
        histogram: &Histogram<T, W>,
        total: &Total<T, W>,
        limits: &Limits,
        buffer: &mut Buffer<T, W>,
    ) -> Scanned {
        let stored = place.start..place.start + place.n_stored();
        let counts = Observed::new(place, &histogram.counts[stored.clone()], total.counts);
        let Buffer {
            counts: occupied,
            gradients,
            curvatures,
            right,
            left,
            scores,
        } = buffer;
        let k = occupied.add_up((0..place.n_bins).map(|bin| counts.bin(bin)));
        let (up_to, bins, missing) = (&occupied.sums[..k], &occupied.bins[..k], counts.missing);
        if k == 0 || (k == 1 && missing == 0) {
            return Scanned::Constant;
        }
        debug_assert!(k <= MOST);
        let n_right = if missing == 0 { k - 1 } else { k };
        let all = self.code.decode(total.counts);
        let weights = self.weigh(&up_to[..n_right], 0);
        let weights_left = if missing == 0 {
            Vec::new()
        } else {
            self.weigh(&up_to[..k - 1], missing)
        };
        right.start(n_right);
        left.start(weights_left.len());
        let n_blocks = self.lanes.len();
        for block in 0..n_blocks {
            let add_up = |plane: usize, sides: &mut Vec<[T; W]>| {
                let plane_sums = &histogram.planes[plane][stored.clone()];
                let cells = Observed::new(place, plane_sums, total.planes[plane]);
                let mut sums = [T::ZERO; W];
                sides.clear();
                sides.extend(bins.iter().map(|&bin| {
                    sums.add(&cells.bin(usize::from(bin)));
                    sums
                }));
                cells.missing
            };
            let extra = add_up(block, gradients);
            let extra_h = if self.has_curvatures {
                add_up(n_blocks + block, curvatures)
            } else {
                [T::ZERO; W]
            };
            let up_to = |n: usize| (&gradients[..n], &curvatures[..n.min(curvatures.len())]);
            self.add_terms(block, up_to(n_right), None, total, &weights, right);
            if missing != 0 {
                let extra = Some((&extra, &extra_h));
                self.add_terms(block, up_to(k - 1), extra, total, &weights_left, left);
            }
        }
        let right = self.best(&weights, all, limits, right, scores);
        let left = self.best(&weights_left, all, limits, left, scores);
        choose(right, left, bins, missing != 0)
    }

    /// Returns the largest score among sums that are the only ones of their features, and its position.
    pub(super) fn best_of_singles(
        &self,
        singles: Range<usize>,
        histogram: &Histogram<T, W>,
        total: &Total<T, W>,
        limits: &Limits,
        buffer: &mut Buffer<T, W>,
        rank: impl Fn(usize) -> u64,
    ) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        for start in singles.clone().step_by(MOST) {
            let range = start..singles.end.min(start + MOST);
            let all = self.code.decode(total.counts);
            let weights = self.weigh(&histogram.counts[range.clone()], 0);
            buffer.right.start(range.len());
            let n_blocks = self.lanes.len();
            for block in 0..n_blocks {
                let curvatures = if self.has_curvatures {
                    &histogram.planes[n_blocks + block][range.clone()]
                } else {
                    &[]
                };
                let sides = (&histogram.planes[block][range.clone()], curvatures);
                self.add_terms(block, sides, None, total, &weights, &mut buffer.right);
            }
            let found = self.best(&weights, all, limits, &buffer.right, &mut buffer.scores);
            best = first_of_best(best, &buffer.scores, start, found, &rank);
        }
        best
    }
}
