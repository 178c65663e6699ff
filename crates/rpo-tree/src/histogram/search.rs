//! The search of a node over its features.

use super::WORTH_IT;
use super::categories::{Scratch, Scratches};
use super::features::{BinnedFeatures, Layout, Place};
use crate::categories::Groups;
use crate::splitter::candidates::RandomOrder;
use rayon::prelude::*;
use std::ops::Range;

/// Limits on admissible splits and on the ordering of categories.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// At least 1.
    pub(super) min_samples_leaf: usize,
    /// Smoothing of the means of ordered categories.
    pub(super) category_smoothing: f64,
    pub(super) min_category_count: usize,
}

/// The best split of a feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Split {
    pub(super) score: f64,
    /// The last bin on the left, and the next bin that holds a sample; `None` if that is the bin of missing values.
    pub(super) last: usize,
    pub(super) next: Option<usize>,
    pub(super) missing_left: bool,
}

/// Result of scanning a feature.
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
    /// Returns the number of samples up to and including the i-th bin.
    pub(super) n_up_to: F,
    /// Numbers of samples of the node, and of those whose value is missing.
    pub(super) n: f64,
    pub(super) n_missing: f64,
}

/// Chooses between the best splits with missing values on the right and on the left (each a score and the position of
/// the last bin on the left). Among equal scores the smaller threshold wins, then missing values on the right.
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
        // If the node has no missing value, missing values will follow the larger child.
        missing_left: if sides.n_missing > 0.0 {
            left_wins
        } else {
            2.0 * (sides.n_up_to)(i) > sides.n
        },
    })
}

/// Targets that are summed per bin, and the scores of splits.
pub(super) trait Sums: Sync {
    /// Approximate number of values per bin.
    const WIDTH: usize;
    /// Sums by bin for all features.
    type Histogram: Default + Send + Sync;
    /// Sums of a node.
    type Total: Clone + Send + Sync;
    /// Targets of the rows of a node side by side.
    type Gathered: Default + Send + Sync;
    /// Buffers of a scan, one per thread.
    type Buffer: Default + Send;

    /// Sums the rows of a node, per bin and in total.
    fn accumulate(
        &self,
        features: &BinnedFeatures,
        rows: &[u32],
        gathered: &mut Self::Gathered,
        histogram: &mut Self::Histogram,
    ) -> Self::Total;

    /// Sums the rows of a node in total, and keeps their targets for [`accumulate_one`](Self::accumulate_one).
    fn total(&self, rows: &[u32], gathered: &mut Self::Gathered) -> Self::Total;

    /// Sums the rows of a node per bin of one dense feature, into the front of the histogram.
    fn accumulate_one(
        &self,
        features: &BinnedFeatures,
        feature: u32,
        rows: &[u32],
        gathered: &Self::Gathered,
        histogram: &mut Self::Histogram,
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

/// The best split of a node so far; among equal scores the feature that comes first wins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    pub(super) feature: u32,
    pub(super) split: Split,
    /// Rank of the feature among those searched.
    order: u64,
}

/// Returns the best of the scores so far and of more scores, whose positions start at `start`; among equal scores the
/// first by `rank` wins.
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

/// The sums of a node and the limits on its splits.
pub(super) struct Node<'a, S: Sums> {
    pub(super) features: &'a BinnedFeatures,
    pub(super) sums: &'a S,
    pub(super) histogram: &'a S::Histogram,
    pub(super) total: &'a S::Total,
    pub(super) limits: Limits,
    /// The random order of all features.
    pub(super) order: RandomOrder,
}

/// Number of values whose scores take as long as all other work on a feature.
const PER_FEATURE: usize = 64;

/// Chunks of work per thread: several, as they are not equally large.
const PARTS: usize = 8;

/// The work of one node in a search of several: its number of features, and the number of values to score.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job {
    pub(super) n_features: usize,
    pub(super) work: usize,
}

impl Job {
    fn work(&self) -> usize {
        self.work + self.n_features * PER_FEATURE
    }
}

