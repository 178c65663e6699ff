//! The search of a node over its features.

use super::WORTH_IT;
use super::categories::{Scratch, Scratches};
use super::features::{BinnedFeatures, Layout, Place};
use crate::categories::Groups;
use crate::splitter::candidates::RandomOrder;
use rayon::prelude::*;
use std::ops::Range;

/// Which splits are admissible.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// At least 1.
    pub(super) min_samples_leaf: usize,
    /// Of categories that are ordered.
    pub(super) category_smoothing: f64,
    pub(super) min_category_count: usize,
}

/// The best split of a feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Split {
    pub(super) score: f64,
    /// The last bin on the left, and the next that holds a sample; `None` if that is the bin of missing values.
    pub(super) last: usize,
    pub(super) next: Option<usize>,
    pub(super) missing_left: bool,
}

/// What a feature offers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scanned {
    /// All samples of the node lie in one bin.
    Constant,
    /// No split is admissible.
    NoSplit,
    Split(Split),
}

/// The bins of a feature that hold an observed value of the node.
pub(super) struct Sides<'a, F> {
    pub(super) bins: &'a [u16],
    /// The number of samples up to the i-th of the bins.
    pub(super) n_up_to: F,
    /// Numbers of samples of the node, and of those whose value is missing.
    pub(super) n: f64,
    pub(super) n_missing: f64,
}

/// The better of the best splits with missing values on the right and on the left (each a score and the place of the last
/// bin on the left): of equal scores the smaller threshold, then missing values on the right.
pub(super) fn choose<F: Fn(usize) -> f64>(
    right: Option<(f64, usize)>,
    left: Option<(f64, usize)>,
    sides: &Sides<'_, F>,
) -> Scanned {
    let left_wins = match (right, left) {
        (Some((r, i)), Some((l, j))) => l > r || (l == r && j < i),
        (right, _) => right.is_none(),
    };
    let Some((score, i)) = (if left_wins { left } else { right }) else {
        return Scanned::NoSplit;
    };
    Scanned::Split(Split {
        score,
        last: usize::from(sides.bins[i]),
        next: sides.bins.get(i + 1).map(|&bin| usize::from(bin)),
        // What a node does not miss will follow the larger child.
        missing_left: if sides.n_missing > 0.0 {
            left_wins
        } else {
            2.0 * (sides.n_up_to)(i) > sides.n
        },
    })
}

/// Targets that are summed per bin, and the scores of splits.
pub(super) trait Sums: Sync {
    /// Numbers per bin, about.
    const WIDTH: usize;
    /// Sums by bin, of all features.
    type Histogram: Default + Send + Sync;
    /// Sums of a node.
    type Total: Clone + Send + Sync;
    /// Targets of the rows of a node side by side.
    type Gathered: Default + Send + Sync;
    /// Buffers of a scan, one per thread.
    type Buffer: Default + Send;

    /// Sums the rows of a node, per bin and altogether.
    fn accumulate(
        &self,
        features: &BinnedFeatures,
        rows: &[u32],
        gathered: &mut Self::Gathered,
        histogram: &mut Self::Histogram,
    ) -> Self::Total;

    /// Sums the rows of a node altogether, and keeps their targets for [`accumulate_one`](Self::accumulate_one).
    fn total(&self, rows: &[u32], gathered: &mut Self::Gathered) -> Self::Total;

    /// Sums the rows of a node per bin of one dense feature, in the front of the histogram.
    fn accumulate_one(
        &self,
        features: &BinnedFeatures,
        feature: u32,
        rows: &[u32],
        gathered: &Self::Gathered,
        histogram: &mut Self::Histogram,
    );

    /// Turns the sums of a parent into those of its other child.
    fn subtract(
        &self,
        features: &BinnedFeatures,
        parent: (&mut Self::Histogram, &mut Self::Total),
        child: (&Self::Histogram, &Self::Total),
    );

    /// The best split of a feature.
    fn scan(
        &self,
        place: Place,
        histogram: &Self::Histogram,
        total: &Self::Total,
        limits: &Limits,
        buffer: &mut Self::Buffer,
    ) -> Scanned;

