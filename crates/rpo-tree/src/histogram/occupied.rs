//! The bins of a feature that hold a sample.

use super::cell::Cell;
use super::scores::MOST;

/// The bins that hold a sample, and for each of them the sums of all bins up to it.
#[derive(Debug)]
pub(super) struct Occupied<C> {
    pub(super) sums: [C; MOST],
    pub(super) bins: [u16; MOST],
}

impl<C: Cell> Default for Occupied<C> {
    fn default() -> Self {
        Self {
            sums: [C::ZERO; MOST],
            bins: [0; MOST],
        }
    }
}

impl<C: Cell> Occupied<C> {
    /// Adds up bins, given in order, and returns the number of those that hold a sample. Without a branch, as which bins
    /// do cannot be predicted.
    #[inline]
    pub(super) fn add_up(&mut self, bins: impl Iterator<Item = C>) -> usize {
        let (mut sums, mut k) = (C::ZERO, 0);
        for (bin, cell) in bins.enumerate() {
            sums.add(&cell);
            self.sums[k & (MOST - 1)] = sums;
            self.bins[k & (MOST - 1)] = bin as u16;
            k += usize::from(cell != C::ZERO);
        }
        k
    }
}
