//! Bins row by row.
//!
//! The bins of a row in up to 64 features lie in one line of the cache, so that a row far from the one before is one access to
//! memory for all of them. Sums are made tile by tile: the lines of some rows are copied side by side, which waits for many at
//! a time, and then added block by block, each to sums that fit into the first cache.

use super::features::Rows;
use rayon::prelude::*;

/// Features of a block.
pub(super) const WIDTH: usize = 8;

/// Bins of a row in a block of features.
pub(super) type Bytes = [u8; WIDTH];

/// Rows of a tile.
pub(super) const TILE: usize = 256;

/// Most blocks of a row that lie side by side.
const MOST: usize = 8;

/// A line of the cache.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line([Bytes; MOST]);

/// The bins of all rows.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    n_blocks: usize,
    /// Blocks of a row that lie side by side: a power of 2.
    width: usize,
    /// By so many blocks, the bins of each row.
    groups: Vec<Vec<Line>>,
}

impl Lines {
    /// Copies the bins of n rows, which are given by feature.
    pub(super) fn new(columns: &[Vec<u8>], n: usize) -> Self {
        let n_blocks = columns.len().div_ceil(WIDTH);
        let width = n_blocks.next_power_of_two().min(MOST);
        let groups = columns.chunks(WIDTH * width);
        Self {
            n_blocks,
            width,
            groups: groups.map(|columns| group(columns, n, width)).collect(),
        }
    }

    /// Number of blocks of features.
    pub(super) fn n_blocks(&self) -> usize {
        self.n_blocks
    }

    /// The number of blocks that one of so many threads adds at a time: of several threads each several times, as the last
    /// blocks may be fewer or narrower.
    pub(super) fn together(&self, threads: usize) -> usize {
        let parts = if threads == 1 { 1 } else { 4 * threads };
        let (mut together, wanted) = (self.width, parts.min(self.n_blocks));
        while self.n_blocks.div_ceil(together) < wanted {
            together /= 2;
        }
        together
    }

    /// Copies the bins of n rows in some blocks, of which the first is a multiple of their number.
    pub(super) fn copy(&self, first: usize, together: usize, rows: Rows<'_>, n: usize, tile: &mut Tile) {
        match together {
            1 => self.copy_blocks::<1>(first, rows, n, tile),
            2 => self.copy_blocks::<2>(first, rows, n, tile),
            4 => self.copy_blocks::<4>(first, rows, n, tile),
            _ => self.copy_blocks::<MOST>(first, rows, n, tile),
        }
    }

    fn copy_blocks<const K: usize>(&self, first: usize, rows: Rows<'_>, n: usize, tile: &mut Tile) {
        let (lines, first) = (&self.groups[first / self.width], first % self.width);
        // Powers of 2, for which shifts take the place of divisions.
        let (width, rows_of_line) = (self.width.ilog2(), (MOST / self.width).ilog2());
        let copy = |(tile, row): (&mut [Bytes; K], usize)| {
            let line = &lines[row >> rows_of_line].0;
            let start = ((row & ((1 << rows_of_line) - 1)) << width) + first;
            tile.copy_from_slice(&line[start..start + K]);
        };
        let tile = tile.0.as_chunks_mut::<K>().0.iter_mut();
        match rows {
            Rows::From(first) => tile.zip(first..first + n).for_each(copy),
            Rows::Listed(rows) => tile.zip(rows.iter().map(|&row| row as usize)).for_each(copy),
        }
    }
}

/// The bins of n rows in the features of a group, which are given by feature.
fn group(columns: &[Vec<u8>], n: usize, width: usize) -> Vec<Line> {
    let rows_of_line = MOST / width;
    let mut lines = vec![Line([[0; WIDTH]; MOST]); n.div_ceil(rows_of_line)];
    lines.par_chunks_mut(TILE).enumerate().for_each(|(i, lines)| {
        let rows = i * TILE * rows_of_line..n.min((i + 1) * TILE * rows_of_line);
        for (feature, column) in columns.iter().enumerate() {
            let (block, lane) = (feature / WIDTH, feature % WIDTH);
            for (row, &bin) in column[rows.clone()].iter().enumerate() {
                lines[row / rows_of_line].0[row % rows_of_line * width + block][lane] = bin;
            }
        }
    });
    lines
}

/// The bins of some rows in some blocks.
pub(super) struct Tile([Bytes; TILE * MOST]);

impl Tile {
    pub(super) fn new() -> Self {
        Self([[0; WIDTH]; TILE * MOST])
    }

    /// From the first row's bins in one of so many blocks on.
    pub(super) fn block(&self, block: usize, together: usize) -> &[Bytes] {
        &self.0[block % together..]
    }
}