/// Searches the features of several nodes and joins the results per node. `of_range` gets the number of a node and a
/// range of its features; the ranges have about the same work and run in parallel if the total work is worth it.
///
/// Nodes are searched together because handing work over takes a good part of the time of one node.
pub(super) fn join_parts<S: Sums, T: Send>(
    jobs: &[Job],
    scratches: &mut Scratches<S>,
    of_range: impl Fn(usize, Range<usize>, &mut Scratch<S>) -> Option<T> + Sync,
    join: impl Fn(Option<T>, Option<T>) -> Option<T>,
) -> Vec<Option<T>> {
    let threads = rayon::current_num_threads();
    let work: usize = jobs.iter().map(Job::work).sum();
    if threads == 1 || work < WORTH_IT {
        let each = jobs.iter().enumerate();
        return each
            .map(|(i, job)| of_range(i, 0..job.n_features, scratches.one()))
            .collect();
    }
    let of_part = work.div_ceil(PARTS * threads);
    let ranges = jobs.iter().enumerate().flat_map(|(i, job)| {
        let n = job.n_features;
        let size = n.div_ceil(job.work().div_ceil(of_part).max(1)).max(1);
        (0..n)
            .step_by(size)
            .map(move |start| (i, start..n.min(start + size)))
    });
    let mut ranges: Vec<_> = ranges.collect();
    // Each thread takes neighbouring ranges: for all nodes, the features whose sums it computed, which are in its
    // cache.
    ranges.sort_by_key(|(_, range)| range.start);
    let parts = scratches.several(ranges.len()).par_iter_mut().zip(&ranges);
    let found: Vec<_> = parts
        .map(|(scratch, (i, range))| of_range(*i, range.clone(), scratch))
        .collect();
    let mut joined: Vec<_> = jobs.iter().map(|_| None).collect();
    for ((i, _), found) in ranges.into_iter().zip(found) {
        joined[i] = join(joined[i].take(), found);
    }
    joined
}

impl<S: Sums> Node<'_, S> {
    pub(super) fn scan(&self, feature: u32, scratch: &mut Scratch<S>) -> Scanned {
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

    /// Returns the largest score among features with one sum each; ties go to the first by rank.
    fn best_single(
        &self,
        singles: &[u32],
        range: Range<usize>,
        scratch: &mut Scratch<S>,
    ) -> Option<(f64, usize)> {
        let rank = |i: usize| self.order.rank(singles[i]).0;
        let buffer = &mut scratch.scan;
        self.sums
            .best_single(range, self.histogram, self.total, &self.limits, buffer, rank)
    }

    /// Returns the best split among a range of the drawn features, scoring those with one sum side by side; `None` if
    /// all are constant.
    pub(super) fn best_of_drawn(
        &self,
        drawn: &Drawn<'_>,
        range: Range<usize>,
        scratch: &mut Scratch<S>,
    ) -> Option<Option<Found>> {
        let mut best = None;
        let mut singles = std::mem::take(&mut scratch.singles);
        singles.clear();
        for place in range {
            let feature = drawn.features[place];
            match self.features.single(feature) {
                Some(sum) if self.sums.divides(sum, self.histogram, self.total) => {
                    singles.places.push(place);
                    singles.sums.push(sum as u32);
                }
                Some(_) => {}
                None => {
                    let scanned = self.scan(feature, scratch);
                    best = offer(best, feature, drawn.rank(place), scanned);
                }
            }
        }
        let places = &singles.places;
        if !places.is_empty() {
            best = best.or(Some(None));
            self.sums.pick(&singles.sums, self.histogram, &mut singles.picked);
            let (all, rank) = (0..places.len(), |i: usize| drawn.rank(places[i]));
            let (picked, buffer) = (&singles.picked, &mut scratch.scan);
            let first = self
                .sums
                .best_single(all, picked, self.total, &self.limits, buffer, rank);
            if let Some((_, i)) = first {
                let feature = drawn.features[places[i]];
                let scanned = self.scan(feature, scratch);
                best = offer(best, feature, rank(i), scanned);
            }
        }
        scratch.singles = singles;
        best
    }

    /// Returns the split of the first feature that is not constant.
    pub(super) fn first_of(
        &self,
        mut features: impl Iterator<Item = u32>,
        scratch: &mut Scratch<S>,
    ) -> Option<Found> {
        features.find_map(|feature| offer(None, feature, 0, self.scan(feature, scratch)))?
    }
}

