//! Search inside one categorical feature: sums per category are [ordered](crate::categories) and scanned like numeric
//! bins.

use super::cell::{Cell, sum};
use super::features::{BinnedFeatures, Place};
use super::search::{Limits, Scanned, Sums};
use crate::categories::Groups;

/// Buffers of scans, one for each thread that scans.
pub(super) struct Scratches<S: Sums>(Vec<Scratch<S>>);

impl<S: Sums> Default for Scratches<S> {
    fn default() -> Self {
        Self(vec![Scratch::default()])
    }
}

impl<S: Sums> Scratches<S> {
    pub(super) fn one(&mut self) -> &mut Scratch<S> {
        &mut self.0[0]
    }

    pub(super) fn several(&mut self, n: usize) -> &mut [Scratch<S>] {
        self.0.resize_with(n.max(self.0.len()), Scratch::default);
        &mut self.0[..n]
    }
}

/// Buffers of a scan.
pub(super) struct Scratch<S: Sums> {
    pub(super) scan: S::Buffer,
    groups: Groups,
    /// The bins of a feature in order.
    order: Vec<u16>,
    /// The sums of the bins in that order, followed by the sum of the rest.
    arranged: S::Histogram,
    /// Sums of some features alone.
    pub(super) apart: S::Histogram,
    /// Touched bins that are summed.
    pub(super) bins: Vec<u32>,
    pub(super) singles: Singles<S>,
}

/// Drawn features that have one sum each.
pub(super) struct Singles<S: Sums> {
    /// Their positions in the draw.
    pub(super) places: Vec<usize>,
    /// Positions of their sums.
    pub(super) sums: Vec<u32>,
    /// Copies of these sums, one after the other.
    pub(super) picked: S::Histogram,
}

impl<S: Sums> Default for Singles<S> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            sums: Vec::new(),
            picked: S::Histogram::default(),
        }
    }
}

impl<S: Sums> Singles<S> {
    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.sums.clear();
    }
}

impl<S: Sums> Default for Scratch<S> {
    fn default() -> Self {
        Self {
            scan: S::Buffer::default(),
            groups: Groups::default(),
            order: Vec::new(),
            arranged: S::Histogram::default(),
            apart: S::Histogram::default(),
            bins: Vec::new(),
            singles: Singles::default(),
        }
    }
}

impl<S: Sums> Scratch<S> {
    /// Returns the best split of a feature whose sums are at a position of a histogram.
    pub(super) fn scan(
        &mut self,
        sums: &S,
        features: &BinnedFeatures,
        feature: u32,
        (place, histogram): (Place, &S::Histogram),
        total: &S::Total,
        limits: &Limits,
    ) -> Scanned {
        if !features.bins(feature).is_categorical {
            return sums.scan(place, histogram, total, limits, &mut self.scan);
        }
        self.order(sums, (place, histogram), limits);
        if self.order.is_empty() {
            return Scanned::Constant;
        }
        sums.arrange(place, histogram, &self.order, &mut self.arranged);
        let place = Place {
            start: 0,
            n_bins: self.order.len(),
            zero: None,
            has_missing: true,
        };
        sums.scan(place, &self.arranged, total, limits, &mut self.scan)
    }

    /// Computes the sums of some dense features [apart](Place::apart), from the rows of a node and their targets.
    pub(super) fn sum_apart(
        &mut self,
        sums: &S,
        features: &BinnedFeatures,
        chosen: &[u32],
        (rows, gathered): (&[u32], &S::Gathered),
    ) -> S::Histogram {
        let mut apart = std::mem::take(&mut self.apart);
        sums.accumulate_apart(features, chosen, rows, gathered, &mut apart);
        apart
    }

    /// Calls `each` with the best split of each of some dense features, whose sums are computed for them alone.
    pub(super) fn scan_apart(
        &mut self,
        sums: &S,
        features: &BinnedFeatures,
        chosen: &[u32],
        rows: (&[u32], &S::Gathered),
        (total, limits): (&S::Total, &Limits),
        mut each: impl FnMut(usize, Scanned),
    ) {
        let apart = self.sum_apart(sums, features, chosen, rows);
        for (i, &feature) in chosen.iter().enumerate() {
            let place = features.place(feature).apart(i);
            each(
                i,
                self.scan(sums, features, feature, (place, &apart), total, limits),
            );
        }
        self.apart = apart;
    }

    /// Returns the bins of a categorical feature in order; none if all samples are of one category or all belong to the
    /// rest.
    pub(super) fn order(
        &mut self,
        sums: &S,
        (place, histogram): (Place, &S::Histogram),
        limits: &Limits,
    ) -> &[u16] {
        self.order.clear();
        let n_rest = sums.group(place, histogram, limits.min_category_count, &mut self.groups);
        if self.groups.categories().len() + usize::from(n_rest > 0.0) > 1 {
            let order = self
                .groups
                .order(limits.category_smoothing, limits.min_samples_leaf);
            self.order.extend(order);
        }
        &self.order
    }
}

/// Copies the sums of some bins, in the given order, followed by the sum of all others.
pub(super) fn arrange<C: Cell>(stored: &[C], order: &[u16], arranged: &mut Vec<C>) {
    arranged.clear();
    arranged.extend(order.iter().map(|&bin| stored[usize::from(bin)]));
    let mut rest = sum(stored);
    rest.subtract(&sum(&*arranged));
    arranged.push(rest);
}

/// Starts groups of the bins of a feature that hold at least `fewest` samples, given the number of samples of each bin.
/// Returns the number of samples in the other bins, including missing values, and calls `add` with each nonempty bin
/// and its group.
pub(super) fn group(
    n_targets: usize,
    place: Place,
    count: impl Fn(usize) -> f64,
    fewest: usize,
    groups: &mut Groups,
    mut add: impl FnMut(usize, (&mut f64, &mut [f64])),
) -> f64 {
    let all = || (0..place.n_stored()).map(|bin| (bin, count(bin)));
    let is_listed = |bin: usize, n: f64| bin < place.n_bins && n >= fewest.max(1) as f64;
    let listed = all().filter(|&(bin, n)| is_listed(bin, n));
    let n_rest = all().filter(|&(bin, n)| !is_listed(bin, n)).map(|(_, n)| n).sum();
    groups.start(n_targets, listed.map(|(bin, n)| (bin as u16, n)), n_rest);
    let (mut next, rest) = (0, groups.categories().len());
    for (bin, n) in all().filter(|(_, n)| *n > 0.0) {
        if is_listed(bin, n) {
            add(bin, groups.group(next));
            next += 1;
        } else {
            add(bin, groups.group(rest));
        }
    }
    n_rest
}
