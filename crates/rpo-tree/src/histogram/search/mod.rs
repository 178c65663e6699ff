//! The search of a node over its features.

mod found;
mod jobs;
mod split;
mod sums;
mod touched;

pub(super) use found::{Found, first_of_best, offer};
pub(super) use split::{Limits, Scanned, Split, choose};
pub(super) use sums::Sums;
pub(super) use touched::{Offered, TouchedNode, best_of_touched};

use super::categories::{Scratch, Scratches};
use super::features::{BinnedFeatures, Layout};
use crate::splitter::candidates::RandomOrder;
use found::better;
use jobs::{Job, join_parts};
use std::ops::Range;

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
    let best = join_parts(&jobs(singles.len()), scratches, best_single, first_single);
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

/// Returns the larger of two scores of features with one sum; among equal scores the first by rank.
fn first_single(a: Option<Single>, b: Option<Single>) -> Option<Single> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if b.0 > a.0 || (b.0 == a.0 && b.1 < a.1) {
            b
        } else {
            a
        }),
        (a, b) => a.or(b),
    }
}

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
