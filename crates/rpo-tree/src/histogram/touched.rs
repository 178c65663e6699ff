//! The stored bins of sparse features that the rows of a node touch.
//!
//! Rows that have few values touch few of the bins, each of which holds few of them. They are listed bin by bin, so that
//! only these bins are summed, a few at a time, and nothing is spent on the others. Bins of a feature that are not
//! touched are left out: what is numbered here is the rank of a bin among those touched and that of zero.

use super::features::Place;
use super::search::Split;
use super::sparse::SparseBins;
use std::ops::Range;

/// The touched bins of a node.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// Positions of the touched bins, increasing: features with one sum come first.
    cells: Vec<u32>,
    /// Start of the rows of each, followed by the end.
    starts: Vec<u32>,
    /// Rows, numbered in the node.
    rows: Vec<u32>,
    features: Vec<Of>,
    n_singles: usize,
}

/// A touched feature.
#[derive(Debug, Clone, Copy)]
struct Of {
    feature: u32,
    /// Its first touched bin; the others follow.
    first: u32,
}

/// A node that touches at least one in this many bins lists them by reading the numbers of all rather than by sorting
/// those that it met.
const READ_ALL: usize = 16;

impl Touched {
    /// Lists what rows touch. `counts` is all 0 before and after.
    pub(super) fn list(&mut self, bins: &SparseBins, rows: &[u32], counts: &mut Vec<u32>) {
        let n_cells = bins.n_cells();
        counts.resize(n_cells, 0);
        self.cells.clear();
        let mut n_entries = 0;
        for &row in rows {
            bins.for_each_cell(row, |cell| {
                if counts[cell] == 0 {
                    self.cells.push(cell as u32);
                }
                counts[cell] += 1;
                n_entries += 1;
            });
        }
        if self.cells.len() < n_cells / READ_ALL {
            self.cells.sort_unstable();
        } else {
            self.cells.clear();
            let is_touched = |cell: &u32| counts[*cell as usize] > 0;
            self.cells.extend((0..n_cells as u32).filter(is_touched));
        }
        self.starts.clear();
        let mut start = 0;
        for &cell in &self.cells {
            self.starts.push(start);
            start += std::mem::replace(&mut counts[cell as usize], start);
        }
        self.starts.push(start);
        self.rows.clear();
        self.rows.resize(n_entries, 0);
        for (i, &row) in rows.iter().enumerate() {
            bins.for_each_cell(row, |cell| {
                self.rows[counts[cell] as usize] = i as u32;
                counts[cell] += 1;
            });
        }
        self.cells.iter().for_each(|&cell| counts[cell as usize] = 0);
        self.list_features(bins);
    }

    fn list_features(&mut self, bins: &SparseBins) {
        self.features.clear();
        for (i, &cell) in self.cells.iter().enumerate() {
            let feature = bins.feature_of(cell);
            if self.features.last().is_none_or(|last| last.feature != feature) {
                self.features.push(Of {
                    feature,
                    first: i as u32,
                });
            }
        }
        let n_singles = bins.singles().len() as u32;
        self.n_singles = self.cells.partition_point(|&cell| cell < n_singles);
    }

    /// Number of touched features.
    pub(super) fn len(&self) -> usize {
        self.features.len()
    }

    /// Returns true if a touched feature has one sum in all. These come first.
    pub(super) fn is_single(&self, i: usize) -> bool {
        i < self.n_singles
    }

    /// Number of entries of the rows and of touched bins.
    pub(super) fn work(&self) -> usize {
        self.rows.len() + self.cells.len()
    }

    /// Returns a touched feature.
    pub(super) fn feature(&self, i: usize) -> u32 {
        self.features[i].feature
    }

    /// Returns the position of a feature among those touched.
    pub(super) fn find(&self, feature: u32, place: Place) -> Option<usize> {
        let end = place.start + place.n_stored();
        let first = self.cells.partition_point(|&cell| (cell as usize) < place.start);
        let is_touched = self.cells.get(first).is_some_and(|&cell| (cell as usize) < end);
        let i = self.features.partition_point(|of| (of.first as usize) < first);
        is_touched.then(|| {
            debug_assert_eq!(self.feature(i), feature);
            i
        })
    }

