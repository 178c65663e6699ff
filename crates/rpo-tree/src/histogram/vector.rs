//! Sums of several targets per bin, and their scores.
//!
//! Targets lie in planes of W lanes: a plane is summed like one target, with vector instructions across its lanes.
//! Numbers of samples and weights are summed once for all targets.

use super::WORTH_IT;
use super::categories::{arrange, group};
use super::cell::{Cell, Integer, gather, gathered_of, pick, sum};
use super::features::{BinnedFeatures, Place};
use super::fixed::{COARSE, WeightCode, scale, used};
use super::scores::best_of;
use super::search::{Limits, Scanned, Sides, Sums, choose, first_of_best};
use super::sparse::zero_sums;
use super::splitter::SplitTargets;
use crate::categories::Groups;
use crate::criterion::{Curvature, LeafPenalty};
use rayon::prelude::*;
use rpo_core::vectorized;
use std::ops::Range;

/// Most bins of a feature, and number of scores computed side by side.
const MOST: usize = 256;

/// Several targets in fixed point.
#[derive(Debug, Clone)]
pub(super) struct Vector<T, const W: usize> {
    /// The number and the weight of each row.
    counts: Vec<i64>,
    code: WeightCode,
    /// By row: first all planes of gradients, then those of curvatures, if they are not constant.
    planes: Vec<Vec<[T; W]>>,
    lanes: Vec<Lanes<W>>,
    has_curvatures: bool,
    /// λ, if the curvature is constant and λ is the same for all targets.
    common_l2: Option<f64>,
    /// Smallest sum of curvatures of a child; over all targets unless the curvature is constant.
    least_curvature: f64,
}

/// Conversion of the integers of a plane of gradients, and of those of its curvatures, to numbers.
#[derive(Debug, Clone, Copy)]
struct Lanes<const W: usize> {
    unit: [f64; W],
    curvature_unit: [f64; W],
    l1: [f64; W],
    l2: [f64; W],
}

impl<const W: usize> Lanes<W> {
    /// Adds the squares of the sums of sides, with `extra` added to each, and of the rest.
    #[inline(always)]
    fn add_squares<T: Integer>(&self, sides: &[[T; W]], extra: &[T; W], all: &[f64; W], terms: &mut Terms) {
        let square = |v: f64, l1: f64| {
            let t = v.abs() - l1;
            let t = if t > 0.0 { t } else { 0.0 };
            t * t
        };
        let out = terms.side.iter_mut().zip(&mut terms.rest);
        for (side, (sum, rest_sum)) in sides.iter().zip(out) {
            let mut side = *side;
            side.add(extra);
            let (mut squares, mut rest) = ([0.0; W], [0.0; W]);
            for lane in 0..W {
                let (g, unit, l1) = (side[lane].number(), self.unit[lane], self.l1[lane]);
                squares[lane] = square(g * unit, l1);
                rest[lane] = square((all[lane] - g) * unit, l1);
            }
            *sum += joined(&squares);
            *rest_sum += joined(&rest);
        }
    }

    /// Returns the curvatures of a side and of the rest.
    #[inline(always)]
    fn curvatures<T: Integer>(&self, side: &[T; W], all: &[f64; W]) -> ([f64; W], [f64; W]) {
        let (mut h, mut rest) = ([0.0; W], [0.0; W]);
        for lane in 0..W {
            let (number, unit) = (side[lane].number(), self.curvature_unit[lane]);
            h[lane] = number * unit;
            rest[lane] = (all[lane] - number) * unit;
        }
        (h, rest)
    }

    /// Adds the scores of sides, with `extra` added to each, and the curvatures of both sides, given by lane.
    #[inline(always)]
    fn add_scores<T: Integer>(
        &self,
        sides: &[[T; W]],
        extra: &[T; W],
        all: &[f64; W],
        curvatures: impl Fn(usize) -> ([f64; W], [f64; W]),
        terms: &mut Terms,
    ) {
        for (i, side) in sides.iter().enumerate() {
            let mut side = *side;
            side.add(extra);
            let (h, rest_h) = curvatures(i);
            let mut scores = [0.0; W];
            for lane in 0..W {
                let (g, unit) = (side[lane].number(), self.unit[lane]);
                let penalty = LeafPenalty {
                    l1: self.l1[lane],
                    l2: self.l2[lane],
                };
                scores[lane] =
                    penalty.score(g * unit, h[lane]) + penalty.score((all[lane] - g) * unit, rest_h[lane]);
            }
            // Lane after lane: the order of these sums affects the result for a given seed.
            let sum = |values: &[f64; W]| values.iter().fold(0.0, |sum, v| sum + v);
            terms.side[i] += sum(&scores);
            terms.curvature[i] += sum(&h);
            terms.rest_curvature[i] += sum(&rest_h);
        }
    }
}

