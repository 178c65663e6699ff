//! The labels of a node as bits by row, to be counted among marked rows.

use wide::i16x8;

/// Number of labels in a block, one lane each.
pub(super) const WIDTH: usize = 8;

/// For each label of a node one bit per row, so that the number of marked rows that have it is a bit count.
#[derive(Debug, Clone)]
pub(super) struct NodeBits<const BLOCKS: usize> {
    /// Per row of the training set: its labels, one bit each.
    labels: Vec<[u8; BLOCKS]>,
    /// Number of the node's rows.
    n_rows: usize,
    /// By 64 rows: bit i of a label is that of the i-th row; empty until first used.
    words: Vec<[[u64; WIDTH]; BLOCKS]>,
    /// The same for a node of at most 16 rows, in a quarter of the instructions.
    short: Option<[[u16; WIDTH]; BLOCKS]>,
}

impl<const BLOCKS: usize> NodeBits<BLOCKS> {
    /// Takes the labels of each row of the training set, each 0 or 1.
    pub(super) fn new(lanes: &[[i16x8; BLOCKS]]) -> Self {
        let bit = |(j, &lane): (usize, &i16)| (lane as u8) << j;
        let byte = |block: &i16x8| block.as_array_ref().iter().enumerate().map(bit).sum();
        Self {
            labels: lanes.iter().map(|row| row.each_ref().map(byte)).collect(),
            n_rows: 0,
            words: Vec::new(),
            short: None,
        }
    }

    /// Starts a node of this many rows.
    pub(super) fn begin(&mut self, n_rows: usize) {
        self.n_rows = n_rows;
        self.words.clear();
        self.short = None;
    }

    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Returns for each label how many marked rows have it. `rows` are all rows of the node; bit i of word w of the
    /// marks is that of row 64 w + i. `lanes` are those that the bits were made of.
    #[inline(always)]
    pub(super) fn count(
        &mut self,
        rows: &[u32],
        marks: &[u64],
        lanes: &[[i16x8; BLOCKS]],
    ) -> [[i16; WIDTH]; BLOCKS] {
        if rows.len() > u16::BITS as usize {
            let Self { labels, words, .. } = self;
            if words.is_empty() {
                words.extend(rows.chunks(64).map(|rows| by_label(rows, labels)));
            }
            return count_in(words, marks.iter(), |bits, marks| (bits & marks).count_ones());
        }
        let short = self.short.get_or_insert_with(|| {
            let mut bits = [[0; WIDTH]; BLOCKS];
            for (i, &row) in rows.iter().enumerate() {
                for (bits, lanes) in bits.iter_mut().zip(&lanes[row as usize]) {
                    for (bits, &lane) in bits.iter_mut().zip(lanes.as_array_ref()) {
                        *bits |= (lane as u16) << i;
                    }
                }
            }
            bits
        });
        let marks = marks.iter().map(|&marks| marks as u16);
        count_in(std::slice::from_ref(short), marks, |bits, marks| {
            (bits & marks).count_ones()
        })
    }
}

/// Returns the number of marked rows by label.
#[inline(always)]
fn count_in<const BLOCKS: usize, W: Copy, M: Copy>(
    words: &[[[W; WIDTH]; BLOCKS]],
    marks: impl Iterator<Item = M>,
    n_common: impl Fn(W, M) -> u32,
) -> [[i16; WIDTH]; BLOCKS] {
    let mut counts = [[0; WIDTH]; BLOCKS];
    for (bits, marks) in words.iter().zip(marks) {
        for (count, bits) in counts.as_flattened_mut().iter_mut().zip(bits.as_flattened()) {
            *count += n_common(*bits, marks) as i16;
        }
    }
    counts
}

/// Returns the bits of at most 64 rows by label, given those of labels by row: squares of 8 x 8 bits are transposed.
#[inline(always)]
fn by_label<const BLOCKS: usize>(rows: &[u32], labels: &[[u8; BLOCKS]]) -> [[u64; WIDTH]; BLOCKS] {
    let mut words = [[0; WIDTH]; BLOCKS];
    for (group, rows) in rows.chunks(8).enumerate() {
        for (block, words) in words.iter_mut().enumerate() {
            let byte = |(i, &row): (usize, &u32)| u64::from(labels[row as usize][block]) << (8 * i);
            let square = rows
                .iter()
                .enumerate()
                .map(byte)
                .fold(0, |square, byte| square | byte);
            let bytes = transposed(square).to_le_bytes();
            for (word, byte) in words.iter_mut().zip(bytes) {
                *word |= u64::from(byte) << (8 * group);
            }
        }
    }
    words
}

/// Transposes a square of 8 x 8 bits, whose rows are bytes: exchanges ever larger blocks off the diagonal.
#[inline(always)]
fn transposed(mut square: u64) -> u64 {
    let mut exchange = |distance: u32, above: u64| {
        let differing = (square ^ (square >> distance)) & above;
        square ^= differing ^ (differing << distance);
    };
    exchange(7, 0x00AA_00AA_00AA_00AA);
    exchange(14, 0x0000_CCCC_0000_CCCC);
    exchange(28, 0x0000_0000_F0F0_F0F0);
    square
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_are_those_of_the_definition(
            training in prop::collection::vec(any::<u16>(), 150),
            is_in in prop::collection::vec(any::<bool>(), 150),
            n in prop_oneof![1_usize..20, 1_usize..150],
            marks in prop::collection::vec(any::<u64>(), 3),
        ) {
            let label = |row: u16, j: usize| row >> j & 1 == 1;
            let blocks = |row: &u16| std::array::from_fn(|block| std::array::from_fn(|j| label(*row, 8 * block + j)));
            let lanes = |row: &u16| blocks(row).map(|block| i16x8::new(block.map(i16::from)));
            let lanes: Vec<[i16x8; 2]> = training.iter().map(lanes).collect();
            let mut bits = NodeBits::new(&lanes);
            for n in [n, 150] {
                let rows: Vec<u32> = (0..n as u32).filter(|&row| is_in[row as usize]).collect();
                bits.begin(rows.len());
                let marks: Vec<u64> = marks[..rows.len().div_ceil(64)].to_vec();
                let is_marked = |i: usize| i < rows.len() && marks[i / 64] >> (i % 64) & 1 == 1;
                // Bits beyond the last row are 0.
                let marks: Vec<u64> = (0..marks.len()).map(|w| (0..64).map(|i| u64::from(is_marked(64 * w + i)) << i).sum()).collect();
                for _ in 0..2 {
                    let found = bits.count(&rows, &marks, &lanes);
                    for j in 0..16 {
                        let expected = (0..rows.len()).filter(|&i| is_marked(i) && label(training[rows[i] as usize], j)).count();
                        prop_assert_eq!(usize::from(found[j / 8][j % 8].unsigned_abs()), expected);
                    }
                }
            }
        }
    }
}
