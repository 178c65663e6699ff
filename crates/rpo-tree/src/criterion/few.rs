//! Subsets of the rows of a small subtree, as a word.

/// Most rows of a subtree of few rows.
pub const MOST_FEW: usize = u64::BITS as usize;

/// A subset of the rows of a subtree, in their order.
#[derive(Debug, Clone, Copy)]
pub struct SomeRows<'a> {
    /// The rows of the subtree, at most [`MOST_FEW`], increasing.
    pub all: &'a [u32],
    /// Bit i is set if the i-th row of `all` is in the subset.
    pub which: u64,
}

impl SomeRows<'_> {
    /// Writes the rows into a buffer.
    pub(super) fn list(self, buffer: &mut [u32; MOST_FEW]) -> &[u32] {
        let n = self.which.count_ones() as usize;
        buffer.iter_mut().zip(self).for_each(|(place, row)| *place = row);
        &buffer[..n]
    }
}

impl<'a> IntoIterator for SomeRows<'a> {
    type Item = u32;
    type IntoIter = SomeRowsIter<'a>;

    #[inline]
    fn into_iter(self) -> SomeRowsIter<'a> {
        SomeRowsIter(self)
    }
}

/// Iterator over the rows of [`SomeRows`].
#[derive(Debug, Clone)]
pub struct SomeRowsIter<'a>(SomeRows<'a>);

impl Iterator for SomeRowsIter<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let left = self.0.which;
        if left == 0 {
            return None;
        }
        self.0.which &= left - 1;
        Some(self.0.all[left.trailing_zeros() as usize])
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let n = self.0.which.count_ones() as usize;
        (n, Some(n))
    }
}

impl ExactSizeIterator for SomeRowsIter<'_> {}
