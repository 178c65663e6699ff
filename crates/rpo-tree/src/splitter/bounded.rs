//! Search for the best thresholds of the dense features of a node with many rows, using bounds.
//!
//! One pass over the rows gives the score of every split between two bins of a feature, and a
//! [bound](crate::criterion::SplitBounds) on the splits inside a bin. Values are sorted and swept only in bins that may
//! hold a split as good as the best one between bins of any feature: the split found is the same, bit for bit.

use super::collect::entries_where;
use super::order::RankSorter;
use super::sweep::{Entry, SplitCandidate, Threshold, is_admissible};
use crate::criterion::{Criterion, Equals, SplitBounds};
use crate::ranks::{DenseColumns, Ranks};
use rpo_core::vectorized;

/// Fewest rows of a node that is searched by bins.
const LEAST_ROWS: usize = 256;
/// Fewest rows of a node per bin on average, with at most 256 bins.
const ROWS_PER_BIN: usize = 8;

/// The features of a node that are searched by bins.
#[derive(Debug, Clone, Default)]
pub(super) struct BoundedSearch {
    features: Vec<u32>,
    bounds: Vec<SplitBounds>,
    shift: u32,
    /// Largest score of an admissible split found so far.
    best: f64,
    is_searched: Vec<bool>,
}

impl BoundedSearch {
    /// Computes bounds on the splits of a node along those features that have no missing values, unless the node has
    /// too few rows or the criterion has no bounds.
    pub(super) fn start(
        &mut self,
        columns: &DenseColumns,
        features: &[u32],
        rows: &[u32],
        min_leaf: usize,
        criterion: &mut impl Criterion,
    ) {
        self.features.clear();
        if rows.len() < LEAST_ROWS || !criterion.is_exact() {
            return;
        }
        let bins = features.iter().filter_map(|&f| Some((f, columns.bins(f)?)));
        let (features, bins): (Vec<u32>, Vec<&[u8]>) = bins.map(|(f, bins)| (f, &*bins.of_rows)).unzip();
        let n_bins = rows.len() / ROWS_PER_BIN;
        self.shift = 8_u32.saturating_sub(n_bins.ilog2());
        self.bounds
            .resize_with(self.bounds.len().max(bins.len()), SplitBounds::default);
        let bounds = &mut self.bounds[..bins.len()];
        if !criterion.bound(rows, &bins, self.shift, bounds) {
            return;
        }
        let ends = bounds.iter().flat_map(|bounds| {
            let ends = bounds.scores().iter().enumerate();
            ends.filter(|&(bin, _)| is_admissible(bounds.n_rows(bin), rows.len(), min_leaf))
        });
        self.best = ends.fold(f64::NEG_INFINITY, |best, (_, &score)| best.max(score));
        self.features = features;
    }

    /// Returns the index of a feature among those with bounds; `None` if it has to be searched whole because all its
    /// rows are in one bin.
    pub(super) fn place_of(&self, feature: u32) -> Option<usize> {
        let place = self.features.iter().position(|&f| f == feature)?;
        let bounds = &self.bounds[place];
        let n_rows = bounds.n_rows(bounds.scores().len() - 1);
        let mut bins = 0..bounds.scores().len();
        bins.any(|bin| ![0, n_rows].contains(&bounds.n_rows(bin)))
            .then_some(place)
    }

    /// Returns the best split along the feature at this index, if it may be as good as the best found so far.
    pub(super) fn best_split<E: Entry>(
        &mut self,
        columns: &DenseColumns,
        place: usize,
        rows: &[u32],
        min_leaf: usize,
        criterion: &mut impl Criterion,
        (entries, sorter): (&mut Vec<E>, &mut RankSorter<E>),
    ) -> Option<SplitCandidate> {
        let feature = self.features[place];
        let (_, ranks) = columns.ranks(feature);
        let (value_bins, bounds, shift) = (columns.bins(feature)?, &self.bounds[place], self.shift);
        let bin_of = |row: u32| usize::from(value_bins.of_rows[row as usize] >> shift);
        let best = self.best;
        let inside = bounds.inside().iter().enumerate();
        let may_hold = inside.map(|(bin, &inside)| inside >= best && !value_bins.has_one_value(bin, shift));
        self.is_searched.clear();
        self.is_searched.extend(may_hold);
        let is_searched = &self.is_searched;
        entries.clear();
        if is_searched.contains(&true) {
            vectorized(
                #[inline(always)]
                || {
                    let is_taken = |_, row: u32| is_searched[bin_of(row)];
                    entries_where(ranks, rows, is_taken, entries);
                    sorter.sort(entries);
                },
            );
        }
        let mut found: Option<(f64, Place)> = None;
        let keep = |found: &mut Option<(f64, Place)>, score: f64, place: Place| {
            if found.is_none_or(|(held, _)| score > held) {
                *found = Some((score, place));
            }
        };
        let mut end = 0;
        for bin in 0..bounds.scores().len() {
            let (n_before, n_up_to) = (bounds.n_rows_before(bin), bounds.n_rows(bin));
            if n_before == n_up_to {
                continue;
            }
            if is_searched[bin] {
                let own = end..end + n_up_to - n_before;
                end = own.end;
                let inside = &entries[own];
                let row = |i: usize| {
                    let is_apart = inside[i + 1].rank() != inside[i].rank();
                    let is_scored = is_apart && is_admissible(n_before + i + 1, rows.len(), min_leaf);
                    (inside[i].row(), is_scored)
                };
                criterion.move_before(bounds, bin);
                let best = vectorized(
                    #[inline(always)]
                    || criterion.best_of(inside.len() - 1, row, Equals::First),
                );
                if let Some((score, n)) = best {
                    let threshold = Threshold::Between(inside[n - 1].rank(), inside[n].rank());
                    keep(&mut found, score, Place::Inside(threshold, n_before + n));
                }
            }
            let score = bounds.scores()[bin];
            if score >= best && is_admissible(n_up_to, rows.len(), min_leaf) {
                keep(&mut found, score, Place::EndOf(bin));
            }
        }
        let (score, place) = found?;
        self.best = self.best.max(score);
        let (threshold, n_left) = match place {
            Place::Inside(threshold, n_left) => (threshold, n_left),
            Place::EndOf(bin) => {
                let is_left = |row: u32| bin_of(row) <= bin;
                (neighbours(ranks, rows, is_left), bounds.n_rows(bin))
            }
        };
        Some(SplitCandidate::new(score, threshold, None, n_left, rows.len()))
    }
}

/// The position of a split.
#[derive(Clone, Copy)]
enum Place {
    /// Inside a bin, with this number of rows left.
    Inside(Threshold, usize),
    EndOf(usize),
}

/// Returns the threshold between the rows that go left and the others.
fn neighbours(ranks: &Ranks, rows: &[u32], is_left: impl Fn(u32) -> bool) -> Threshold {
    let (mut low, mut high) = (0, u32::MAX);
    for &row in rows {
        let rank = ranks.get(row as usize);
        if is_left(row) {
            low = low.max(rank);
        } else {
            high = high.min(rank);
        }
    }
    Threshold::Between(low, high)
}
