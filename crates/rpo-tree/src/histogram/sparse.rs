//! Bins of sparse features.
//!
//! Only values outside the bin of zero are kept, by row for sums and by bin for routing; the sums of the bin of zero
//! are the node's minus all others. Features that have one bin besides that of zero, as all binary features do, have
//! their bins first, so that they are scored side by side.

use super::WORTH_IT;
use super::bins::{BinLimit, FeatureBins};
use super::cell::{Cell, sum};
use super::features::{Place, Rows, Side, add_in_parts};
use super::row_cells::RowCells;
use crate::TreeError;
use crate::categories::count_distinct;
use crate::grow::threads;
use crate::ranks::sortable;
use rayon::prelude::*;
use rpo_core::{CsrView, csr_row};
use std::ops::Range;

#[derive(Debug, Clone)]
pub(super) struct SparseBins {
    bins: Vec<FeatureBins>,
    /// By feature. Stored separately from the bins and compactly, as a search visits many features in no order, most of
    /// them constant.
    places: Vec<SmallPlace>,
    /// The features of the first sums, which have one sum each.
    singles: Vec<u32>,
    n_cells: usize,
    /// The feature of each position.
    cell_feature: Vec<u32>,
    by_row: RowCells,
    cell_start: Vec<usize>,
    /// The rows of each position, increasing.
    cell_rows: Vec<u32>,
}

/// A [`Place`] in 12 bytes.
#[derive(Debug, Clone, Copy)]
struct SmallPlace {
    start: u32,
    n_bins: u16,
    zero: Option<u16>,
    has_missing: bool,
}

impl From<SmallPlace> for Place {
    #[inline]
    fn from(place: SmallPlace) -> Self {
        Self {
            start: place.start as usize,
            n_bins: usize::from(place.n_bins),
            zero: place.zero.map(usize::from),
            has_missing: place.has_missing,
        }
    }
}

impl SparseBins {
    pub(super) fn new(x: CsrView<'_>, limit: BinLimit) -> Result<Self, TreeError> {
        let (n, p) = x.shape();
        if x.nnz() > u32::MAX as usize {
            return Err(TreeError::TooLarge {
                what: "the number of stored feature values",
                given: x.nnz(),
                limit: u32::MAX as usize,
            });
        }
        let by_feature = x.transpose_view().to_csr();
        let by_feature = by_feature.view();
        let bins: Vec<FeatureBins> = (0..p)
            .into_par_iter()
            .map(|feature| code(csr_row(&by_feature, feature).1, n, limit))
            .collect();
        // There are at most 256 bins, and at most as many stored sums as stored values.
        let place = |bins: &FeatureBins| SmallPlace {
            start: 0,
            n_bins: bins.len() as u16,
            zero: bins.zero().map(|zero| zero as u16),
            has_missing: bins.has_missing,
        };
        let mut places: Vec<SmallPlace> = bins.iter().map(place).collect();
        // Features with one sum come first.
        let mut n_cells = 0;
        let (mut singles, mut cell_feature) = (Vec::new(), Vec::new());
        for of_singles in [true, false] {
            for (number, place) in places.iter_mut().enumerate() {
                let stored = Place::from(*place).n_stored();
                let is_single = stored == 1 && place.zero.is_some();
                if is_single == of_singles {
                    place.start = n_cells as u32;
                    n_cells += stored;
                    cell_feature.resize(n_cells, number as u32);
                }
                if is_single && of_singles {
                    singles.push(number as u32);
                }
            }
        }
        let (mut row_start, mut row_cells) = (vec![0], Vec::new());
        for row in 0..n {
            let (columns, values) = csr_row(&x, row);
            let stored = columns.iter().zip(values).filter_map(|(&feature, &value)| {
                let feature = feature as usize;
                cell(&bins[feature], places[feature].into(), value)
            });
            row_cells.extend(stored);
            row_start.push(row_cells.len());
        }
        let (cell_start, cell_rows) = by_cell(&row_start, &row_cells, n_cells);
        Ok(Self {
            bins,
            places,
            singles,
            n_cells,
            cell_feature,
            by_row: RowCells::new(row_start, row_cells, n_cells),
            cell_start,
            cell_rows,
        })
    }

    pub(super) fn n_features(&self) -> usize {
        self.bins.len()
    }

    pub(super) fn bins(&self, feature: u32) -> &FeatureBins {
        &self.bins[feature as usize]
    }

    pub(super) fn place(&self, feature: u32) -> Place {
        self.places[feature as usize].into()
    }

    pub(super) fn n_cells(&self) -> usize {
        self.n_cells
    }

    /// Returns the average number of stored values of a row.
    pub(super) fn per_row(&self) -> usize {
        self.by_row.per_row()
    }

    /// Returns the features whose sums come first, one each.
    pub(super) fn singles(&self) -> &[u32] {
        &self.singles
    }

    /// Returns the feature of a position.
    pub(super) fn feature_of(&self, cell: u32) -> u32 {
        self.cell_feature[cell as usize]
    }

    /// Returns the number of stored values of some rows.
    pub(super) fn n_entries(&self, rows: &[u32]) -> usize {
        self.by_row.n_entries(rows)
    }

    /// Calls `f` with the position of each stored value of a row.
    #[inline]
    pub(super) fn for_each_cell(&self, row: u32, f: impl FnMut(usize)) {
        self.by_row.for_each(row, f);
    }