    /// Takes the sums of the categories of a dense feature that hold so many samples; returns the number of all others.
    fn group(&self, place: Place, histogram: &Self::Histogram, fewest: usize, groups: &mut Groups) -> f64;

    /// Copies the sums of some bins of a dense feature, in their order, and those of all its others as of one, to the front
    /// of another histogram.
    fn arrange(
        &self,
        place: Place,
        histogram: &Self::Histogram,
        order: &[u16],
        arranged: &mut Self::Histogram,
    );

    /// The largest score among features of one stored bin each, and the first of that score by `rank`.
    fn best_single(
        &self,
        singles: Range<usize>,
        histogram: &Self::Histogram,
        total: &Self::Total,
        limits: &Limits,
        buffer: &mut Self::Buffer,
        rank: impl Fn(usize) -> u64,
    ) -> Option<(f64, usize)>;

    /// The gain of a split with this score.
    fn gain(&self, score: f64, total: &Self::Total) -> f64;
}

/// The best split of a node so far: of equal scores the feature that comes first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    pub(super) feature: u32,
    pub(super) split: Split,
    /// Place of the feature among those searched.
    order: u64,
}

/// The best of the scores so far and of some more, which start at a place: of equal ones the first by `rank`.
pub(super) fn first_of_best(
    best: Option<(f64, usize)>,
    scores: &[f64],
    start: usize,
    largest: Option<(f64, usize)>,
    rank: impl Fn(usize) -> u64,
) -> Option<(f64, usize)> {
    let Some((score, first)) = largest.filter(|(score, _)| best.is_none_or(|(b, _)| *score >= b)) else {
        return best;
    };
    let tied = (first..scores.len()).filter(|&i| scores[i] == score);
    let before = best.filter(|(b, _)| *b == score).map(|(_, i)| i);
    let places = before.into_iter().chain(tied.map(|i| start + i));
    places.min_by_key(|&i| rank(i)).map(|i| (score, i))
}

fn better(a: Option<Found>, b: Option<Found>) -> Option<Found> {
    let wins = |a: &Found, b: &Found| {
        a.split.score > b.split.score || (a.split.score == b.split.score && a.order < b.order)
    };
    match (a, b) {
        (Some(a), Some(b)) => Some(if wins(&b, &a) { b } else { a }),
        (a, b) => a.or(b),
    }
}

/// The sums of a node and what its splits must keep to.
pub(super) struct Node<'a, S: Sums> {
    pub(super) features: &'a BinnedFeatures,
    pub(super) sums: &'a S,
    pub(super) histogram: &'a S::Histogram,
    pub(super) total: &'a S::Total,
    pub(super) limits: Limits,
    /// The order of all features.
    pub(super) order: RandomOrder,
}

/// Numbers whose scores take as long as all else that a feature takes.
const PER_FEATURE: usize = 64;

/// Parts of the features for each thread.
const PARTS: usize = 2;

/// What features offer, given the work that they are (in numbers): of each of some ranges of them, joined, in parallel where
/// that is worth it.
pub(super) fn join_parts<S: Sums, T: Send>(
    n_features: usize,
    work: usize,
    scratches: &mut Scratches<S>,
    of_range: impl Fn(Range<usize>, &mut Scratch<S>) -> Option<T> + Sync,
    join: impl Fn(Option<T>, Option<T>) -> Option<T> + Sync + Send,
) -> Option<T> {
    let threads = rayon::current_num_threads();
    if threads == 1 || work + n_features * PER_FEATURE < WORTH_IT {
        return of_range(0..n_features, scratches.one());
    }
    let size = n_features.div_ceil(PARTS * threads).max(1);
    let parts = scratches.several(n_features.div_ceil(size));
    let parts = parts.par_iter_mut().enumerate();
    parts
        .map(|(i, scratch)| of_range(i * size..n_features.min((i + 1) * size), scratch))
        .reduce(|| None, join)
}

