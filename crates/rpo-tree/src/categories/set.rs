//! A set of categories.

use serde::{Deserialize, Serialize};

/// A set of category codes, stored as a word of bits for every 32 consecutive codes that have a member: eight bytes for
/// up to 32 categories, and never more than eight per member.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<(u32, u32)>", into = "Vec<(u32, u32)>")]
pub struct CategorySet {
    /// Numbers of words, increasing, and their bits, not 0.
    words: Box<[(u32, u32)]>,
}

/// Number of codes in a word.
const BITS: u32 = u32::BITS;

/// Accepts codes in any order.
impl FromIterator<u32> for CategorySet {
    fn from_iter<I: IntoIterator<Item = u32>>(codes: I) -> Self {
        let mut codes: Vec<u32> = codes.into_iter().collect();
        codes.sort_unstable();
        let mut words: Vec<(u32, u32)> = Vec::new();
        for code in codes {
            let (word, bit) = (code / BITS, 1 << (code % BITS));
            match words.last_mut() {
                Some((last, bits)) if *last == word => *bits |= bit,
                _ => words.push((word, bit)),
            }
        }
        Self { words: words.into() }
    }
}

impl CategorySet {
    /// Returns true if a code is a member.
    #[inline]
    pub(crate) fn contains(&self, code: u32) -> bool {
        let word = code / BITS;
        // Mostly the words are numbered 0, 1, 2, ... without gaps.
        let bits = match self.words.get(word as usize) {
            Some((number, bits)) if *number == word => *bits,
            _ => match self.words.binary_search_by_key(&word, |w| w.0) {
                Ok(place) => self.words[place].1,
                Err(_) => 0,
            },
        };
        bits >> (code % BITS) & 1 != 0
    }

    /// Returns the members, increasing.
    pub fn codes(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().flat_map(|&(word, bits)| {
            let members = (0..BITS).filter(move |bit| bits >> bit & 1 != 0);
            members.map(move |bit| word * BITS + bit)
        })
    }

    /// Returns the numbers of the words and their bits.
    pub(crate) fn words(&self) -> &[(u32, u32)] {
        &self.words
    }
}

impl From<CategorySet> for Vec<(u32, u32)> {
    fn from(set: CategorySet) -> Self {
        set.words.into()
    }
}

/// Accepts words in the stored form; the error describes what is wrong with them.
impl TryFrom<Vec<(u32, u32)>> for CategorySet {
    type Error = &'static str;

    fn try_from(words: Vec<(u32, u32)>) -> Result<Self, Self::Error> {
        if words.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return Err("words of categories must increase");
        }
        if words
            .iter()
            .any(|word| word.0 >= super::MOST_CODES / BITS || word.1 == 0)
        {
            return Err("words of categories must be below 524288 and have a member");
        }
        Ok(Self { words: words.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn sets_hold_what_they_are_made_of(
            codes in prop::collection::btree_set(prop_oneof![0_u32..200, 0..super::super::MOST_CODES], 0..60),
            probes in prop::collection::vec(0_u32..300, 20),
        ) {
            let set = CategorySet::from_iter(codes.iter().copied());
            prop_assert_eq!(&set.codes().collect::<BTreeSet<_>>(), &codes);
            prop_assert!(codes.iter().all(|&code| set.contains(code)));
            prop_assert!(probes.iter().all(|probe| set.contains(*probe) == codes.contains(probe)));
            prop_assert!(set.words().len() <= codes.len());
            prop_assert_eq!(CategorySet::try_from(set.words().to_vec()), Ok(set));
        }
    }

    #[test]
    fn words_that_make_no_set_are_refused() {
        for words in [
            vec![(1, 1), (1, 2)],
            vec![(2, 1), (1, 1)],
            vec![(0, 0)],
            vec![(1 << 19, 1)],
        ] {
            assert!(CategorySet::try_from(words.clone()).is_err(), "{words:?}");
        }
    }
}
