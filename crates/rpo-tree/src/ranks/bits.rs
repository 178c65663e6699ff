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

/// Returns true if a bit is set.
pub(crate) fn is_set(words: &[u64], bit: usize) -> bool {
    words[bit / 64] >> (bit % 64) & 1 == 1
}

/// Words that are intersected together.
const GROUP: usize = 4;

/// Finds the bits that two rows of words have in common.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommonBits {
    /// The groups of words that have any, by number.
    groups: Vec<u32>,
    bits: Vec<u32>,
}

impl CommonBits {
    /// The bits set in both rows, in increasing order.
    ///
    /// Few words have one, hardly any has more, and which ones cannot be predicted: so groups of words are
    /// passed over and first bits are written down without a branch.
    pub(crate) fn find(&mut self, a: &[u64], b: &[u64]) -> &[u32] {
        let n_groups = self.intersect(a, b);
        if self.bits.len() < 64 * a.len() {
            self.bits.resize(64 * a.len(), 0);
        }
        let mut n = 0;
        for &group in &self.groups[..n_groups] {
            let first = group as usize * GROUP;
            for (i, (a, b)) in a[first..].iter().zip(&b[first..]).take(GROUP).enumerate() {
                let base = (first + i) as u32 * 64;
                let mut common = a & b;
                self.bits[n] = base + common.trailing_zeros();
                n += usize::from(common != 0);
                common &= common.wrapping_sub(1);
                while common != 0 {
                    self.bits[n] = base + common.trailing_zeros();
                    n += 1;
                    common &= common - 1;
                }
            }
        }
        &self.bits[..n]
    }

    /// Finds the groups; returns how many.
    #[inline(never)]
    fn intersect(&mut self, a: &[u64], b: &[u64]) -> usize {
        let n_groups = a.len().div_ceil(GROUP);
        if self.groups.len() < n_groups {
            self.groups.resize(n_groups, 0);
        }
        let groups = &mut self.groups[..n_groups];
        let (a_groups, b_groups) = (a.chunks_exact(GROUP), b.chunks_exact(GROUP));
        let any = |a: &[u64], b: &[u64]| a.iter().zip(b).fold(0, |any, (a, b)| any | (a & b)) != 0;
        let last = any(a_groups.remainder(), b_groups.remainder());
        let mut n = 0;
        for (i, (a, b)) in a_groups.zip(b_groups).enumerate() {
            groups[n] = i as u32;
            n += usize::from(any(a, b));
        }
        if last {
            groups[n] = n_groups as u32 - 1;
            n += 1;
        }
        n
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_bits_come_in_order() {
        let mut matrix = BitMatrix::new(2, 400);
        [0, 63, 64, 129, 256, 257, 399]
            .iter()
            .for_each(|&j| matrix.set(0, j));
        [1, 63, 100, 129, 257, 300, 399]
            .iter()
            .for_each(|&j| matrix.set(1, j));
        let mut finder = CommonBits::default();
        let common = finder.find(matrix.row(0), matrix.row(1));
        assert_eq!(common, [63, 129, 257, 399]);
        assert!(is_set(matrix.row(1), 100) && !is_set(matrix.row(0), 100));
    }
}
