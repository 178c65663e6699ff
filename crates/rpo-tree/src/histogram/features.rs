//! Binned features.

use super::bins::{BinLimit, FeatureBins, MOST_BINS};
use super::cell::{Cell, share};
use super::dense::{APART, DenseBins};
use super::room::{MOST_BYTES, Room};
use super::sparse::SparseBins;
use crate::TreeError;
use crate::ranks::{check_categories, check_training_features};
use rayon::prelude::*;
use rpo_core::{MatrixView, ParameterError};
use std::ops::Range;
use std::sync::Arc;

/// Training features in at most 255 bins each, in the layout (dense or sparse) of their matrix. They are coded once and
/// serve any number of trees.
///
/// Every distinct value of a feature has a bin if there are enough bins; otherwise bins hold numbers of samples that
/// are as equal as the values allow. Missing values have an additional bin. With more than 255 values other
/// than 0, a feature has at most one bin per 16 of them, or 63 if that is more: finer thresholds would cost time, and
/// so few samples could not show a gain.
///
/// Memory: two bytes per value of a dense matrix; 6 bytes per stored value of a sparse one, 8 if there are more than
/// 65,536 bins, and 12 bytes per bin. The [histograms](crate::histogram) that trees on these features keep take at most
/// 256 MiB more.
#[derive(Debug, Clone)]
pub struct BinnedFeatures {
    n_rows: usize,
    pub(super) layout: Layout,
    /// Room for the histograms of all trees on these features.
    pub(super) room: Arc<Room>,
}

#[derive(Debug, Clone)]
pub(super) enum Layout {
    Dense(DenseBins),
    Sparse(SparseBins),
}

/// Position of the sums of a feature in a histogram: the sums of its bins in order, without the bin of zero if that is
/// not stored, then the sums of missing values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) start: usize,
    /// Number of bins of observed values.
    pub(super) n_bins: usize,
    /// The bin whose sums are the node's minus all others.
    pub(super) zero: Option<usize>,
    pub(super) has_missing: bool,
}

impl Place {
    /// Number of sums in the histogram.
    pub(super) fn n_stored(&self) -> usize {
        self.n_bins - usize::from(self.zero.is_some()) + usize::from(self.has_missing)
    }

    /// Returns the position in the sums of some features [apart](DenseBins::accumulate_apart).
    pub(super) fn apart(self, i: usize) -> Self {
        Self {
            start: i * APART,
            ..self
        }
    }
}

/// The samples to sum.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rows<'a> {
    /// Consecutive samples of the training set, starting with this one.
    From(usize),
    /// The listed samples.
    Listed(&'a [u32]),
}

impl<'a> Rows<'a> {
    /// Returns a consecutive range of these rows.
    pub(super) fn part(self, range: Range<usize>) -> Self {
        match self {
            Self::From(first) => Self::From(first + range.start),
            Self::Listed(rows) => Self::Listed(&rows[range]),
        }
    }

    /// Calls `f` with each row and its cell; cells are given in the order of the rows. Inside
    /// [`vectorized`](rpo_core::vectorized), `f` should be marked `#[inline(always)]`.
    #[inline(always)]
    pub(super) fn for_each<C>(self, cells: impl IntoIterator<Item = C>, mut f: impl FnMut(usize, C)) {
        match self {
            Self::From(first) => {
                for (i, cell) in cells.into_iter().enumerate() {
                    f(first + i, cell);
                }
            }
            Self::Listed(rows) => {
                for (&row, cell) in rows.iter().zip(cells) {
                    f(row as usize, cell);
                }
            }
        }
    }
}

/// The bins that go left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Side {
    /// The last bin of the left child.
    pub(super) last: usize,
    pub(super) missing_left: bool,
}