/// Returns the best split of each node among all features; among equal scores the first in random order wins.
pub(super) fn best_of_all<S: Sums>(
    features: &BinnedFeatures,
    nodes: &[Node<'_, S>],
    scratches: &mut Scratches<S>,
) -> Vec<Option<Found>> {
    let singles = match &features.layout {
        Layout::Dense(_) => &[],
        Layout::Sparse(c) => c.singles(),
    };
    let jobs = |n_features| {
        let work = features.n_cells() * S::WIDTH;
        vec![Job { n_features, work }; nodes.len()]
    };
    let best_single = |i: usize, range: Range<usize>, scratch: &mut Scratch<S>| {
        let node = &nodes[i];
        let (score, place) = node.best_single(singles, range, scratch)?;
        Some((score, node.order.rank(singles[place]).0, place))
    };
    let first = |a: Option<Single>, b: Option<Single>| match (a, b) {
        (Some(a), Some(b)) => Some(if b.0 > a.0 || (b.0 == a.0 && b.1 < a.1) {
            b
        } else {
            a
        }),
        (a, b) => a.or(b),
    };
    let best = join_parts(&jobs(singles.len()), scratches, best_single, first);
    let of_singles = best
        .into_iter()
        .zip(nodes)
        .map(|(best, node)| best.and_then(|(.., place)| node.candidate(singles[place], scratches.one())));
    let of_singles = of_singles.collect();
    let p = features.n_features();
    if singles.len() == p {
        return of_singles;
    }
    let scan = |i: usize, range: Range<usize>, scratch: &mut Scratch<S>| {
        let mut best = None;
        // Features with one sum were scored above.
        for feature in range.filter(|&f| features.single(f as u32).is_none()) {
            best = better(best, nodes[i].candidate(feature as u32, scratch));
        }
        best
    };
    let others = join_parts(&jobs(p), scratches, scan, better);
    let both = of_singles.into_iter().zip(others);
    both.map(|(single, other)| better(single, other)).collect()
}

/// The score of a feature with one sum, its rank and its position.
type Single = (f64, u64, usize);

/// Returns the best split among the drawn features of each node, where `of_range` searches a range of them; `None` if
/// all are constant.
pub(super) fn best_offers<S: Sums>(
    nodes: &[Drawn<'_>],
    scratches: &mut Scratches<S>,
    of_range: impl Fn(usize, Range<usize>, &mut Scratch<S>) -> Option<Option<Found>> + Sync,
) -> Vec<Option<Option<Found>>> {
    let join = |a: Option<Option<Found>>, b: Option<Option<Found>>| match (a, b) {
        (Some(a), Some(b)) => Some(better(a, b)),
        (a, b) => a.or(b),
    };
    let jobs: Vec<_> = nodes.iter().map(Drawn::job).collect();
    join_parts(&jobs, scratches, of_range, join)
}

/// The drawn features of a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Drawn<'a> {
    pub(super) features: &'a [u32],
    /// Order in which features win among equal scores; `None` for the order of the draw.
    pub(super) order: Option<RandomOrder>,
    /// Number of values used by their scores.
    pub(super) work: usize,
}

impl Drawn<'_> {
    /// Returns the tie-breaking rank of the feature at a position of the draw: the smaller rank wins.
    pub(super) fn rank(&self, place: usize) -> u64 {
        self.order
            .map_or(place as u64, |order| order.rank(self.features[place]).0)
    }

    fn job(&self) -> Job {
        Job {
            n_features: self.features.len(),
            work: self.work,
        }
    }
}

/// Offers the result of scanning a feature; returns `None` as long as all are constant.
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
