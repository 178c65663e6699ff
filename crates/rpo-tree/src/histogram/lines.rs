//! Bins stored row by row.
//!
//! The bins of a row in up to 64 features lie in one cache line, so that a row far from the previous one takes a single
//! memory access for all of them. Sums are computed tile by tile: the lines of some rows are copied side by side, which
//! overlaps many loads, and then added block by block, each to sums that fit into the first-level cache.

use super::features::Rows;
use rayon::prelude::*;

/// Number of features in a block.
pub(super) const WIDTH: usize = 8;

/// Bins of a row in a block of features.
pub(super) type Bytes = [u8; WIDTH];

/// Number of rows in a tile.
pub(super) const TILE: usize = 256;

/// Most blocks of a row that lie side by side.
const MOST: usize = 8;

/// A cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line([Bytes; MOST]);

/// The bins of all rows.
#[derive(Debug, Clone)]
pub(super) struct Lines {
    n_blocks: usize,
    /// Number of blocks of a row that lie side by side: a power of 2.
    width: usize,
    /// For each group of `width` blocks, the bins of each row.
    groups: Vec<Vec<Line>>,
}

impl Lines {
    /// Copies the bins of n rows, given by feature.
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

    /// Returns the number of blocks that one of `threads` threads adds at a time. With several threads, each gets
    /// several turns, as the last blocks may be fewer or narrower.
    pub(super) fn together(&self, threads: usize) -> usize {
        let parts = if threads == 1 { 1 } else { 4 * threads };
        let (mut together, wanted) = (self.width, parts.min(self.n_blocks));
        while self.n_blocks.div_ceil(together) < wanted {
            together /= 2;
        }
        together
    }

    /// Copies the bins of n rows in `together` blocks; `first` is a multiple of `together`.
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
        // Powers of 2, so that shifts replace divisions.
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

/// Returns the bins of n rows in the features of a group; bins are given by feature.
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

    /// Returns the bins in one of `together` blocks, starting at the first row.
    pub(super) fn block(&self, block: usize, together: usize) -> &[Bytes] {
        &self.0[block % together..]
    }
}
