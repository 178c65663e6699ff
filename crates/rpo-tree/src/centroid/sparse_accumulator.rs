//! Sums over scattered indices, returned in sorted order.

/// An array of sums that records which of its elements were changed, so that emptying it costs only those.
///
/// If nearly all elements are expected to change, nothing is recorded and all are inspected at the end: that makes
/// both changing and emptying faster.
#[derive(Debug)]
pub(super) struct SparseAccumulator<T> {
    values: Vec<T>,
    changed: IndexSet,
    is_dense: bool,
}

impl<T: Copy + Default + PartialEq> SparseAccumulator<T> {
    /// Creates sums for indices below `n`, all of them the default.
    pub(super) fn new(n: usize) -> Self {
        Self {
            values: vec![T::default(); n],
            changed: IndexSet::new(n),
            is_dense: false,
        }
    }

    /// Chooses how changes are recorded, given how many there will be; to be called while all sums are the default.
    pub(super) fn begin(&mut self, n_changes: usize) {
        /// Ratio of the cost of recording an element to that of inspecting one (measured crossover near 2).
        const RATIO: usize = 2;
        self.is_dense = n_changes >= self.values.len() / RATIO;
        self.changed.begin(n_changes);
    }

    /// Changes the elements at these indices, each by the operand given with it.
    ///
    /// # Panics
    /// If an element does not exist.
    #[inline]
    pub(super) fn update<U: Copy>(&mut self, indices: &[u32], operands: &[U], change: impl Fn(&mut T, U)) {
        if !self.is_dense {
            indices.iter().for_each(|&i| self.changed.insert(i));
        }
        for (&index, &operand) in indices.iter().zip(operands) {
            change(&mut self.values[index as usize], operand);
        }
    }

    /// Replaces `indices` by the increasing indices whose elements differ from the default, and `values` by these
    /// elements, which are reset to the default.
    pub(super) fn drain(&mut self, indices: &mut Vec<u32>, values: &mut Vec<T>) {
        let all = &mut self.values;
        if self.is_dense {
            // Always written, and kept only if it counts: which elements do cannot be predicted.
            indices.resize(all.len(), 0);
            values.resize(all.len(), T::default());
            let mut n = 0;
            for (index, value) in all.iter_mut().enumerate() {
                let value = std::mem::take(value);
                (indices[n], values[n]) = (index as u32, value);
                n += usize::from(value != T::default());
            }
            indices.truncate(n);
            values.truncate(n);
        } else {
            indices.clear();
            values.clear();
            self.changed.drain(|index| {
                let value = std::mem::take(&mut all[index as usize]);
                if value != T::default() {
                    indices.push(index);
                    values.push(value);
                }
            });
        }
    }
}

/// A set of indices below a bound: inserting costs a few operations, and emptying it, in increasing order, costs its
/// number of members.
///
/// It consists of bits in words of 64 and, if there are many words, of summary bits for the non-empty words.
#[derive(Debug)]
struct IndexSet {
    words: Vec<u64>,
    /// Bit i: word i may be non-empty. Used unless inspecting all words costs less.
    summary: Vec<u64>,
    is_summed_up: bool,
}

impl IndexSet {
    fn new(n: usize) -> Self {
        let n_words = n.div_ceil(64);
        Self {
            words: vec![0; n_words],
            summary: vec![0; n_words.div_ceil(64)],
            is_summed_up: true,
        }
    }

    /// Chooses, while the set is empty, how it is emptied after `n_insertions` insertions.
    fn begin(&mut self, n_insertions: usize) {
        /// Up to this many words are inspected one after the other.
        const FEW_WORDS: usize = 32;
        self.is_summed_up = self.words.len() > n_insertions.max(FEW_WORDS);
    }

    #[inline]
    fn insert(&mut self, index: u32) {
        let word = index as usize / 64;
        let before = self.words[word];
        self.words[word] = before | 1 << (index % 64);
        if self.is_summed_up && before == 0 {
            self.summary[word / 64] |= 1 << (word % 64);
        }
    }

    /// Empties the set and passes its members to `f`, in increasing order.
    #[inline]
    fn drain(&mut self, mut f: impl FnMut(u32)) {
        let mut drain = |word: usize, bits: &mut u64| {
            let mut bits = std::mem::take(bits);
            while bits != 0 {
                f(word as u32 * 64 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        };
        if !self.is_summed_up {
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
    use rpo_core::Seed;
    use std::collections::BTreeMap;

    #[test]
    fn sums_come_out_sorted_whichever_way_they_were_recorded() {
        let (mut indices, mut values) = (vec![9; 3], vec![9_i64; 7]);
        for (n, count) in [(1, 1), (100, 10), (100, 80), (300_000, 2000)] {
            let mut sums = SparseAccumulator::new(n);
            for round in 0..3 {
                let mut expected = BTreeMap::new();
                sums.begin(count);
                for i in 0..count as u64 {
                    let seed = Seed::new(n as u64).child(round);
                    let (index, value) = (
                        (seed.hash(i) % n as u64) as u32,
                        (seed.child(1).hash(i) % 3) as i64 - 1,
                    );
                    sums.update(&[index], &[value], |sum, value| *sum += value);
                    *expected.entry(index).or_insert(0) += value;
                }
                sums.drain(&mut indices, &mut values);
                expected.retain(|_, value| *value != 0);
                assert_eq!(indices, expected.keys().copied().collect::<Vec<_>>());
                assert_eq!(values, expected.values().copied().collect::<Vec<_>>());
            }
        }
    }
}
