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

/// Calls `f` for the bits set in both rows of words, in increasing order.
#[inline]
pub(crate) fn for_each_common(a: &[u64], b: &[u64], mut f: impl FnMut(usize)) {
    for (i, (&a, &b)) in a.iter().zip(b).enumerate() {
        let mut common = a & b;
        while common != 0 {
            f(i * 64 + common.trailing_zeros() as usize);
            common &= common - 1;
        }
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
        for_each_common(matrix.row(0), matrix.row(1), |j| common.push(j));
        assert_eq!(common, [63, 129]);
        assert!(is_set(matrix.row(1), 100) && !is_set(matrix.row(0), 100));
    }
}
