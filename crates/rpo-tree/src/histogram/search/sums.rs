//! What a search needs of the sums per bin.

use super::{Limits, Scanned};
use crate::categories::Groups;
use crate::histogram::features::{BinnedFeatures, Place};
use crate::histogram::touched::Touched;
use std::ops::Range;

/// Targets that are summed per bin, and the scores of splits.
pub(in crate::histogram) trait Sums: Sync {
    /// Approximate number of values per bin.
    const WIDTH: usize;
    /// Number of features that are summed [apart](Self::accumulate_apart) in one pass.
    const AT_ONCE: usize;
    /// Sums by bin for all features.
    type Histogram: Default + Send + Sync;
    /// Sums of a node.
    type Total: Clone + Send + Sync;
    /// Targets of the rows of a node side by side.
    type Gathered: Default + Send + Sync;
    /// Buffers of a scan, one per thread.
    type Buffer: Default + Send;

    /// Number of bytes of the sums of a bin.
    fn cell_bytes(&self) -> usize;

    /// Sums the rows of a node, per bin and in total.
    fn accumulate(
        &self,
        features: &BinnedFeatures,
        rows: &[u32],
        gathered: &mut Self::Gathered,
        histogram: &mut Self::Histogram,
    ) -> Self::Total;

    /// Sums the rows of a node in total, and keeps their targets for
    /// [`accumulate_apart`](Self::accumulate_apart) and [`sum_touched`](Self::sum_touched).
    fn total(&self, rows: &[u32], gathered: &mut Self::Gathered) -> Self::Total;

    /// Sums the rows of a node per bin of up to [`AT_ONCE`](Self::AT_ONCE) dense features, each at its place
    /// [apart](Place::apart) from the others.
    fn accumulate_apart(
        &self,
        features: &BinnedFeatures,
        chosen: &[u32],
        rows: &[u32],
        gathered: &Self::Gathered,
        sums: &mut Self::Histogram,
    );

    /// Sums the rows of a node in some of the bins that they touch, one bin after the other.
    fn sum_touched(
        &self,
        touched: &Touched,
        bins: &[u32],
        rows: &[u32],
        gathered: &Self::Gathered,
        sums: &mut Self::Histogram,
    );

    /// Turns the sums of a parent into those of its other child by subtracting `child`.
    fn subtract(
        &self,
        features: &BinnedFeatures,
        parent: (&mut Self::Histogram, &mut Self::Total),
        child: (&Self::Histogram, &Self::Total),
    );

    /// Returns the best split of a feature.
    fn scan(
        &self,
        place: Place,
        histogram: &Self::Histogram,
        total: &Self::Total,
        limits: &Limits,
        buffer: &mut Self::Buffer,
    ) -> Scanned;

    /// Adds the sums of the categories of a dense feature that hold at least `fewest` samples to groups; returns the
    /// number of samples in all others.
    fn group(&self, place: Place, histogram: &Self::Histogram, fewest: usize, groups: &mut Groups) -> f64;

    /// Copies the sums of some bins of a dense feature, in the given order, to the front of another histogram, followed
    /// by the sum of all its other bins.
    fn arrange(
        &self,
        place: Place,
        histogram: &Self::Histogram,
        order: &[u16],
        arranged: &mut Self::Histogram,
    );

    /// Returns whether a sum covers some but not all of the samples of a node.
    fn divides(&self, sum: usize, histogram: &Self::Histogram, total: &Self::Total) -> bool;

    /// Copies some sums to the front of another histogram.
    fn pick(&self, sums: &[u32], histogram: &Self::Histogram, picked: &mut Self::Histogram);

    /// Returns the largest score among features with one stored bin each, and the first feature of that score by
    /// `rank`.
    fn best_single(
        &self,
        singles: Range<usize>,
        histogram: &Self::Histogram,
        total: &Self::Total,
        limits: &Limits,
        buffer: &mut Self::Buffer,
        rank: impl Fn(usize) -> u64,
    ) -> Option<(f64, usize)>;

    /// Returns the gain of a split with this score.
    fn gain(&self, score: f64, total: &Self::Total) -> f64;
}
