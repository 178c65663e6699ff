//! The search of a node of sparse features, of which only those are summed that its rows touch and that are searched: a
//! block of bins at a time, whose sums are scored before those of the next block take their place.

use super::found::{Found, better};
use super::jobs::{Job, join_parts};
use super::{Limits, Scanned, Single, Sums, first_single};
use crate::histogram::categories::{Scratch, Scratches};
use crate::histogram::features::BinnedFeatures;
use crate::histogram::scores::MOST;
use crate::histogram::touched::Touched;
use crate::splitter::candidates::RandomOrder;
use std::ops::Range;

/// Most bins in a block, unless one feature has more: their sums stay in the second-level cache.
const BLOCK: usize = MOST;

/// The rows of a node and the features to search.
pub(in crate::histogram) struct TouchedNode<'a, S: Sums> {
    pub(in crate::histogram) features: &'a BinnedFeatures,
    pub(in crate::histogram) sums: &'a S,
    pub(in crate::histogram) rows: &'a [u32],
    pub(in crate::histogram) gathered: &'a S::Gathered,
    pub(in crate::histogram) total: &'a S::Total,
    pub(in crate::histogram) limits: Limits,
    pub(in crate::histogram) touched: &'a Touched,
    /// In the order of the touched features, so that those with one sum come first.
    pub(in crate::histogram) searched: &'a [Offered],
    /// Order in which features win among equal scores; `None` for the order of the draw.
    pub(in crate::histogram) order: Option<RandomOrder>,
}

/// A touched feature that is searched.
#[derive(Debug, Clone, Copy)]
pub(in crate::histogram) struct Offered {
    /// Its position among those touched.
    pub(in crate::histogram) touched: u32,
    /// Its position in the draw.
    pub(in crate::histogram) drawn: u32,
}

/// The best splits of features that are not all constant.
#[derive(Default)]
struct Best {
    /// Of those with one sum, which are scored side by side.
    single: Option<Single>,
    other: Option<Found>,
}

impl<S: Sums> TouchedNode<'_, S> {
    fn rank(&self, offered: Offered) -> u64 {
        let feature = self.touched.feature(offered.touched as usize);
        self.order
            .map_or(u64::from(offered.drawn), |order| order.rank(feature).0)
    }

    fn best_of(&self, range: Range<usize>, scratch: &mut Scratch<S>) -> Option<Best> {
        let searched = &self.searched[range];
        let is_single = |offered: &Offered| self.touched.is_single(offered.touched as usize);
        let (singles, mut others) = searched.split_at(searched.partition_point(is_single));
        let mut best = None;
        for block in singles.chunks(BLOCK) {
            self.offer_singles(block, &mut best, scratch);
        }
        while !others.is_empty() {
            let mut n_bins = 0;
            let fits = |offered: &&Offered| {
                n_bins += self.touched.bins(offered.touched as usize).len();
                n_bins <= BLOCK
            };
            let n = others.iter().take_while(fits).count().max(1);
            let (block, rest) = others.split_at(n);
            self.offer_others(block, &mut best, scratch);
            others = rest;
        }
        best
    }

    /// Sums the touched bins of some features.
    fn sum(&self, block: &[Offered], scratch: &mut Scratch<S>) {
        let Scratch { bins, apart, .. } = scratch;
        bins.clear();
        for offered in block {
            bins.extend(self.touched.bins(offered.touched as usize).map(|bin| bin as u32));
        }
        self.sums
            .sum_touched(self.touched, bins, self.rows, self.gathered, apart);
    }

    fn offer_singles(&self, block: &[Offered], best: &mut Option<Best>, scratch: &mut Scratch<S>) {
        self.sum(block, scratch);
        let Scratch { apart, scan, .. } = scratch;
        let is_constant = |i: usize| !self.sums.divides(i, apart, self.total);
        if best.is_none() && (0..block.len()).all(is_constant) {
            return;
        }
        let (all, rank) = (0..block.len(), |i: usize| self.rank(block[i]));
        let found = self
            .sums
            .best_single(all, apart, self.total, &self.limits, scan, rank);
        let found = found.map(|(score, i)| (score, rank(i), block[i].touched as usize));
        let best = best.get_or_insert_default();
        best.single = first_single(best.single, found);
    }

    fn offer_others(&self, block: &[Offered], best: &mut Option<Best>, scratch: &mut Scratch<S>) {
        self.sum(block, scratch);
        let mut start = 0;
        for offered in block {
            let i = offered.touched as usize;
            let scanned = self.scan_at(i, start, scratch);
            start += self.touched.bins(i).len();
            if scanned != Scanned::Constant {
                let best = best.get_or_insert_default();
                best.other = better(best.other, self.found(i, self.rank(*offered), scanned));
            }
        }
    }

    /// Returns the best split of a touched feature whose sums start at `start`.
    fn scan_at(&self, i: usize, start: usize, scratch: &mut Scratch<S>) -> Scanned {
        let of_all = self.features.place(self.touched.feature(i));
        let place = self.touched.place(i, of_all, start);
        let Scratch { apart, scan, .. } = scratch;
        match self.sums.scan(place, apart, self.total, &self.limits, scan) {
            Scanned::Split(split) => Scanned::Split(self.touched.split(i, of_all, place, split)),
            none => none,
        }
    }

    fn found(&self, i: usize, order: u64, scanned: Scanned) -> Option<Found> {
        let Scanned::Split(split) = scanned else {
            return None;
        };
        let feature = self.touched.feature(i);
        Some(Found {
            feature,
            split,
            order,
        })
    }

    /// Returns the best split of a touched feature.
    fn scan(&self, i: usize, scratch: &mut Scratch<S>) -> Scanned {
        let alone = Offered {
            touched: i as u32,
            drawn: 0,
        };
        self.sum(&[alone], scratch);
        self.scan_at(i, 0, scratch)
    }

    /// Returns the split of the first feature that is not constant.
    pub(in crate::histogram) fn first_of(
        &self,
        mut features: impl Iterator<Item = u32>,
        scratch: &mut Scratch<S>,
    ) -> Option<Found> {
        features.find_map(|feature| {
            let i = self.touched.find(feature, self.features.place(feature))?;
            match self.scan(i, scratch) {
                Scanned::Constant => None,
                scanned => Some(self.found(i, 0, scanned)),
            }
        })?
    }
}

/// Returns the best split of each node among the features searched; `None` if all are constant.
pub(in crate::histogram) fn best_of_touched<S: Sums>(
    nodes: &[TouchedNode<'_, S>],
    scratches: &mut Scratches<S>,
) -> Vec<Option<Option<Found>>> {
    let job = |node: &TouchedNode<'_, S>| Job {
        n_features: node.searched.len(),
        work: node.touched.work() * S::WIDTH * node.searched.len() / node.touched.len().max(1),
    };
    let jobs: Vec<_> = nodes.iter().map(job).collect();
    let of_range = |i: usize, range, scratch: &mut Scratch<S>| nodes[i].best_of(range, scratch);
    let join = |a: Option<Best>, b: Option<Best>| match (a, b) {
        (Some(a), Some(b)) => Some(Best {
            single: first_single(a.single, b.single),
            other: better(a.other, b.other),
        }),
        (a, b) => a.or(b),
    };
    let found = join_parts(&jobs, scratches, of_range, join);
    let each = found.into_iter().zip(nodes);
    each.map(|(best, node)| {
        best.map(|Best { single, other }| {
            let single = single.and_then(|(_, rank, i)| node.found(i, rank, node.scan(i, scratches.one())));
            better(single, other)
        })
    })
    .collect()
}
