//! Scores and gains of splits, from the sums of their sides.

use super::terms::Terms;
use super::{Total, Vector};
use crate::criterion::LeafPenalty;
use crate::histogram::cell::{Cell, Integer};
use crate::histogram::scores::best_of;
use crate::histogram::search::Limits;
use rpo_core::vectorized;

impl<T: Integer, const W: usize> Vector<T, W> {
    /// Adds the terms of a block of targets, given the sums of the sides and of the node.
    pub(super) fn add_terms(
        &self,
        block: usize,
        sides: (&[[T; W]], &[[T; W]]),
        extra: Option<(&[T; W], &[T; W])>,
        total: &Total<T, W>,
        weights: &[(f64, f64)],
        terms: &mut Terms,
    ) {
        let add = match self.lanes[block].shrinks() {
            true => Self::add_terms_beyond::<true>,
            false => Self::add_terms_beyond::<false>,
        };
        add(self, block, sides, extra, total, weights, terms);
    }

    fn add_terms_beyond<const SHRINKS: bool>(
        &self,
        block: usize,
        sides: (&[[T; W]], &[[T; W]]),
        extra: Option<(&[T; W], &[T; W])>,
        total: &Total<T, W>,
        weights: &[(f64, f64)],
        terms: &mut Terms,
    ) {
        let (lanes, n_blocks) = (&self.lanes[block], self.lanes.len());
        let all = total.planes[block].map(T::number);
        let (extra, extra_h) = extra.map_or(([T::ZERO; W], [T::ZERO; W]), |(g, h)| (*g, *h));
        if self.common_l2.is_some() {
            return vectorized(
                #[inline(always)]
                || lanes.add_squares::<T, SHRINKS>(sides.0, &extra, &all, terms),
            );
        }
        let (_, all_weight) = self.code.decode(total.counts);
        let all_h = self
            .has_curvatures
            .then(|| total.planes[n_blocks + block].map(T::number));
        vectorized(
            #[inline(always)]
            || {
                lanes.add_scores::<T, SHRINKS>(
                    sides.0,
                    &extra,
                    &all,
                    #[inline(always)]
                    |i| match &all_h {
                        Some(all) => {
                            let mut side = sides.1[i];
                            side.add(&extra_h);
                            lanes.curvatures(&side, all)
                        }
                        None => ([weights[i].1; W], [all_weight - weights[i].1; W]),
                    },
                    terms,
                );
            },
        );
    }

    /// Returns the largest score, and the position where it is first reached, for sides whose terms are summed.
    pub(super) fn best(
        &self,
        weights: &[(f64, f64)],
        total: (f64, f64),
        limits: &Limits,
        terms: &Terms,
        scores: &mut Vec<f64>,
    ) -> Option<(f64, usize)> {
        let fewest = limits.min_samples_leaf as f64;
        scores.clear();
        scores.extend(weights.iter().enumerate().map(|(i, &(n, h))| {
            let (rest_n, rest_h) = (total.0 - n, total.1 - h);
            let (score, low) = match self.common_l2 {
                Some(l2) => {
                    let (side_h, all_h) = (h + l2, rest_h + l2);
                    let score = (terms.side[i] * all_h + terms.rest[i] * side_h) / (side_h * all_h);
                    (score, h.min(rest_h))
                }
                None if self.has_curvatures => {
                    (terms.side[i], terms.curvature[i].min(terms.rest_curvature[i]))
                }
                None => (terms.side[i], h.min(rest_h)),
            };
            let admissible =
                n >= fewest && rest_n >= fewest && low >= self.least_curvature && score < f64::INFINITY;
            if admissible { score } else { f64::NEG_INFINITY }
        }));
        best_of(scores)
    }

    /// Returns the number and weight of each of several sides with `extra` added.
    pub(super) fn weigh(&self, counts: &[i64], extra: i64) -> Vec<(f64, f64)> {
        counts.iter().map(|&c| self.code.decode(c + extra)).collect()
    }

    /// Returns the gain of a split with this score.
    pub(super) fn gain_of(&self, score: f64, total: &Total<T, W>) -> f64 {
        let (_, h) = self.code.decode(total.counts);
        let n_blocks = self.lanes.len();
        let mut parent = 0.0;
        let mut squares = 0.0;
        for (block, lanes) in self.lanes.iter().enumerate() {
            for lane in 0..W {
                let g = total.planes[block][lane].number() * lanes.unit[lane];
                let h = if self.has_curvatures {
                    total.planes[n_blocks + block][lane].number() * lanes.curvature_unit[lane]
                } else {
                    h
                };
                let penalty = lanes.penalty(lane);
                parent += penalty.score(g, h);
                squares += LeafPenalty { l2: 1.0, ..penalty }.score(g, 0.0);
            }
        }
        // With a common H, uses one division, as the scores do.
        score - self.common_l2.map_or(parent, |l2| squares / (h + l2))
    }
}
