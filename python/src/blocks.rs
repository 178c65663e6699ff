//! Predictions for blocks of samples: how many samples a block has, and how the blocks become one result.

use ndarray::{Array2, Axis};
use rpo::core::CsrMatrix;
use std::time::Duration;

/// Number of samples that are predicted at once, at first; the number grows until a block takes long enough.
pub(crate) const FIRST_BLOCK: usize = 1 << 12;

/// Largest factor by which a block has more samples than the one before.
const MOST_GROWTH: f64 = 8.0;

/// Time that a block of samples should take: short for whoever presses Ctrl-C, and long compared with what a block
/// costs beside its samples.
const LONG: Duration = Duration::from_millis(200);

/// The sizes of blocks of samples.
pub(crate) struct Pace {
    /// Number of samples of the first block.
    pub(crate) first: usize,
    /// What a block costs beside its samples.
    pub(crate) cost: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        let (first, cost) = (FIRST_BLOCK, Duration::ZERO);
        Self { first, cost }
    }
}

impl Pace {
    /// The size of the block after one that took some time: blocks should take [`LONG`], and most of their time for their
    /// samples.
    pub(crate) fn next(&self, size: usize, elapsed: Duration) -> usize {
        let wanted = LONG.max(4 * self.cost).saturating_sub(self.cost);
        let taken = elapsed.saturating_sub(self.cost);
        let growth = wanted.as_secs_f64() / taken.as_secs_f64().max(1e-9);
        size.saturating_mul(growth.clamp(1.0, MOST_GROWTH) as usize)
    }
}

/// The rows of a matrix that is computed in blocks.
pub(crate) struct Rows<T> {
    n: usize,
    pub(crate) all: Array2<T>,
}

impl<T: Copy + Default> Rows<T> {
    pub(crate) fn new(n: usize) -> Self {
        let all = Array2::default((0, 0));
        Self { n, all }
    }

    /// Puts a block in its place; one of all rows is not copied.
    pub(crate) fn put(&mut self, start: usize, block: Array2<T>) {
        if block.nrows() == self.n {
            self.all = block;
            return;
        }
        if start == 0 {
            self.all = Array2::default((self.n, block.ncols()));
        }
        let rows = start..start + block.nrows();
        self.all.slice_axis_mut(Axis(0), rows.into()).assign(&block);
    }
}

/// The rows of a CSR matrix that is computed in blocks.
pub(crate) struct CsrRows {
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl CsrRows {
    pub(crate) fn new() -> Self {
        Self {
            starts: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, block: CsrMatrix) {
        let before = self.columns.len();
        let (starts, columns, values) = block.into_raw_storage();
        self.starts
            .extend(starts.iter().skip(1).map(|start| before + start));
        self.columns.extend(columns);
        self.values.extend(values);
    }

    pub(crate) fn finish(self, n_columns: usize) -> CsrMatrix {
        let shape = (self.starts.len() - 1, n_columns);
        CsrMatrix::new(shape, self.starts, self.columns, self.values)
    }
}