/// Adds the cells of rows to sums per bin: each thread sums one chunk of the rows, and the chunk sums are added at the
/// end.
pub(super) fn add_in_parts<C: Cell>(
    rows: Rows<'_>,
    cells: &[C],
    histogram: &mut [C],
    add: impl Fn(Rows<'_>, &[C], &mut [C]) + Sync,
) {
    let size = cells.len().div_ceil(rayon::current_num_threads());
    let n_cells = histogram.len();
    let parts: Vec<Vec<C>> = cells
        .par_chunks(size)
        .enumerate()
        .map(|(i, cells)| {
            let mut part = vec![C::ZERO; n_cells];
            add(rows.part(i * size..i * size + cells.len()), cells, &mut part);
            part
        })
        .collect();
    for part in &parts {
        let sums = histogram.iter_mut().zip(part);
        sums.for_each(|(sum, cell)| sum.add(cell));
    }
}

impl BinnedFeatures {
    /// Largest number of bins of a feature, without that of missing values.
    pub const MOST_BINS: usize = MOST_BINS;

    /// Codes a feature matrix (n x p) in bins, as many per feature as a [limit](BinLimit), or a number, allows. NaN means
    /// missing. Columns listed in `categorical`, increasing, hold [categories](crate::categories), and each code has its
    /// own bin, whatever the limit; if there are more than 255 codes, the rarest count as missing.
    ///
    /// # Errors
    /// [`TreeError::Parameter`] unless a number of bins is in 2 to 255; for the matrix and the categories, those of
    /// [`RankedFeatures::new`](crate::RankedFeatures::new).
    pub fn new(
        x: MatrixView<'_>,
        limit: impl Into<BinLimit>,
        categorical: &[u32],
    ) -> Result<Self, TreeError> {
        let limit = limit.into();
        if let BinLimit::AtMost(bins) = limit {
            let in_range = (2..=Self::MOST_BINS).contains(&bins);
            ParameterError::unless(in_range, "bins", bins, "from 2 to 255")?;
        }
        check_training_features(x)?;
        check_categories(x, categorical)?;
        let layout = match x {
            MatrixView::Dense(a) => Layout::Dense(DenseBins::new(a, limit, categorical)),
            MatrixView::Sparse(a) => Layout::Sparse(SparseBins::new(a, limit)?),
        };
        let n_rows = x.n_rows();
        let room = Room::new(MOST_BYTES);
        Ok(Self { n_rows, layout, room })
    }

    /// Limits the bytes of all histograms.
    #[cfg(test)]
    pub(super) fn with_room(self, bytes: usize) -> Self {
        let room = Room::new(bytes);
        Self { room, ..self }
    }

    /// Number of training samples.
    pub(crate) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of features.
    pub(crate) fn n_features(&self) -> usize {
        match &self.layout {
            Layout::Dense(c) => c.n_features(),
            Layout::Sparse(c) => c.n_features(),
        }
    }

    /// Returns the bins of a feature.
    pub(super) fn bins(&self, feature: u32) -> &FeatureBins {
        match &self.layout {
            Layout::Dense(c) => c.bins(feature),
            Layout::Sparse(c) => c.bins(feature),
        }
    }

    /// Returns true if a feature is categorical, which sparse ones never are.
    pub(super) fn any_categorical(&self) -> bool {
        match &self.layout {
            Layout::Dense(c) => c.any_categorical(),
            Layout::Sparse(_) => false,
        }
    }

    /// Returns the position of the sums of a feature.
    pub(super) fn place(&self, feature: u32) -> Place {
        match &self.layout {
            Layout::Dense(c) => c.place(feature),
            Layout::Sparse(c) => c.place(feature),
        }
    }

    /// Number of sums in a histogram.
    pub(super) fn n_cells(&self) -> usize {
        match &self.layout {
            Layout::Dense(c) => c.n_cells(),
            Layout::Sparse(c) => c.n_cells(),
        }
    }

    /// Returns the position of the sum of a feature that has only one besides those of the bin of zero.
    pub(super) fn single(&self, feature: u32) -> Option<usize> {
        match &self.layout {
            Layout::Dense(_) => None,
            Layout::Sparse(c) => {
                let place = c.place(feature);
                (place.start < c.singles().len() && place.n_stored() == 1).then_some(place.start)
            }
        }
    }

    /// Sums the cells of the rows of a node (one per row, in their order) per bin.
    pub(super) fn accumulate<C: Cell>(&self, rows: &[u32], cells: &[C], histogram: &mut Vec<C>) {
        self.clear(histogram);
        self.add(self.rows_of(rows), cells, histogram);
    }

    /// Sets all sums to zero.
    pub(super) fn clear<C: Cell>(&self, histogram: &mut Vec<C>) {
        match &self.layout {
            Layout::Dense(c) => c.clear(histogram),
            Layout::Sparse(_) => {
                histogram.clear();
                histogram.resize(self.n_cells(), C::ZERO);
            }
        }
    }

    /// Adds the cells of some rows (one per row, in their order) to sums per bin.
    pub(super) fn add<C: Cell>(&self, rows: Rows<'_>, cells: &[C], histogram: &mut [C]) {
        match &self.layout {
            Layout::Dense(c) => c.add(rows, cells, histogram),
            Layout::Sparse(c) => c.add(rows, cells, histogram),
        }
    }

    /// Like [`accumulate`](Self::accumulate), but for some dense features, into sums [apart](Place::apart).
    ///
    /// # Panics
    /// If features are sparse: their sums are made together.
    pub(super) fn accumulate_apart<C: Cell>(
        &self,
        chosen: &[u32],
        rows: &[u32],
        cells: &[C],
        sums: &mut Vec<C>,
    ) {
        self.dense()
            .accumulate_apart(chosen, self.rows_of(rows), cells, sums);
    }

    /// Like [`accumulate_apart`](Self::accumulate_apart), but for cells of two kinds.
    ///
    /// # Panics
    /// If features are sparse.
    pub(super) fn accumulate_two<C: Cell, D: Cell>(
        &self,
        chosen: &[u32],
        rows: &[u32],
        cells: (&[C], &[D]),
        sums: (&mut Vec<C>, &mut Vec<D>),
    ) {
        self.dense()
            .accumulate_two(chosen, self.rows_of(rows), cells, sums);
    }

    /// Returns the number of additions to sums for a row.
    pub(super) fn per_row(&self) -> usize {
        match &self.layout {
            Layout::Dense(c) => c.n_features(),
            Layout::Sparse(c) => c.per_row(),
        }
    }

    fn dense(&self) -> &DenseBins {
        match &self.layout {
            Layout::Dense(dense) => dense,
            Layout::Sparse(_) => unreachable!("only dense features are summed apart or categorical"),
        }
    }

    /// Turns the sums of a parent into those of its other child by subtracting `child`.
    pub(super) fn subtract<C: Cell>(&self, parent: &mut [C], child: &[C]) {
        let take_away = |parent: &mut [C], child: &[C]| {
            let sums = parent.iter_mut().zip(child);
            sums.for_each(|(sum, cell)| sum.subtract(cell));
        };
        let share = share::<C>(parent.len());
        match &self.layout {
            Layout::Dense(c) => {
                let stride = c.stride();
                let of_features = parent.par_chunks_mut(stride).zip(child.par_chunks(stride));
                let of_features = of_features.take(c.n_features()).enumerate();
                let of_features = of_features.with_min_len(share.div_ceil(stride));
                of_features.for_each(|(feature, (parent, child))| {
                    let n_stored = c.place(feature as u32).n_stored();
                    take_away(&mut parent[..n_stored], &child[..n_stored]);
                });
            }
            Layout::Sparse(_) => {
                let parts = parent.par_chunks_mut(share).zip(child.par_chunks(share));
                parts.for_each(|(parent, child)| take_away(parent, child));
            }
        }
    }

    /// Returns the rows of a node, which are increasing.
    pub(super) fn rows_of<'a>(&self, rows: &'a [u32]) -> Rows<'a> {
        if rows.len() == self.n_rows {
            Rows::From(0)
        } else {
            Rows::Listed(rows)
        }
    }

    /// Writes the child of each row: 0 on the left, 1 on the right. `marks` has an entry per training sample and is 0
    /// before and after.
    pub(super) fn route(
        &self,
        feature: u32,
        side: Side,
        rows: &[u32],
        marks: &mut Vec<u8>,
        children: &mut [u16],
    ) {
        match &self.layout {
            Layout::Dense(c) => c.route(feature, side, rows, children),
            Layout::Sparse(c) => {
                marks.resize(self.n_rows, 0);
                c.route(feature, side, rows, marks, children);
            }
        }
    }

    /// Like [`route`](Self::route), but for a categorical feature: the listed bins go to the side opposite to missing
    /// values.
    ///
    /// # Panics
    /// If features are sparse: these are never categorical.
    pub(super) fn route_categories(
        &self,
        feature: u32,
        listed: &[u16],
        missing_left: bool,
        rows: &[u32],
        children: &mut [u16],
    ) {
        self.dense()
            .route_categories(feature, listed, missing_left, rows, children);
    }
}
