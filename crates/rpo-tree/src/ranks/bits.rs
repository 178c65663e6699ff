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

    pub(crate) fn n_rows(&self) -> usize {
        self.words.len() / self.words_per_row.max(1)
    }

    pub(crate) fn words_per_row(&self) -> usize {
        self.words_per_row
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

/// Returns true if a bit is set.
pub(crate) fn is_set(words: &[u64], bit: usize) -> bool {
    words[bit / 64] >> (bit % 64) & 1 == 1
}

/// Swaps rows and columns of 64 rows of 64 bits: halves of words, then quarters and so on, between two rows each.
#[inline(always)]
pub(crate) fn transpose(rows: &mut [u64; 64]) {
    let mut distance = 32;
    let mut low = u64::MAX >> distance;
    while distance > 0 {
        for rows in rows.chunks_exact_mut(2 * distance) {
            let (above, below) = rows.split_at_mut(distance);
            for (a, b) in above.iter_mut().zip(below) {
                let changed = (*a >> distance ^ *b) & low;
                *a ^= changed << distance;
                *b ^= changed;
            }
        }
        distance /= 2;
        low ^= low << distance;
    }
}

/// Calls `f` with the bits that are set, in increasing order.
#[inline(always)]
pub(crate) fn for_each(words: impl Iterator<Item = u64>, mut f: impl FnMut(usize)) {
    for (word, first) in words.zip((0..).step_by(64)) {
        let mut left = word;
        while left != 0 {
            f(first + left.trailing_zeros() as usize);
            left &= left - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposed_cells_are_swapped() {
        let cell = |i: usize, j: usize| u64::from((i * i * 7 + j * 5 + i * j) % 11 < 4);
        let mut rows: [u64; 64] = std::array::from_fn(|i| (0..64).map(|j| cell(i, j) << j).sum());
        transpose(&mut rows);
        assert_eq!(
            rows,
            std::array::from_fn(|i| (0..64).map(|j| cell(j, i) << j).sum::<u64>())
        );
    }

    #[test]
    fn bits_come_in_order() {
        let (mut matrix, columns) = (BitMatrix::new(2, 400), [0, 63, 64, 129, 256, 257, 399]);
        columns.iter().for_each(|&j| matrix.set(1, j));
        let mut found = Vec::new();
        for_each(matrix.row(1).iter().copied(), |j| found.push(j));
        assert_eq!(found, columns);
        assert!(is_set(matrix.row(1), 129) && !is_set(matrix.row(0), 129));
    }
}
