//! Bins of dense features.
//!
//! Bins are kept twice, one byte each: by row, as all sums of a node are computed row after row, and by feature, as
//! rows are routed by one feature. The sums of a feature start at a multiple of a power of 2, which makes every byte a
//! valid position: no bounds check per addition.

use super::WORTH_IT;
use super::bins::{BinLimit, FeatureBins};
use super::cell::Cell;
use super::features::{Place, Rows, Side, add_in_parts};
use super::lines::{Bytes, Lines, TILE, Tile, WIDTH};
use crate::categories::{MOST_CATEGORIES, count_distinct};
use crate::grow::threads;
use crate::ranks::{sort_by_bits, sortable};
use ndarray::{ArrayView2, Axis, s};
use rayon::prelude::*;
use rpo_core::vectorized;
use std::array;

/// Fewest additions per cell for which separate sums per thread pay off.
const PER_CELL: usize = 64;

/// Space for the sums of a feature alone: one per byte.
pub(super) const APART: usize = 256;

/// Number of features that are summed apart in one pass over the rows.
pub(super) const AT_ONCE: usize = 4;

#[derive(Debug, Clone)]
pub(super) struct DenseBins {
    features: Vec<FeatureBins>,
    /// Space for a feature's sums in a histogram: a power of 2.
    stride: usize,
    /// By feature, the bin of each row.
    columns: Vec<Vec<u8>>,
    lines: Lines,
}

/// Calls a function whose last constant is the space per feature.
macro_rules! by_stride {
    ($stride:expr, $function:ident::<$cell:ty>($($argument:expr),*)) => {
        match $stride {
            16 => $function::<$cell, 16>($($argument),*),
            32 => $function::<$cell, 32>($($argument),*),
            64 => $function::<$cell, 64>($($argument),*),
            128 => $function::<$cell, 128>($($argument),*),
            _ => $function::<$cell, 256>($($argument),*),
        }
    };
}

impl DenseBins {
    /// Codes features; the increasing ones in `categorical` hold category codes.
    pub(super) fn new(x: ArrayView2<'_, f32>, limit: BinLimit, categorical: &[u32]) -> Self {
        let (n, p) = x.dim();
        let coded: Vec<Vec<(FeatureBins, Vec<u8>)>> = (0..p.div_ceil(WIDTH))
            .into_par_iter()
            .map(|block| {
                let (first, end) = (block * WIDTH, p.min((block + 1) * WIDTH));
                let mut sorted = Vec::with_capacity(n);
                let code = |(lane, keys): (usize, Vec<u32>)| {
                    sorted.clone_from(&keys);
                    sort_by_bits(&mut sorted, |key| key);
                    let observed = sorted.partition_point(|&key| key < u32::MAX);
                    let distinct = count_distinct(sorted[..observed].iter().copied());
                    let bins = match categorical.binary_search(&((first + lane) as u32)) {
                        Ok(_) => FeatureBins::of_categories(distinct, MOST_CATEGORIES, observed < n),
                        Err(_) => FeatureBins::new(&distinct, limit, n - observed),
                    };
                    let mut column = vec![0; n];
                    bins.code_all(&keys, &mut column);
                    (bins, column)
                };
                let keys = keys_by_column(x.slice(s![.., first..end]));
                keys.into_iter().enumerate().map(code).collect()
            })
            .collect();
        let (features, columns): (Vec<_>, Vec<_>) = coded.into_iter().flatten().unzip();
        let most = features.iter().map(n_cells).max().unwrap_or(0);
        let lines = Lines::new(&columns, n);
        Self {
            features,
            stride: most.next_power_of_two().max(16),
            columns,
            lines,
        }
    }

    pub(super) fn n_features(&self) -> usize {
        self.features.len()
    }

    pub(super) fn bins(&self, feature: u32) -> &FeatureBins {
        &self.features[feature as usize]
    }

    /// Returns the distance between the sums of two features.
    pub(super) fn stride(&self) -> usize {
        self.stride
    }

    /// Returns true if a feature is categorical.
    pub(super) fn any_categorical(&self) -> bool {
        self.features.iter().any(|bins| bins.is_categorical)
    }

