//! Lookup of a feature among those of a node.

/// A set of features as bits, with the number of features before each word: a lookup takes one load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BitIndex {
    words: Box<[Word]>,
}

/// 64 features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Word {
    bits: u64,
    /// Number of features before this word.
    before: u32,
}

impl BitIndex {
    /// Creates an index of increasing features, or returns `None` if it would take more memory than the features;
    /// [`advance`] finds them as well then.
    pub(super) fn new(features: &[u32]) -> Option<Self> {
        let n_words = features.last().map_or(0, |&last| last as usize / 64 + 1);
        if size_of_val(features) < n_words * size_of::<Word>() {
            return None;
        }
        let mut words = vec![Word::default(); n_words];
        features
            .iter()
            .for_each(|&f| words[f as usize / 64].bits |= 1 << (f % 64));
        let mut sum = 0;
        for word in &mut words {
            word.before = sum;
            sum += word.bits.count_ones();
        }
        let words = words.into();
        Some(Self { words })
    }

    /// Returns the position of a feature among the indexed ones.
    #[inline]
    pub(super) fn position(&self, feature: u32) -> Option<u32> {
        let Word { bits, before } = *self.words.get(feature as usize / 64)?;
        let bit = 1_u64 << (feature % 64);
        let place = before + (bits & (bit - 1)).count_ones();
        (bits & bit != 0).then_some(place)
    }
}

/// Moves `from` to the first of the increasing features that is not below `feature`; returns true if they are equal.
///
/// Gallops, so that a walk through sorted lookups costs the logarithm of its steps.
#[inline]
pub(super) fn advance(features: &[u32], from: &mut usize, feature: u32) -> bool {
    let rest = &features[*from..];
    let mut step = 1;
    while step < rest.len() && rest[step] < feature {
        step *= 2;
    }
    let (low, high) = (step / 2, (step + 1).min(rest.len()));
    *from += low + rest[low..high].partition_point(|&f| f < feature);
    features.get(*from) == Some(&feature)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn both_find_what_is_there(features in proptest::collection::btree_set(0_u32..300, 0..200), wanted in proptest::collection::btree_set(0_u32..310, 0..50)) {
            let sorted: Vec<u32> = features.iter().copied().collect();
            let index = BitIndex::new(&sorted);
            let mut from = 0;
            for &feature in &wanted {
                let expected = sorted.iter().position(|&f| f == feature);
                if let Some(index) = &index {
                    prop_assert_eq!(index.position(feature).map(|place| place as usize), expected);
                }
                let found = advance(&sorted, &mut from, feature);
                prop_assert_eq!(found.then_some(from), expected);
            }
        }
    }

    #[test]
    fn few_features_need_no_index() {
        assert!(BitIndex::new(&[5, 900]).is_none());
        let many: BTreeSet<u32> = (0..500).collect();
        assert!(BitIndex::new(&many.into_iter().collect::<Vec<_>>()).is_some());
    }
}
