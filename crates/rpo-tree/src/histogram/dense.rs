//! Bins of dense features.
//!
//! Eight features lie side by side, row after row, so that a row of a node costs one access to memory per eight features. The
//! sums of a feature begin at a multiple of a power of 2, which makes every byte a valid place: no comparison per addition.

use super::bins::{FeatureBins, limit};
use super::cell::Cell;
use super::features::{Place, Rows, Side};
use crate::categories::count_distinct;
use crate::ranks::{from_sortable, sort_by_bits, sortable};
use ndarray::{ArrayView2, s};
use rayon::prelude::*;

/// Features side by side.
const WIDTH: usize = 8;

/// Bins of a row in a block of features.
type Bytes = [u8; WIDTH];

/// Fewest additions that are worth a second thread.
const WORTH_IT: usize = 1 << 16;

#[derive(Debug, Clone)]
pub(super) struct DenseBins {
    features: Vec<FeatureBins>,
    /// Room of a feature's sums in a histogram: a power of 2.
    stride: usize,
    /// Per block of features, by row; 0 behind the last feature.
    blocks: Vec<Vec<Bytes>>,
}

/// Calls a function whose last constant is the room of a feature.
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
    /// Codes features, some of them, increasing, of codes of categories.
    pub(super) fn new(x: ArrayView2<'_, f32>, max_bins: usize, categorical: &[u32]) -> Self {
        let (n, p) = x.dim();
        let limit = limit(max_bins, n);
        let coded: Vec<(Vec<FeatureBins>, Vec<Bytes>)> = (0..p.div_ceil(WIDTH))
            .into_par_iter()
            .map(|block| {
                let (first, end) = (block * WIDTH, p.min((block + 1) * WIDTH));
                let mut bytes = vec![[0; WIDTH]; n];
                let mut sorted = Vec::with_capacity(n);
                let code = |(lane, keys): (usize, Vec<u32>)| {
                    sorted.clone_from(&keys);
                    sort_by_bits(&mut sorted, |key| key);
                    let observed = sorted.partition_point(|&key| key < u32::MAX);
                    let distinct = count_distinct(sorted[..observed].iter().copied());
                    let bins = match categorical.binary_search(&((first + lane) as u32)) {
                        Ok(_) => FeatureBins::of_categories(distinct, max_bins, observed < n),
                        Err(_) => FeatureBins::new(&distinct, limit, observed < n),
                    };
                    for (bytes, key) in bytes.iter_mut().zip(keys) {
                        let is_missing = key == u32::MAX;
                        let bin = if is_missing {
                            bins.len()
                        } else {
                            bins.bin_of(from_sortable(key))
                        };
                        bytes[lane] = bin as u8;
                    }
                    bins
                };
                let keys = keys_by_column(x.slice(s![.., first..end]));
                let features = keys.into_iter().enumerate().map(code).collect();
                (features, bytes)
            })
            .collect();
        let (features, blocks): (Vec<_>, Vec<_>) = coded.into_iter().unzip();
        let features = features.concat();
        let most = features.iter().map(n_cells).max().unwrap_or(0);
        Self {
            features,
            stride: most.next_power_of_two().max(16),
            blocks,
        }
    }

    pub(super) fn n_features(&self) -> usize {
        self.features.len()
    }

    pub(super) fn bins(&self, feature: u32) -> &FeatureBins {
        &self.features[feature as usize]
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
        self.blocks.len() * WIDTH * self.stride
    }

    /// Sums the cells of rows (one per row, in their order) per bin; blocks of features in parallel.
    pub(super) fn accumulate<C: Cell>(&self, rows: Rows<'_>, cells: &[C], histogram: &mut Vec<C>) {
        histogram.resize(self.n_cells(), C::ZERO);
        let room = WIDTH * self.stride;
        let add = |(block, sums): (usize, &mut [C])| {
            for (lane, sums) in sums.chunks_exact_mut(self.stride).enumerate() {
                // Behind the last feature all rows lie in bin 0.
                let n_cells = self.features.get(block * WIDTH + lane).map_or(1, n_cells);
                sums[..n_cells].fill(C::ZERO);
            }
            by_stride!(
                self.stride,
                add_block::<C>(&self.blocks[block], rows, cells, sums)
            );
        };
        if cells.len() * self.features.len() >= WORTH_IT && rayon::current_num_threads() > 1 {
            histogram.par_chunks_mut(room).enumerate().for_each(add);
        } else {
            histogram.chunks_mut(room).enumerate().for_each(add);
        }
    }

    /// The same of one feature alone, into the front of `sums`.
    pub(super) fn accumulate_one<C: Cell>(
        &self,
        feature: u32,
        rows: Rows<'_>,
        cells: &[C],
        sums: &mut Vec<C>,
    ) {
        sums.clear();
        sums.resize(256, C::ZERO);
        let (block, lane) = self.locate(feature);
        let sums: &mut [C; 256] = (&mut sums[..]).try_into().expect("a cell per byte");
        rows.for_each_with(
            block,
            cells,
            #[inline(always)]
            |bytes, cell| sums[usize::from(bytes[lane])].add(cell),
        );
    }

    fn locate(&self, feature: u32) -> (&[Bytes], usize) {
        let feature = feature as usize;
        (&self.blocks[feature / WIDTH], feature % WIDTH)
    }

    /// Writes the child of each row, 0 for bins that go left.
    #[inline]
    fn route_by(&self, feature: u32, goes_left: impl Fn(usize) -> bool, rows: &[u32], children: &mut [u16]) {
        let (block, lane) = self.locate(feature);
        for (child, &row) in children.iter_mut().zip(rows) {
            *child = u16::from(!goes_left(usize::from(block[row as usize][lane])));
        }
    }

    pub(super) fn route(&self, feature: u32, side: Side, rows: &[u32], children: &mut [u16]) {
        let missing = if side.missing_left {
            self.bins(feature).len()
        } else {
            usize::MAX
        };
        // Without short-circuit: no branch may depend on what cannot be predicted.
        let goes_left = |bin| (bin <= side.last) | (bin == missing);
        self.route_by(feature, goes_left, rows, children);
    }

    /// The same of a categorical feature: the listed bins go to the other side than missing values.
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

/// The [`sortable`] bits of some columns, in one pass over their rows.
fn keys_by_column(x: ArrayView2<'_, f32>) -> Vec<Vec<u32>> {
    let mut columns = vec![Vec::with_capacity(x.nrows()); x.ncols()];
    for row in x.rows() {
        let pairs = columns.iter_mut().zip(row);
        pairs.for_each(|(column, &value)| column.push(sortable(value)));
    }
    columns
}

fn n_cells(bins: &FeatureBins) -> usize {
    bins.len() + usize::from(bins.has_missing)
}

fn add_block<C: Cell, const STRIDE: usize>(block: &[Bytes], rows: Rows<'_>, cells: &[C], sums: &mut [C]) {
    let sums: &mut [[C; STRIDE]] = sums.as_chunks_mut().0;
    let sums: &mut [[C; STRIDE]; WIDTH] = sums.try_into().expect("room for a block");
    rows.for_each_with(
        block,
        cells,
        #[inline(always)]
        |bytes, cell| {
            for lane in 0..WIDTH {
                sums[lane][usize::from(bytes[lane]) & (STRIDE - 1)].add(cell);
            }
        },
    );
}