    /// Returns the touched bins of a feature.
    pub(super) fn bins(&self, i: usize) -> Range<usize> {
        let end = self
            .features
            .get(i + 1)
            .map_or(self.cells.len(), |of| of.first as usize);
        self.features[i].first as usize..end
    }

    /// Returns the rows in a touched bin.
    pub(super) fn rows(&self, bin: usize) -> &[u32] {
        &self.rows[self.starts[bin] as usize..self.starts[bin + 1] as usize]
    }

    /// Returns the place of a feature whose touched bins alone have sums, starting at `start`.
    pub(super) fn place(&self, i: usize, of_all: Place, start: usize) -> Place {
        let bins = &self.cells[self.bins(i)];
        let stored = |cell: u32| cell as usize - of_all.start;
        let n_observed = of_all.n_bins - usize::from(of_all.zero.is_some());
        let has_missing = bins.last().is_some_and(|&cell| stored(cell) == n_observed);
        let n_touched = bins.len() - usize::from(has_missing);
        Place {
            start,
            n_bins: n_touched + usize::from(of_all.zero.is_some()),
            zero: of_all
                .zero
                .map(|zero| bins[..n_touched].partition_point(|&cell| stored(cell) < zero)),
            has_missing,
        }
    }

    /// Returns a split with its bins numbered among all of the feature, given the places among all and among those
    /// touched.
    pub(super) fn split(&self, i: usize, of_all: Place, place: Place, split: Split) -> Split {
        let cells = &self.cells[self.bins(i)];
        let bin = |bin: usize| match (place.zero, of_all.zero) {
            (Some(zero), Some(of_all)) if bin == zero => of_all,
            (Some(zero), Some(of_all_zero)) => {
                let stored = cells[bin - usize::from(bin > zero)] as usize - of_all.start;
                stored + usize::from(stored >= of_all_zero)
            }
            _ => cells[bin] as usize - of_all.start,
        };
        Split {
            last: bin(split.last),
            next: split.next.map(bin),
            ..split
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::cell::sum_touched;
    use crate::histogram::features::{BinnedFeatures, Layout};
    use ndarray::Array2;
    use proptest::prelude::*;
    use rpo_core::MatrixView;

    proptest! {
        #[test]
        fn sums_are_those_of_the_histogram(
            values in prop::collection::vec(prop_oneof![4 => Just(0), 2 => -3_i8..9, 1 => Just(i8::MAX)], 30 * 40),
            // Few rows touch few of the bins.
            every in 1_usize..20,
            max_bins in 2_usize..12,
        ) {
            let x = Array2::from_shape_fn((30, 40), |(i, j)| match values[40 * i + j] {
                i8::MAX => f32::NAN,
                value => f32::from(value),
            });
            let csr = MatrixView::from(&x).to_csr();
            let features = BinnedFeatures::new(MatrixView::Sparse(csr.view()), max_bins, &[]).unwrap();
            let Layout::Sparse(bins) = &features.layout else { panic!("sparse") };
            let (mut touched, mut counts) = (Touched::default(), Vec::new());
            for first in 0..2 {
                let rows: Vec<u32> = (first..30).step_by(every).collect();
                let cells: Vec<i64> = rows.iter().map(|&row| 1 + i64::from(row)).collect();
                let mut histogram = Vec::new();
                features.accumulate(&rows, &cells, &mut histogram);
                touched.list(bins, &rows, &mut counts);
                prop_assert!(counts.iter().all(|&count| count == 0));
                let (all, mut sums): (Vec<u32>, _) = ((0..touched.cells.len() as u32).collect(), Vec::new());
                sum_touched(&touched, &all, &cells, &mut sums);
                let positions = (0..histogram.len()).filter(|&cell| histogram[cell] != 0);
                let expected: Vec<_> = positions.map(|cell| (cell as u32, histogram[cell])).collect();
                let found: Vec<_> = touched.cells.iter().copied().zip(sums).collect();
                prop_assert_eq!(found, expected);
                for feature in 0..40 {
                    let place = features.place(feature);
                    let is_touched = |cell: usize| histogram[cell] != 0;
                    let i = touched.find(feature, place);
                    prop_assert_eq!(i.is_some(), (place.start..place.start + place.n_stored()).any(is_touched));
                    if let Some(i) = i {
                        prop_assert_eq!((touched.feature(i), touched.is_single(i)), (feature, features.single(feature).is_some()));
                    }
                }
            }
        }
    }
}
