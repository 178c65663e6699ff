//! Bits in 64-bit words.

/// A matrix of bits.
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

    /// The words of all rows.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
}

/// Sets a bit.
#[inline]
pub(crate) fn set(words: &mut [u64], bit: usize) {
    words[bit / 64] |= 1 << (bit % 64);
}

/// Returns true if a bit is set.
#[inline]
pub(crate) fn is_set(words: &[u64], bit: usize) -> bool {
    words[bit / 64] >> (bit % 64) & 1 == 1
}

/// Calls `f` with the bits that are set, in increasing order.
#[inline(always)]
pub(crate) fn for_each(words: impl Iterator<Item = u64>, mut f: impl FnMut(usize)) {
    for (word, first) in words.zip((0..).step_by(64)) {
        for_each_of(word, |bit| f(first + bit));
    }
}

/// As [`for_each`], of one word.
#[inline(always)]
pub(crate) fn for_each_of(word: u64, mut f: impl FnMut(usize)) {
    let mut left = word;
    while left != 0 {
        f(left.trailing_zeros() as usize);
        left &= left - 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_come_in_order() {
        let (mut matrix, columns) = (BitMatrix::new(2, 400), [0, 63, 64, 129, 256, 257, 399]);
        columns.iter().for_each(|&j| matrix.set(1, j));
        let mut found = Vec::new();
        for_each(matrix.words()[7..].iter().copied(), |j| found.push(j));
        assert_eq!(found, columns);
        assert!(is_set(&matrix.words()[7..], 129) && !is_set(matrix.words(), 129));
    }
}