/// Sums by bin.
#[derive(Debug, Clone)]
pub(super) struct Histogram<T, const W: usize> {
    counts: Vec<i64>,
    planes: Vec<Vec<[T; W]>>,
}

impl<T, const W: usize> Default for Histogram<T, W> {
    fn default() -> Self {
        Self {
            counts: Vec::new(),
            planes: Vec::new(),
        }
    }
}

/// Sums of a node.
#[derive(Debug, Clone)]
pub(super) struct Total<T, const W: usize> {
    counts: i64,
    planes: Vec<[T; W]>,
}

/// The sides of splits.
#[derive(Debug)]
pub(super) struct Buffer<T, const W: usize> {
    counts: Vec<i64>,
    bins: Vec<u16>,
    gradients: Vec<[T; W]>,
    curvatures: Vec<[T; W]>,
    right: Terms,
    left: Terms,
    scores: Vec<f64>,
}

/// Sums over targets. With a common H these are the squares of each side and the rest, otherwise their scores and
/// curvatures.
#[derive(Debug, Default)]
struct Terms {
    side: Vec<f64>,
    rest: Vec<f64>,
    curvature: Vec<f64>,
    rest_curvature: Vec<f64>,
}

impl Terms {
    fn start(&mut self, k: usize) {
        for terms in [
            &mut self.side,
            &mut self.rest,
            &mut self.curvature,
            &mut self.rest_curvature,
        ] {
            terms.clear();
            terms.resize(k, 0.0);
        }
    }
}

impl<T, const W: usize> Default for Buffer<T, W> {
    fn default() -> Self {
        Self {
            counts: Vec::new(),
            bins: Vec::new(),
            gradients: Vec::new(),
            curvatures: Vec::new(),
            right: Terms::default(),
            left: Terms::default(),
            scores: Vec::new(),
        }
    }
}

impl<T: Integer, const W: usize> Vector<T, W> {
    /// Codes targets; returns `None` if one is not finite, or if more than half of them are coarse in `T` and
    /// `may_be_coarse` is false.
    pub(super) fn new(targets: &SplitTargets<'_>, may_be_coarse: bool) -> Option<Self> {
        let (n, m) = targets.gradients.dim();
        let weights = targets.weights;
        let gradients = targets.gradients.to_slice()?;
        let curvatures = match &targets.curvature {
            Curvature::Constant => None,
            Curvature::Each(h) => Some(h.to_slice()?),
        };
        let sum_of_weights: f64 = weights.iter().map(|&c| f64::from(c)).sum();
        let code = WeightCode::new(n, sum_of_weights);
        let blocks = (0..m).into_par_iter().step_by(W);
        let planes_of = |values: Option<&[f32]>| -> Option<Vec<Plane<T, W>>> {
            let plane = |values, first| Plane::new(values, m, first, weights);
            values.map_or(Some(Vec::new()), |values| {
                blocks.clone().map(|first| plane(values, first)).collect()
            })
        };
        let mut planes = planes_of(Some(gradients))?;
        let mut of_curvatures = planes_of(curvatures)?;
        let all = || planes.iter().chain(&of_curvatures);
        let n_coarse: usize = all().map(|plane| plane.n_coarse).sum();
        let n_numbers: usize = all().map(|plane| plane.n_numbers).sum();
        if 2 * n_coarse > n_numbers && !may_be_coarse {
            return None;
        }
        let lanes = planes.iter().enumerate().map(|(block, plane)| {
            let mut of = Lanes {
                unit: [0.0; W],
                curvature_unit: [0.0; W],
                l1: [0.0; W],
                l2: [0.0; W],
            };
            for (lane, target) in (block * W..m.min((block + 1) * W)).enumerate() {
                let LeafPenalty { l1, l2 } = targets.penalty(target);
                of.unit[lane] = plane.scale[lane].recip();
                of.curvature_unit[lane] = of_curvatures.get(block).map_or(1.0, |h| h.scale[lane].recip());
                (of.l1[lane], of.l2[lane]) = (l1, l2);
            }
            of
        });
        let lanes = lanes.collect();
        planes.append(&mut of_curvatures);
        let l2 = targets.penalty(0).l2;
        let is_common = curvatures.is_none() && (0..m).all(|target| targets.penalty(target).l2 == l2);
        Some(Self {
            counts: weights.iter().map(|&c| code.encode(f64::from(c))).collect(),
            code,
            planes: planes.into_iter().map(|plane| plane.cells).collect(),
            lanes,
            has_curvatures: curvatures.is_some(),
            common_l2: is_common.then_some(l2),
            least_curvature: targets.min_child_weight * if curvatures.is_some() { m as f64 } else { 1.0 },
        })
    }