    /// Adds the cells of rows (one per row, in their order) per bin; chunks of rows are summed in parallel and their
    /// sums added.
    pub(super) fn add<C: Cell>(&self, rows: Rows<'_>, cells: &[C], histogram: &mut [C]) {
        let additions = self.per_row() * cells.len();
        let threads = threads();
        if threads == 1 || additions < WORTH_IT.max(threads * self.n_cells) {
            self.by_row.add(rows, cells, histogram);
            return;
        }
        add_in_parts(rows, cells, histogram, |rows, cells, sums| {
            self.by_row.add(rows, cells, sums);
        });
    }

    /// Returns whether zero goes left, and the rows that go to the side opposite to zero: those of other values, and
    /// those where the value is missing.
    pub(super) fn moved(&self, feature: u32, side: Side) -> (bool, [&[u32]; 2]) {
        let Place {
            start,
            n_bins,
            zero,
            has_missing,
        } = self.place(feature);
        let zero_left = zero.is_some_and(|zero| zero <= side.last);
        let n_stored = n_bins - usize::from(zero.is_some());
        let n_left = if zero_left {
            side.last
        } else {
            (side.last + 1).min(n_stored)
        };
        let moved = if zero_left { n_left..n_stored } else { 0..n_left };
        let is_missing_moved = has_missing && side.missing_left != zero_left;
        let missing = n_stored..n_stored + usize::from(is_missing_moved);
        let rows = |places: Range<usize>| self.rows_of_cells(start + places.start..start + places.end);
        (zero_left, [moved, missing].map(rows))
    }

    /// Returns the rows in a bin other than that of zero.
    pub(super) fn rows_of_bin(&self, feature: u32, bin: usize) -> &[u32] {
        let Place { start, zero, .. } = self.place(feature);
        let cell = start + stored_place(bin, zero);
        self.rows_of_cells(cell..cell + 1)
    }

    fn rows_of_cells(&self, cells: Range<usize>) -> &[u32] {
        &self.cell_rows[self.cell_start[cells.start]..self.cell_start[cells.end]]
    }

    pub(super) fn route(
        &self,
        feature: u32,
        side: Side,
        rows: &[u32],
        marks: &mut [u8],
        children: &mut [u16],
    ) {
        let (zero_left, moved) = self.moved(feature, side);
        let set = |marks: &mut [u8], mark| {
            for rows in moved {
                rows.iter().for_each(|&row| marks[row as usize] = mark);
            }
        };
        set(marks, 1);
        for (child, &row) in children.iter_mut().zip(rows) {
            *child = u16::from((marks[row as usize] != 0) == zero_left);
        }
        set(marks, 0);
    }
}

/// Sorts the rows by position, given the positions row by row; returns the start of each position, followed by the end,
/// and the rows.
fn by_cell(row_start: &[usize], row_cells: &[u32], n_cells: usize) -> (Vec<usize>, Vec<u32>) {
    let mut cell_start = vec![0; n_cells + 1];
    for &cell in row_cells {
        cell_start[cell as usize + 1] += 1;
    }
    for cell in 0..n_cells {
        cell_start[cell + 1] += cell_start[cell];
    }
    let (mut next, mut cell_rows) = (cell_start.clone(), vec![0; row_cells.len()]);
    for (row, of_row) in row_start.windows(2).enumerate() {
        for &cell in &row_cells[of_row[0]..of_row[1]] {
            let place = &mut next[cell as usize];
            cell_rows[*place] = row as u32;
            *place += 1;
        }
    }
    (cell_start, cell_rows)
}

/// Returns the sums of the bin of zero: the node's minus those of all stored bins.
pub(super) fn zero_sums<C: Cell>(stored: &[C], mut total: C) -> C {
    total.subtract(&sum(stored));
    total
}

/// Returns the position of a value of a feature; `None` in the bin of zero.
fn cell(bins: &FeatureBins, place: Place, value: f32) -> Option<u32> {
    let Place {
        start, n_bins, zero, ..
    } = place;
    if value.is_nan() {
        return Some((start + n_bins - usize::from(zero.is_some())) as u32);
    }
    let bin = bins.bin_of(value);
    (zero != Some(bin)).then(|| (start + stored_place(bin, zero)) as u32)
}

/// Returns the position of a bin among the stored ones, which are all but the bin of zero.
fn stored_place(bin: usize, zero: Option<usize>) -> usize {
    bin - usize::from(zero.is_some_and(|zero| zero < bin))
}

/// Returns the bins of a feature with these stored values; all others of the n values are 0.
fn code(stored: &[f32], n: usize, limit: BinLimit) -> FeatureBins {
    let mut keys: Vec<u32> = stored
        .iter()
        .filter(|v| **v != 0.0)
        .map(|&v| sortable(v))
        .collect();
    keys.sort_unstable();
    let n_zero = n - keys.len();
    let observed = keys.partition_point(|&key| key < u32::MAX);
    let mut distinct = count_distinct(keys[..observed].iter().copied());
    if n_zero > 0 {
        let zero = sortable(0.0);
        let place = distinct.partition_point(|d| d.0 < zero);
        distinct.insert(place, (zero, n_zero as u32));
    }
    FeatureBins::new(&distinct, limit, keys.len() - observed)
}
