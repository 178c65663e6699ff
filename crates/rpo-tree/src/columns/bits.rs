//! A matrix of bits: which cells are not zero.

/// Rows of bits in 64-bit words.
#[derive(Debug, Clone)]
pub(crate) struct BitMatrix {
    words_per_row: usize,
    words: Vec<u64>,
}

impl BitMatrix {
    pub(super) fn new(n_rows: usize, n_columns: usize) -> Self {
        let words_per_row = n_columns.div_ceil(64);
        Self {
            words_per_row,
            words: vec![0; n_rows * words_per_row],
        }
    }

    pub(super) fn set(&mut self, row: usize, column: usize) {
        set(
            &mut self.words[row * self.words_per_row..][..self.words_per_row],
            column,
        );
    }

    /// The words of a row.
    pub(crate) fn row(&self, row: usize) -> &[u64] {
        &self.words[row * self.words_per_row..][..self.words_per_row]
    }
}

/// Sets a bit.
pub(crate) fn set(words: &mut [u64], bit: usize) {
    words[bit / 64] |= 1 << (bit % 64);
}

/// Whether a bit is set.
pub(crate) fn is_set(words: &[u64], bit: usize) -> bool {
    words[bit / 64] >> (bit % 64) & 1 == 1
}

/// The bits that two rows of words have in common.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommonBits {
    /// The words that have any, with their places.
    words: Vec<(u32, u64)>,
}

impl CommonBits {
    /// Calls `f` for the bits set in both rows, in increasing order.
    ///
    /// The words are intersected first, without a branch and on their own: few have a bit in common, and
    /// which ones cannot be predicted.
    #[inline]
    pub(crate) fn for_each(&mut self, a: &[u64], b: &[u64], mut f: impl FnMut(usize)) {
        let n = self.intersect(a, b);
        for &(i, mut common) in &self.words[..n] {
            while common != 0 {
                f(i as usize * 64 + common.trailing_zeros() as usize);
                common &= common - 1;
            }
        }
    }

    #[inline(never)]
    fn intersect(&mut self, a: &[u64], b: &[u64]) -> usize {
        if self.words.len() < a.len() {
            self.words.resize(a.len(), (0, 0));
        }
        let words = &mut self.words[..a.len()];
        let mut n = 0;
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            let common = a & b;
            words[n] = (i as u32, common);
            n += usize::from(common != 0);
        }
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_bits_come_in_order() {
        let mut matrix = BitMatrix::new(2, 130);
        [0, 63, 64, 129].iter().for_each(|&j| matrix.set(0, j));
        [1, 63, 100, 129].iter().for_each(|&j| matrix.set(1, j));
        let mut common = Vec::new();
        CommonBits::default().for_each(matrix.row(0), matrix.row(1), |j| common.push(j));
        assert_eq!(common, [63, 129]);
        assert!(is_set(matrix.row(1), 100) && !is_set(matrix.row(0), 100));
    }
}