    /// Returns the bin of each row in a feature.
    pub(super) fn column(&self, feature: u32) -> &[u8] {
        &self.columns[feature as usize]
    }

    pub(super) fn place(&self, feature: u32) -> Place {
        let bins = self.bins(feature);
        Place {
            start: feature as usize * self.stride,
            n_bins: bins.len(),
            zero: None,
            has_missing: bins.has_missing,
        }
    }

    pub(super) fn n_cells(&self) -> usize {
        self.lines.n_blocks() * WIDTH * self.stride
    }

    /// Sets all sums to zero.
    pub(super) fn clear<C: Cell>(&self, histogram: &mut Vec<C>) {
        histogram.resize(self.n_cells(), C::ZERO);
        for (lane, sums) in histogram.chunks_exact_mut(self.stride).enumerate() {
            // In lanes after the last feature, all rows lie in bin 0.
            let n_cells = self.features.get(lane).map_or(1, n_cells);
            sums[..n_cells].fill(C::ZERO);
        }
    }

    /// Adds the cells of rows (one per row, in their order) per bin. Chunks of rows are summed in parallel, or blocks
    /// of features if there are few rows.
    pub(super) fn add<C: Cell>(&self, rows: Rows<'_>, cells: &[C], histogram: &mut [C]) {
        let additions = cells.len() * self.features.len();
        let threads = threads();
        if threads == 1 || additions < WORTH_IT {
            self.add_rows(rows, cells, histogram);
        } else if additions >= PER_CELL * threads * self.n_cells() {
            add_in_parts(rows, cells, histogram, |rows, cells, sums| {
                self.add_rows(rows, cells, sums);
            });
        } else {
            let together = self.lines.together(threads);
            let blocks = histogram.par_chunks_mut(self.room(together)).enumerate();
            blocks.for_each(|(i, sums)| self.add_blocks(i * together, together, rows, cells, sums));
        }
    }

    fn add_rows<C: Cell>(&self, rows: Rows<'_>, cells: &[C], histogram: &mut [C]) {
        let together = self.lines.together(1);
        let blocks = histogram.chunks_mut(self.room(together)).enumerate();
        blocks.for_each(|(i, sums)| self.add_blocks(i * together, together, rows, cells, sums));
    }

    /// Returns the space for the sums of `together` blocks of features.
    fn room(&self, together: usize) -> usize {
        together * WIDTH * self.stride
    }

    /// Like [`add_rows`](Self::add_rows), but for some adjacent blocks of features: tile after tile, so that the bins
    /// of a row are read from memory once for all blocks.
    fn add_blocks<C: Cell>(
        &self,
        first: usize,
        together: usize,
        rows: Rows<'_>,
        cells: &[C],
        histogram: &mut [C],
    ) {
        let mut tile = Tile::new();
        for (i, cells) in cells.chunks(TILE).enumerate() {
            let rows = rows.part(i * TILE..i * TILE + cells.len());
            self.lines.copy(first, together, rows, cells.len(), &mut tile);
            for (block, sums) in histogram.chunks_exact_mut(WIDTH * self.stride).enumerate() {
                let n_features = self.features.len() - (first + block) * WIDTH;
                let bytes = tile.block(block, together);
                by_stride!(
                    self.stride,
                    add_block::<C>(bytes, together, n_features, cells, sums)
                );
            }
        }
    }

    /// Sums the cells of rows for some features alone, each into [`APART`] sums of its own.
    pub(super) fn accumulate_apart<C: Cell>(
        &self,
        chosen: &[u32],
        rows: Rows<'_>,
        cells: &[C],
        sums: &mut Vec<C>,
    ) {
        let sums = self.start_apart(chosen, sums);
        let (groups, rest) = chosen.as_chunks::<AT_ONCE>();
        let (sums_of_groups, sums_of_rest) = sums.split_at_mut(chosen.len() - rest.len());
        for (chosen, sums) in groups.iter().zip(sums_of_groups.as_chunks_mut().0) {
            self.add_apart::<C, AT_ONCE>(chosen, rows, cells, sums);
        }
        for (feature, sums) in rest.iter().zip(sums_of_rest) {
            self.add_apart(array::from_ref(feature), rows, cells, array::from_mut(sums));
        }
    }

