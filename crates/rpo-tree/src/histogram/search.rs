//! The search of a node over its features.

use super::categories::Scratch;
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
    type Gathered: Default + Send;
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

/// Fewest numbers that are worth a second thread.
const WORTH_IT: usize = 1 << 14;

/// Features that a thread scans at a time.
const CHUNK: usize = 64;

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
    pub(super) fn best_of_all(&self, scratch: &mut Scratch<S>) -> Option<Found> {
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
        let threads = rayon::current_num_threads() > 1 && self.features.n_cells() * S::WIDTH >= WORTH_IT;
        let n = singles.len();
        let single = if threads {
            (0..n.div_ceil(CHUNK))
                .into_par_iter()
                .map_init(Scratch::default, |scratch, i| {
                    best_single(i * CHUNK..n.min((i + 1) * CHUNK), scratch)
                })
                .reduce(|| None, first)
        } else {
            best_single(0..n, scratch)
        };
        let single = single.and_then(|(_, i)| self.candidate(singles[i], scratch));
        let p = self.features.n_features();
        let scan = |range: Range<usize>, scratch: &mut Scratch<S>| {
            let mut best = None;
            // Features of one sum were scored above.
            for feature in range.filter(|&f| !self.features.is_single(f as u32)) {
                best = better(best, self.candidate(feature as u32, scratch));
            }
            best
        };
        let others = if singles.len() == p {
            None
        } else if threads {
            (0..p.div_ceil(CHUNK))
                .into_par_iter()
                .map_init(Scratch::default, |scratch, i| {
                    scan(i * CHUNK..p.min((i + 1) * CHUNK), scratch)
                })
                .reduce(|| None, better)
        } else {
            scan(0..p, scratch)
        };
        better(single, others)
    }

    /// The best split of some features, which come in random order or not; `None` if all are constant.
    pub(super) fn best_of(
        &self,
        features: &[u32],
        is_random: bool,
        scratch: &mut Scratch<S>,
    ) -> Option<Option<Found>> {
        let mut best = None;
        for (place, &feature) in features.iter().enumerate() {
            let order = if is_random {
                place as u64
            } else {
                self.order.rank(feature).0
            };
            best = offer(best, feature, order, self.scan(feature, scratch));
        }
        best
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
