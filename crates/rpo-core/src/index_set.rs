//! A set of indices that comes out sorted.

/// A set of indices below a bound, for sums over scattered places: inserting costs a few operations, and emptying it, in
/// increasing order, what is in it.
///
/// Bits in words of 64, and above them bits that say which words have any.
///
/// ```
/// let mut set = rpo_core::IndexSet::new(1000);
/// for index in [700, 3, 700, 64] {
///     set.insert(index);
/// }
/// let mut sorted = Vec::new();
/// set.drain(|index| sorted.push(index));
/// assert_eq!(sorted, [3, 64, 700]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct IndexSet {
    words: Vec<u64>,
    /// Bit i: word i may have bits.
    summary: Vec<u64>,
}

impl IndexSet {
    /// An empty set for indices below `n`.
    pub fn new(n: usize) -> Self {
        let mut set = Self::default();
        set.reserve(n);
        set
    }

    /// Makes room for indices below `n`.
    pub fn reserve(&mut self, n: usize) {
        let n_words = n.div_ceil(64);
        if self.words.len() < n_words {
            self.words.resize(n_words, 0);
            self.summary.resize(n_words.div_ceil(64), 0);
        }
    }

    /// Adds an index.
    ///
    /// # Panics
    /// If there is no room for it.
    #[inline]
    pub fn insert(&mut self, index: u32) {
        let word = index as usize / 64;
        if self.words[word] == 0 {
            self.summary[word / 64] |= 1 << (word % 64);
        }
        self.words[word] |= 1 << (index % 64);
    }

    /// Empties the set and hands out what was in it, in increasing order.
    #[inline]
    pub fn drain(&mut self, mut f: impl FnMut(u32)) {
        for (i, summary) in self.summary.iter_mut().enumerate() {
            let mut words = std::mem::take(summary);
            while words != 0 {
                let word = i * 64 + words.trailing_zeros() as usize;
                let mut bits = std::mem::take(&mut self.words[word]);
                while bits != 0 {
                    f(word as u32 * 64 + bits.trailing_zeros());
                    bits &= bits - 1;
                }
                words &= words - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Seed;
    use std::collections::BTreeSet;

    #[test]
    fn comes_out_sorted_and_empty() {
        let mut set = IndexSet::default();
        for (n, count) in [(1, 1), (64, 10), (65, 65), (5000, 3), (300_000, 2000), (70, 30)] {
            set.reserve(n);
            let mut expected = BTreeSet::new();
            for i in 0..count {
                let index = (Seed::new(n as u64).hash(i) % n as u64) as u32;
                set.insert(index);
                expected.insert(index);
            }
            let mut sorted = Vec::new();
            set.drain(|index| sorted.push(index));
            assert_eq!(sorted, expected.into_iter().collect::<Vec<_>>());
            set.drain(|index| panic!("{index} is still there"));
        }
    }
}