    fn add_apart<C: Cell, const N: usize>(
        &self,
        chosen: &[u32; N],
        rows: Rows<'_>,
        cells: &[C],
        sums: &mut [[C; APART]; N],
    ) {
        self.for_each_bins(
            chosen,
            rows,
            cells,
            #[inline(always)]
            |bins: [u8; N], &cell| {
                for i in 0..N {
                    sums[i][usize::from(bins[i])].add(&cell);
                }
            },
        );
    }

    /// Like [`accumulate_apart`](Self::accumulate_apart), but for cells of two kinds.
    pub(super) fn accumulate_two<C: Cell, D: Cell>(
        &self,
        chosen: &[u32],
        rows: Rows<'_>,
        cells: (&[C], &[D]),
        (first, second): (&mut Vec<C>, &mut Vec<D>),
    ) {
        let first = self.start_apart(chosen, first).iter_mut();
        let second = self.start_apart(chosen, second);
        for (feature, (first, second)) in chosen.iter().zip(first.zip(second)) {
            self.for_each_bins(
                array::from_ref(feature),
                rows,
                cells.0.iter().zip(cells.1),
                #[inline(always)]
                |[bin], (cell, other)| {
                    first[usize::from(bin)].add(cell);
                    second[usize::from(bin)].add(other);
                },
            );
        }
    }

    /// Sets the sums of some features alone to zero.
    fn start_apart<'s, C: Cell>(&self, chosen: &[u32], sums: &'s mut Vec<C>) -> &'s mut [[C; APART]] {
        sums.resize(sums.len().max(chosen.len() * APART), C::ZERO);
        let sums = &mut sums.as_chunks_mut().0[..chosen.len()];
        for (sums, &feature) in sums.iter_mut().zip(chosen) {
            sums[..n_cells(self.bins(feature))].fill(C::ZERO);
        }
        sums
    }

    /// Calls `f` with the bins of each row in some features, and its cell.
    #[inline(always)]
    fn for_each_bins<C, const N: usize>(
        &self,
        chosen: &[u32; N],
        rows: Rows<'_>,
        cells: impl IntoIterator<Item = C>,
        f: impl FnMut([u8; N], C),
    ) {
        vectorized(
            // By value, so that no pointer is read again after each sum.
            #[inline(always)]
            move || {
                let (columns, mut f) = (chosen.map(|feature| self.column(feature)), f);
                // Of one length, so that one check is enough.
                let columns = columns.map(|column| &column[..columns[0].len()]);
                rows.for_each(
                    cells,
                    #[inline(always)]
                    |row, cell| f(columns.map(|column| column[row]), cell),
                );
            },
        );
    }

    /// Writes the child of each row: 0 for bins that go left.
    #[inline]
    fn route_by(&self, feature: u32, goes_left: impl Fn(usize) -> bool, rows: &[u32], children: &mut [u16]) {
        let column = self.column(feature);
        for (child, &row) in children.iter_mut().zip(rows) {
            *child = u16::from(!goes_left(usize::from(column[row as usize])));
        }
    }

    pub(super) fn route(&self, feature: u32, side: Side, rows: &[u32], children: &mut [u16]) {
        let missing = if side.missing_left {
            self.bins(feature).len()
        } else {
            usize::MAX
        };
        // Without short-circuiting, to avoid unpredictable branches.
        let goes_left = |bin| (bin <= side.last) | (bin == missing);
        self.route_by(feature, goes_left, rows, children);
    }

    /// Like [`route`](Self::route), but for a categorical feature: the listed bins go to the side opposite to missing
    /// values.
    pub(super) fn route_categories(
        &self,
        feature: u32,
        listed: &[u16],
        missing_left: bool,
        rows: &[u32],
        children: &mut [u16],
    ) {
        let mut left = [missing_left; 256];
        for &bin in listed {
            left[usize::from(bin)] = !missing_left;
        }
        self.route_by(feature, |bin| left[bin], rows, children);
    }
}

