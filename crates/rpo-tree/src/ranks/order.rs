//! The rows of a column in the order of their values.
//!
//! The rows of a node are sorted by a feature by setting a bit at the position of each row and reading the bits: no
//! rows are compared with each other.

/// Most rows: this many ranks, the rank of a missing value, and the rows fit into 16 bits each.
pub(crate) const MOST_ROWS: usize = 0xffff;

const WORD: usize = 64;

/// Number of bits of a word that are read together, even if fewer are set: how many are set cannot be predicted.
const TOGETHER: usize = 8;

/// Rows by value, then number, and their ranks.
#[derive(Debug, Clone)]
pub(crate) struct Order {
    /// By position, padded to whole words: row and rank.
    rows: Vec<[[u16; 2]; WORD]>,
    /// By row.
    places: Vec<u16>,
}

impl Order {
    /// Creates the order from sorted rows, at most [`MOST_ROWS`], with their ranks.
    pub(super) fn new(sorted: impl ExactSizeIterator<Item = (u32, u32)>) -> Self {
        let mut rows = vec![[[0; 2]; WORD]; sorted.len().div_ceil(WORD)];
        let mut places = vec![0; sorted.len()];
        for (place, (row, rank)) in sorted.enumerate() {
            rows.as_flattened_mut()[place] = [row as u16, rank as u16];
            places[row as usize] = place as u16;
        }
        Self { rows, places }
    }

    /// Writes `entry` of the rank and row of the given rows, in this order; `bits` is a buffer.
    #[inline(always)]
    pub(crate) fn sort<E: Copy + Default>(
        &self,
        rows: &[u32],
        entry: impl Fn(u32, u32) -> E,
        bits: &mut Vec<u64>,
        out: &mut Vec<E>,
    ) {
        bits.clear();
        bits.resize(self.rows.len(), 0);
        for &row in rows {
            let place = usize::from(self.places[row as usize]);
            bits[place / WORD] |= 1 << (place % WORD);
        }
        out.resize(rows.len() + TOGETHER, E::default());
        let mut n = 0;
        for (&word, own) in bits.iter().zip(&self.rows) {
            let (mut left, end) = (word, n + word.count_ones() as usize);
            while n < end {
                for out in &mut out[n..n + TOGETHER] {
                    let [row, rank] = own[left.trailing_zeros() as usize % WORD];
                    *out = entry(rank.into(), row.into());
                    left &= left.wrapping_sub(1);
                }
                n += TOGETHER;
            }
            n = end;
        }
        out.truncate(rows.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_some_rows(
            ranks in prop::collection::vec(prop_oneof![0_u32..5, 0_u32..0x1_0000], 1..400),
            step in 1_usize..50,
        ) {
            let mut all: Vec<(u32, u32)> = ranks.iter().copied().zip(0..).collect();
            let some: Vec<u32> = (0..ranks.len() as u32).step_by(step).collect();
            let mut expected: Vec<(u32, u32)> = all.iter().copied().step_by(step).collect();
            all.sort_unstable();
            expected.sort_unstable();
            let order = Order::new(all.into_iter().map(|(rank, row)| (row, rank)));
            let mut sorted = vec![(9, 9); 3];
            order.sort(&some, |rank, row| (rank, row), &mut vec![7; 2], &mut sorted);
            prop_assert_eq!(sorted, expected);
        }
    }
}
