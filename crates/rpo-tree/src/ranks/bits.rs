//! Bits stored in 64-bit words.

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

    /// Returns the words of all rows.
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

/// Returns the positions of the set bits, increasing, in a buffer.
#[inline(always)]
pub(crate) fn places(words: impl Iterator<Item = u64>, buffer: &mut Vec<u32>) -> &[u32] {
    // In most words few bits are set, but how many cannot be predicted: the first are written without a branch, and
    // surplus ones are overwritten by those of the next word.
    const WITHOUT_BRANCH: usize = 4;
    let mut n = 0;
    for (word, first) in words.zip((0..).step_by(64)) {
        if buffer.len() < n + 64 {
            buffer.resize(2 * (n + 64), 0);
        }
        let slots: &mut [u32; 64] = buffer[n..].first_chunk_mut().expect("there are as many");
        let mut left = word;
        let mut write = |slot: &mut u32| {
            *slot = first + left.trailing_zeros();
            left &= left.wrapping_sub(1);
        };
        let n_set = word.count_ones() as usize;
        slots[..WITHOUT_BRANCH].iter_mut().for_each(&mut write);
        if n_set > WITHOUT_BRANCH {
            slots[WITHOUT_BRANCH..n_set].iter_mut().for_each(write);
        }
        n += n_set;
    }
    &buffer[..n]
}

/// Calls `f` with the set bits of a word, in increasing order.
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
        let mut buffer = Vec::new();
        let found = places(matrix.words()[7..].iter().copied(), &mut buffer);
        assert_eq!(found, columns.map(|j| j as u32));
        assert!(is_set(&matrix.words()[7..], 129) && !is_set(matrix.words(), 129));
    }
}