/// Returns the [`sortable`] bits of some columns, processing some rows at a time.
fn keys_by_column(x: ArrayView2<'_, f32>) -> Vec<Vec<u32>> {
    let mut columns = vec![vec![0; x.nrows()]; x.ncols()];
    for (i, rows) in x.axis_chunks_iter(Axis(0), TILE).enumerate() {
        for (column, values) in columns.iter_mut().zip(rows.columns()) {
            let keys = column[i * TILE..].iter_mut().zip(values);
            keys.for_each(|(key, &value)| *key = sortable(value));
        }
    }
    columns
}

fn n_cells(bins: &FeatureBins) -> usize {
    bins.len() + usize::from(bins.has_missing)
}

/// Adds cells to the sums of a block of features, given the bins of their rows in that block, `step` apart.
fn add_block<C: Cell, const STRIDE: usize>(
    bytes: &[Bytes],
    step: usize,
    n_features: usize,
    cells: &[C],
    sums: &mut [C],
) {
    let sums: &mut [[C; STRIDE]] = sums.as_chunks_mut().0;
    match n_features {
        0..=2 => add_lanes::<C, STRIDE, 2>(bytes, step, cells, sums),
        3..=4 => add_lanes::<C, STRIDE, 4>(bytes, step, cells, sums),
        _ => add_lanes::<C, STRIDE, WIDTH>(bytes, step, cells, sums),
    }
}

/// Like [`add_block`], but for the first features of a block.
fn add_lanes<C: Cell, const STRIDE: usize, const LANES: usize>(
    bytes: &[Bytes],
    step: usize,
    cells: &[C],
    sums: &mut [[C; STRIDE]],
) {
    let sums: &mut [[C; STRIDE]; LANES] = (&mut sums[..LANES]).try_into().expect("room for each lane");
    vectorized(
        #[inline(always)]
        move || {
            let mut row = 0;
            // Copied, as the compiler cannot tell that sums and cells are apart, and would read the cell again for each
            // lane.
            for &cell in cells {
                let bytes = bytes[row];
                row += step;
                for lane in 0..LANES {
                    sums[lane][usize::from(bytes[lane]) & (STRIDE - 1)].add(&cell);
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_apart_are_those_of_their_features(
            cells in prop::collection::vec((-3_i8..4, -9_i64..10), 30 * 11),
            chosen in prop::collection::vec(0_u32..11, 0..10),
            some in prop::collection::btree_set(0_u32..30, 1..30),
        ) {
            let value = |v: i8| if v == 3 { f32::NAN } else { f32::from(v) };
            let x = Array2::from_shape_fn((30, 11), |(i, j)| value(cells[i * 11 + j].0));
            let bins = DenseBins::new(x.view(), 255.into(), &[]);
            let some: Vec<u32> = some.into_iter().collect();
            let last: Vec<u32> = (4..30).collect();
            for (rows, listed) in [(Rows::Listed(&some), &some), (Rows::From(4), &last)] {
                let of_rows: Vec<i64> = listed.iter().map(|&row| cells[row as usize].1).collect();
                let pairs: Vec<[i64; 2]> = of_rows.iter().map(|&cell| [cell, 1]).collect();
                // What was there before does not count.
                let (mut sums, mut single, mut double) = (vec![7; 300], vec![7; 300], vec![[7; 2]; 300]);
                bins.accumulate_apart(&chosen, rows, &of_rows, &mut sums);
                bins.accumulate_two(&chosen, rows, (&of_rows, &pairs), (&mut single, &mut double));
                for (i, &feature) in chosen.iter().enumerate() {
                    for bin in 0..n_cells(bins.bins(feature)) {
                        let is_in = |row: u32| usize::from(bins.column(feature)[row as usize]) == bin;
                        let held = listed.iter().zip(&of_rows).filter(|(row, _)| is_in(**row));
                        let expected = held.fold([0, 0], |[sum, n], (_, cell)| [sum + cell, n + 1]);
                        let place = i * APART + bin;
                        prop_assert_eq!(sums[place], expected[0]);
                        prop_assert_eq!((single[place], double[place]), (expected[0], expected));
                    }
                }
            }
        }
    }
}
