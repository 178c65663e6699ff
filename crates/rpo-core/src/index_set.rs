//! A set of indices that comes out sorted.

/// A set of indices below a bound, for sums over scattered places: inserting costs a few operations, and emptying it, in
/// increasing order, what is in it.
///
/// Bits in words of 64, and above them, where words are many, bits that say which words have any.
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
    /// Bit i: word i may have bits. Empty where looking at all words costs less.
    summary: Vec<u64>,
}

impl IndexSet {
    /// So many words, at most 64, are looked at one after the other.
    const FEW_WORDS: usize = 32;

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
            let was_few = self.words.len() <= Self::FEW_WORDS;
            self.words.resize(n_words, 0);
            if n_words > Self::FEW_WORDS {
                self.summary.resize(n_words.div_ceil(64), 0);
                if was_few {
                    // What is in the set already.
                    self.summary[0] = u64::MAX >> (64 - Self::FEW_WORDS);
                }
            }
        }
    }

    /// Adds an index.
    ///
    /// # Panics
    /// If there is no room for it.
    #[inline]
    pub fn insert(&mut self, index: u32) {
        let word = index as usize / 64;
        let before = self.words[word];
        self.words[word] = before | 1 << (index % 64);
        if !self.summary.is_empty() && before == 0 {
            self.summary[word / 64] |= 1 << (word % 64);
        }
    }

    /// Empties the set and hands out what was in it, in increasing order.
    #[inline]
    pub fn drain(&mut self, mut f: impl FnMut(u32)) {
        let mut drain = |word: usize, bits: &mut u64| {
            let mut bits = std::mem::take(bits);
            while bits != 0 {
                f(word as u32 * 64 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        };
        if self.summary.is_empty() {
            let words = self.words.iter_mut().enumerate();
            words.for_each(|(word, bits)| drain(word, bits));
            return;
        }
        for (i, summary) in self.summary.iter_mut().enumerate() {
            let mut words = std::mem::take(summary);
            while words != 0 {
                let word = i * 64 + words.trailing_zeros() as usize;
                drain(word, &mut self.words[word]);
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

    #[test]
    fn keeps_what_is_in_it_when_it_grows() {
        let mut set = IndexSet::new(100);
        set.insert(99);
        set.insert(5);
        for n in [2000, 2100, 9000] {
            set.reserve(n);
            set.insert(n as u32 - 1);
        }
        let mut sorted = Vec::new();
        set.drain(|index| sorted.push(index));
        assert_eq!(sorted, [5, 99, 1999, 2099, 8999]);
    }
}