    /// Adds the terms of a block of targets, given the sums of the sides and of the node.
    fn add_terms(
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
                || lanes.add_squares(sides.0, &extra, &all, terms),
            );
        }
        let (_, all_weight) = self.code.decode(total.counts);
        let all_h = self
            .has_curvatures
            .then(|| total.planes[n_blocks + block].map(T::number));
        vectorized(
            #[inline(always)]
            || {
                lanes.add_scores(
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
    fn best(
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
    fn weigh(&self, counts: &[i64], extra: i64) -> Vec<(f64, f64)> {
        counts.iter().map(|&c| self.code.decode(c + extra)).collect()
    }

    /// Calls `f` with each plane, in parallel if the given number of additions per plane is worth it.
    fn each_plane(
        &self,
        additions: usize,
        planes: &mut [Vec<[T; W]>],
        f: impl Fn(usize, &mut Vec<[T; W]>) + Sync,
    ) {
        for_each(additions * planes.len() * W >= WORTH_IT, planes, f);
    }
}

/// Calls `f` with each item, in parallel if that is worth it.
fn for_each<I: Send>(is_worth_it: bool, items: &mut [I], f: impl Fn(usize, &mut I) + Sync) {
    if is_worth_it && rayon::current_num_threads() > 1 {
        items.par_iter_mut().enumerate().for_each(|(i, item)| f(i, item));
    } else {
        items.iter_mut().enumerate().for_each(|(i, item)| f(i, item));
    }
}

/// Sums lanes by halves, a form that can be vectorized.
#[inline(always)]
fn joined<const W: usize>(lanes: &[f64; W]) -> f64 {
    let mut sums = [0.0; 4];
    for chunk in lanes.chunks_exact(4) {
        for lane in 0..4 {
            sums[lane] += chunk[lane];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3])
}

/// A block of targets, or of their curvatures, in fixed point.
struct Plane<T, const W: usize> {
    cells: Vec<[T; W]>,
    /// Units per 1 of each target, such that no sum overflows.
    scale: [f64; W],
    /// Number of nonzero values, and number of those that are coarse.
    n_numbers: usize,
    n_coarse: usize,
}

impl<T: Integer, const W: usize> Plane<T, W> {
    /// Codes W targets, starting with `first`, of rows of m values; returns `None` if a number is not finite.
    fn new(values: &[f32], m: usize, first: usize, weights: &[f32]) -> Option<Self> {
        let rows = || {
            weights.iter().zip(values.chunks_exact(m)).map(
                #[inline(always)]
                |(&weight, row)| (f64::from(weight), block_of::<W>(row, first)),
            )
        };
        let mut sums = [0.0; W];
        vectorized(
            #[inline(always)]
            || {
                for (weight, row) in rows() {
                    for lane in 0..W {
                        sums[lane] += used(weight * f64::from(row[lane]).abs(), weight);
                    }
                }
            },
        );
        if !sums.iter().all(|sum| sum.is_finite()) {
            return None;
        }
        // Rounding adds up to half a unit per row.
        let scale = sums.map(|sum| scale(sum, T::SUM_BITS - 1));
        let mut cells = vec![[T::ZERO; W]; weights.len()];
        let (mut n_numbers, mut n_coarse) = ([0_u64; W], [0_u64; W]);
        vectorized(
            #[inline(always)]
            || {
                for ((weight, row), cell) in rows().zip(&mut cells) {
                    for lane in 0..W {
                        let number = used(weight * f64::from(row[lane]), weight) * scale[lane];
                        n_numbers[lane] += u64::from(number != 0.0);
                        n_coarse[lane] += u64::from((number != 0.0) & (number.abs() < COARSE));
                        cell[lane] = T::nearest(number);
                    }
                }
            },
        );
        Some(Self {
            cells,
            scale,
            n_numbers: n_numbers.iter().sum::<u64>() as usize,
            n_coarse: n_coarse.iter().sum::<u64>() as usize,
        })
    }
}

/// Returns the values of a row starting with `first`, padded with zeros beyond its end.
#[inline(always)]
fn block_of<const W: usize>(row: &[f32], first: usize) -> [f32; W] {
    let rest = &row[first..];
    rest.first_chunk().copied().unwrap_or_else(|| {
        let mut block = [0.0; W];
        block[..rest.len()].copy_from_slice(rest);
        block
    })
}

impl<T: Integer, const W: usize> Sums for Vector<T, W> {
    const WIDTH: usize = W;
    type Histogram = Histogram<T, W>;
    type Total = Total<T, W>;
    type Gathered = Histogram<T, W>;
    type Buffer = Buffer<T, W>;

    fn accumulate(
        &self,
        features: &BinnedFeatures,
        rows: &[u32],
        gathered: &mut Self::Gathered,
        histogram: &mut Self::Histogram,
    ) -> Self::Total {
        let total = self.total(rows, gathered);
        let counts = gathered_of(&self.counts, rows, &gathered.counts);
        features.accumulate(rows, counts, &mut histogram.counts);
        histogram.planes.resize_with(self.planes.len(), Vec::new);
        let additions = rows.len() * features.n_features();
        let of_rows = &gathered.planes;
        self.each_plane(additions, &mut histogram.planes, |i, sums| {
            features.accumulate(rows, gathered_of(&self.planes[i], rows, &of_rows[i]), sums);
        });
        total
    }

    fn total(&self, rows: &[u32], gathered: &mut Self::Gathered) -> Self::Total {
        gathered.planes.resize_with(self.planes.len(), Vec::new);
        let mut planes = vec![[T::ZERO; W]; self.planes.len()];
        let of_planes = planes.iter_mut().zip(&mut gathered.planes);
        let mut of_planes: Vec<_> = of_planes.zip(&self.planes).collect();
        let is_worth_it = rows.len() * of_planes.len() * W >= WORTH_IT;
        for_each(is_worth_it, &mut of_planes, |_, ((total, gathered), plane)| {
            **total = sum(gather(plane, rows, gathered));
        });
        Total {
            counts: sum(gather(&self.counts, rows, &mut gathered.counts)),
            planes,
        }
    }

    fn accumulate_one(
        &self,
        features: &BinnedFeatures,
        feature: u32,
        rows: &[u32],
        gathered: &Self::Gathered,
        histogram: &mut Self::Histogram,
    ) {
        let counts = gathered_of(&self.counts, rows, &gathered.counts);
        features.accumulate_one(feature, rows, counts, &mut histogram.counts);
        histogram.planes.resize_with(self.planes.len(), Vec::new);
        self.each_plane(rows.len(), &mut histogram.planes, |i, sums| {
            let plane = gathered_of(&self.planes[i], rows, &gathered.planes[i]);
            features.accumulate_one(feature, rows, plane, sums);
        });
    }

    fn subtract(
        &self,
        features: &BinnedFeatures,
        parent: (&mut Self::Histogram, &mut Self::Total),
        child: (&Self::Histogram, &Self::Total),
    ) {
        parent.1.counts -= child.1.counts;
        let totals = parent.1.planes.iter_mut().zip(&child.1.planes);
        totals.for_each(|(parent, child)| parent.subtract(child));
        features.subtract(&mut parent.0.counts, &child.0.counts);
        self.each_plane(features.n_cells(), &mut parent.0.planes, |i, plane| {
            features.subtract(plane, &child.0.planes[i]);
        });
    }

    fn scan(
        &self,
        place: Place,
        histogram: &Self::Histogram,
        total: &Self::Total,
        limits: &Limits,
        buffer: &mut Self::Buffer,
    ) -> Scanned {
        let stored = place.start..place.start + place.n_stored();
        let counts = Observed::new(place, &histogram.counts[stored.clone()], total.counts);
        let Buffer {
            counts: up_to,
            bins,
            gradients,
            curvatures,
            right,
            left,
            scores,
        } = buffer;
        up_to.clear();
        bins.clear();
        let mut sums = 0;
        for bin in 0..place.n_bins {
            let cell = counts.bin(bin);
            if cell != 0 {
                sums += cell;
                up_to.push(sums);
                bins.push(bin as u16);
            }
        }
        let (k, missing) = (bins.len(), counts.missing);
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
        let sides = Sides {
            bins,
            n_up_to: |i: usize| self.code.decode(up_to[i]).0,
            n: all.0,
            n_missing: self.code.decode(missing).0,
        };
        choose(right, left, &sides)
    }

    fn group(&self, place: Place, histogram: &Self::Histogram, fewest: usize, groups: &mut Groups) -> f64 {
        let count = |bin: usize| self.code.decode(histogram.counts[place.start + bin]).0;
        let (n_blocks, lanes) = (self.lanes.len(), &self.lanes);
        // Lanes without a target have a unit of 0.
        let n_targets = lanes
            .iter()
            .flat_map(|of| of.unit)
            .filter(|unit| *unit != 0.0)
            .count();
        group(
            n_blocks * W,
            place,
            count,
            fewest,
            groups,
            |bin, (weight, sums)| {
                let cell = place.start + bin;
                for (block, sums) in sums.chunks_exact_mut(W).enumerate() {
                    let plane = &histogram.planes[block][cell];
                    for lane in 0..W {
                        sums[lane] += plane[lane].number() * lanes[block].unit[lane];
                    }
                }
                if !self.has_curvatures {
                    *weight += self.code.decode(histogram.counts[cell]).1;
                    return;
                }
                for (plane, of) in histogram.planes[n_blocks..].iter().zip(lanes) {
                    for lane in 0..W {
                        let h = plane[cell][lane].number() * of.curvature_unit[lane];
                        *weight += h / n_targets as f64;
                    }
                }
            },
        )
    }

    fn arrange(
        &self,
        place: Place,
        histogram: &Self::Histogram,
        order: &[u16],
        arranged: &mut Self::Histogram,
    ) {
        let stored = place.start..place.start + place.n_stored();
        arrange(&histogram.counts[stored.clone()], order, &mut arranged.counts);
        arranged.planes.resize_with(histogram.planes.len(), Vec::new);
        for (plane, arranged) in histogram.planes.iter().zip(&mut arranged.planes) {
            arrange(&plane[stored.clone()], order, arranged);
        }
    }

    fn divides(&self, sum: usize, histogram: &Self::Histogram, total: &Self::Total) -> bool {
        let count = histogram.counts[sum];
        count != 0 && count != total.counts
    }

    fn pick(&self, sums: &[u32], histogram: &Self::Histogram, picked: &mut Self::Histogram) {
        pick(sums, &histogram.counts, &mut picked.counts);
        picked.planes.resize_with(histogram.planes.len(), Vec::new);
        for (plane, picked) in histogram.planes.iter().zip(&mut picked.planes) {
            pick(sums, plane, picked);
        }
    }

    fn best_single(
        &self,
        singles: Range<usize>,
        histogram: &Self::Histogram,
        total: &Self::Total,
        limits: &Limits,
        buffer: &mut Self::Buffer,
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

    fn gain(&self, score: f64, total: &Self::Total) -> f64 {
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
                let penalty = LeafPenalty {
                    l1: lanes.l1[lane],
                    l2: lanes.l2[lane],
                };
                parent += penalty.score(g, h);
                squares += LeafPenalty { l2: 1.0, ..penalty }.score(g, 0.0);
            }
        }
        // With a common H, uses one division, as the scores do.
        score - self.common_l2.map_or(parent, |l2| squares / (h + l2))
    }
}

/// The sums of the bins of a feature.
struct Observed<'h, C> {
    stored: &'h [C],
    zero: Option<(usize, C)>,
    missing: C,
}

impl<'h, C: Cell> Observed<'h, C> {
    fn new(place: Place, stored: &'h [C], total: C) -> Self {
        let n_missing = usize::from(place.has_missing);
        Self {
            stored,
            zero: place.zero.map(|zero| (zero, zero_sums(stored, total))),
            missing: if n_missing == 0 {
                C::ZERO
            } else {
                stored[stored.len() - 1]
            },
        }
    }

    fn bin(&self, bin: usize) -> C {
        match &self.zero {
            Some((zero, sums)) if *zero == bin => *sums,
            Some((zero, _)) if *zero < bin => self.stored[bin - 1],
            _ => self.stored[bin],
        }
    }
}