impl<S: Sums> Node<'_, S> {
    fn scan(&self, feature: u32, scratch: &mut Scratch<S>) -> Scanned {
        let sums = (self.features.place(feature), self.histogram);
        scratch.scan(self.sums, self.features, feature, sums, self.total, &self.limits)
    }

    fn candidate(&self, feature: u32, scratch: &mut Scratch<S>) -> Option<Found> {
        match self.scan(feature, scratch) {
            Scanned::Split(split) => Some(Found {
                feature,
                split,
                order: self.order.rank(feature).0,
            }),
            Scanned::Constant | Scanned::NoSplit => None,
        }
    }

    /// The best split of all features, of equal scores the first in random order.
    pub(super) fn best_of_all(&self, scratches: &mut Scratches<S>) -> Option<Found> {
        let singles = match &self.features.layout {
            Layout::Dense(_) => &[],
            Layout::Sparse(c) => c.singles(),
        };
        let rank = |i: usize| self.order.rank(singles[i]).0;
        let best_single = |range: Range<usize>, scratch: &mut Scratch<S>| {
            self.sums.best_single(
                range,
                self.histogram,
                self.total,
                &self.limits,
                &mut scratch.scan,
                rank,
            )
        };
        // Of equal scores the first.
        let first = |a: Option<(f64, usize)>, b: Option<(f64, usize)>| match (a, b) {
            (Some(a), Some(b)) => Some(if b.0 > a.0 || (b.0 == a.0 && rank(b.1) < rank(a.1)) {
                b
            } else {
                a
            }),
            (a, b) => a.or(b),
        };
        let work = self.features.n_cells() * S::WIDTH;
        let single = join_parts(singles.len(), work, scratches, best_single, first);
        let single = single.and_then(|(_, i)| self.candidate(singles[i], scratches.one()));
        let p = self.features.n_features();
        if singles.len() == p {
            return single;
        }
        let scan = |range: Range<usize>, scratch: &mut Scratch<S>| {
            let mut best = None;
            // Features of one sum were scored above.
            for feature in range.filter(|&f| !self.features.is_single(f as u32)) {
                best = better(best, self.candidate(feature as u32, scratch));
            }
            best
        };
        better(single, join_parts(p, work, scratches, scan, better))
    }

    /// The best split of some features, which come in random order or not; `None` if all are constant.
    pub(super) fn best_of(
        &self,
        features: &[u32],
        is_random: bool,
        scratches: &mut Scratches<S>,
    ) -> Option<Option<Found>> {
        let work = self.features.n_cells() / self.features.n_features() * features.len() * S::WIDTH;
        let order = (!is_random).then_some(self.order);
        best_offer(features, order, work, scratches, |feature, scratch| {
            self.scan(feature, scratch)
        })
    }

    /// The split of the first feature that is not constant.
    pub(super) fn first_of(
        &self,
        mut features: impl Iterator<Item = u32>,
        scratch: &mut Scratch<S>,
    ) -> Option<Found> {
        features.find_map(|feature| offer(None, feature, 0, self.scan(feature, scratch)))?
    }
}

/// The best of what some features offer, which come in their order or in another one, given the work that they are; `None` if
/// all are constant.
pub(super) fn best_offer<S: Sums>(
    features: &[u32],
    order: Option<RandomOrder>,
    work: usize,
    scratches: &mut Scratches<S>,
    scan: impl Fn(u32, &mut Scratch<S>) -> Scanned + Sync,
) -> Option<Option<Found>> {
    let of_range = |range: Range<usize>, scratch: &mut Scratch<S>| {
        let mut best = None;
        for place in range {
            let feature = features[place];
            let order = order.map_or(place as u64, |order| order.rank(feature).0);
            best = offer(best, feature, order, scan(feature, scratch));
        }
        best
    };
    let join = |a: Option<Option<Found>>, b: Option<Option<Found>>| match (a, b) {
        (Some(a), Some(b)) => Some(better(a, b)),
        (a, b) => a.or(b),
    };
    join_parts(features.len(), work, scratches, of_range, join)
}

/// Takes in what a feature offers; `None` as long as all are constant.
pub(super) fn offer(
    best: Option<Option<Found>>,
    feature: u32,
    order: u64,
    scanned: Scanned,
) -> Option<Option<Found>> {
    match scanned {
        Scanned::Constant => best,
        Scanned::NoSplit => best.or(Some(None)),
        Scanned::Split(split) => Some(better(
            best.flatten(),
            Some(Found {
                feature,
                split,
                order,
            }),
        )),
    }
}
