//! Sorting the entries of a node by rank, then row.

use super::sweep::Entry;

/// Sorts entries that are in row order.
///
/// Ranks of a node spread over about as many values as it has rows, so a counting sort distributes them over about as
/// many buckets; the entries of a bucket are sorted afterwards. For few entries, the position of each is the number of
/// smaller ones.
#[derive(Debug, Clone, Default)]
pub(super) struct RankSorter<E> {
    bucket_end: Vec<u32>,
    sorted: Vec<E>,
}

impl<E: Entry> RankSorter<E> {
    /// Most entries of a bucket for which insertion sort is used.
    const FULL: u32 = 16;

    #[inline(always)]
    pub(super) fn sort(&mut self, entries: &mut [E]) {
        match entries.len() {
            0..=1 => {}
            2..=8 => sort_few::<8, E>(entries),
            9..=16 => sort_few::<16, E>(entries),
            17..=32 => sort_few::<32, E>(entries),
            33..=48 => sort_few::<48, E>(entries),
            _ => self.sort_many(entries),
        }
    }

    fn sort_many(&mut self, entries: &mut [E]) {
        if entries.is_sorted() {
            return;
        }
        let (low, high) = entries.iter().fold((u32::MAX, 0), |(low, high), &e: &E| {
            let rank = e.rank();
            (low.min(rank), high.max(rank))
        });
        // The finest power of two that needs at most about twice as many buckets as there are entries.
        let width = (high - low) as usize / (2 * entries.len()) + 1;
        let shift = width.next_power_of_two().trailing_zeros();
        let bucket = |entry: E| ((entry.rank() - low) >> shift) as usize;
        self.bucket_end.clear();
        self.bucket_end.resize(((high - low) >> shift) as usize + 1, 0);
        for &entry in entries.iter() {
            self.bucket_end[bucket(entry)] += 1;
        }
        let (mut end, mut fullest) = (0, 0);
        for count in &mut self.bucket_end {
            fullest = fullest.max(*count);
            end += std::mem::replace(count, end);
        }
        self.sorted.resize(entries.len(), E::default());
        for &entry in entries.iter() {
            let place = &mut self.bucket_end[bucket(entry)];
            self.sorted[*place as usize] = entry;
            *place += 1;
        }
        if shift > 0 && fullest <= Self::FULL {
            insertion_sort(&mut self.sorted);
        } else if shift > 0 {
            self.sorted.sort_unstable();
        }
        entries.copy_from_slice(&self.sorted);
    }
}

/// Sorts at most `MOST` distinct entries. All comparisons are made, side by side and branch-free, as which of two
/// entries is smaller cannot be predicted.
#[inline(always)]
fn sort_few<const MOST: usize, E: Entry>(entries: &mut [E]) {
    let mut given = [E::default(); MOST];
    given[..entries.len()].copy_from_slice(entries);
    let mut places = [0_u32; MOST];
    for &smaller in &given[..entries.len()] {
        for (place, &entry) in places.iter_mut().zip(&given) {
            *place += u32::from(smaller < entry);
        }
    }
    for (&entry, &place) in given[..entries.len()].iter().zip(&places) {
        entries[place as usize] = entry;
    }
}

/// Sorts entries that are nearly in order: each moves down past the few larger ones before it.
fn insertion_sort<E: Entry>(entries: &mut [E]) {
    for i in 1..entries.len() {
        let entry = entries[i];
        let mut place = i;
        while place > 0 && entries[place - 1] > entry {
            entries[place] = entries[place - 1];
            place -= 1;
        }
        entries[place] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_like_the_standard_library(
            ranks in proptest::collection::vec(prop_oneof![0_u32..5, 0_u32..100, 0_u32..1_000_000], 0..300),
        ) {
            fn check<E: Entry + std::fmt::Debug>(mut entries: Vec<E>) {
                let mut expected = entries.clone();
                expected.sort_unstable();
                RankSorter::default().sort(&mut entries);
                assert_eq!(entries, expected);
            }
            check::<u64>(ranks.iter().zip(0..).map(|(&rank, row)| Entry::new(rank, row)).collect());
            check::<u32>(ranks.iter().zip(0..).map(|(&rank, row)| Entry::new(rank % 0x1_0000, row)).collect());
        }
    }
}
