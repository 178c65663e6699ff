//! Sums of several targets per bin, and their scores.
//!
//! Targets lie in planes of W lanes: a plane is summed like one target, with vector instructions across its lanes.
//! Numbers of samples and weights are summed once for all targets.

mod encode;
mod lanes;
mod observed;
mod scan;
mod scores;
mod terms;

use super::WORTH_IT;
use super::categories::{arrange, group};
use super::cell::{Cell, Integer, gather, gathered_of, pick, sum, sum_touched};
use super::features::{BinnedFeatures, Place};
use super::fixed::WeightCode;
use super::search::{Limits, Scanned, Sums};
use super::touched::Touched;
use crate::categories::Groups;
use crate::grow::threads;
use lanes::Lanes;
use rayon::prelude::*;
use scan::Buffer;
use std::ops::Range;

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

impl<T: Integer, const W: usize> Vector<T, W> {
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
    if is_worth_it && threads() > 1 {
        items.par_iter_mut().enumerate().for_each(|(i, item)| f(i, item));
    } else {
        items.iter_mut().enumerate().for_each(|(i, item)| f(i, item));
    }
}

impl<T: Integer, const W: usize> Sums for Vector<T, W> {
    const WIDTH: usize = W;
    // The sums of one feature nearly fill the first-level cache.
    const AT_ONCE: usize = 1;
    type Histogram = Histogram<T, W>;
    type Total = Total<T, W>;
    type Gathered = Histogram<T, W>;
    type Buffer = Buffer<T, W>;

    fn cell_bytes(&self) -> usize {
        size_of::<i64>() + self.planes.len() * size_of::<[T; W]>()
    }

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

    fn accumulate_apart(
        &self,
        features: &BinnedFeatures,
        chosen: &[u32],
        rows: &[u32],
        gathered: &Self::Gathered,
        sums: &mut Self::Histogram,
    ) {
        let counts = gathered_of(&self.counts, rows, &gathered.counts);
        let plane = |i: usize| gathered_of(&self.planes[i], rows, &gathered.planes[i]);
        sums.planes.resize_with(self.planes.len(), Vec::new);
        let Some((first, others)) = sums.planes.split_first_mut() else {
            return features.accumulate_apart(chosen, rows, counts, &mut sums.counts);
        };
        let both = (&mut sums.counts, first);
        features.accumulate_two(chosen, rows, (counts, plane(0)), both);
        self.each_plane(rows.len() * chosen.len(), others, |i, sums| {
            features.accumulate_apart(chosen, rows, plane(i + 1), sums);
        });
    }

    fn sum_touched(
        &self,
        touched: &Touched,
        bins: &[u32],
        rows: &[u32],
        gathered: &Self::Gathered,
        sums: &mut Self::Histogram,
    ) {
        let counts = gathered_of(&self.counts, rows, &gathered.counts);
        sum_touched(touched, bins, counts, &mut sums.counts);
        sums.planes.resize_with(self.planes.len(), Vec::new);
        let planes = self.planes.iter().zip(&gathered.planes).zip(&mut sums.planes);
        for ((plane, gathered), sums) in planes {
            sum_touched(touched, bins, gathered_of(plane, rows, gathered), sums);
        }
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
        self.scan_feature(place, histogram, total, limits, buffer)
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
        self.best_of_singles(singles, histogram, total, limits, buffer, rank)
    }

    fn gain(&self, score: f64, total: &Self::Total) -> f64 {
        self.gain_of(score, total)
    }
}
